"""Expected against measured is told of what is decided, in the direction in which the metric gets better."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.model.item import ItemState
from optrack.model.judgement import Attribution, Effect, Judgement
from optrack.model.metrics import Metric, Sample
from optrack.model.plan import Item, Plan, PrimaryMetric, Quantity
from optrack.model.run import Run
from optrack.tui.calibrated import calibrated
from optrack.tui.screens.history import against
from tests.tui.enacted_plan import START

TWO_PERCENT = Quantity(text="1-2%", low=1, high=2, unit="%")


def told(
    verdict: Any, relative: float, better: Any, gain: Quantity = TWO_PERCENT, comparison: Any = "fair"
) -> list[str]:
    metric = Metric(name="m", unit="", better=better)
    item = Item(id="2", title="Two", rank=2, line=1, gain=gain)
    effect = Effect(relative=relative, low=relative - 0.01, high=relative + 0.01, confidence=0.95)
    judgement = Judgement(
        verdict=verdict,
        baseline="b",
        candidate="c",
        metric="m",
        effect=effect,
        comparison=comparison,
        attribution=Attribution(status="single"),
    )
    plan = Plan(
        name="p",
        path="p.md",
        text="",
        title="P",
        metric=PrimaryMetric(name="m", better=better),
        items=(item,),
    )
    run = Run(id="b", plan="p", item="baseline", host="h", started_at=START)
    run = run.model_copy(update={"samples": (Sample(metric=metric, value=10.0, launch=0, repetition=0),)})
    found = calibrated(plan, [ItemState(item=item, status="completed", judgement=judgement)], lambda _: run)
    return [against(one.expected, one.measured).text for one in found]


@pytest.mark.parametrize(
    ("relative", "better", "words"),
    [
        (0.05, "higher", "+ more"),
        (-0.05, "lower", "+ more"),
        (0.05, "lower", "- less"),
        (-0.05, "higher", "- less"),
        (-0.015, "lower", "= as told"),
    ],
)
def test_a_gain_lies_in_the_direction_of_the_metric(relative: float, better: str, words: str) -> None:
    assert told("no_change", relative, better) == [words]


def test_what_is_undecided_says_nothing_of_an_estimate() -> None:
    assert told("inconclusive", 0.05, "higher") == []
    assert told(None, 0.05, "higher") == []
    assert told("no_change", 0.05, "higher", comparison="unknown") == []


def test_milliseconds_are_not_compared_with_percent() -> None:
    assert told("improvement", 2.4, "higher", Quantity(text="5-10 ms", low=5, high=10, unit="ms")) == [""]
