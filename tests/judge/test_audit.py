"""The audit: what no longer stands when everything is judged again."""

from __future__ import annotations

from typing import Any

from optrack.judge.audit import ComparisonInput, audit
from optrack.judge.judging import judge
from optrack.model.judgement import Difference
from optrack.model.run import Failure
from tests.judge.session import BASE, rules, scaled, side

FACTORS = {"env.A": ("1", "2")}
LOST = Difference(
    field="env.server.NCCL_PROTO", baseline="LL", candidate=None, cls="unexplained", severity="blocking"
)


def case(item: str, gain: float, **more: Any) -> ComparisonInput:
    sides = side(item, scaled(gain)), side("baseline", BASE)
    stored = judge(*sides, rules(), comparison="fair", factors=FACTORS)
    found = {
        "item": item,
        "stored": stored,
        "candidate": sides[0],
        "baseline": sides[1],
        "rules": rules(),
        "comparison": "fair",
        "factors": FACTORS,
    }
    return ComparisonInput(**found | more)


def test_what_stands_is_not_relabelled() -> None:
    assert audit([case("1B", 1.08), case("2", 1.0)]) == ()


def test_every_conclusion_that_rests_on_an_unfair_baseline_falls() -> None:
    failed = case("1A", 1.0)
    failed = failed.model_copy(
        update={
            "candidate": side(
                "1A", (), outcome="failed", failure=Failure(kind="nccl", message="crash", fingerprint="f")
            )
        }
    )
    failed = failed.model_copy(
        update={
            "stored": judge(failed.candidate, failed.baseline, rules(), comparison="fair", factors=FACTORS)
        }
    )
    fallen = audit([case("1B", 1.08), case("2", 1.0), failed], {"run-baseline": "NCCL_PROTO had been lost."})
    assert {relabelled.item for relabelled in fallen if relabelled.offer_again} == {"1B", "2"}
    assert all("NCCL_PROTO had been lost" in relabelled.why for relabelled in fallen)
    kept = next(relabelled for relabelled in fallen if relabelled.item == "1A")
    assert kept.after.verdict == "failed"


def test_a_difference_that_is_seen_only_now_takes_the_verdict_away() -> None:
    fallen = audit([case("1B", 1.08, differences=(LOST,), comparison="unfair")])
    assert fallen[0].after.verdict is None
    assert "improvement → none" in fallen[0].why


def test_a_stricter_rule_relabels_without_a_new_run() -> None:
    changed = audit([case("1B", 1.08, rules=rules(min_effect=0.15))])
    assert changed[0].after.verdict == "no_change"
    assert not changed[0].offer_again


def test_a_conclusion_without_an_effect_is_relabelled_once_one_can_be_told() -> None:
    untold = case("1B", 1.0, rules=rules(min_effect=0.001))
    stored = untold.stored.model_copy(update={"verdict": "inconclusive", "effect": None})
    (changed,) = audit([untold.model_copy(update={"stored": stored})])
    assert (changed.before.verdict, changed.after.verdict) == ("inconclusive", "inconclusive")
    assert "effect none → told" in changed.why
    assert not changed.offer_again
