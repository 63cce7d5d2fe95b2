"""Keeping a verdict: against the baseline of its time and, on an adopted base, against the original."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from optrack.core.judgement import Judgement
from optrack.core.run import Run
from optrack.court import Court

if TYPE_CHECKING:
    from optrack.steps.record.store import Store


def keep_verdict(store: Store, court: Court, judgement: Judgement, run: Run, at: datetime) -> None:
    """Record the judgement of a run, and beside it the one against the original configuration."""
    store.put_judgement(judgement, run.plan, run.item, at)
    keep_against_original(store, court, judgement, run, at)


def keep_against_original(store: Store, court: Court, judgement: Judgement, run: Run, at: datetime) -> None:
    """Record what a judgement means against the original, where it stands on an adopted base."""
    original = court.against_original(judgement, run)
    if original is not None:
        store.put_judgement(original, run.plan, run.item, at, against="original")
