"""What a judgement, an item or an adoption comes to, in a few words of plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from optrack.judge.derived import derived_text
from optrack.judge.lineage import both_effects as both_effects
from optrack.judge.sides import compared as compared
from optrack.render.format import amount, launches, percent, timestamp, words

if TYPE_CHECKING:
    from optrack.judge.baselines import BaselineMeasurement
    from optrack.judge.calibration import Expectation
    from optrack.judge.lineage import AdoptionEvidence, BaselineConfig
    from optrack.model.item import ItemState
    from optrack.model.judgement import Judgement
    from optrack.model.metrics import Series
    from optrack.model.run import Run


def verdict_words(judgement: Judgement | None) -> str:
    """Return the verdict in words: why there is none, or what qualifies it, included."""
    if judgement is None:
        return "-"
    if judgement.verdict is None:
        return "no verdict: unfair" if judgement.comparison == "unfair" else "no verdict"
    verdict = words(judgement.verdict)
    if judgement.comparison == "unknown" and judgement.verdict not in ("failed", "inconclusive"):
        verdict += " (fairness unknown)"
    return f"{verdict} (confounded)" if judgement.attribution.status == "confounded" else verdict


def item_verdict(state: ItemState) -> str:
    """Return an item's verdict in force, marked where its recipe was edited since."""
    verdict = verdict_words(state.judgement)
    return f"{verdict} (stale)" if state.stale and state.judgement else verdict


def level(run: Run | None, metric: str, other: Run | None = None) -> str:
    """Return a run's level of a metric, `88.8 tok/s (3 launches)`: what effects compare, a dash for none.

    `other` is the run that it was compared with: of interleaved ones, only the launches that both have count.
    """
    series = _compared(run, other, metric)
    return f"{amount(series.level, series.metric.unit)} ({launches(len(series.launches))})" if series else "-"


def _compared(run: Run | None, other: Run | None, metric: str) -> Series | None:
    if run is None:
        return None
    if other is not None and run.beside == other.id:
        return compared(other, run, metric)[1]
    return compared(run, other, metric)[0]


def derived(run: Run | None, judgement: Judgement) -> Mapping[str, str]:
    """Return a judgement's derived metrics with their units."""
    return derived_text(judgement.derived, run.recipe if run else {})


def expected_range(expected: Expectation) -> str:
    """Return an expected gain as a percentage or a range of them."""
    low, high = percent(expected.low), percent(expected.high)
    return low if low == high else f"{low} to {high}"


def base_name(base: BaselineConfig) -> str:
    """Return what a base is called: the original, or what it was made of by adoptions."""
    return f"with {', '.join(base.adopted)} adopted" if base.adopted else "the original"


def how_measured(measurement: BaselineMeasurement) -> str:
    """Return whether a base was measured alone or beside a candidate, and why that counts no more."""
    way = f"beside {measurement.beside}" if measurement.beside else "alone"
    return f"{way}; rejected: {measurement.rejected}" if measurement.rejected else way


def adoption_status(evidence: AdoptionEvidence) -> str:
    """Return whether an adoption is in force, and whether its evidence still stands."""
    undone = evidence.adoption.undone_at
    if undone is not None:
        return f"undone {timestamp(undone)} by {evidence.adoption.undone_by}"
    return "in force" if evidence.stands else "in force, though its evidence doesn't stand"


def adoption_evidence(evidence: AdoptionEvidence) -> str:
    """Return the judgement that an adoption rests on, by whom it was made and why."""
    judgement = evidence.judgement
    by = f"adopted by {evidence.adoption.who}: {evidence.adoption.why}"
    if judgement is None:
        return f"no judgement; {by}"
    size = f" {percent(judgement.effect.relative)}" if judgement.effect else ""
    return f"{verdict_words(judgement)}{size}, run {evidence.adoption.run}; {by}"
