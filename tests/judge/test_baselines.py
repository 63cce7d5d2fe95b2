"""Baselines: age, drift, and the history of a metric's spread."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from optrack.judge.baselines import (
    BaselineMeasurement,
    ageing,
    compounded,
    drift,
    history_of,
    unseen_code,
)
from optrack.judge.difference import comparison
from optrack.judge.evidence import Evidence, evidence_of
from optrack.model.judgement import Effect
from optrack.model.snapshot import Snapshot
from tests.judge.session import flat, side

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def measured(mean: float, hours: float = 0.0, **facts: str) -> BaselineMeasurement:
    return BaselineMeasurement(run=f"r{hours:g}", at=NOW + timedelta(hours=hours), mean=mean, facts=facts)


def evidence(*values: float) -> Evidence:
    return evidence_of(side("baseline", flat(values)), "output_throughput")


def test_a_fresh_baseline_has_not_aged() -> None:
    assert ageing(measured(88.8, driver="580"), NOW + timedelta(hours=2), {"driver": "580"}) == ()


def test_a_baseline_ages_with_time_and_with_what_it_was_measured_under() -> None:
    before = measured(88.8, boot="1", driver="580", packages="p", code="c")
    after = {"boot": "2", "driver": "590", "packages": "q", "code": "d"}
    assert len(ageing(before, NOW + timedelta(days=3), after)) == 5
    assert ageing(before, NOW, {}) == ()


def test_drift_between_measurements_is_reported_from_the_minimum_effect_on() -> None:
    assert drift([measured(88.8), measured(88.9, 1)], "tok/s", 0.02) is None
    said = drift([measured(88.8), measured(62.9, 5)], "tok/s", 0.02)
    assert said is not None and "62.9 tok/s to 88.8 tok/s" in said


def test_history_is_the_spread_between_launches_of_one_recipe() -> None:
    runs = {"base": [evidence(100, 102, 99, 101), evidence(100, 98, 101, 100)], "1B": [evidence(120)]}
    history = history_of(runs)
    assert history is not None
    assert history.spread == pytest.approx(0.015, abs=0.006)
    assert (history.freedom, history.runs) == (4, 2)
    assert history.between_runs is not None


def test_history_from_single_launches_is_between_runs_of_one_recipe() -> None:
    history = history_of({"base": [evidence(100), evidence(102), evidence(99)], "1B": [evidence(150)]})
    assert history is not None and history.spread < 0.03
    assert history_of({"base": [evidence(100)], "1B": [evidence(150)]}) is None


def test_effects_of_a_chain_compound_against_the_original() -> None:
    step = Effect(relative=0.1, low=0.08, high=0.12, confidence=0.95)
    total = compounded([step, step])
    assert total is not None
    assert total.relative == pytest.approx(0.21)
    assert total.low < 0.19 < total.relative < 0.23 < total.high
    assert compounded([]) is None


def test_code_that_no_repository_holds_is_unknown_between_two_runs() -> None:
    outside = Snapshot(git={"project": {"state": "none"}})
    inside = Snapshot(git={"project": {"state": "branch", "code": "a"}})
    served = Snapshot(git={"project": {"state": "none"}, "repo": {"state": "branch", "code": "a"}})
    assert comparison(unseen_code([outside, outside])) == "unknown"
    assert [unseen_code([one, one]) for one in (inside, served)] == [(), ()]
