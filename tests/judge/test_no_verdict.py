"""Runs that numbers can't be judged of: failed, interrupted, without a baseline."""

from __future__ import annotations

from typing import Any

from optrack.judge.evidence import Side
from optrack.judge.judging import judge
from optrack.model.judgement import Difference, Judgement
from optrack.model.run import Failure
from tests.judge.session import BASE, rules, side

CRASH = Failure(kind="nccl", message="NCCL WARN Cuda failure: invalid usage", fingerprint="f1")
FACTORS = {"env.NCCL_ALGO": ("Ring", "Tree")}


def judged(candidate: Side, baseline: Side | None, **more: Any) -> Judgement:
    return judge(candidate, baseline, rules(), **{"comparison": "fair", "factors": FACTORS} | more)


def crashed(**more: Any) -> Side:
    ended: dict[str, Any] = {"outcome": "failed", "stage": "ready", "failure": CRASH}
    return side("1A", (), **(ended | more))


def test_a_crash_is_failed_with_its_stage_and_message() -> None:
    judgement = judged(crashed(), side("baseline", BASE))
    assert judgement.verdict == "failed"
    assert judgement.reasons[0] == "The run failed in stage ready: NCCL WARN Cuda failure: invalid usage"


def test_a_time_out_is_failed() -> None:
    judgement = judged(crashed(outcome="timed_out", failure=None), side("baseline", BASE))
    assert (judgement.verdict, judgement.reasons[0]) == ("failed", "The run timed out in stage ready.")


def test_a_failure_that_the_host_caused_is_no_verdict_on_the_item() -> None:
    taken = Failure(kind="port_in_use", message="port 30000 is in use", fingerprint="f2")
    judgement = judged(crashed(failure=taken), side("baseline", BASE))
    assert judgement.verdict is None
    assert any("lies with the host" in reason for reason in judgement.reasons)


def test_a_failure_that_the_baseline_shares_is_not_the_treatments() -> None:
    baseline = side("baseline", (), outcome="failed", stage="ready", failure=CRASH)
    judgement = judged(crashed(), baseline)
    assert any("isn't what broke it" in reason for reason in judgement.reasons)


def test_a_failure_beside_undeclared_differences_names_them() -> None:
    lost = Difference(
        field="env.server.NCCL_PROTO",
        baseline="LL",
        candidate=None,
        cls="unexplained",
        severity="blocking",
    )
    judgement = judged(crashed(), side("baseline", BASE), comparison="unfair", differences=[lost])
    assert judgement.verdict == "failed"
    assert any("env.server.NCCL_PROTO" in reason for reason in judgement.reasons)


def test_an_interrupted_run_shows_nothing() -> None:
    assert judged(side("1A", BASE, outcome="interrupted"), side("baseline", BASE)).verdict is None


def test_without_a_baseline_there_is_no_verdict() -> None:
    judgement = judged(side("1A", BASE), None)
    assert (judgement.verdict, judgement.baseline) == (None, None)


def test_a_baseline_that_failed_is_nothing_to_compare_with() -> None:
    judgement = judged(side("1A", BASE), side("baseline", BASE, outcome="failed", failure=CRASH))
    assert judgement.verdict is None
    assert "didn't succeed" in judgement.reasons[0]


def test_a_metric_that_the_baseline_lacks_gives_no_claim() -> None:
    judgement = judged(side("1A", BASE), side("baseline", ()))
    assert judgement.verdict == "inconclusive"
    assert "for the baseline" in judgement.reasons[0]
