"""Numbers, counts and lists in words, as reasons, tables and screens write them: the one place that formats them.

A minus is U+2212, thousands are set apart by commas, and no number is written with an `e`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optrack.model.judgement import Effect

MINUS = "−"
CAP = 10.0
"""An interval's upper end above this fraction (1000%) says that nothing is known yet, unless the effect is, too."""
_PLAIN = (1e-6, 1e12)


def number(value: float, digits: int = 4) -> str:
    """Return a value to `digits` significant digits, but all digits before the point: `88.8`, `45,498`, `0.00012`."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else f"{MINUS}inf"
    size = abs(value)
    if size == 0:
        return "0"
    if not _PLAIN[0] <= size < _PLAIN[1]:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return _minus(f"{float(mantissa):g}×10^{int(exponent)}")
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    return _minus(text.rstrip("0").rstrip(".") if decimals else text)


def fixed(value: float, decimals: int) -> str:
    """Return a value with that many decimals, `1,234.50`; what rounds to nothing has no minus."""
    return _minus(f"{value:z,.{decimals}f}") if math.isfinite(value) else number(value)


def amount(value: float, unit: str = "") -> str:
    """Return a value with its unit to four significant digits, `88.8 tok/s`, `45,498 tok/s`."""
    return f"{number(value)} {unit}".rstrip()


def percent(fraction: float, *, signed: bool = True) -> str:
    """Return a fraction as a percentage: with its sign where it is an effect, `+4.2%`, else `2%`."""
    value = 100 * fraction
    if not math.isfinite(value):
        return number(value)
    if not signed or abs(value) >= 1e6:
        return f"{'+' if signed else ''}{number(value, 3)}%"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 1 or value == 0 else 2
    return _minus(f"{value:+z,.{digits}f}%")


def level(fraction: float) -> str:
    """Return a confidence as a percentage without needless digits, `95%`, `99.6%`."""
    return f"{number(100 * fraction)}%"


def ends(effect: Effect) -> tuple[str, str]:
    """Return the ends of an effect's interval, `+2.1%` and `+6.4%`; `>+1000%` where the upper one is without bound."""
    boundless = effect.high > CAP >= effect.relative
    return percent(effect.low), f">+{100 * CAP:.0f}%" if boundless else percent(effect.high)


def interval(effect: Effect) -> str:
    """Return an effect with its interval, `+4.2% (95% interval +2.1% to +6.4%)`."""
    low, high = ends(effect)
    return f"{percent(effect.relative)} ({level(effect.confidence)} interval {low} to {high})"


def listed(words: Sequence[str]) -> str:
    """Return words as an enumeration, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, `1 launch`, `3 launches`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def launches(count: int) -> str:
    """Return a number of launches in words."""
    return counted(count, "launch", "launches")


def cut(text: str, most: int) -> str:
    """Return text of at most `most` characters, the end of a longer one replaced by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _minus(text: str) -> str:
    return text.replace("-", MINUS)
