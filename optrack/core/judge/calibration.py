"""How far a plan's expected gains were from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from optrack.core.frozen import Frozen
from optrack.core.judge.wording import counted, percent
from optrack.core.metrics import Better
from optrack.core.plan import Quantity

_MILLISECONDS = {"ms": 1.0, "s": 1000.0, "us": 0.001, "µs": 0.001, "ns": 1e-6}


class Expectation(Frozen):
    """An item's expected gain beside its measured one, both as the fraction by which its metric gets better.

    `low` and `high` bound the expectation; `measured` is positive for better.
    """

    item: str
    low: float
    high: float
    measured: float

    @property
    def expected(self) -> float:
        """The middle of the expectation."""
        return (self.low + self.high) / 2

    @property
    def standing(self) -> Literal["below", "within", "above"]:
        """Where the measured gain lies against the expected range."""
        if self.measured < self.low:
            return "below"
        return "above" if self.measured > self.high else "within"


class Calibration(Frozen):
    """All expectations of a plan; `ratio` is expected over measured gain, None where nothing was gained."""

    items: tuple[Expectation, ...]
    ratio: float | None
    text: str


def expected_gain(
    gain: Quantity, baseline: Mapping[str, float], better: Better
) -> tuple[float, float] | None:
    """Return an expected gain as fractions (low, high) of the metric; None if it can't be related to one.

    `15%` and `1.2x` speak of the metric itself. A time (`5-10 ms`) is a saving: it is related to the time
    metric in `baseline` (name -> mean, milliseconds by their suffix `_ms`) when there is exactly one, and a
    saving s of a time t makes a rate better by s / (t - s). A rate (`20 tok/s`) is related to the one metric
    that is given in it, `output_throughput`. `-15%` is a gain of what should be low, and a loss otherwise.
    """
    if gain.low is None or gain.high is None:
        return None
    unit = gain.unit.strip().lower()
    bounds = (gain.low, gain.high)
    if unit == "%":
        sign = -1 if better == "higher" and gain.text.lstrip().startswith(("-", "−")) else 1
        return sign * bounds[0] / 100, sign * bounds[1] / 100
    if unit in ("x", "×"):
        if better == "lower":
            return (1 - 1 / bounds[0], 1 - 1 / bounds[1]) if min(bounds) > 0 else None
        return bounds[0] - 1, bounds[1] - 1
    if unit in _MILLISECONDS:
        times = [value for name, value in baseline.items() if name.endswith("_ms") and value > 0]
        if len(times) != 1:
            return None
        saved = [bound * _MILLISECONDS[unit] / times[0] for bound in bounds]
        if better == "lower":
            return saved[0], saved[1]
        return (saved[0] / (1 - saved[0]), saved[1] / (1 - saved[1])) if max(saved) < 1 else None
    rate = baseline.get("output_throughput", 0.0)
    if unit in ("tok/s", "tokens/s") and rate > 0:
        return bounds[0] / rate, bounds[1] / rate
    return None


def calibrate(items: Sequence[Expectation]) -> Calibration:
    """Return how the plan's estimates did: the sum of the expected gains over the sum of the measured ones.

    Items that lost count with their loss, so estimates of a plan that gained nothing have no ratio.
    """
    expected = sum(item.expected for item in items)
    measured = sum(item.measured for item in items)
    ratio = expected / measured if measured > 0 and expected > 0 else None
    return Calibration(items=tuple(items), ratio=ratio, text=_text(items, expected, measured, ratio))


def _text(items: Sequence[Expectation], expected: float, measured: float, ratio: float | None) -> str:
    if not items:
        return "No item with an expected gain was measured yet."
    sums = f"{percent(expected)} expected, {percent(measured)} measured in sum"
    over = f"over {counted(len(items), 'item')}: {sums}"
    if ratio is None:
        return f"What this plan expected wasn't gained ({over})."
    if 0.8 <= ratio <= 1.25:
        return f"The estimates of this plan were about right ({over})."
    if ratio > 1:
        return f"The estimates of this plan were {ratio:.1f} times too high ({over})."
    return f"The estimates of this plan were {1 / ratio:.1f} times too low ({over})."
