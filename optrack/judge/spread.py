"""How far launches lie apart by chance: in a session, by its repetitions and resolution, by the plan's history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import NormalDist, fmean, variance

from optrack.judge.evidence import Evidence, History, Launch
from optrack.model.value import Frozen
from optrack.model.wording import counted, number

_MOST_LENT = 6.0
"""Degrees of freedom that the history may add to a session's own: a treatment may change the noise, too."""

_MOST_BORROWED = 4.0
_BORROWED_TIMES = 3.0
"""Where a session shows no spread of its own, so many times the history's variance counts, with so many degrees of
freedom at most."""


_POOR = 5.0
"""So many times the minimum effect, the least effect that shows is large enough to look for the noise first."""


class Round(Frozen):
    """One launch of the candidate and the launches of the baseline that were made in the same round."""

    ours: Launch
    theirs: tuple[Launch, ...]

    @property
    def difference(self) -> float:
        """The difference of the logarithms, candidate minus baseline."""
        return self.ours.level - fmean(launch.level for launch in self.theirs)

    @property
    def is_pair(self) -> bool:
        """Whether it is two launches made one after the other."""
        return len(self.theirs) == 1 and abs(self.ours.position - self.theirs[0].position) == 1


class Spread(Frozen):
    """A variance with its degrees of freedom, the session's own, and how many degrees the history lent."""

    variance: float
    freedom: float
    own: float = 0.0
    own_freedom: float = 0.0
    lent: float = 0.0


def rounds_of(candidate: Evidence, baseline: Evidence) -> tuple[Round, ...]:
    """Return the rounds that both sides have launches of, in their order."""
    theirs: dict[int, list[Launch]] = {}
    for launch in baseline.launches:
        theirs.setdefault(launch.round, []).append(launch)
    return tuple(
        Round.model_construct(ours=launch, theirs=tuple(theirs[launch.round]))
        for launch in candidate.launches
        if launch.round in theirs
    )


def spread_of_rounds(rounds: Sequence[Round], history: History | None) -> Spread | None:
    """Return the variance of a round's difference; None where a single round and no history can't tell."""
    share = fmean(1 / len(r.theirs) for r in rounds)
    own = 0.0
    if len(rounds) > 1:
        is_paired = all(r.is_pair for r in rounds)
        own = _neighbour_spread(rounds) if is_paired else variance([r.difference for r in rounds])
    ours, theirs = [r.ours for r in rounds], [launch for r in rounds for launch in r.theirs]
    noise = (1 + share) * _repetition_noise([*ours, *theirs])
    step = resolution(ours, theirs)
    own = max(own, noise, _rounding(ours, step) + share * _rounding(theirs, step))
    known = (1 + share) * history.spread**2 if history is not None else 0.0
    return moderated(own, len(rounds) - 1, known, history)


def moderated(own: float, freedom: float, known: float, history: History | None) -> Spread | None:
    """Return a session's own variance moderated by what the plan's history makes of it (`known`).

    Weighted by their degrees of freedom (moderated t, Smyth, 2004), but never below the session's own variance,
    and with fewer degrees of freedom the farther that lies above: a noisy candidate would profit from quiet ones
    else. None where neither is known.
    """
    lent = min(float(history.freedom), _MOST_LENT) if history is not None else 0.0
    if freedom > 0:
        mixed = (freedom * own + lent * known) / (freedom + lent)
        alike = math.sqrt(min(1.0, known / own)) if own > 0 else 1.0
        return Spread(
            variance=max(own, mixed),
            freedom=freedom + lent * alike,
            own=own,
            own_freedom=freedom,
            lent=lent,
        )
    if lent <= 0:
        return None
    lent = min(lent, _MOST_BORROWED)
    return Spread(variance=max(own, _BORROWED_TIMES * known), freedom=lent, lent=lent)


def spread_of_side(launches: Sequence[Launch], step: float, history: History | None) -> Spread | None:
    """Return the variance of one side's launches in block order; None where it can't be told."""
    own = variance([launch.level for launch in launches]) if len(launches) > 1 else 0.0
    known = history.spread**2 if history is not None else 0.0
    own = max(own, _rounding(launches, step), _repetition_noise(launches))
    return moderated(own, len(launches) - 1, known, history)


def _neighbour_spread(rounds: Sequence[Round]) -> float:
    """Return the variance of a pair's difference, from how much neighbouring launches differ.

    The mean square of successive differences (von Neumann, Kent, Bellinson and Hart, 1941): within a pair
    around the mean difference, and between pairs, where the neighbours are of one side, around zero. Slow
    drift hardly touches it. With normal noise it has more than n - 1 degrees of freedom; it is used with
    n - 1, so that noise with two modes stays within the stated error as well.
    """
    differences = [r.difference for r in rounds]
    centre = fmean(differences)
    squares = [(difference - centre) ** 2 for difference in differences]
    between = [
        (later.level - earlier.level) ** 2
        for before, after in pairwise(sorted(rounds, key=lambda r: r.ours.round))
        for earlier, later in ((before.ours, after.ours), (before.theirs[0], after.theirs[0]))
        if later.position - earlier.position == 1
    ]
    return (sum(squares) + sum(between)) / (len(squares) - 1 + len(between))


def _repetition_noise(launches: Sequence[Launch]) -> float:
    """Return the variance of a launch's level that the repetitions alone account for: a lower bound.

    Repetitions are taken around their launch and around what all launches share at that repetition, so that
    a warm-up common to all isn't noise. 0 where the launches differ in their number of repetitions.
    """
    count = len(launches[0].values)
    if count < 2 or len(launches) < 2:
        return 0.0
    if any(len(launch.values) != count or min(launch.values) <= 0 for launch in launches):
        return 0.0
    logs = [[math.log(value) for value in launch.values] for launch in launches]
    shared = [fmean(row[k] for row in logs) for k in range(count)]
    centre = fmean(shared)
    squares = sum(
        (value - mean - shared[k] + centre) ** 2
        for row in logs
        for mean in [fmean(row)]
        for k, value in enumerate(row)
    )
    return squares / ((len(logs) - 1) * (count - 1)) / count


def resolution(ours: Sequence[Launch], theirs: Sequence[Launch]) -> float:
    """Return the step in which the metric is given: the least by which two values of a side differ or, where
    those are all alike, one unit of the last printed digit."""
    steps = [
        after - before
        for side in (ours, theirs)
        for before, after in pairwise(sorted({value for launch in side for value in launch.values}))
    ]
    if steps:
        return min(steps)
    digits = [Decimal(repr(launch.values[0])) for launch in (*ours, *theirs)]
    return float(10.0 ** max(min(_places(digit) for digit in digits), -15))


def _places(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return min(0, exponent) if isinstance(exponent, int) else 0


def _rounding(launches: Sequence[Launch], step: float) -> float:
    """Return the variance of a launch's level by rounding to `step`: that of a uniform error, over its repetitions."""
    return fmean(min(1.0, step / fmean(x.values)) ** 2 / (12 * len(x.values)) for x in launches)


class Sensitivity(Frozen):
    """The standard deviation between launches, and the least effect that `launches` a side show with a chance of 80%
    in an interval of 95%, both as fractions. `is_poor` where that is so large that its cause should be found."""

    spread: float
    launches: int
    visible: float
    is_poor: bool

    @property
    def text(self) -> str:
        """What it means, as a sentence."""
        differ, visible = f"Launches differ by {_rough(self.spread)}", _rough(self.visible)
        if self.is_poor:
            most = f"with {self.launches} a side only effects above {visible} will show"
            return f"{differ}: {most}; find the cause first."
        return f"{differ}, so {counted(self.launches, 'launch', 'launches')} a side show effects above {visible}."


def sensitivity_of(history: History, launches: int, min_effect: float) -> Sensitivity:
    """Return what `launches` a side can show where launches spread as in `history`."""
    freedom = max(1.0, launches - 1 + min(float(history.freedom), _MOST_LENT))
    reach = _student(0.975, freedom) + 0.84
    visible = math.expm1(min(reach * math.sqrt(2 / launches) * history.spread, 700.0))
    is_poor = visible > _POOR * min_effect
    return Sensitivity(spread=history.spread, launches=launches, visible=visible, is_poor=is_poor)


def _rough(fraction: float) -> str:
    return f"{number(100 * fraction, 2)}%"


def _student(probability: float, freedom: float) -> float:
    """Return a quantile of Student's t by its expansion about the normal one (Abramowitz and Stegun 26.7.5), exactly
    for one and two degrees of freedom: to two digits, and without what takes long to import."""
    if freedom < 1.5:
        return math.tan(math.pi * (probability - 0.5))
    if freedom < 2.5:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    x = NormalDist().inv_cdf(probability)
    first = (x**3 + x) / 4
    second = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    third = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    return x + first / freedom + second / freedom**2 + third / freedom**3
