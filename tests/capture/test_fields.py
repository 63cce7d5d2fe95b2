"""Every captured field is declared, and every declaration is explained and used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import pytest

from optrack.judge.field_table import FIELDS
from optrack.judge.fields import field_of, leaves, undeclared
from optrack.model.part import Part
from optrack.model.snapshot import PARTS, Snapshot
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


NO_EVIDENCE = {
    "arguments.changed.*": "applied asked",
    "env": "observed_in read_by.* unreadable",
    "env.differing.*": "children.* leader",
    "env.program": "executable name",
    "files.*": "sha256_after size",
    "git.*": (
        "branch changed code_after commit commit_after committed_at copied_from describe dirty inside lfs.files masked "
        "outputs patch patch_bytes patch_digest recorded remote root shallow sparse state worktree"
    ),
    "git.*.unread": "bytes digest files first",
    "libraries.executable": "path version",
    "load.cpu": "busy_cores foreign_cores load_average own_cores stolen_cores",
    "load.gpus.*.memory_clock_mhz": "mean min",
    "load.gpus.*.memory_used_bytes": "max mean min",
    "load.gpus.*.power_w": "max mean min",
    "load.gpus.*.sm_clock_mhz": "min",
    "load.gpus.*.temperature_c": "mean min",
    "load.gpus.*.utilization_percent": "max mean min",
    "load.sampling": "cpu_s elapsed_s interval_s samples",
    "packages.python": "binary folders prefix",
    "processes": "count starts tree used.*",
    "work.*": "settings.* unread unseen",
}
"""Typed fields that only inform, for which the last row of their part is enough."""


def steps_of(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a type's leaves; `*` stands for a name of an open map."""
    if len(path) > 8:
        return
    inner = [one for one in get_args(kind) if one is not NoneType] if get_origin(kind) is not None else []
    if isinstance(kind, type) and issubclass(kind, Part | Snapshot):
        for name, field in kind.model_fields.items():
            yield from steps_of(field.annotation, (*path, name))
    elif get_origin(kind) is Mapping:
        yield from steps_of(inner[1], (*path, "*"))
    elif get_origin(kind) in (Union, UnionType) and any(has_steps(one) for one in inner):
        yield from (step for one in inner if has_steps(one) for step in steps_of(one, path))
    else:
        yield path


def has_steps(kind: Any) -> bool:
    return get_origin(kind) is Mapping or (isinstance(kind, type) and issubclass(kind, Part))


TYPED = sorted({path for path in steps_of(Snapshot) if path[-1] != "problem"})


def fits(pattern: str, path: tuple[str, ...]) -> bool:
    """Whether a path of types, with `*` for any name, may be a field that the pattern speaks of."""
    steps = pattern.split(".")
    if steps[-1] == "**":
        return (len(path) >= len(steps) or path[-1] == "*") and all(map(meets, steps[:-1], path))
    open_end = path[-1] == "*" and len(steps) > len(path)
    return (len(steps) == len(path) or open_end) and all(map(meets, steps, path))


def meets(step: str, typed: str) -> bool:
    return typed == "*" or fnmatchcase(typed, step)


@pytest.mark.parametrize("pattern", [field.pattern for field in FIELDS])
def test_every_row_of_the_table_speaks_of_a_typed_field(pattern: str) -> None:
    assert any(fits(pattern, path) for path in TYPED)


@pytest.mark.parametrize("path", TYPED, ids=".".join)
def test_every_typed_field_has_a_row(path: tuple[str, ...]) -> None:
    field = field_of(tuple("x" if step == "*" else step for step in path))
    assert field is not None


def test_what_only_the_last_row_of_its_part_speaks_of_is_listed() -> None:
    rest = {f"{part}.**" for part in PARTS}
    told = {
        ".".join(path)
        for path in TYPED
        if path[0] != "bench"  # read as the server's
        if (row := field_of(tuple("x" if step == "*" else step for step in path))) and row.pattern in rest
    }
    assert told == {f"{above}.{name}" for above, names in NO_EVIDENCE.items() for name in names.split()}


def test_names_with_dots_are_one_step() -> None:
    field = field_of(("packages", "distributions", "ruamel.yaml"))
    assert field is not None and field.kind == "stable"
