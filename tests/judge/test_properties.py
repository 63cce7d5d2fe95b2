"""What holds of every judgement, whatever was measured."""

from __future__ import annotations

import math
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from optrack.judge.evidence import Side, rules_of
from optrack.judge.judging import judge
from optrack.judge.sequential import next_step
from optrack.model.judgement import Comparison, Judgement
from optrack.model.metrics import Sample
from optrack.model.recipe import Recipe
from tests.judge.session import SPEED, rules, side

VALUES = st.one_of(
    st.floats(50, 150),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -1.0, 1e308, 5e-324]),
)


@st.composite
def sides(draw: st.DrawFn, name: str = "1B") -> Side:
    count = draw(st.integers(0, 6))
    measured = tuple(
        Sample(
            metric=SPEED,
            value=draw(VALUES),
            launch=launch,
            repetition=repetition,
            invalid=draw(st.sampled_from([None, None, None, "2 of 64 requests failed"])),
        )
        for launch in range(count)
        for repetition in range(draw(st.integers(1, 3)))
    )
    return side(name, [()] * count, samples=measured)


@settings(max_examples=150, deadline=None)
@given(
    sides(),
    sides("baseline"),
    st.sampled_from(["fair", "unfair", "unknown"]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_was_measured_there_is_a_judgement_with_reasons(
    ours: Side, theirs: Side, comparison: Comparison, interleaved: bool, sequential: bool
) -> None:
    chosen = rules(interleaved=interleaved, sequential=sequential, max_launches=6)
    judgement = judge(ours, theirs, chosen, comparison=comparison, factors={"env.A": ("1", "2")})
    assert judgement.reasons
    assert Judgement.model_validate_json(judgement.model_dump_json()).verdict == judgement.verdict
    if comparison == "unfair":
        assert judgement.verdict is None
    if judgement.effect is not None:
        effect = judgement.effect
        assert all(math.isfinite(value) for value in (effect.relative, effect.low, effect.high))
        assert effect.low <= effect.relative <= effect.high
    assert next_step(ours, theirs, chosen) in ("more", "settled")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(80, 120), min_size=3, max_size=8, unique=True), st.floats(0.01, 1000))
def test_the_unit_of_the_metric_does_not_matter(values: list[float], scale: float) -> None:
    def judged(by: float) -> Judgement:
        ours = side("1B", [(value * by,) for value in values])
        theirs = side("baseline", [(value * by,) for value in reversed(values)])
        return judge(ours, theirs, rules(), comparison="fair", factors={"env.A": ("1", "2")})

    once, scaled = judged(1.0).effect, judged(scale).effect
    assert once is not None and scaled is not None
    assert math.isclose(once.low, scaled.low, rel_tol=1e-6, abs_tol=1e-6)


def test_a_recipe_says_how_long_a_session_may_be() -> None:
    fixed = rules_of(Recipe(launches=2), SPEED, min_effect=0.05, interleaved=True)
    assert (fixed.sequential, fixed.max_launches, fixed.min_effect) == (False, 2, 0.05)
    open_ended = rules_of(Recipe(stop="sequential"), SPEED, min_effect=0.05, interleaved=True)
    assert (open_ended.sequential, open_ended.max_launches) == (True, 16)
    capped = rules_of(Recipe(stop="sequential", launches=5), SPEED, min_effect=0.05, interleaved=True)
    assert capped.max_launches == 5
    blocks = rules_of(Recipe(stop="sequential", launches=5), SPEED, min_effect=0.05, interleaved=False)
    assert (blocks.sequential, blocks.max_launches) == (False, 5)


def test_importing_the_judge_loads_no_statistics() -> None:
    code = (
        "import sys, optrack.judge, optrack.judge.audit, optrack.judge.derived\n"
        "print([name for name in ('numpy', 'scipy', 'simpleeval') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
