"""What a benchmark wrote, as bytes, text and JSON documents; and what a parser makes of it."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from optrack.model.metrics import Reading, metric_named
from optrack.model.value import Frozen

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, hyperlinks
    r"|\x1b[@-Z\\^_]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DOCUMENT = re.compile(
    r"^[ \t]*+(?=\{\s*+(?:[\"}]|\Z)"
    r"|\[\s*+(?:[\[{\"\]]|\Z|(?:true|false|null|NaN|-?Infinity|-?\d[\d.eE+-]*+)\s*+(?:[,\]]|\Z)))",
    re.MULTILINE,
)
"""Where a line begins with what may be a JSON document; `[2025-01-31 …` and `[INFO]` are none."""
_BRACKET = re.compile(r"^[ \t]*+[\[{]", re.MULTILINE)
_MOST_DOCUMENTS = 10_000
_NESTED_CHARS = 100_000
LINE_CHARS = 16 * 1024
"""A longer line is cut: expressions see its begin and its end, so that none of them has to search megabytes."""
_CUT_MARK = " … "


class Output:
    """What one benchmark pass wrote. Nothing in it raises, whatever the bytes are.

    Text is decoded as UTF-8 (UTF-16 where a byte order mark says so) with replacement characters; colours
    and other escape sequences are gone, and a carriage return ends a line as a line feed does. JSON documents
    are read from lines of any length; `text` and `lines` have the ends of lines of over `LINE_CHARS` characters.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def text(self) -> str:
        """The text, cleaned, its long lines cut."""
        whole = self._whole
        return whole if len(whole) <= LINE_CHARS or not _has_long_line(whole) else "\n".join(self.lines)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, without their ends, the long ones cut."""
        return tuple(cut_line(line) for line in self._whole.split("\n"))

    @cached_property
    def _whole(self) -> str:
        text = _ESCAPES.sub("", _decoded(self.data)).replace("\r\n", "\n").replace("\r", "\n")
        return _CONTROLS.sub("", text)

    @cached_property
    def documents(self) -> tuple[Any, ...]:
        """The JSON documents in order: the whole text, or each object or array that starts a line.

        `Infinity` and `NaN`, which Python's json module writes, are read as numbers.
        """
        return self._scanned[0]

    @cached_property
    def torn(self) -> bool:
        """Whether the last JSON document is cut off: it starts and never ends."""
        return self._scanned[1]

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The documents that are objects, and the objects of documents that are lists, in order."""
        flat = (
            x for document in self.documents for x in (document if isinstance(document, list) else [document])
        )
        return tuple(document for document in flat if isinstance(document, dict))

    @cached_property
    def _scanned(self) -> tuple[tuple[Any, ...], bool]:
        text, torn, at = self._whole, False, 0
        found: list[Any] = []
        decoder = json.JSONDecoder()
        budget = 8 * len(text) + 2**20
        while (match := _DOCUMENT.search(text, at)) is not None and len(found) < _MOST_DOCUMENTS:
            try:
                document, at = decoder.raw_decode(text, match.end())
            except (ValueError, RecursionError) as error:
                torn = _looks_like_json(text, match.end())
                budget -= _cost(error, match.end(), len(text))
                if budget < 0:
                    break
                at = text.find("\n", match.end())
                if at < 0:
                    break
            else:
                found.append(document)
                torn = False
        return tuple(found), torn and _BRACKET.search(text, at if at >= 0 else len(text)) is None


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _cost(error: ValueError | RecursionError, start: int, length: int) -> int:
    """Return how many characters were about looked at to find that no document begins at `start`."""
    if isinstance(error, json.JSONDecodeError):
        return error.pos - start + length // 64
    return _NESTED_CHARS


def _has_long_line(text: str) -> bool:
    """Whether a line has more than `LINE_CHARS` characters."""
    at = 0
    while len(text) - at > LINE_CHARS:
        end = text.rfind("\n", at, at + LINE_CHARS + 1)
        if end < 0:
            return True
        at = end + 1
    return False


def cut_line(line: str) -> str:
    """Return a line of at most about `LINE_CHARS` characters: the ends of a longer one, no word torn in two."""
    if len(line) <= LINE_CHARS:
        return line
    half = LINE_CHARS // 2
    head, tail = line[:half], line[-half:]
    head = head[: -len(re.match(r"[\w.,+-]{0,64}", head[::-1])[0]) or None]  # type: ignore[index]
    tail = tail[len(re.match(r"[\w.,+-]{0,64}", tail)[0]) :]  # type: ignore[index]
    return f"{head}{_CUT_MARK}{tail}"


def _looks_like_json(text: str, at: int) -> bool:
    return re.match(r'\{\s*(?:"|$)|\[\s*(?:[\[{"]|$)', text[at : at + 200]) is not None


def number(text: str) -> float | None:
    """Return the number that `text` is (`1,234.5`, `1.05E+15`, `-0.00`, `nan`, `inf`, `90%`), or None."""
    text = text.strip().removesuffix("%").strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def numeric(value: object) -> float | None:
    """Return a JSON value as a number; None for text that isn't one, booleans, null, lists and objects."""
    if isinstance(value, str):
        is_number = len(value) <= 64 and re.fullmatch(r"\s*[+-]?(?:[\d.,eE+-]+|inf|nan)\s*", value)
        return number(value) if is_number else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def slug(text: str) -> str:
    """Return `text` as part of a metric's name: lower case, words joined by underscores, no signs."""
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


Setting = int | float | str
Amount = float | None | tuple[float | None, str | None]
"""A value, with its unit where the metric's name doesn't imply it; None is a metric that wasn't measured."""
Values = Mapping[str, Amount]


class Parsed(Frozen):
    """The readings of one benchmark pass by the parser called `tool`.

    `invalid` says why the pass is no measurement: its readings are kept and shown, never judged. `earlier`
    holds the readings of results that the same output had before the one that counts, oldest first. `settings`
    is the work that was done, as the tool repeats it: rate, concurrency, prompts, lengths, data, seed. `unread` is a
    line that may count requests that failed, in words that aren't known.
    """

    tool: str = ""
    readings: tuple[Reading, ...] = ()
    invalid: str | None = None
    notes: tuple[str, ...] = ()
    earlier: tuple[tuple[Reading, ...], ...] = ()
    settings: Mapping[str, Setting] = {}
    unread: str | None = None

    def value(self, name: str) -> float | None:
        """Return the reading of the metric called `name`, or None if there is none."""
        return next((r.value for r in self.readings if r.metric.name == name), None)

    def but(self, **changes: Any) -> Parsed:
        """Return a copy with some fields changed."""
        return self.model_copy(update=changes)

    def because(self, why: str | None) -> Parsed:
        """Return this as no measurement for this reason, unless there is none or it has one."""
        return self if why is None or self.invalid is not None else self.but(invalid=why)


@dataclass(frozen=True)
class Parser:
    """A reader of one tool's output; `source` says where the format is defined.

    `recognises` is asked in the order of the table, so it must be sure; `parse` is also called on output
    that it doesn't recognise, and then returns a `Parsed` whose `invalid` says so. `names` are the metrics that
    it is known to give, empty where nobody knows: a newer tool may write more.
    """

    name: str
    source: str
    recognises: Callable[[Output], bool]
    parse: Callable[[Output], Parsed]
    aliases: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()


def readings_of(values: Values, unit: str | None = None) -> tuple[Reading, ...]:
    """Return a reading for each value by metric name, in `unit` where neither the value nor its name tells one."""
    amounts = {name: v if isinstance(v, tuple) else (v, unit) for name, v in values.items()}
    return tuple(
        Reading(metric=metric_named(name, unit=own), value=value)
        for name, (value, own) in amounts.items()
        if value is not None
    )


def last_of(results: Sequence[Values | tuple[Reading, ...]], what: str) -> Parsed:
    """Return the last of several results as the one that counts, the others as `earlier`, with a note."""
    read = [result if isinstance(result, tuple) else readings_of(result) for result in results]
    notes = (f"{len(read)} {what}; the last one counts",) if len(read) > 1 else ()
    return Parsed(readings=read[-1], notes=notes, earlier=tuple(read[:-1]))
