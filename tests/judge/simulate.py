"""How often the judge errs and what it finds: `python -m tests.judge.simulate` prints the tables.

Every number comes from the judge's own functions on made-up sessions: two-level noise with a spread of 1.5%
between launches and 2% between a launch's five repetitions, and harsher kinds of noise.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optrack.judge.baselines import history_of
from optrack.judge.evidence import Evidence, History, Launch, Rules
from optrack.judge.interval import estimate
from optrack.judge.sequential import is_settled, launch_order
from optrack.judge.verdict import conclude
from optrack.model.judgement import Verdict
from optrack.model.metrics import metric_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Noise = Callable[[np.random.Generator, int], Floats]

METRIC = metric_named("output_throughput")
REPETITIONS = 5
LAUNCH_SPREAD, REPETITION_SPREAD = 0.015, 0.02
ITEMS = 12
"""Items of a campaign."""
MOST = 16
"""Launches a side that a sequential session may use."""


def two_level(random: np.random.Generator, launches: int) -> Floats:
    """Normal noise between launches and between repetitions."""
    return LAUNCH_SPREAD * random.standard_normal(launches)


def skewed(random: np.random.Generator, launches: int) -> Floats:
    """Now and then a launch is much slower, never much faster."""
    noise: Floats = -LAUNCH_SPREAD * (random.exponential(1.0, launches) - 1)
    return noise


def heavy(random: np.random.Generator, launches: int) -> Floats:
    """Outliers on both sides: Student's t with 2.5 degrees of freedom."""
    noise: Floats = LAUNCH_SPREAD * random.standard_t(2.5, launches)
    return noise


def bimodal(random: np.random.Generator, launches: int) -> Floats:
    """Each launch falls into one of two states, 6% apart."""
    return 0.005 * random.standard_normal(launches) + 0.06 * (random.random(launches) < 0.5)


def warming(random: np.random.Generator, launches: int) -> Floats:
    """The machine gets slower by 1% with every launch."""
    return two_level(random, launches) - 0.01 * _numbered(launches)


def wandering(random: np.random.Generator, launches: int) -> Floats:
    """The machine's speed wanders by 1% from launch to launch."""
    import numpy as np

    return two_level(random, launches) + np.cumsum(0.01 * random.standard_normal(launches))


def stepping(random: np.random.Generator, launches: int) -> Floats:
    """At some launch a neighbour arrives, and everything is 5% slower from then on."""
    return two_level(random, launches) - 0.05 * (_numbered(launches) >= random.integers(1, launches))


def _numbered(launches: int) -> Floats:
    import numpy as np

    return np.arange(launches, dtype=float)


NOISES: dict[str, Noise] = {
    "two-level normal": two_level,
    "skewed": skewed,
    "heavy-tailed": heavy,
    "bimodal": bimodal,
    "drift: linear": warming,
    "drift: wandering": wandering,
    "drift: step": stepping,
}


@dataclass(frozen=True)
class Design:
    """How a session is measured: `launches` a side, or up to them in a sequential session."""

    name: str
    launches: int
    sequential: bool = False
    interleaved: bool = True
    family: int = 1
    knows: int = 0
    """Earlier runs of the plan from which the spread between launches is known."""
    baseline: int | None = None
    """The baseline's launches where they are others than the candidate's; they then lend their spread."""


@dataclass
class Tally:
    """What a design did over many sessions."""

    sessions: int = 0
    launches: int = 0
    improvement: int = 0
    regression: int = 0
    no_change: int = 0

    def count(self, verdict: Verdict, launches: int) -> None:
        """Add one session."""
        self.sessions += 1
        self.launches += launches
        if verdict in ("improvement", "regression", "no_change"):
            setattr(self, verdict, getattr(self, verdict) + 1)

    def share(self, count: int) -> float:
        """Return a count as a percentage of the sessions."""
        return 100 * count / self.sessions

    @property
    def mean_launches(self) -> float:
        """Launches a side per session."""
        return self.launches / self.sessions


def simulate(design: Design, noise: Noise, effect: float, sessions: int, seed: int = 1) -> Tally:
    """Return what `design` concludes over `sessions` sessions in which the truth is `effect`."""
    import numpy as np

    random = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(sessions):
        blocks = ("baseline",) * (design.baseline or design.launches) + ("candidate",) * design.launches
        turns = launch_order(design.launches) if design.interleaved else blocks
        total = len(turns)
        gain = np.log1p(effect) * np.array([turn == "candidate" for turn in turns])
        levels = noise(random, total) + gain
        passes = np.exp(levels[:, None] + REPETITION_SPREAD * random.standard_normal((total, REPETITIONS)))
        session = [
            (turn, Launch.model_construct(number=k, position=k, values=tuple(map(float, passes[k]))))
            for k, turn in enumerate(turns)
        ]
        tally.count(*_concluded(design, session, _history(design, noise, random)))
    return tally


def _history(design: Design, noise: Noise, random: np.random.Generator) -> History | None:
    """Return the spread as the plan would know it from earlier runs of six launches each."""
    runs = []
    for _ in range(design.knows):
        levels = noise(random, 6) + REPETITION_SPREAD / math.sqrt(REPETITIONS) * random.standard_normal(6)
        launches = tuple(
            Launch.model_construct(number=k, position=k, values=(math.exp(level),))
            for k, level in enumerate(levels)
        )
        runs.append(Evidence.model_construct(launches=launches, invalid={}, positive=True))
    return history_of({"earlier": runs})


def _concluded(
    design: Design, session: list[tuple[str, Launch]], history: History | None
) -> tuple[Verdict, int]:
    rules = Rules(
        metric=METRIC,
        sequential=design.sequential,
        max_launches=design.launches,
        interleaved=design.interleaved,
        family=design.family,
        history=history,
    )
    first = 2 if design.sequential else design.launches
    for made in range(first, design.launches + 1):
        so_far = session[: 2 * made] if design.interleaved else session
        sides = [
            Evidence.model_construct(
                launches=tuple(launch for turn, launch in so_far if turn == side),
                invalid={},
                positive=True,
            )
            for side in ("candidate", "baseline")
        ]
        if design.baseline:
            history = history_of({"baseline": [sides[1]]})
        found = estimate(sides[0], sides[1], interleaved=design.interleaved, history=history)
        assert found is not None
        if made == design.launches or is_settled(found, rules, "higher"):
            conclusion = conclude(found, rules, "higher")
            assert conclusion is not None
            return conclusion.verdict, made
    raise AssertionError("a session ends at its last launch")


DESIGNS = (
    Design("3 launches", 3),
    Design("5 launches", 5),
    Design("sequential", MOST, sequential=True),
    Design("sequential, spread known", MOST, sequential=True, knows=6),
    Design("5 launches, block order", 5, interleaved=False),
    Design("1 after a block of 4", 1, interleaved=False, baseline=4),
    Design("2 after a block of 4", 2, interleaved=False, baseline=4),
)


def same_power(effect: float, wanted: float, sessions: int, knows: int) -> tuple[int, float]:
    """Return the least fixed number of launches that detects `effect` as often as `wanted` (percent)."""
    for launches in range(3, 41):
        tally = simulate(Design("", launches, knows=knows), two_level, effect, sessions)
        if tally.share(tally.improvement) >= wanted:
            return launches, tally.share(tally.improvement)
    return 41, 0.0


def campaigns(design: Design, count: int) -> float:
    """Return in how many of `count` campaigns, %, any of `design.family` items without effect is credited."""
    wrong = sum(
        simulate(design, two_level, 0.0, design.family, seed=campaign).improvement > 0
        for campaign in range(count)
    )
    return 100 * wrong / count


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000, help="sessions per cell (default 2000)")
    sessions = parser.parse_args(argv).sessions
    out = sys.stdout
    out.write(f"False claims of identical sides, % of {sessions} sessions (minimum effect 2%, 95%)\n")
    out.write(f"{'noise':18}" + "".join(f"{design.name:>26}" for design in DESIGNS) + "\n")
    for name, noise in NOISES.items():
        tallies = [simulate(design, noise, 0.0, sessions) for design in DESIGNS]
        cells = [f"{tally.share(tally.improvement + tally.regression):26.1f}" for tally in tallies]
        out.write(f"{name:18}{''.join(cells)}\n")
        out.flush()
    out.write(f"\nAny false improvement in a campaign of {ITEMS} items, % of {sessions // 4} campaigns\n")
    for design in DESIGNS[1:4]:
        bounded = campaigns(replace(design, family=ITEMS), sessions // 4)
        out.write(f"{design.name:26}{bounded:5.1f}\n")
        out.flush()
    for effect in (0.03, 0.05):
        out.write(f"\nDetections of a true gain of {effect:.0%}, %\n")
        for name, noise in NOISES.items():
            tallies = [simulate(design, noise, effect, sessions) for design in DESIGNS]
            cells = [f"{tally.share(tally.improvement):26.1f}" for tally in tallies]
            out.write(f"{name:18}{''.join(cells)}\n")
            out.flush()
    out.write("\nLaunches a side under two-level noise, against the fixed number that detects as often\n")
    for design in DESIGNS[2:4]:
        fixed: dict[float, int] = {}
        for effect in (0.05, 0.03, 0.0):
            tally = simulate(design, two_level, effect, sessions)
            claims = tally.share(tally.improvement)
            if effect:
                fixed[effect], power = same_power(effect, claims, sessions, design.knows)
                against = f"fixed {fixed[effect]} detects {power:.1f}%"
            else:
                fixed[effect] = fixed[0.03]
                against = f"against the fixed {fixed[effect]} that serve for 3%"
            out.write(
                f"{design.name:26} effect {effect:3.0%}: detects {claims:5.1f}%, no change "
                f"{tally.share(tally.no_change):4.1f}%, mean {tally.mean_launches:4.1f}; {against}: "
                f"{100 * tally.mean_launches / fixed[effect]:.0f}%\n"
            )
            out.flush()


if __name__ == "__main__":
    main()
