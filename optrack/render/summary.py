"""Effects and states in a few words."""

from __future__ import annotations

import json
import statistics
from typing import Any

from optrack.model.item import ItemState
from optrack.model.judgement import Effect, Judgement
from optrack.model.markdown import cell_code, code
from optrack.model.metrics import series_of
from optrack.model.plan import Quantity
from optrack.model.run import Run
from optrack.model.wording import amount, level, percent
from optrack.render.log import Log


def effect_text(effect: Effect | None) -> str:
    """Return a relative difference with its interval, `+12.0% [+8.1, +16%]`; a dash where there is none."""
    if effect is None:
        return "-"
    return f"{percent(effect.relative)} [{percent(effect.low)}, {percent(effect.high)}]"


def verdict_text(judgement: Judgement | None) -> str:
    """Return the verdict in words: why there is none, or what qualifies it, included."""
    if judgement is None:
        return "-"
    if judgement.verdict is None:
        return "no verdict: unfair" if judgement.comparison == "unfair" else "no verdict"
    words = judgement.verdict.replace("_", " ")
    if judgement.comparison == "unknown" and judgement.verdict not in ("failed", "inconclusive"):
        words += " (fairness unknown)"
    if judgement.attribution.status == "confounded":
        words += " (confounded)"
    return words


def state_verdict(state: ItemState) -> str:
    """Return an item's verdict in force, marked where its recipe was edited since."""
    words = verdict_text(state.judgement)
    return f"{words} (stale)" if state.stale and words != "-" else words


def quantity_text(quantity: Quantity | None) -> str:
    """Return a quantity as it was written; a dash where there is none."""
    return quantity.text if quantity else "-"


def measured_text(run: Run, metric: str) -> str:
    """Return the median of a run's metric over all valid repetitions, with unit and number of launches."""
    series = series_of(run.samples, metric)
    if series is None:
        return "-"
    count = len(series.launches)
    launches = "1 launch" if count == 1 else f"{count} launches"
    return f"{amount(statistics.median(series.values), series.metric.unit)} ({launches})"


SIGNS = {"improvement": "▲", "regression": "▼", "no_change": "=", "inconclusive": "?", "failed": "✖"}
"""A sign for each verdict, so that colour or position alone never says anything."""


def verdict(log: Log, state: ItemState) -> str:
    """Return the verdict in force with its sign; where somebody marked the item instead, it says that."""
    if state.judgement is None:
        marks = log.by_hand(state.item.id)
        over = state.status in ("completed", "cancelled")
        return "none (marked by hand)" if marks and over else "-"
    words = state_verdict(state)
    sign = SIGNS.get(state.judgement.verdict or "", "⚠")
    return f"{sign} {words}"


def why(log: Log, state: ItemState) -> str:
    """Return why an item has its verdict, in one sentence of plain text."""
    judgement = state.judgement
    if judgement is None:
        marks = log.by_hand(state.item.id)
        return (
            f"marked {marks[-1].after.replace('_', ' ')} by {marks[-1].who}: {marks[-1].why}" if marks else ""
        )
    run = log.run(judgement.candidate)
    if judgement.verdict == "failed" and run is not None and run.failure is not None:
        return f"failed in stage {run.stage} ({run.failure.kind}): {run.failure.message}"
    return judgement.reasons[0] if judgement.reasons else ""


def effect(found: Effect | None) -> str:
    """Return an effect with its interval, `+12.0% (95% interval +8.1% to +16%)`; nothing where there is none."""
    if found is None:
        return ""
    return (
        f"{percent(found.relative)} ({level(found.confidence)} interval "
        f"{percent(found.low)} to {percent(found.high)})"
    )


def short_effect(found: Effect | None) -> str:
    """Return an effect with its interval for a cell, `+12.0% [+8.1%, +16%]`."""
    if found is None:
        return ""
    return f"{percent(found.relative)} [{percent(found.low)}, {percent(found.high)}]"


def value(found: Any, *, cell: bool = True) -> str:
    """Return a recipe's or snapshot's value as code, or that it isn't set."""
    if found is None:
        return "not set"
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str)
    if text == "":
        return "empty"
    shown = text if len(text) <= 200 else f"{text[:199]}…"
    return cell_code(shown) if cell else code(shown)
