"""What a judgement rests on: each side's samples as launches on a log scale, and the rules to judge by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from pydantic import Field

from optrack.model.metrics import Metric, Sample
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Check, LaunchRange
from optrack.model.run import Failure, Outcome, Stage
from optrack.model.value import Frozen
from optrack.model.wording import counted

MOST_LAUNCHES_A_SIDE = 16
"""How many launches a side a sequential session may use unless its recipe says."""

CONFIDENCE = 0.95
"""The confidence of every interval: what is left over is the chance of a false improvement in a whole plan."""

_KNOWN_WELL = 8
"""Degrees of freedom of a history that is good enough to look at two rounds."""

_LOST_ALIKE = 0.1

_LARGEST = 1e300
"""Sums of larger values may leave the range of a float."""


class Side(Frozen):
    """One side's evidence: what its run measured, in which order, and how it ended.

    `order[k]` is the position of launch k in the session's sequence of launches, all sides counted, from 0, and
    `rounds[k]` the round it was made in; empty if the launches weren't interleaved with the other side's. `at` is
    the middle of the run in seconds since the epoch. `recipe` is the resolved recipe as plain data. `checks` has
    the numbers that guard commands printed, by guard.
    """

    run: str
    item: str
    samples: tuple[Sample, ...] = ()
    outcome: Outcome | None = "succeeded"
    stage: Stage = "teardown"
    failure: Failure | None = None
    recipe: Mapping[str, Any] = Field(default_factory=dict)
    order: tuple[int, ...] = ()
    rounds: tuple[int, ...] = ()
    at: float = 0.0
    checks: Mapping[str, tuple[float, ...]] = Field(default_factory=dict)


class History(Frozen):
    """The spread of a metric between launches of one recipe, from a plan's earlier runs.

    `spread` is the standard deviation of the logarithm of a launch's mean; `freedom` its degrees of freedom;
    `between_runs` the same between the means of separate runs of one recipe, None where never seen, with
    `between_freedom`.
    """

    spread: float
    freedom: int
    runs: int
    between_runs: float | None = None
    between_freedom: int = 1


class Rules(Frozen):
    """What a verdict is judged by.

    `min_effect` and `confidence` are fractions (0.02, 0.95). `family` is the number of comparisons among
    which a false improvement must stay improbable, `credited` of which are improvements already. A session ends
    with `max_launches` a side; `sequential` says that it is looked at round by round, from `first_look` on, and
    ends as soon as the verdict is settled. `guards` are the recipe's checks. `history` is the metric's spread
    between launches, from earlier runs of the plan; `guard_history` that of the guards' metrics.
    """

    metric: Metric
    min_effect: float = 0.02
    confidence: float = CONFIDENCE
    interleaved: bool = True
    family: int = Field(default=1, ge=1)
    credited: int = Field(default=0, ge=0)
    sequential: bool = False
    max_launches: int = Field(default=MOST_LAUNCHES_A_SIDE, ge=1)
    first_look: int | None = None
    history: History | None = None
    guard_history: Mapping[str, History] = Field(default_factory=dict)
    guards: Mapping[str, Check] = Field(default_factory=dict)


def rules_of(
    recipe: Recipe,
    metric: Metric,
    *,
    min_effect: float,
    interleaved: bool,
    family: int = 1,
    history: History | None = None,
    is_shared: bool = False,
) -> Rules:
    """Return the rules that a recipe asks for: its guards, how many launches, and whether it may stop early.

    Only interleaved launches are looked at round by round, so a session in block order never stops early. A
    sequential session that names fewer than three launches may use as many as the rules allow by default.
    `is_shared` if other items are measured in the same rounds.
    """
    sequential = recipe.stop == "sequential" and interleaved
    most = most_launches(recipe, sequential=sequential)
    return Rules(
        metric=metric,
        min_effect=min_effect,
        interleaved=interleaved,
        family=family,
        sequential=sequential,
        max_launches=most,
        first_look=first_look_of(history, most, least=least_launches(recipe), is_shared=is_shared),
        history=history,
        guards=recipe.check,
    )


def most_launches(recipe: Recipe, *, sequential: bool) -> int:
    """Return how many launches a side a session makes at most."""
    asked = recipe.launches
    if isinstance(asked, LaunchRange):
        return asked.max
    return asked if not sequential or asked >= 3 else MOST_LAUNCHES_A_SIDE


def least_launches(recipe: Recipe) -> int:
    """Return how many launches a side a session makes at least."""
    return recipe.launches.min if isinstance(recipe.launches, LaunchRange) else 1


def first_look_of(history: History | None, most: int, *, least: int = 1, is_shared: bool = False) -> int:
    """Return after how many rounds a session may be looked at for the first time.

    Three, or two where the spread is known well and the baseline isn't shared with other items; but not before
    `least` and not after `most`.
    """
    known = history is not None and history.freedom >= _KNOWN_WELL and not is_shared
    return min(max(least, 2 if known else 3), most)


class Launch(Frozen):
    """The valid repetitions of one launch, its place in the session and its round."""

    number: int
    position: int
    round: int
    values: tuple[float, ...]

    @property
    def level(self) -> float:
        """The logarithm of the mean of the launch's repetitions."""
        return math.log(fmean(self.values))


class Evidence(Frozen):
    """One side's launches of one metric, and how many repetitions were kept out as invalid, by reason; `made` are
    the numbers of all launches, those without a valid repetition too."""

    launches: tuple[Launch, ...]
    invalid: Mapping[str, int]
    positive: bool = True
    made: frozenset[int] = frozenset()

    @property
    def lost(self) -> int:
        """How many repetitions are invalid."""
        return sum(self.invalid.values())

    @property
    def passes(self) -> int:
        """How many repetitions were made."""
        return self.lost + sum(len(launch.values) for launch in self.launches)

    @property
    def mean(self) -> float:
        """The mean over launches of their means, in the metric's unit; NaN without launches."""
        return fmean(fmean(x.values) for x in self.launches) if self.launches else math.nan


def fault_of(value: float) -> str | None:
    """Return why a value is no measurement, or None."""
    if not math.isfinite(value):
        return "not a number"
    return "too large to be a measurement" if abs(value) > _LARGEST else None


def evidence_of(side: Side, metric: str) -> Evidence:
    """Return the launches of `metric`: its valid, finite samples; the others counted by what is wrong.

    A launch all of whose repetitions are invalid is no launch. `positive` is False if a launch's mean isn't
    above zero: no relative difference exists then.
    """
    valid: dict[int, list[tuple[int, float]]] = {}
    invalid: dict[str, int] = {}
    made = set()
    for sample in side.samples:
        if sample.metric.name != metric:
            continue
        made.add(sample.launch)
        wrong = sample.invalid or fault_of(sample.value)
        if wrong:
            invalid[wrong] = invalid.get(wrong, 0) + 1
        else:
            valid.setdefault(sample.launch, []).append((sample.repetition, sample.value))
    launches = tuple(
        Launch(
            number=number,
            position=side.order[number] if number < len(side.order) else number,
            round=side.rounds[number] if number < len(side.rounds) else number,
            values=tuple(value for _, value in sorted(valid[number])),
        )
        for number in sorted(valid)
    )
    positive = all(fmean(x.values) > 0 for x in launches)
    return Evidence(launches=launches, invalid=invalid, positive=positive, made=frozenset(made))


class UnlikeLosses(Frozen):
    """Why what is left of two sides is no fair sample, as a sentence; `may_level` if more passes may still help."""

    text: str
    may_level: bool


def unlike_losses(ours: Evidence, theirs: Evidence, interleaved: bool) -> UnlikeLosses | None:
    """Return why invalid passes keep two sides from being compared; None where there are none, or hardly any.

    What fails is seldom random: slow passes time out and the fast ones are judged. So both sides need the same
    launches, and no more than one pass in ten lost on either or rates of loss that don't differ (Fisher's exact
    test, p > 0.1).
    """
    sides = {"candidate": ours, "baseline": theirs}
    dead = {name: len(side.made) - len(side.launches) for name, side in sides.items()}
    same = {x.round for x in ours.launches} == {x.round for x in theirs.launches}
    if any(dead.values()) and not (same if interleaved else dead["candidate"] == dead["baseline"]):
        name = max(dead, key=lambda side: dead[side])
        what = f"{dead[name]} of {counted(len(sides[name].made), 'launch', 'launches')} of the {name}"
        return UnlikeLosses(
            text=f"{what} gave no valid value; the rest isn't a fair sample.", may_level=False
        )
    if all(10 * side.lost <= side.passes for side in sides.values()):
        return None
    if _fisher((ours.lost, ours.passes), (theirs.lost, theirs.passes)) > _LOST_ALIKE:
        return None
    name, worst = max(sides.items(), key=lambda entry: entry[1].lost / max(1, entry[1].passes))
    what = f"{worst.lost} of {counted(worst.passes, 'pass', 'passes')} of the {name} failed"
    return UnlikeLosses(text=f"{what}; the rest isn't a fair sample.", may_level=True)


def _fisher(one: tuple[int, int], other: tuple[int, int]) -> float:
    """Return the two-sided p value of Fisher's exact test for two counts (lost, made)."""
    lost, made = one[0] + other[0], one[1] + other[1]
    chances = [
        math.comb(one[1], k) * math.comb(other[1], lost - k) / math.comb(made, lost)
        for k in range(max(0, lost - other[1]), min(lost, one[1]) + 1)
    ]
    seen = chances[one[0] - max(0, lost - other[1])]
    return sum(chance for chance in chances if chance <= seen * (1 + 1e-9))
