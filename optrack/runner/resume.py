"""Going on with an interrupted run: which of its launches count again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from optrack.judge.difference import differences
from optrack.model.events import LaunchPlaced, Remarked, SamplesAdded
from optrack.model.judgement import Difference
from optrack.model.metrics import CHECK, Sample
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot
from optrack.model.value import Frozen

if TYPE_CHECKING:
    from optrack.runner.context import RunContext


class Earlier(Frozen):
    """An interrupted run that can be gone on with, the baseline's run beside it (None where it ran alone),
    and the numbers of the launches that are complete on every side."""

    candidate: Run
    baseline: Run | None
    pairs: tuple[int, ...]

    @property
    def name(self) -> str:
        """The launches that are kept, and of which run, as a sentence names them."""
        what = "launch" if self.baseline is None else "pair of launches"
        many = "launches" if self.baseline is None else "pairs of launches"
        return f"{len(self.pairs)} {what if len(self.pairs) == 1 else many} of run {self.candidate.id}"


class Wanted(Frozen):
    """What an interrupted run must have been to be gone on with: the recipes' digests (the baseline's is None
    where none is measured beside the item), the host, and how much a whole run measures: the repetitions of a
    launch, and the launches by how it stops."""

    item: str
    recipe: str
    baseline: str | None
    host: str
    launches: Mapping[str, int]
    repetitions: int


def interrupted_since(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the item's runs that were interrupted since the last one that wasn't; `runs` are newest first."""
    own = [run for run in runs if run.beside is None]
    return tuple(takewhile(lambda run: run.outcome == "interrupted", own))


def earlier_of(found: Sequence[tuple[Run, Run | None]], wanted: Wanted) -> Earlier | str:
    """Return the latest of these runs that can be gone on with, or a sentence why none can.

    `found` holds whole interrupted runs, newest first, each with the baseline's run beside it. Of a run that was
    complete the last pair isn't kept: what runs now must be seen before anything earlier counts with it.
    """
    if not found:
        return f"no run of {wanted.item} was interrupted since the last that ended"
    reasons = []
    for candidate, baseline in found:
        why = _not_the_same(candidate, baseline, wanted)
        if why is None:
            sides = [candidate, *([baseline] if baseline else [])]
            most = wanted.launches[candidate.recipe.get("stop", "fixed")] - 1
            pairs = complete_launches(sides, wanted.repetitions)[:most]
            if pairs:
                return Earlier(candidate=candidate, baseline=baseline, pairs=pairs)
            why = (
                "it has no complete launch to keep" if baseline is None else "it has no complete pair to keep"
            )
        reasons.append(f"run {candidate.id} can't be resumed: {why}")
    return reasons[0]


def complete_launches(sides: Sequence[Run], repetitions: int) -> tuple[int, ...]:
    """Return the numbers of the launches in which every side measured all repetitions, in order."""
    whole = [_complete(side, repetitions) for side in sides]
    return tuple(sorted(set.intersection(*whole))) if whole else ()


def kept_samples(run: Run, launches: Collection[int]) -> tuple[Sample, ...]:
    """Return the run's samples of these launches, without those of guards, which are checked anew."""
    return tuple(s for s in run.samples if s.launch in launches and not s.metric.name.startswith(CHECK))


def changed_since(now: Snapshot, then: Snapshot, accepted: Collection[str] = ()) -> tuple[Difference, ...]:
    """Return what keeps launches that were captured as `then` from counting with those of `now`: differences
    that matter, and what only one of the two could see."""
    found = differences(_at_rest(now), _at_rest(then), declared={}, accepted=accepted)
    return tuple(
        d for d in found if d.severity == "blocking" and (d.cls != "unknown" or d.baseline != d.candidate)
    )


def _at_rest(snapshot: Snapshot) -> Snapshot:
    return snapshot.model_copy(update={"load": None})


def _not_the_same(candidate: Run, baseline: Run | None, wanted: Wanted) -> str | None:
    if candidate.session.companions:
        return "its launches were made in rounds with other items"
    if candidate.host != wanted.host:
        return f"it ran on {candidate.host}"
    if candidate.recipe_digest != wanted.recipe:
        return "the recipe was edited since"
    if wanted.baseline is None or baseline is None:
        return None if wanted.baseline is None and baseline is None else "its launches were in another order"
    return None if baseline.recipe_digest == wanted.baseline else "the baseline's recipe was edited since"


def _complete(run: Run, repetitions: int) -> set[int]:
    seen: dict[int, set[int]] = {}
    for sample in run.samples:
        if not sample.metric.name.startswith(CHECK):
            seen.setdefault(sample.launch, set()).add(sample.repetition)
    return {launch for launch, done in seen.items() if done >= set(range(repetitions))}


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
        """How many launches of an arm needn't be made again."""
        return 0 if self.is_void else len(self.earlier.pairs)

    @property
    def first(self) -> int:
        """The number of the first launch that this session makes itself."""
        return self.earlier.pairs[-1] + 1

    def compare(self, context: RunContext, run: Run, now: Snapshot) -> None:
        """Compare what this arm runs now with what it ran then; the last arm to be the same takes over."""
        if self.is_void:
            return
        then = self._then(run.role)
        changed = changed_since(now, then.snapshot or Snapshot(), self.accepted)
        if changed:
            self.is_void = True
            more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            context.note(
                f"cannot resume run {then.id}: {changed[0].meaning.rstrip('.')}{more}; measuring from scratch"
            )
            return
        self._same[run.role] = run
        if len(self._same) == (1 if self.earlier.baseline is None else 2):
            self._take_over(context)

    def _take_over(self, context: RunContext) -> None:
        for role, run in self._same.items():
            then = self._then(role)
            context.store.record(run.id, SamplesAdded(samples=kept_samples(then, self.earlier.pairs)))
            for launch, place in then.session.places.items():
                if launch in self.earlier.pairs:
                    placed = LaunchPlaced(launch=launch, position=place.position, round=place.round)
                    context.store.record(run.id, placed)
            if role == "baseline":
                sentence = f"{len(self.earlier.pairs)} of its launches are of run {then.id}"
                context.store.record(run.id, Remarked(text=sentence))
        context.note(f"resumed: {self.earlier.name} are kept, which was interrupted")

    def _then(self, role: Role) -> Run:
        found = self.earlier.candidate if role == "candidate" else self.earlier.baseline
        assert found is not None
        return found
