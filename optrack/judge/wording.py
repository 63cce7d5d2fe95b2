"""Numbers and lists as the reasons of a judgement put them into words."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.model.judgement import Effect


def percent(fraction: float, *, signed: bool = True) -> str:
    """Return a fraction as a percentage: with its sign where it is an effect, `+4.2%`, else `2%`."""
    value = 100 * fraction
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 1 or value == 0 else 2
    if not signed:
        return f"{value:.3g}%"
    return f"{value:+.{digits}f}%".replace("-", "−")


def level(fraction: float) -> str:
    """Return a confidence as a percentage without needless digits, `95%`, `99.6%`."""
    return f"{100 * fraction:.4g}%"


def interval(effect: Effect) -> str:
    """Return an effect with its interval, `+4.2% (95% interval +2.1% to +6.4%)`."""
    return (
        f"{percent(effect.relative)} ({level(effect.confidence)} interval "
        f"{percent(effect.low)} to {percent(effect.high)})"
    )


def listed(words: Sequence[str]) -> str:
    """Return words as an enumeration, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, `1 launch`, `3 launches`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def launches(count: int) -> str:
    """Return a number of launches in words."""
    return counted(count, "launch", "launches")


def amount(value: float, unit: str) -> str:
    """Return a value with its unit to four significant digits, `88.8 tok/s`."""
    text = f"{value:.4g}"
    return f"{text} {unit}".rstrip()
