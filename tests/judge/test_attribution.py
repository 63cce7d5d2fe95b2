"""Attribution and ablation: which factor can be credited, and the items that would tell."""

from __future__ import annotations

from typing import Any

from optrack.judge.attribution import ablation, attribute, is_instrument
from optrack.model.treatment import overlay, treatment

TWO: dict[str, tuple[Any, Any]] = {"env.A": ("1", "2"), "env.B": (None, "x")}
BASE: dict[str, Any] = {"engine": "command", "env": {"A": "1"}, "server": {"tp": 8, "mem": 0.88}}
ITEM = overlay(BASE, {"env": {"A": "2", "B": "x"}, "server": {"tp": 4}})


def test_one_factor_is_credited() -> None:
    assert attribute({"env.A": ("1", "2")})[0].status == "single"


def test_two_factors_are_confounded_and_told_how_to_resolve() -> None:
    attribution, reasons = attribute(TWO)
    assert (attribution.status, attribution.factors) == ("confounded", ("env.A", "env.B"))
    assert "optrack ablate" in reasons[-1]


def test_a_recipe_may_name_several_as_one_factor() -> None:
    attribution, _ = attribute(TWO, named="channels")
    assert (attribution.status, attribution.factors) == ("single", ("channels",))


def test_evidence_on_each_factor_resolves_a_combination() -> None:
    assert attribute(TWO, seen_alone=[{"env.A"}])[0].status == "single"
    three = TWO | {"env.C": ("1", "2")}
    assert attribute(three, seen_alone=[{"env.A"}])[0].status == "confounded"
    assert attribute(three, seen_alone=[{"env.A"}, {"env.A", "env.C"}, {"env.C"}])[0].status == "single"


def test_an_instrument_is_a_factor_and_is_said_to_be_one() -> None:
    attribution, reasons = attribute({"env.A": ("1", "2"), "env.EAGLE3_PROFILE": (None, "1")})
    assert attribution.status == "confounded"
    assert "env.EAGLE3_PROFILE is an instrument" in reasons[0]
    assert is_instrument("env.NCCL_DEBUG") and is_instrument("server.enable-profile-cuda-graph")
    assert not is_instrument("env.NCCL_PROTO")


def test_ablation_measures_each_factor_alone_and_everything_but_it() -> None:
    items = ablation("1C", ITEM, BASE)
    assert [(item.kind, item.factor) for item in items] == [
        ("single", "env.A"),
        ("single", "env.B"),
        ("single", "server.tp"),
        ("leave_one_out", "env.A"),
        ("leave_one_out", "env.B"),
        ("leave_one_out", "server.tp"),
    ]
    for item in items:
        assert tuple(treatment(overlay(BASE, item.layer), BASE)) == item.keeps


def test_with_two_factors_each_alone_is_enough() -> None:
    both = overlay(BASE, {"env": {"A": "2", "B": "x"}})
    assert [item.id for item in ablation("1C", both, BASE)] == ["1C.only-A", "1C.only-B"]


def test_a_single_factor_needs_no_ablation() -> None:
    assert ablation("1B", overlay(BASE, {"env": {"A": "2"}}), BASE) == ()
