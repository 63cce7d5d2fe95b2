"""Where the items of a plan stand, as the database tells it: what choosing and the screens work on."""

from __future__ import annotations

from datetime import datetime

from optrack.core.frozen import Frozen
from optrack.core.judgement import Judgement
from optrack.core.plan import Item
from optrack.core.run import Outcome
from optrack.core.status import Status


class Transition(Frozen):
    """One recorded change of an item's status: when (UTC), from what to what, by whom, why, for which run."""

    seq: int
    plan: str
    item: str
    at: datetime
    before: Status | None
    after: Status
    who: str
    why: str
    run: str | None = None


class Note(Frozen):
    """A remark that somebody attached to an item."""

    at: datetime
    who: str
    text: str


class ItemState(Frozen):
    """An item with its standing: status, runs so far, and the judgement in force.

    `stale` means that the recipe was edited after the run that the judgement rests on; `archived` that the
    item has vanished from the plan and only its history is kept.
    """

    item: Item
    status: Status
    archived: bool = False
    stale: bool = False
    adopted: bool = False
    runs: int = 0
    last_run: str | None = None
    last_outcome: Outcome | None = None
    judgement: Judgement | None = None
    notes: tuple[Note, ...] = ()
