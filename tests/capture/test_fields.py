"""Every captured field is declared, and every declaration is explained and used."""

from __future__ import annotations

from optrack.judge.field_table import FIELDS
from optrack.judge.fields import field_of, leaves, undeclared
from tests.capture.planted import PLANTED
from tests.capture.world import World


def test_every_field_of_a_whole_snapshot_is_declared(world: World) -> None:
    for planted in PLANTED[::7]:
        planted.plant(world)
    snapshot = world.capture().model_dump()
    assert len(list(leaves({part: content for part, content in snapshot.items() if content}))) > 150
    assert undeclared(snapshot) == []


def test_a_field_that_nobody_declared_is_found() -> None:
    assert undeclared({"hardware": {"new_thing": 1}, "git": None}) == ["hardware.new_thing"]


def test_stable_and_volatile_fields_have_a_label_and_volatile_ones_a_tolerance() -> None:
    for field in FIELDS:
        if field.kind != "informative":
            assert field.label, field.pattern
        assert (field.kind == "volatile") == (field.relative > 0 or field.absolute > 0), field.pattern


def test_no_pattern_is_hidden_behind_an_earlier_one() -> None:
    for field in FIELDS:
        example = tuple(field.pattern.replace("**", "x").replace("*", "x").split("."))
        found = field_of(example)
        assert found is not None and found.pattern == field.pattern, (field.pattern, found)


def test_names_with_dots_are_one_step() -> None:
    field = field_of(("packages", "distributions", "ruamel.yaml"))
    assert field is not None and field.kind == "stable"
