"""Verdicts on an adopted base against the original, the registry of bases, and what an audit sees in hindsight."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optrack.app.baseline_refresh import facts_of, measurement
from optrack.judge.audit import lost_since
from optrack.judge.baselines import ageing
from optrack.judge.lineage import AdoptionStep, against_original, both_effects, in_force_at, registry_of
from optrack.model.hardware import Gpus, Hardware
from optrack.model.item import Adoption, Judged
from optrack.model.judgement import Attribution, Difference, Effect, Guard, Judgement
from optrack.model.metrics import Metric
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot
from tests.judge.session import SPEED, rules, samples

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def effect(relative: float, reach: float = 0.02) -> Effect:
    return Effect(relative=relative, low=relative - reach, high=relative + reach, confidence=0.95)


def judgement(item: str, relative: float | None = 0.1, **more: Any) -> Judgement:
    found = {
        "verdict": "improvement",
        "baseline": f"base-of-{item}",
        "candidate": f"run-{item}",
        "metric": SPEED.name,
        "effect": effect(relative) if relative is not None else None,
        "comparison": "fair",
        "attribution": Attribution(status="single", factors=(f"env.{item}",)),
        "reasons": (f"why {item}",),
        "launches": 5,
    }
    return Judgement(**found | more)


def adoption(item: str, hours: float, undone: float | None = None) -> Adoption:
    at = NOON + timedelta(hours=hours)
    undone_at = NOON + timedelta(hours=undone) if undone is not None else None
    return Adoption(
        seq=1, plan="p", item=item, run=f"run-{item}", at=at, who="ada", why="", undone_at=undone_at
    )


FIRST = AdoptionStep(item="1", judgement=judgement("1", 0.17))


def test_effects_multiply_along_the_chain_of_what_was_adopted() -> None:
    own = judgement("2", 0.12)
    found = against_original(own, [FIRST], rules())
    assert found.effect is not None
    assert found.effect.relative == pytest.approx(1.17 * 1.12 - 1)
    assert (found.verdict, found.comparison, found.baseline) == ("inconclusive", "fair", "base-of-1")
    assert "measured once against the original" in found.reasons[1]
    assert found.attribution == Attribution(status="confounded", factors=("env.1", "env.2"))
    assert both_effects(own, found) == "+12.0% over the adopted base, +31.0% over the original"
    assert both_effects(own, None) == ""


def test_a_loss_on_an_adopted_gain_is_told_beside_it() -> None:
    found = against_original(judgement("2", -0.05, verdict="regression"), [FIRST], rules())
    assert "+17.0%" in found.reasons[0] and "−5.0%" in found.reasons[0]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (AdoptionStep(item="1"), "without a measured effect"),
        (
            AdoptionStep(item="1", judgement=judgement("1", None, verdict="failed")),
            "without a measured effect",
        ),
        (
            AdoptionStep(item="1", judgement=judgement("1", comparison="unfair", verdict=None)),
            "no longer stands",
        ),
    ],
)
def test_a_link_without_standing_evidence_leaves_no_verdict(link: AdoptionStep, words: str) -> None:
    found = against_original(judgement("2"), [link], rules())
    assert (found.verdict, found.effect) == (None, None)
    assert words in found.reasons[0]
    assert both_effects(judgement("2"), found) == "+10.0% over the adopted base, unknown over the original"


@pytest.mark.parametrize("verdict", [None, "failed"])
def test_what_has_no_verdict_or_failed_is_no_better_against_the_original(verdict: Any) -> None:
    found = against_original(judgement("2", verdict=verdict), [FIRST], rules())
    assert (found.verdict, found.effect) == (verdict, None)


def test_a_broken_guard_is_a_regression_against_the_original_too() -> None:
    guards = (Guard(name="accuracy", state="broken", text="accuracy is 0.4"),)
    found = against_original(judgement("2", verdict="regression", guards=guards), [FIRST], rules())
    assert found.verdict == "regression"
    assert "accuracy is broken" in found.reasons[0]


def test_it_is_said_where_an_adopted_item_was_measured_on_another_base() -> None:
    second = AdoptionStep(item="2", judgement=judgement("2"), on=())
    said = against_original(judgement("3"), [FIRST, second], rules()).reasons
    assert any("2 was measured without 1" in reason for reason in said)
    told = second.model_copy(update={"on": ("1",)})
    told_apart = against_original(judgement("3"), [FIRST, told], rules()).reasons
    assert not any("was measured without" in reason for reason in told_apart)


def test_the_base_of_a_time_is_what_was_adopted_and_not_yet_undone() -> None:
    history = [adoption("1", 0), adoption("2", 1, undone=3)]
    at = [NOON + timedelta(hours=hours) for hours in (-1, 0.5, 2, 4)]
    assert [[a.item for a in in_force_at(history, when)] for when in at] == [[], ["1"], ["1", "2"], ["1"]]


def run(number: int, hours: float, mean: float, recipe: dict[str, Any], **more: Any) -> Run:
    found = {
        "id": f"r{number}",
        "plan": "p",
        "item": "baseline",
        "host": "h",
        "started_at": NOON + timedelta(hours=hours),
        "outcome": "succeeded",
        "recipe": recipe,
        "samples": samples(((mean, mean),)),
    }
    return Run(**found | more)


def test_drift_is_looked_for_within_one_base_and_without_rejected_runs() -> None:
    plain, tuned = {"env": {"A": "1"}, "launches": 3}, {"env": {"A": "2"}}
    runs = [
        run(1, 0, 88.8, plain),
        run(2, 1, 120, tuned),
        run(3, 2, 62.9, plain | {"launches": 5}),
        run(4, 3, 88.7, plain, beside="x"),
        run(5, 4, 1.0, plain, outcome="failed"),
    ]
    adoptions = [adoption("1", 0.5)]
    judged = [
        Judged(seq=1, plan="p", item="1", at=NOON, against="baseline", judgement=judgement("1")),
        Judged(seq=2, plan="p", item="1", at=NOON, against="original", judgement=judgement("1", 9.0)),
    ]
    metric = Metric(name=SPEED.name, unit="tok/s")
    found = registry_of(runs, adoptions, judged, metric=metric, min_effect=0.02)
    assert [(b.adopted, [m.run for m in b.measurements]) for b in found.bases] == [
        ((), ["r1", "r3", "r4"]),
        (("1",), ["r2"]),
    ]
    assert found.bases[0].drift is not None and "62.9 tok/s to 88.8 tok/s" in found.bases[0].drift
    assert found.fallen == ()
    without = registry_of(
        runs, adoptions, (), metric=metric, min_effect=0.02, rejections={"r3": "variables were lost"}
    )
    assert without.bases[0].drift is None
    assert without.bases[0].measurements[1].rejected == "variables were lost"
    assert without.fallen == ("1",)


def difference(field: str, cls: str, baseline: Any = None, candidate: Any = None) -> Difference:
    return Difference.model_validate(
        {"field": field, "baseline": baseline, "candidate": candidate, "cls": cls, "severity": "blocking"}
    )


def test_a_variable_lost_before_the_next_baseline_counts_only_where_the_candidate_was_not_seen() -> None:
    lost = [difference("env.server.NCCL_PROTO", "unexplained", "LL", None)]
    (found,) = lost_since([difference("env.server", "unknown")], lost, "r9")
    assert found.cls == "unexplained"
    assert "was LL in the baseline's run and is not set in its next one, r9" in found.meaning
    assert lost_since([], lost, "r9") == ()
    assert lost_since([difference("packages", "unknown")], lost, "r9") == ()


def test_a_baseline_ages_with_the_driver_that_was_captured() -> None:
    before, after = (
        run(1, 0, 88.8, {}, snapshot=Snapshot(hardware=Hardware(gpus=Gpus(driver=driver, count=8))))
        for driver in ("580.65", "590.10")
    )
    measured = measurement(before, "output_throughput")
    assert ageing(measured, NOON, facts_of(before)) == ()
    assert len(ageing(measured, NOON, facts_of(after))) == 1
