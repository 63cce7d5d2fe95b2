"""Verdicts and effects in the words and signs of a log: what stands in one cell of a table."""

from __future__ import annotations

import json
from typing import Any

from optrack.core.judge.wording import level, percent
from optrack.core.judgement import Effect
from optrack.core.markdown import cell_code, code
from optrack.core.report.log import Log
from optrack.core.report.summary import state_verdict
from optrack.core.state import ItemState

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
