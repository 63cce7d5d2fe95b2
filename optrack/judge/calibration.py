"""How far a plan's expected gains were from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, computed_field

from optrack.model.item import ItemState
from optrack.model.metrics import Metric, means_of
from optrack.model.plan import Quantity
from optrack.model.run import Run
from optrack.model.value import Frozen
from optrack.model.wording import counted, fixed, percent

_MILLISECONDS = {"ms": 1.0, "s": 1000.0, "us": 0.001, "µs": 0.001, "ns": 1e-6}
_RATES = {"tokens/s": "tok/s"}


class Expectation(Frozen):
    """An item's expected gain beside its measured one, both as the fraction by which its metric gets better.

    `low` and `high` bound the expectation; `measured` is positive for better, and lies between `least` and `most`.
    """

    item: str
    low: float
    high: float
    measured: float
    least: float | None = Field(default=None, exclude=True)
    most: float | None = Field(default=None, exclude=True)

    @property
    def expected(self) -> float:
        """The middle of the expectation."""
        return (self.low + self.high) / 2

    @computed_field  # type: ignore[prop-decorator]
    @property
    def standing(self) -> Literal["below", "within", "above"]:
        """Where the measured gain lies against the expected range: outside only where its whole interval does."""
        least = self.measured if self.least is None else self.least
        most = self.measured if self.most is None else self.most
        return "below" if most < self.low else "above" if least > self.high else "within"


class Calibration(Frozen):
    """All expectations of a plan; `ratio` is expected over measured gain, None where nothing was gained."""

    items: tuple[Expectation, ...]
    ratio: float | None
    text: str


def expectation_of(state: ItemState, baseline: Run | None, metric: Metric) -> Expectation | None:
    """Return an item's expected gain beside what a fair comparison with `baseline` decided; None without either."""
    judgement, gain = state.judgement, state.item.gain
    if judgement is None or judgement.effect is None or not judgement.is_decided or gain is None:
        return None
    bounds = expected_gain(gain, means_of(baseline.samples) if baseline else {}, metric)
    if bounds is None:
        return None
    effect, sign = judgement.effect, 1 if metric.better == "higher" else -1
    least, most = sorted((sign * effect.low, sign * effect.high))
    return Expectation(
        item=state.item.id,
        low=min(bounds),
        high=max(bounds),
        measured=sign * effect.relative,
        least=least,
        most=most,
    )


def expected_gain(
    gain: Quantity, baseline: Mapping[str, float], metric: Metric
) -> tuple[float, float] | None:
    """Return an expected gain as fractions (low, high) of `metric`; None if it can't be related to it.

    `15%` and `1.2x` speak of the metric itself, as does an amount in its own unit (`20 tok/s`), which is related
    to its mean in `baseline` (name -> mean). A time (`5-10 ms`) is a saving of the metric where that is a time,
    else of the only time metric there is (by the suffix `_ms`): a saving s of a time t makes a rate better by
    s / (t - s), and no more can be saved than there is. `-15%` is a gain of what should be low, and a loss otherwise.
    """
    if gain.low is None or gain.high is None or metric.better is None:
        return None
    unit = gain.unit.strip().lower()
    bounds = (gain.low, gain.high)
    if unit == "%":
        sign = -1 if metric.better == "higher" and gain.text.lstrip().startswith(("-", "−")) else 1
        return sign * bounds[0] / 100, sign * bounds[1] / 100
    if unit in ("x", "×"):
        if metric.better == "lower":
            return (1 - 1 / bounds[0], 1 - 1 / bounds[1]) if min(bounds) > 0 else None
        return bounds[0] - 1, bounds[1] - 1
    own = baseline.get(metric.name, 0.0)
    if unit in _MILLISECONDS:
        time = _milliseconds(metric, own) or _only_time(baseline)
        if time is None:
            return None
        saved = [bound * _MILLISECONDS[unit] / time for bound in bounds]
        if max(saved) >= 1:
            return None
        if metric.better == "lower":
            return saved[0], saved[1]
        return saved[0] / (1 - saved[0]), saved[1] / (1 - saved[1])
    if unit and own > 0 and _RATES.get(unit, unit) == metric.unit.strip().lower():
        return bounds[0] / own, bounds[1] / own
    return None


def _milliseconds(metric: Metric, mean: float) -> float | None:
    """Return the mean of a metric that is a time in milliseconds; None of any other."""
    unit = metric.unit.strip().lower() or ("ms" if metric.name.endswith("_ms") else "")
    return mean * _MILLISECONDS[unit] if unit in _MILLISECONDS and mean > 0 else None


def _only_time(means: Mapping[str, float]) -> float | None:
    times = [value for name, value in means.items() if name.endswith("_ms") and value > 0]
    return times[0] if len(times) == 1 else None


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
        return f"The estimates of this plan were {fixed(ratio, 1)} times too high ({over})."
    return f"The estimates of this plan were {fixed(1 / ratio, 1)} times too low ({over})."
