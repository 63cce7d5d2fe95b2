"""Where an item of a plan stands: its status, its transitions, and all that is recorded of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import computed_field

from optrack.model.judgement import Judgement
from optrack.model.plan import Item, Status
from optrack.model.run import Outcome
from optrack.model.value import Frozen


class Transition(Frozen):
    """One recorded change of an item's status: when (UTC), from what to what, by whom, why, for which run.

    `before` is None where the item came into the plan with a status of its own (a checked box).
    """

    seq: int
    plan: str
    item: str
    before: Status | None
    after: Status
    who: str
    why: str
    run: str | None = None
    at: datetime

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_hand(self) -> bool:
        """Whether somebody set this status, rather than a run or what follows from runs."""
        return self.run is None and self.who != "optrack"


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


Against = Literal["baseline", "original"]


class Judged(Frozen):
    """A recorded judgement; `against` tells the baseline of its time from the plan's original one."""

    seq: int
    plan: str
    item: str
    at: datetime
    against: Against
    judgement: Judgement


def judgement_of(
    judgements: Sequence[Judged], run: str | None, against: Against = "baseline"
) -> Judgement | None:
    """Return the latest judgement of exactly this run against its baseline, or against the original."""
    found = (j.judgement for j in reversed(judgements) if j.against == against)
    return next((judgement for judgement in found if judgement.candidate == run), None)


class Acceptance(Frozen):
    """Somebody's word that a difference in `field` doesn't matter: to an item's comparisons or the plan's."""

    seq: int
    plan: str
    field: str
    item: str | None
    who: str
    why: str
    at: datetime


class Adoption(Frozen):
    """An item whose configuration was made the base of what follows; `run` is the evidence for it.

    `undone_at` and `undone_by` tell when and by whom it was undone, None while it is in force.
    """

    seq: int
    plan: str
    item: str
    run: str | None
    who: str
    why: str
    undone_by: str | None = None
    at: datetime
    undone_at: datetime | None = None


class KnownFailure(Frozen):
    """One failure by its fingerprint, with every run that met it, oldest first."""

    fingerprint: str
    kind: str
    message: str
    items: tuple[str, ...]
    runs: tuple[str, ...]
    first_at: datetime
    last_at: datetime
