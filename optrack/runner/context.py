"""What every step of a run is given: its session, its store, the user's wish to stop, and the journal."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from optrack.model.events import Event, Noted, StageEnded, StageStarted
from optrack.model.run import Run, Stage
from optrack.runner.session import Arm, Session

if TYPE_CHECKING:
    from optrack.store.write import Store


class StopSignal:
    """SIGTERM asks the runner to stop, SIGINT to stop without much grace; a lost terminal (SIGHUP) is ignored."""

    def __init__(self) -> None:
        self._is_requested = False
        self._is_forced = False
        signal.signal(signal.SIGTERM, self._receive)
        signal.signal(signal.SIGINT, self._receive)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def is_requested(self) -> bool:
        """Whether to stop, with a full teardown."""
        return self._is_requested

    def is_forced(self) -> bool:
        """Whether to stop without much grace."""
        return self._is_forced

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._is_requested = True
        self._is_forced = self._is_forced or number == signal.SIGINT


class RunContext:
    """A session with its store and the wish to stop. What happens is recorded of the run that it happens to;
    whoever follows the candidate's is told of the baseline's launches too."""

    def __init__(self, session: Session, store: Store, stop: StopSignal) -> None:
        self.session = session
        self.store = store
        self.stop = stop
        self.current_stage: Stage = "preflight"

    def record(self, event: Event) -> None:
        """Record an event of the candidate's run."""
        self.store.record(self.session.candidate.run.id, event)

    def note(self, text: str) -> None:
        """Record a sentence that a reader should know."""
        self.record(Noted(text=text))

    def note_once(self, arm: Arm, text: str) -> None:
        """Note something of an arm, however often it comes up."""
        if text not in arm.notes:
            arm.notes.add(text)
            name = "baseline" if arm is self.session.baseline else arm.run.item
            self.note(text if arm is self.session.candidate else f"{name}: {text}")

    @contextmanager
    def timed(self, run: Run, launch: int, stage: Stage, log: str | None = None) -> Iterator[None]:
        """Record the begin and the end of a stage of `run` and its seconds, whatever comes of it."""
        self.current_stage = stage
        self.store.record(run.id, StageStarted(stage=stage, launch=launch, side=run.role, log=log))
        begin = time.monotonic()
        try:
            yield
        finally:
            seconds = round(time.monotonic() - begin, 6)
            ended = StageEnded(stage=stage, launch=launch, side=run.role, seconds=seconds)
            self.store.record(run.id, ended)
