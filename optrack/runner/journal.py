"""The journal of a session as it is written: events, and stages with their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from optrack.model.events import Event, Noted, StageEnded, StageStarted
from optrack.model.run import Run, Stage

if TYPE_CHECKING:
    from optrack.store.write import Store


class Journal:
    """Tells what happens in a session: all of it in the candidate's journal, which is what watchers follow."""

    def __init__(self, store: Store, run: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._run = run
        self._clock = clock
        self.stage: Stage = "preflight"

    def tell(self, event: Event) -> None:
        """Append an event."""
        self._store.append(self._run, event, datetime.now(UTC))

    def note(self, text: str) -> None:
        """Append a sentence that a reader should know, and keep it with the run."""
        self.tell(Noted(text=text))
        self._store.note_run(self._run, text)

    @contextmanager
    def timed(self, run: Run, launch: int, stage: Stage, log: str | None = None) -> Iterator[None]:
        """Tell the begin and the end of a stage of `run` and record its time, whatever comes of it."""
        self.stage = stage
        self.tell(StageStarted(stage=stage, launch=launch, side=run.role, log=log))
        begun = self._clock()
        try:
            yield
        finally:
            seconds = self._clock() - begun
            self._store.record_stage(run.id, stage, seconds, launch=launch)
            self.tell(StageEnded(stage=stage, launch=launch, side=run.role, seconds=round(seconds, 3)))
