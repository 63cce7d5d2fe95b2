"""The shapes of recipe values, and their units."""

from __future__ import annotations

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from optrack.model.units import fraction, number, seconds, size_bytes

_MOST_PATTERN_CHARS = 1000
Path = tuple[str, ...]
Json = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A value that doesn't fit: where (path of keys), what is wrong and what to do."""

    path: Path
    message: str
    hint: str | None = None


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """Return the known spelling nearest to `word`, or None if none is near."""
    folded = {name.casefold().replace("-", "_"): name for name in known}
    found = difflib.get_close_matches(word.casefold().replace("-", "_"), list(folded), n=1, cutoff=0.55)
    return folded[found[0]] if found else None


class Shape(ABC):
    """What a value may look like; None always fits, since in a layer it removes what is below."""

    expected = "a value"

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't fit."""
        if value is not None and not self.fits(value):
            yield Fault(path, f"`{'.'.join(path)}` must be {self.expected}, not {shown(value)}")

    def fits(self, value: Any) -> bool:
        """Whether a value fits by itself; a shape with parts looks at these in `faults`."""
        return True

    @abstractmethod
    def json(self) -> Json:
        """Return the JSON Schema of this shape."""


@dataclass(frozen=True)
class Text(Shape):
    """Text; numbers and booleans count as the text they were written as."""

    what: str = "text"

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What is expected, in words."""
        return self.what

    def fits(self, value: Any) -> bool:
        """Whether it is a scalar."""
        return isinstance(value, str | int | float)

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["string", "number", "boolean", "null"]}


@dataclass(frozen=True)
class Scalar(Text):
    """Any scalar, kept with its type."""


@dataclass(frozen=True)
class Whole(Shape):
    """A whole number from `least`."""

    least: int = 0
    most: int = 2**31

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What is expected, in words."""
        return f"a whole number from {self.least}" + (f" to {self.most}" if self.most < 2**31 else "")

    def fits(self, value: Any) -> bool:
        """Whether it is such a number."""
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["integer", "null"], "minimum": self.least}


class Number(Shape):
    """A number."""

    expected = "a number"

    def fits(self, value: Any) -> bool:
        """Whether it is a number."""
        return number(value) is not None

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["number", "null"]}


class Duration(Shape):
    """A duration."""

    expected = "a duration like `30s`, `20m` or `1h30m`"

    def fits(self, value: Any) -> bool:
        """Whether it is a duration."""
        return seconds(value) is not None

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        pattern = r"^(?=.)(\d+(\.\d+)?h)?(\d+(\.\d+)?m)?(\d+(\.\d+)?s)?$"
        return {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": pattern},
                {"type": "null"},
            ]
        }


class Size(Shape):
    """A size in bytes."""

    expected = "a size like `512MB` or `20GB`"

    def fits(self, value: Any) -> bool:
        """Whether it is a size."""
        return size_bytes(value) is not None

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["integer", "string", "null"]}


class Fraction(Shape):
    """A fraction between 0 and 1."""

    expected = "a fraction like `2%` or `0.02`"

    def fits(self, value: Any) -> bool:
        """Whether it is a fraction."""
        return fraction(value) is not None

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["number", "string", "null"]}


@dataclass(frozen=True)
class OneOf(Shape):
    """One of some words."""

    words: tuple[str, ...]

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't fit, with the nearest word."""
        if value is None or value in self.words:
            return
        near = nearest(str(value), self.words)
        hint = f"did you mean `{near}`?" if near else None
        yield Fault(path, f"`{'.'.join(path)}` must be {_alternatives(self.words)}, not {shown(value)}", hint)

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"enum": [*self.words, None]}


@dataclass(frozen=True)
class Pattern(Shape):
    """A regular expression."""

    expected = "a regular expression"

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't compile."""
        if value is None:
            return
        try:
            if len(str(value)) > _MOST_PATTERN_CHARS:
                raise OverflowError(f"it is longer than {_MOST_PATTERN_CHARS} characters")
            re.compile(str(value))
        except (re.error, OverflowError, RecursionError, MemoryError) as error:
            yield Fault(
                path,
                f"`{'.'.join(path)}` isn't a regular expression: {error}",
                "escape special signs with \\",
            )

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"type": ["string", "null"], "format": "regex"}


@dataclass(frozen=True)
class JsonPath(Text):
    """A JMESPath expression."""

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't compile."""
        yield from super().faults(value, path)
        if not isinstance(value, str):
            return
        if (problem := path_problem(value)) is not None:
            hint = "see jmespath.org; put names with special signs in double quotes"
            yield Fault(path, f"`{'.'.join(path)}` isn't a JMESPath expression: {problem}", hint)


def path_problem(text: str) -> str | None:
    """Return why a text is no JMESPath expression, or None."""
    import jmespath

    if len(text) > _MOST_PATTERN_CHARS:
        return f"it is longer than {_MOST_PATTERN_CHARS} characters"
    try:
        jmespath.compile(text)
    except RecursionError:
        return "it is nested too deeply"
    except Exception as error:  # noqa: BLE001 (besides its own errors, its reader lets those of Python through)
        return " ".join(str(error).split())[:200] or type(error).__name__
    return None


def unknown(path: Path, known: tuple[str, ...]) -> Fault:
    """Return the fault of an unknown key, with the nearest known spelling as hint."""
    near = nearest(path[-1], known)
    hint = f"did you mean `{near}`?" if near else f"known here: {listed(known)}"
    inside = f" in `{'.'.join(path[:-1])}`" if len(path) > 1 else ""
    return Fault(path, f"unknown key `{path[-1]}`{inside}", hint)


def listed(words: tuple[str, ...]) -> str:
    """Return words in code signs, with commas."""
    return ", ".join(f"`{word}`" for word in words)


def _alternatives(words: tuple[str, ...]) -> str:
    return " or ".join(f"`{word}`" for word in words)


def shown(value: Any) -> str:
    """Return a value for a message, cut to a line."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list):
        return "a list"
    text = str(value)
    return f"`{text[:40]}…`" if len(text) > 40 else f"`{text}`"
