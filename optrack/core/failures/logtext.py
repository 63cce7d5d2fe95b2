"""The text of a server's log: its lines without their prefixes, and those that may tell why it failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from optrack.core.failures.signs import kind_of

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PREFIX = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?: [A-Z_]+\d+)*\] ?"  # SGLang, with its ranks
    r"|\([A-Za-z_]\w* ?(?:pid|ip)=[^)]*\) ?"  # vLLM, Ray
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?"  # vLLM
    r"|\[rank\d+\]:(?:\[?[EWIF]\d{4} [^\]]*\])? ?"  # torch
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)? "
    r"|(?:ERROR|CRITICAL|FATAL): +"
)
_TRACEBACK = "Traceback (most recent call last):"
_CHAINED = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Timeout|Failure)?(?::|$)")
_ANNOUNCED = re.compile(
    r"hit an exception|(?:EngineCore|WorkerProc) (?:failed to start|encountered a fatal error)"
    r"|Initialization failed"
)
_NOISE = re.compile(
    r"Ignore import error|resource_tracker|kill_process_tree|Received sigquit|SIGQUIT received"
    r"|Possible solutions|Failed to load generation config"
    r"|^\d\. (?:set|disable) --|Warning:|\bwarn(?:ing|ings)?\b|^INFO\b|^DEBUG\b|falling back|Abort COMPLETE"
    r"|Not enough SMs|server_args=|ServerArgs\(|Open an issue on GitHub|^\s*usage:",
    re.IGNORECASE,
)
_HEALTHY = re.compile(
    r"\"(?:GET|POST) [^\"]*\" 2\d\d|(?:Decode|Prefill) batch|Avg prompt throughput|fired up and ready"
)
_LAST_LINES = 12
_NEAR_THE_END = 80


class Candidate(NamedTuple):
    """A line that may be the cause of a failure.

    `is_announced` if the server said that it is fatal, `is_last` if the log ends with it, `survived` if the
    server went on to work after it.
    """

    text: str
    kind: str
    is_traceback: bool = False
    is_announced: bool = False
    is_last: bool = False
    survived: bool = False


def drawn(text: str) -> str:
    """Return the text as a terminal would show it: of a line with carriage returns the last state."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def clean_lines(text: str) -> list[str]:
    """Return the lines without colours and prefixes; each state of a progress bar is a line of its own."""
    return [_stripped(line) for line in re.split(r"\r\n|[\r\n]", _ANSI.sub("", text))]


def meaningful_lines(text: str) -> list[str]:
    """Return the clean lines that aren't empty, a frame of a traceback, or known to be harmless."""
    lines = (line for line in clean_lines(text[-65536:]) if line.strip() and not line.startswith("  "))
    return [line.strip() for line in lines if not _NOISE.search(line)]


def candidates(text: str) -> list[Candidate]:
    """Return the lines that may tell the cause, in the order of the log.

    Lines outside of tracebacks count near the end only: what a server logged long before it survived.
    A traceback gives the line of its exception; chained ones give that of the last, which is what was raised
    in the end, or the first where the last only refers to it.
    """
    lines = clean_lines(text)
    healthy = _last(lines, lambda line: _HEALTHY.search(line) is not None)
    last = _last(lines, lambda line: bool(line.strip()) and not _NOISE.search(line))
    return [
        Candidate(
            text=message,
            kind=kind_of(message),
            is_traceback=is_traceback,
            is_announced=is_announced,
            is_last=end >= last - _LAST_LINES,
            survived=at < healthy,
        )
        for at, end, message, is_traceback, is_announced in _scan(lines, last - _NEAR_THE_END)
    ]


def _last(lines: list[str], fits: Callable[[str], bool]) -> int:
    """Return the index of the last line that fits, -1 if none does."""
    return next((at for at in range(len(lines) - 1, -1, -1) if fits(lines[at])), -1)


def _stripped(line: str) -> str:
    while (match := _PREFIX.match(line)) is not None:
        line = line[match.end() :]
    return line


def _scan(lines: list[str], near: int) -> Iterator[tuple[int, int, str, bool, bool]]:
    """Give begin, end, message, is_traceback, is_announced of each candidate; plain lines from `near` on."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.rstrip().endswith(_TRACEBACK):
            end, message = _chain(lines, at)
            if message:
                announced = any(_ANNOUNCED.search(before) for before in lines[max(0, at - 2) : at + 1])
                yield at, end, message, True, announced
            at = end + 1
            continue
        if at >= near and not line.startswith("  ") and _may_tell(line.strip()):
            yield at, at, line.strip(), False, False
        at += 1


def _may_tell(text: str) -> bool:
    return bool(text) and kind_of(text) != "unknown" and not _NOISE.search(text) and not _HEALTHY.search(text)


def _chain(lines: list[str], at: int) -> tuple[int, str]:
    """Return where the traceback that begins at `at` ends, with those chained to it, and its message."""
    messages: list[str] = []
    end = at
    while True:
        end, message = _exception(lines, end + 1)
        messages += [message] if message else []
        following = _next_filled(lines, end + 1)
        if following is None or not _CHAINED.match(lines[following]):
            break
        head = _next_filled(lines, following + 1)
        if head is None:
            break
        end = head if lines[head].rstrip().endswith(_TRACEBACK) else head - 1
    if not messages:
        return end, ""
    refers = kind_of(messages[-1]) == "engine_dead"
    return end, messages[0] if refers else messages[-1]


def _exception(lines: list[str], at: int) -> tuple[int, str]:
    """Return where the frames that begin at `at` end, and the exception's line there."""
    while at < len(lines) and (not lines[at].strip() or lines[at][0] in " |\t"):
        at += 1
    if at >= len(lines):
        return at, ""
    line = lines[at].strip()
    if not _EXCEPTION.match(line):
        return at - 1, ""
    if line.endswith(":") and at + 1 < len(lines) and lines[at + 1].strip():
        return at + 1, f"{line} {lines[at + 1].strip()}"
    return at, line


def _next_filled(lines: list[str], at: int) -> int | None:
    return next((n for n in range(at, min(at + 4, len(lines))) if lines[n].strip()), None)
