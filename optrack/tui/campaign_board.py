"""The board of a real campaign: what is recorded, read anew when it changes, and what others do on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from optrack.app import actions, rejudging, running
from optrack.app.project import Project
from optrack.model.plan import Status
from optrack.tui.campaign_reading import CampaignReading

T = TypeVar("T")


class CampaignBoard(CampaignReading):
    """A campaign as the screens see it; safe to call from any thread, and acting never delays reading."""

    def _acting(self, work: Callable[[Project], T]) -> T:
        """Do `work` on a project of its own: starting a run waits until its runner has answered."""
        return work(self._fresh())

    def start_next(self) -> str:
        """Start the next item's run; return the run's id."""
        return self._acting(running.start_next)

    def run_item(self, item: str) -> str:
        """Start a run of this item; return the run's id."""
        return self._acting(lambda project: running.start(project, item))

    def stop(self, run: str, *, force: bool = False) -> None:
        """Ask the runner to stop."""
        self._acting(lambda project: running.stop(project, run, force=force))

    def mark(self, item: str, status: Status, why: str) -> None:
        """Move the item to this status by hand."""
        self._acting(lambda project: actions.mark(project, item, status, why=why))

    def skip(self, item: str, why: str) -> None:
        """Cancel the item."""
        self.mark(item, "cancelled", why)

    def note(self, item: str, text: str) -> None:
        """Attach a remark to the item."""
        self._acting(lambda project: actions.note(project, item, text))

    def adopt(self, item: str) -> None:
        """Make the item part of the base of what follows."""
        self._acting(lambda project: actions.adopt(project, item, why="adopted on the screen"))

    def accept(self, item: str, field: str, why: str) -> None:
        """Accept a difference as harmless to this item, and judge it again."""
        self._acting(lambda project: rejudging.accept(project, field, item=item, why=why))

    def ablate(self, item: str) -> Sequence[str]:
        """Add the items that take the item's treatment apart; return their ids."""
        return [part.id for part in self._acting(lambda project: actions.ablate(project, item))]
