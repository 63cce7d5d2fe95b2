"""How often the judge errs and what it finds: `python -m tests.judge.simulate` prints the tables.

Every number comes from the judge's own functions on made-up campaigns: a spread of 1.5% between launches and of 2%
between a launch's five repetitions, and harsher kinds of noise that go on through the whole campaign.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optrack.judge.baselines import history_of
from optrack.judge.evidence import Evidence, Launch, Rules, first_look_of, unlike_losses
from optrack.judge.interval import Estimate, estimate
from optrack.judge.sequential import is_settled, round_order
from optrack.judge.verdict import Conclusion, conclude
from optrack.model.judgement import Verdict
from optrack.model.metrics import metric_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Series = Callable[[np.random.Generator, int], Floats]

METRIC = metric_named("output_throughput")
REPETITIONS = 5
LAUNCH_SPREAD, REPETITION_SPREAD = 0.015, 0.02
LONGEST = 600
"""Launches of a campaign at most."""
MIXED = (0.10, -0.05, 0.05, 0.05, *[0.0] * 8)
"""The true effects of a campaign of twelve items."""


def normal(random: np.random.Generator, count: int) -> Floats:
    """Independent launches."""
    return LAUNCH_SPREAD * random.standard_normal(count)


def heavy(random: np.random.Generator, count: int) -> Floats:
    """Heavy tails: Student's t with 3 degrees of freedom."""
    noise: Floats = LAUNCH_SPREAD / math.sqrt(3) * random.standard_t(3, count)
    return noise


def skewed(random: np.random.Generator, count: int) -> Floats:
    """Now and then a launch is much slower, never much faster."""
    noise: Floats = -LAUNCH_SPREAD * (random.exponential(1.0, count) - 1)
    return noise


def walking(random: np.random.Generator, count: int) -> Floats:
    """The machine's speed wanders by 1% from launch to launch."""
    import numpy as np

    return normal(random, count) + np.cumsum(0.01 * random.standard_normal(count))


def drifting(random: np.random.Generator, count: int) -> Floats:
    """The machine gets slower by 1% with every launch."""
    return normal(random, count) - 0.01 * _times(count)


def stepping(random: np.random.Generator, count: int) -> Floats:
    """Now and then a neighbour arrives or leaves: everything is 5% slower for some dozen launches."""
    begin = random.integers(0, 24)
    return normal(random, count) - 0.05 * ((_times(count) + begin) // 12 % 2)


def periodic(period: int) -> Series:
    """Return noise with a disturbance of 3% in half of each `period` launches."""

    def series(random: np.random.Generator, count: int) -> Floats:
        phase = random.integers(0, period)
        return normal(random, count) + 0.03 * (((_times(count) + phase) % period) < period / 2)

    return series


def placed(random: np.random.Generator, count: int) -> Floats:
    """Each launch falls into one of two states, 4% apart."""
    return 0.005 * random.standard_normal(count) + 0.04 * (random.random(count) < 0.5)


def outlying(random: np.random.Generator, count: int) -> Floats:
    """One launch in twenty is 10% slower."""
    return normal(random, count) - 0.1 * (random.random(count) < 0.05)


def _times(count: int) -> Floats:
    import numpy as np

    return np.arange(count, dtype=float)


@dataclass(frozen=True)
class Noise:
    """A kind of noise: a series over the campaign's launches, and what is special to some launches.

    `louder` items (from the last) have three times the spread of a launch; `cold` is what the first launch of a
    session loses; values are rounded to `step`; of the candidate's slower passes the share `lost` is lost.
    """

    series: Series = normal
    louder: int = 0
    cold: float = 0.0
    step: float = 0.0
    lost: float = 0.0


NOISES: dict[str, Noise] = {
    "normal": Noise(),
    "heavy tails": Noise(heavy),
    "skewed": Noise(skewed),
    "walk": Noise(walking),
    "drift": Noise(drifting),
    "step": Noise(stepping),
    "period of 2": Noise(periodic(2)),
    "period of 3": Noise(periodic(3)),
    "period of 4": Noise(periodic(4)),
    "placements": Noise(placed),
    "outlier launches": Noise(outlying),
    "2 of 12 noisier": Noise(louder=2),
    "all noisier": Noise(louder=12),
    "cold first launch": Noise(cold=0.1),
    "quantised": Noise(step=1.0),
    "lost passes": Noise(lost=0.6),
}


@dataclass(frozen=True)
class Design:
    """How a campaign is measured: a first run of the baseline, then its items in sessions of `together` at once, of
    `launches` rounds each, or up to as many if `sequential`; in block order the baseline is measured after all."""

    name: str
    launches: int
    sequential: bool = False
    together: int = 1
    first: int = 4
    block: bool = False


@dataclass
class Tally:
    """What a design did with items of one true effect."""

    items: int = 0
    launches: float = 0.0
    covered: int = 0
    verdicts: dict[Verdict, int] = field(default_factory=dict)

    def share(self, *verdicts: Verdict) -> float:
        """Return how often these verdicts came, in percent."""
        return 100 * sum(self.verdicts.get(verdict, 0) for verdict in verdicts) / self.items

    @property
    def mean_launches(self) -> float:
        """Launches of both sides for an item."""
        return self.launches / self.items

    @property
    def coverage(self) -> float:
        """How often the interval holds the truth, in percent."""
        return 100 * self.covered / self.items


class Campaign:
    """One made-up campaign: its machine, what was measured so far, and what was concluded."""

    def __init__(
        self, design: Design, noise: Noise, truths: Sequence[float], random: np.random.Generator
    ) -> None:
        self._design, self._noise, self._truths, self._random = design, noise, truths, random
        self._series = noise.series(random, LONGEST)
        self._time = 0
        self._runs: dict[int, list[Evidence]] = {}
        self.conclusions: list[tuple[Conclusion, float]] = []
        self._credited = 0

    def launch(self, item: int, round_: int, *, is_first: bool = False) -> tuple[Launch, int]:
        """Return the next launch of the machine and how many of its passes were lost; item -1 is the baseline."""
        import numpy as np

        level = float(self._series[self._time]) - self._noise.cold * is_first
        if item >= 0:
            level += math.log1p(self._truths[item])
            if item >= len(self._truths) - self._noise.louder:
                level += LAUNCH_SPREAD * math.sqrt(8) * self._random.standard_normal()
        noise = REPETITION_SPREAD * self._random.standard_normal(REPETITIONS)
        values = 50 * np.exp(level + noise)
        if self._noise.step:
            values = np.round(values / self._noise.step) * self._noise.step
        kept = np.ones(REPETITIONS, bool)
        if item >= 0 and self._noise.lost:
            kept = (noise > 0) | (self._random.random(REPETITIONS) > self._noise.lost)
            kept[0] |= not kept.any()
        passes = tuple(float(value) for value in values[kept])
        launch = Launch.model_construct(number=round_, position=self._time, round=round_, values=passes)
        self._time += 1
        return launch, REPETITIONS - len(passes)

    def run(self) -> list[tuple[Conclusion, float]]:
        """Return each item's conclusion and how many launches it cost."""
        design = self._design
        if design.first:
            block = [self.launch(-1, k, is_first=k == 0) for k in range(design.first)]
            self._runs[-1] = [_evidence(block)]
        if design.block:
            self._run_blocks()
            return self.conclusions
        items = range(len(self._truths))
        for begin in items[:: design.together]:
            self._session(list(items[begin : begin + design.together]))
        return self.conclusions

    def _rules(self) -> Rules:
        history = history_of({str(item): runs for item, runs in self._runs.items()})
        design = self._design
        return Rules(
            metric=METRIC,
            sequential=design.sequential,
            max_launches=design.launches,
            first_look=first_look_of(history, design.launches, is_shared=design.together > 1),
            interleaved=not design.block,
            family=len(self._truths),
            credited=self._credited,
            history=history,
        )

    def _session(self, items: list[int]) -> None:
        rules, seed = self._rules(), int(self._random.integers(2**31))
        made: dict[int, list[tuple[Launch, int]]] = {item: [] for item in (-1, *items)}
        active, cost = list(items), dict.fromkeys(items, 0.0)
        found: dict[int, Conclusion] = {}
        for number in range(self._design.launches):
            turns = round_order(seed, number, len(active))
            for place, turn in enumerate(turns):
                item = active[turn] if turn >= 0 else -1
                made[item].append(self.launch(item, number, is_first=number == place == 0))
            cost |= {item: cost[item] + len(turns) / len(active) for item in active}
            for item in list(active):
                others = [name for name in items if name != item]
                runs = self._runs | {name: [_evidence(made[name])] for name in others if made[name]}
                history = history_of({str(name): evidence for name, evidence in runs.items()})
                known = rules.model_copy(update={"history": history})
                conclusion = _concluded(_evidence(made[item]), _evidence(made[-1]), known, number + 1)
                if conclusion is not None:
                    found[item] = conclusion
                    active.remove(item)
            if not active:
                break
        for item in items:
            self.conclusions.append((found[item], cost[item]))
            self._credited += found[item].verdict == "improvement"
            self._runs[item] = [_evidence(made[item])]
        self._runs.setdefault(-1, []).append(_evidence(made[-1]))

    def _run_blocks(self) -> None:
        """Measure three items at a time between two blocks of the baseline."""
        design, items = self._design, range(len(self._truths))
        before, middle = self._runs[-1][0], (design.first - 1) / 2
        for begin in items[::3]:
            blocks = []
            for item in items[begin : begin + 3]:
                first = self._time
                block = _evidence([self.launch(item, k) for k in range(design.launches)])
                blocks.append((item, block, (first + self._time - 1) / 2))
            end = self._time + (design.first - 1) / 2
            after = _evidence([self.launch(-1, k) for k in range(design.first)])
            for item, block, at in blocks:
                weight = (at - middle) / (end - middle)
                self.conclusions.append((self._between(block, before, after, weight), design.launches))
                self._runs[item] = [block]
            self._runs[-1].append(after)
            before, middle = after, end
        cost = design.first * len(self._runs[-1]) / len(items)
        self.conclusions = [(conclusion, made + cost) for conclusion, made in self.conclusions]

    def _between(self, ours: Evidence, before: Evidence, after: Evidence, weight: float) -> Conclusion:
        rules = self._rules()
        found = estimate(ours, before, interleaved=False, history=rules.history, after=after, weight=weight)
        assert found is not None
        conclusion = conclude(found, rules, "higher")
        assert conclusion is not None
        return conclusion


def _evidence(made: Sequence[tuple[Launch, int]]) -> Evidence:
    lost = sum(count for _, count in made)
    return Evidence.model_construct(
        launches=tuple(launch for launch, _ in made),
        invalid={"timed out": lost} if lost else {},
        positive=True,
        made=frozenset(range(len(made))),
    )


def _concluded(ours: Evidence, theirs: Evidence, rules: Rules, made: int) -> Conclusion | None:
    """Return what a session ends with after `made` rounds; None where it goes on."""
    is_last = made == rules.max_launches
    if not is_last and (not rules.sequential or made < 2):
        return None
    found = estimate(ours, theirs, interleaved=True, history=rules.history)
    if found is None:
        return None
    if unlike_losses(ours, theirs, interleaved=True) is not None:
        return Conclusion(verdict="inconclusive", effect=found.effect(rules.confidence)) if is_last else None
    return conclude(found, rules, "higher") if is_last or is_settled(found, rules, "higher") else None


def campaigns(
    design: Design, noise: Noise, truths: Sequence[float], count: int, seed: int = 1
) -> Iterator[list[tuple[Conclusion, float]]]:
    """Yield what `count` campaigns of items with these true effects come to."""
    import numpy as np

    random = np.random.default_rng(seed)
    for _ in range(count):
        yield Campaign(design, noise, truths, random).run()


def simulate(design: Design, noise: Noise, effect: float, sessions: int, seed: int = 1) -> Tally:
    """Return what `design` concludes of one item, over `sessions` campaigns in which its truth is `effect`."""
    tally = Tally()
    for ((conclusion, launches),) in campaigns(design, noise, [effect], sessions, seed):
        tally.items += 1
        tally.launches += launches
        tally.covered += conclusion.effect.low <= effect <= conclusion.effect.high
        tally.verdicts[conclusion.verdict] = tally.verdicts.get(conclusion.verdict, 0) + 1
    return tally


@dataclass
class Whole:
    """What whole campaigns came to: any false improvement and items of +5% found, in percent; launches an item."""

    false: float
    found: float
    launches: float


def whole(design: Design, noise: Noise, count: int, truths: Sequence[float] = MIXED, seed: int = 1) -> Whole:
    """Return how `count` campaigns went."""
    false = found = 0
    launches = 0.0
    for conclusions in campaigns(design, noise, truths, count, seed):
        claimed = [conclusion.verdict == "improvement" for conclusion, _ in conclusions]
        false += any(claim for claim, truth in zip(claimed, truths, strict=True) if truth <= 0)
        found += sum(claim for claim, truth in zip(claimed, truths, strict=True) if truth == 0.05)
        launches += sum(cost for _, cost in conclusions) / len(truths)
    wanted = max(1, truths.count(0.05) if isinstance(truths, tuple) else 1)
    return Whole(100 * false / count, 100 * found / count / wanted, launches / count)


ALONE = (
    Design("3 pairs", 3, first=0),
    Design("5 pairs", 5, first=0),
    Design("at most 12 pairs", 12, sequential=True, first=0),
    Design("blocks of 4, 2, 4", 2, block=True),
)
TOGETHER = (
    Design("3 pairs", 3),
    Design("at most 8 pairs", 8, sequential=True),
    Design("4 rounds of 6", 4, together=6),
    Design("at most 6 rounds", 6, sequential=True, together=6),
    Design("blocks of 4, 3 x 2, 4", 2, block=True),
)


def promised(rounds: int, sessions: int, effects: Sequence[float] = (0.02, 0.03, 0.04, 0.05)) -> float:
    """Return how often the number of launches that an inconclusive session of `rounds` names decides, in percent."""
    import numpy as np

    from optrack.judge.verdict import launches_needed

    random = np.random.default_rng(5)
    named = kept = 0
    for session in range(sessions):
        truth = effects[session % len(effects)]
        machine = Campaign(Design("", 100, first=0), Noise(), [truth], random)
        sides: dict[int, list[tuple[Launch, int]]] = {0: [], -1: []}

        rules = Rules(metric=METRIC, max_launches=rounds)
        found = _go_on(machine, sides, rounds)
        conclusion = conclude(found, rules, "higher")
        needed = launches_needed(found, rules)
        if conclusion is None or conclusion.verdict != "inconclusive" or needed is None:
            continue
        later = conclude(
            _go_on(machine, sides, needed), rules.model_copy(update={"max_launches": needed}), "higher"
        )
        named += 1
        kept += later is not None and later.verdict != "inconclusive"
    return 100 * kept / max(1, named)


def _go_on(machine: Campaign, sides: dict[int, list[tuple[Launch, int]]], rounds: int) -> Estimate:
    """Return the estimate once the sides have so many rounds of launches."""
    for number in range(len(sides[0]), rounds):
        for turn in round_order(1, number, 1):
            sides[turn].append(machine.launch(turn, number))
    found = estimate(_evidence(sides[0]), _evidence(sides[-1]), interleaved=True)
    assert found is not None
    return found


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000, help="sessions per cell (default 1000)")
    parser.add_argument("--only", default="", help="only the kinds of noise whose name holds this")
    options = parser.parse_args(argv)
    sessions, out = options.sessions, sys.stdout
    noises = {name: noise for name, noise in NOISES.items() if options.only in name}
    out.write("One item: false claims, coverage | improvements at +2 / +5 / +10% | launches at +5%\n")
    for design in ALONE:
        out.write(f"{design.name}\n")
        for name, noise in noises.items():
            null = simulate(design, noise, 0.0, sessions)
            true = [simulate(design, noise, effect, sessions) for effect in (0.02, 0.05, 0.1)]
            power = " / ".join(f"{tally.share('improvement'):3.0f}" for tally in true)
            false = null.share("improvement", "regression")
            line = f"{false:5.1f} {null.coverage:6.1f} | {power} | {true[1].mean_launches:5.1f}"
            out.write(f"  {name:18}{line}\n")
            out.flush()
    out.write("\nTwelve items: any false improvement, % | +5% found, % | launches an item\n")
    for design in TOGETHER:
        out.write(f"{design.name}\n")
        for name, noise in noises.items():
            went = whole(design, noise, max(1, sessions // 4))
            out.write(f"  {name:18}{went.false:5.1f} | {went.found:5.1f} | {went.launches:5.1f}\n")
            out.flush()
    out.write("\nHow often the named number of launches decides, %\n")
    for rounds in (2, 3, 4):
        out.write(f"  after {rounds} pairs: {promised(rounds, sessions):.0f}\n")
        out.flush()


if __name__ == "__main__":
    main()
