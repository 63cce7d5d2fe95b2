"""Requests that an output says have failed or are missing, whatever tool wrote it and in whatever language.

Read are counts under a label (`Failed requests: 34`), sentences (`34 of 64 requests failed`), columns of a table,
histograms of HTTP statuses, rates of success, and JSON. A label counts if all its words are of the table below, so
that a `word error rate` or a `timeout: 30` is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from optrack.metrics.failure_words import (
    DONE,
    DONE_LABEL,
    ERROR_RATE,
    FAILURE,
    FAILURE_CJK,
    FAILURE_OF_ONE,
    FILLER,
    FOREIGN,
    MARKS,
    RATE,
    REQUEST,
    RETRIED,
    SUCCESS,
    TOTAL_LABEL,
)
from optrack.metrics.output import Output, number
from optrack.metrics.tables import table_rows

_NUMBER = r"\d[\d,.]*"
_LABELLED = re.compile(
    rf"^[\W_]{{0,8}}(?P<label>[^\W\d_][^:=|│┃\t\d]{{0,60}}?)(?:\s*+[:=：|│┃]|\s?\.{{2,}}+:?|\t|\s{{2,}}+)[\s.|│┃]*+"
    rf"(?P<value>{_NUMBER})\s?(?P<unit>%)?(?P<rest>[^\n]*)$"
)
_PAIR = re.compile(
    rf"(?P<label>[^\W\d_][\w-]{{0,30}}(?: [^\W\d_][\w-]{{0,20}})?)\s?[:=：]\s?(?P<value>{_NUMBER})(?P<unit>\s?%)?"
)
_SENTENCE = re.compile(
    rf"(?<![\w.,:=])(?P<value>{_NUMBER})(?:\s?(?:/|of|out of|von|sur|de)\s?(?:the )?(?P<total>{_NUMBER}))?"
    r"\s(?:\(\S{1,8}\)\s)?"
    r"(?P<label>[^\W\d_][\w-]{1,30}(?:\s[^\W\d_][\w-]{1,30}){0,3})"
)
_HISTOGRAM = re.compile(r"(?i)\bstatus(?:es)?\b|\bhttp\b|\bcodes?\b|statuscodes|antwortcodes")
_STATUS = re.compile(
    r"(?<![\w.])\[?(?P<status>[0-5]\d\d|[1-5]xx|0)\]?(?: [A-Z][A-Za-z ]{1,25})?\s{0,12}(?:[:=x×|│\t]|->|=>|\s)\s{0,12}"
    r"(?P<count>\d[\d,]*)(?![\w.])(?! ?(?:ms|s|us|%)\b)"
)
_OTHER_COUNTS = (
    re.compile(r"(?i)\b(?:non-2xx|[45]xx)\b[^:\n]{0,40}:\s*(\d[\d,]*)"),
    re.compile(r"(?i)\berrors:(?: \w{1,20} 0,){0,8} \w{1,20} ([1-9]\d*)(?=,|$)"),
)
"""Of wrk, and like it: `Non-2xx or 3xx responses: 34`, `Socket errors: connect 0, read 34`."""
_VEGETA = re.compile(r"^Success\s+\[ratio\]\s+(?P<value>[\d.]+)%")
_FAILED_CELL = re.compile(r"^(\d[\d,]*)(?:\s?\(\d[\d.]*%\))?$")
_LINE_CHARS = 400
_MOST_LINES = 50_000
_MOST_DEPTH = 6


@dataclass(frozen=True)
class Failures:
    """Why a pass is no measurement, if requests failed, and the first line that may say so and can't be read."""

    why: str | None = None
    unread: str | None = None


def failures_in(output: Output, *, with_json: bool) -> Failures:
    """Return what an output says of requests that failed or are missing; JSON only where no tool's parser reads it."""
    if with_json and (why := _in_json(output)) is not None:
        return Failures(why=why)
    if MARKS.search(output.text) is None:
        return Failures()
    lines = [line.rstrip() for line in output.lines[-_MOST_LINES:]]
    why = _counted(lines) or _in_histogram(lines) or _in_columns(output) or _missing(lines)
    return Failures(why=why, unread=None if why else _foreign(lines))


def is_failure(label: str) -> bool:
    """Whether a label counts requests that failed: each of its words is of the table, and one tells of a failure."""
    words = [word for word in re.split(r"[\s_/()#.,*\[\]'-]+", _spaced(label).casefold()) if word]
    if not words or len(words) > 7:
        return False
    if FAILURE_CJK.search(label):
        return True
    failing = [word for word in words if FAILURE.match(word)]
    if failing and any(FOREIGN.search(word) or word not in _ENGLISH for word in failing):
        return len(words) <= 5
    asks = any(REQUEST.match(word) for word in words)
    if not failing and not (asks and any(FAILURE_OF_ONE.match(word) for word in words)):
        counted = {"count", "num", "number", "total", "n"} & set(words)
        return (
            bool(counted) and set(words) <= counted | {"error", "timeout", "of"} and len(words) > len(counted)
        )
    known = (FAILURE, FAILURE_OF_ONE, REQUEST, FILLER)
    if not asks and failing[0] in ("refused", "rejected", "dropped", "lost", "aborted", "fails", "failing"):
        return False
    return all(any(pattern.match(word) for pattern in known) for word in words)


_ENGLISH = frozenset(
    "fail failed failure failures fails failing errors errored timeouts timedout unsuccessful aborted refused rejected "
    "dropped lost".split()
)


def _spaced(label: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)


def _counted(lines: list[str]) -> str | None:
    """Return what a count under a label, in a row of pairs or in a sentence says."""
    for line in lines:
        if len(line) > _LINE_CHARS or RETRIED.search(line) or MARKS.search(line) is None:
            continue
        if (match := _LABELLED.match(line)) is not None and (why := _labelled(match, line)) is not None:
            return why
        for pair in _PAIR.finditer(line):
            if not pair["unit"] and is_failure(pair["label"]) and _is_count(pair["value"]):
                return _said(line)
        for match in _SENTENCE.finditer(line):
            label = re.sub(r"\b(?:were|was|have|has)\b ?", "", match["label"])
            words = label.split()
            told = any(is_failure(" ".join(words[:n])) for n in range(1, len(words) + 1))
            if (
                told
                and _is_count(match["value"])
                and not line[match.end() :].startswith((":", "=", " :", " ="))
            ):
                return _said(line)
        others = (found[1] for pattern in _OTHER_COUNTS if (found := pattern.search(line)))
        ratio = _VEGETA.match(line)
        if any(map(_is_count, others)) or (ratio is not None and number(ratio["value"]) != 100):
            return _said(line)
    return None


def _labelled(match: re.Match[str], line: str) -> str | None:
    label = match["label"].strip(" .*-")
    value = number(match["value"].rstrip(".,"))
    if value is None:
        return None
    whole = 100.0 if match["unit"] or value > 1 else 1.0
    if SUCCESS.match(label) and (RATE.search(label) or match["unit"]):
        return _said(line) if value < whole else None
    if ERROR_RATE.match(label):
        return _said(line) if value > 0 else None
    if is_failure(label) and value > 0 and (match["unit"] or _is_count(match["value"])):
        return _said(line)
    return None


def _is_count(text: str) -> bool:
    value = number(text.rstrip(".,"))
    return value is not None and value > 0 and value == int(value)


def _said(line: str) -> str:
    text = " ".join(line.split())
    return f"requests failed: the output says '{text[:120]}'"


def _in_histogram(lines: list[str]) -> str | None:
    """Return how many requests a histogram of HTTP statuses shows to have failed."""
    failed: dict[str, int] = {}
    inside = 0
    for line in lines:
        is_named = len(line) <= _LINE_CHARS and _HISTOGRAM.search(line) is not None
        inside = 12 if is_named else max(0, inside - 1) if line.strip() else 0
        if not (is_named or inside) or len(line) > _LINE_CHARS or ('"' in line and "HTTP/" in line):
            continue
        pairs = list(_STATUS.finditer(line))
        if not pairs or not (is_named or _only_statuses(line, pairs)):
            continue
        for pair in pairs:
            code, count = pair["status"], int(pair["count"].replace(",", ""))
            if count and (code == "0" or code[0] in "45"):
                failed[code] = failed.get(code, 0) + count
    if not failed:
        return None
    shown = ", ".join(f"{count:,} with status {code}" for code, count in sorted(failed.items()))
    return f"requests failed: {shown}"


def _only_statuses(line: str, pairs: list[re.Match[str]]) -> bool:
    """Whether a line below a heading is a row of the histogram: it begins with a status."""
    return not re.search(r"\w", line[: pairs[0].start()])


def _in_columns(output: Output) -> str | None:
    """Return what the column of failures of a table says; the table may be delimited, or aligned as locust's is."""
    for row in table_rows(output):
        for column, cell in row.items():
            if column and is_failure(column) and (found := _FAILED_CELL.match(cell)) and _is_count(found[1]):
                return f"requests failed: column '{column}' says {cell}"
    at = None
    for line in output.lines[-_MOST_LINES:]:
        if len(line) > _LINE_CHARS:
            continue
        if "# fails" in line:
            at = line.index("# fails") + len("# fails")
        elif at is not None and (found := re.search(r"(\d+)\(\d+(?:\.\d+)?%\)", line)) and int(found[1]) > 0:
            return _said(line)
    return None


def _missing(lines: list[str]) -> str | None:
    """Return how many requests were completed of how many, if that isn't all; the last that is said counts."""
    done: tuple[float, float] | None = None
    counts: dict[str, float] = {}
    for line in lines:
        if len(line) > _LINE_CHARS:
            continue
        for match in _SENTENCE.finditer(line):
            if match["total"] and DONE.match(match["label"]):
                done = _pair(match["value"], match["total"]) or done
        labelled = _LABELLED.match(line)
        if labelled is None or labelled["unit"]:
            continue
        label = labelled["label"].strip(" .*-")
        if DONE_LABEL.match(label):
            of = re.match(rf"\s?(?:/|of|out of)\s?({_NUMBER})", labelled["rest"])
            done = (_pair(labelled["value"], of[1]) if of else None) or done
            counts["done"] = number(labelled["value"].rstrip(".,")) or 0.0
        elif TOTAL_LABEL.match(label):
            counts["total"] = number(labelled["value"].rstrip(".,")) or 0.0
    if done is None and len(counts) == 2:
        done = counts["done"], counts["total"]
    if done is None or done[0] >= done[1]:
        return None
    return f"{done[0]:,.0f} of {done[1]:,.0f} requests were completed"


def _pair(one: str, other: str) -> tuple[float, float] | None:
    left, right = number(one.rstrip(".,")), number(other.rstrip(".,"))
    return None if left is None or right is None else (left, right)


def _foreign(lines: list[str]) -> str | None:
    """Return the first count whose label is in a language that isn't known, if no count of failures could be read."""
    found = None
    for line in lines:
        match = _LABELLED.match(line) if len(line) <= _LINE_CHARS else None
        if match is None:
            continue
        if is_failure(match["label"].strip()):
            return None
        letters = "".join(c for c in match["label"] if c.isalpha())
        if (
            found is None
            and any(c > "\u024f" and c not in "µμσ" for c in letters)
            and _is_count(match["value"])
        ):
            found = " ".join(line.split())[:120]
    return found


def _in_json(output: Output) -> str | None:
    for document in output.documents:
        for path, why in _failed_leaves(document, ""):
            return f"requests failed: the output's JSON says {why} under '{path}'"
    return None


def _failed_leaves(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield where nested JSON tells of requests that failed, and what it says there."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, list):
        for entry in value[:10_000]:
            if isinstance(entry, (dict, list)):
                yield from _failed_leaves(entry, path, depth + 1)
    for key, entry in value.items() if isinstance(value, Mapping) else ():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(entry, Mapping) and _HISTOGRAM.search(str(key).replace("_", " ")):
            counts = ((code, n) for code, n in entry.items() if re.fullmatch(r"[45](?:\d\d|xx)|0", str(code)))
            yield from ((f"{here}.{code}", f"{n}") for code, n in counts if isinstance(n, int) and n > 0)
        elif (why := _failing(str(key), entry)) is not None:
            yield here, why
        else:
            yield from _failed_leaves(entry, here, depth + 1)


def _failing(key: str, entry: Any) -> str | None:
    """Return what one entry of a JSON object says of failure, None if nothing."""
    if isinstance(entry, bool):
        return "false" if key in ("success", "succeeded", "ok") and not entry else None
    if isinstance(entry, (int, float)):
        is_status = re.fullmatch(r"(?:http_?)?status(?:_?code)?", key, re.I) and 400 <= entry < 600
        is_count = is_failure(key) and 0 < entry < math.inf and entry == int(entry)
        return f"{entry:g}" if is_status or is_count else None
    if isinstance(entry, list) and is_failure(key):
        failed = sum(1 for each in entry if each)
        return f"{failed} entries" if failed else None
    return f"'{entry[:60]}'" if isinstance(entry, str) and key == "error" and entry else None
