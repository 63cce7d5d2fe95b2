"""Resuming: the launches of an interrupted run are taken over once this session is known to run the same."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from optrack.core.choosing.resume import Earlier, changed_since, kept_samples
from optrack.core.run import Run
from optrack.core.snapshot import Snapshot
from optrack.running.journal import Journal

if TYPE_CHECKING:
    from optrack.steps.record.store import Store

Role = Literal["candidate", "baseline"]


@dataclass
class Resuming:
    """What a session keeps of an interrupted run: all of it or, if anything that matters has changed, nothing.

    Its own launches are numbered after those that it keeps, whatever becomes of them.
    """

    earlier: Earlier
    accepted: Collection[str] = ()
    is_void: bool = False
    _same: dict[Role, Run] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """How many launches of a side needn't be made again."""
        return 0 if self.is_void else len(self.earlier.pairs)

    @property
    def first(self) -> int:
        """The number of the first launch that this session makes itself."""
        return self.earlier.pairs[-1] + 1

    def look(self, run: Run, now: Snapshot, store: Store, journal: Journal) -> None:
        """Compare what this side runs now with what it ran then; the last side to be the same takes over."""
        if self.is_void:
            return
        then = self._then(run.role)
        changed = changed_since(now, then.snapshot or Snapshot(), self.accepted)
        if changed:
            self.is_void = True
            more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            journal.note(
                f"everything is measured anew, since run {then.id} ran something else: {changed[0].meaning}{more}"
            )
            return
        self._same[run.role] = run
        if len(self._same) == (1 if self.earlier.baseline is None else 2):
            self._take_over(store, journal)

    def _take_over(self, store: Store, journal: Journal) -> None:
        for role, run in self._same.items():
            then = self._then(role)
            store.add_samples(run.id, kept_samples(then, self.earlier.pairs))
            if role == "baseline":
                store.note_run(run.id, f"{len(self.earlier.pairs)} of its launches are of run {then.id}")
        journal.note(f"resumed: {self.earlier.name} are kept, which was interrupted")

    def _then(self, role: Role) -> Run:
        found = self.earlier.candidate if role == "candidate" else self.earlier.baseline
        assert found is not None
        return found
