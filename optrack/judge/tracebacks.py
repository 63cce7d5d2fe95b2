"""Python's tracebacks: where one ends, and the words of the exception that explains it.

Layouts as CPython's `traceback` module prints them, chained exceptions and exception groups included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from optrack.judge.failure_signs import kind_of

HEAD = "Traceback (most recent call last):"
_DIRECT = "The above exception was the direct cause of the following exception"
_CHAINED = re.compile(rf"(?:During handling of the above exception|{_DIRECT})")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?::|$)")
_VALIDATION = re.compile(r"\d+ validation errors? for \S+$")
_DETAIL = re.compile(r"\s*\[type=.*\]$")
_MARGIN = re.compile(r"^ *(?:\+-\+-+ \d+ -+|\+-+|[|+] ?)")
_MESSAGE_LINES = 12
_CAUSE_CHARS = 300


def is_head(line: str) -> bool:
    """Whether a traceback begins with this line, or after some words in it."""
    return line.rstrip().endswith(HEAD)


def is_exception(line: str) -> bool:
    """Whether a line is an exception's last one: its type, with or without words."""
    return re.match(r"[A-Za-z_][\w.]*(?:Error|Exception)(?::|$)", line) is not None


def read_traceback(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Return the index of the last line of the traceback that begins at `at`, with those chained to it, and its
    message; the message is empty where the exception is missing.

    A cause that was raised again explains, so it comes first and the final exception after it; what was raised
    while another one was handled comes first, and the other after it.
    """
    if "Exception Group" in lines[at]:
        return _group(lines, at)
    raised: list[tuple[str, bool]] = []
    end, is_direct = at, False
    while True:
        end, message = _exception(lines, end + 1)
        if message:
            raised.append((message, is_direct))
        following = _next_filled(lines, end + 1)
        if following is None or not _CHAINED.match(lines[following]):
            return end, _explained(raised)
        is_direct = lines[following].startswith(_DIRECT)
        head = _next_filled(lines, following + 1)
        if head is None:
            return end, _explained(raised)
        end = head if is_head(lines[head]) else head - 1


def _explained(raised: Sequence[tuple[str, bool]]) -> str:
    """Return the message of a chain: exceptions in the order of raising, each with whether the one before is its
    direct cause."""
    if not raised:
        return ""
    final = raised[-1][0]
    at = len(raised) - 1
    while at > 0 and raised[at][1]:
        at -= 1
    if kind_of(final) == "engine_dead":
        return raised[0][0]
    cause = raised[at][0]
    if at < len(raised) - 1:
        return cause if _words(cause) in final else f"{_cut(cause)}; raised again as {final}"
    if at > 0 and _words(raised[at - 1][0]) not in final:
        return f"{_cut(final)}; while handling {raised[at - 1][0]}"
    return final


def _words(message: str) -> str:
    return message.partition(": ")[2] or message


def _cut(message: str) -> str:
    return message if len(message) <= _CAUSE_CHARS else f"{message[: _CAUSE_CHARS - 1]}…"


def _group(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Read an exception group, whose lines stand behind margins: its message, and its first exception's."""
    end = at
    while end + 1 < len(lines) and re.match(r" *[|+]", lines[end + 1]):
        end += 1
    inner = [_MARGIN.sub("", line) for line in lines[at + 1 : end + 1]]
    _, group = _exception(inner, 0)
    heads = [n for n, line in enumerate(inner) if line.startswith(HEAD)]
    leaves = [message for n in heads if (message := read_traceback(inner, n)[1])]
    own = [message for message in leaves if "sub-exception" not in message]
    return end, f"{own[0]}; in {group}" if own else group


def _exception(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Return where the exception after the frames that begin at `at` ends, and its words on one line."""
    while at < len(lines) and (not lines[at].strip() or lines[at][0] in " |\t"):
        at += 1
    if at >= len(lines):
        return at, ""
    line = lines[at].strip()
    if not _EXCEPTION.match(line):
        return at - 1, ""
    if _VALIDATION.search(line):
        return _validation(lines, at)
    parts = [line]
    if line.endswith(":") and at + 1 < len(lines) and lines[at + 1].strip():
        at += 1
        parts.append(lines[at].strip())
    while len(parts) < _MESSAGE_LINES and at + 1 < len(lines) and re.match(r"[ \t]+[^\s|+]", lines[at + 1]):
        at += 1
        parts.append(lines[at].strip())
    return at, " ".join(parts)


def _validation(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Read a validation error of pydantic: below it stand fields, and below each why it isn't valid."""
    parts = [lines[at].strip()]
    field = ""
    while at + 1 < len(lines) and len(parts) < _MESSAGE_LINES and (line := lines[at + 1].rstrip()).strip():
        is_field = not line.startswith((" ", "\t"))
        if is_field and not re.match(r" +\S", lines[at + 2] if at + 2 < len(lines) else ""):
            break
        at += 1
        text = _DETAIL.sub("", line.strip())
        if is_field:
            field = text
        elif not text.startswith("For further information"):
            parts.append(f"{field}: {text}" if field else text)
            field = ""
    return at, f"{parts[0]}: {'; '.join(parts[1:])}" if parts[1:] else parts[0]


def _next_filled(lines: Sequence[str], at: int) -> int | None:
    return next((n for n in range(at, min(at + 4, len(lines))) if lines[n].strip()), None)
