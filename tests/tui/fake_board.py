"""A board held in memory: the re-enacted campaign, answering and acting like the real one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optrack.errors import NothingToRunError
from optrack.model.events import Entry, RunEnded, RunStarted, StageStarted, StopRequested
from optrack.model.item import Note
from optrack.model.plan import Status
from optrack.model.run import Run
from tests.tui.fake_reading import FakeReading


class FakeBoard(FakeReading):
    """The campaign; `asked` lists what was asked for, `refuse` makes the next ask fail."""

    def __init__(self, logs: Path | None = None, *, live: bool = True, empty: bool = False) -> None:
        super().__init__(logs, live=live, empty=empty)
        self._count = itertools.count(1)
        self.asked: list[tuple[Any, ...]] = []
        self.refuse: Exception | None = None

    def _ask(self, *what: Any) -> None:
        self.asked.append(what)
        if self.refuse is not None:
            error, self.refuse = self.refuse, None
            raise error
        self._version += 1

    def start_next(self) -> str:
        chosen = self.choice()
        self._ask("start_next")
        if chosen.item is None:
            raise NothingToRunError(chosen.why)
        return self._begin(chosen.item)

    def run_item(self, item: str) -> str:
        self._ask("run_item", item)
        return self._begin(item)

    def _begin(self, item: str) -> str:
        name = f"20260302-152000-z{next(self._count)}"
        self._runs[name] = Run(id=name, plan=self._plan.name, item=item, host="gpu-07", started_at=self.clock)
        events = (
            RunStarted(item=item, log_dir="runs/z", launches=3, repetitions=5),
            StageStarted(stage="preflight"),
        )
        self._journal[name] = [
            Entry(seq=i + 1, run=name, at=self.clock, event=e) for i, e in enumerate(events)
        ]
        self.put(item, status="in_progress", runs=self._states[item].runs + 1)
        return name

    def stop(self, run: str, *, force: bool = False) -> None:
        self._ask("stop", run, force)
        journal = self._journal[run]
        for event in (
            StopRequested(actor="mara", force=force),
            RunEnded(outcome="interrupted", stage=self._runs[run].stage),
        ):
            journal.append(Entry(seq=len(journal) + 1, run=run, at=self.clock, event=event))
        self._runs[run] = self._runs[run].model_copy(
            update={"outcome": "interrupted", "ended_at": self.clock}
        )
        self.put(self._runs[run].item, status="pending")

    def put(self, item: str, **changed: Any) -> None:
        """Change an item's state and the version, as another process would."""
        self._states[item] = self._states[item].model_copy(update=changed)
        self._version += 1

    def mark(self, item: str, status: Status, why: str) -> None:
        self._ask("mark", item, status, why)
        self.put(item, status=status)

    def skip(self, item: str, why: str) -> None:
        self._ask("skip", item, why)
        self.put(item, status="cancelled")

    def note(self, item: str, text: str) -> None:
        self._ask("note", item, text)
        note = Note(at=self.clock, who="mara", text=text)
        self.put(item, notes=(*self._states[item].notes, note))

    def adopt(self, item: str) -> None:
        self._ask("adopt", item)
        self.put(item, adopted=True)

    def accept(self, item: str, field: str, why: str) -> None:
        self._ask("accept", item, field, why)

    def ablate(self, item: str) -> Sequence[str]:
        self._ask("ablate", item)
        return [f"{item}.{n}" for n, _ in enumerate(self.resolved(item).factors, 1)]
