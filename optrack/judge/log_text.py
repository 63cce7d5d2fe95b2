"""The text of a server's log: its lines without their prefixes, and those that may tell why it failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from optrack.judge.crashes import message_of, read_crash, severity_of
from optrack.judge.failure_signs import kind_of
from optrack.judge.tracebacks import is_head, read_traceback

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LABEL = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?((?: [A-Z_]+\d+)+)\] ?|\(([A-Za-z_]\w* ?(?:pid|ip)=[^)]*)\) ?"
_PREFIX = re.compile(
    rf"{_LABEL}"  # SGLang with its ranks; vLLM, Ray
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?\] ?"  # SGLang
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?"  # vLLM
    r"|\[((?:rank|default)\d+)\]:(?:\[?[EWIF]\d{4} [^\]]*\])? ?"  # torch, torchrun
    r"|(\d{1,4}): ?(?=[A-Za-z_ ]|$)"  # srun --label
    r"|\[(\d+,\d+)\]<std(?:err|out)>: ?"  # mpirun --tag-output
    r"|([\w.-]+-\d+) +\| "  # docker compose
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d| UTC)? "
    r"|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d "  # nginx, Go
    r"|\[\d+\] (?=LOG|FATAL|PANIC|ERROR|HINT|DETAIL)"  # PostgreSQL
    r"|\d+:[A-Z] \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d+ [*#.-] "  # redis
    r"|\| (?:ERROR|CRITICAL) +\| \S+ - "  # loguru
    r"|(?:ERROR|CRITICAL|FATAL): +"
)
_ANNOUNCED = re.compile(
    r"hit an exception|(?:EngineCore|WorkerProc) (?:failed to start|encountered a fatal error)"
    r"|Initialization failed(?!\. warmup)"
)
_NOISE = re.compile(
    r"Ignore import error|resource_tracker|kill_process_tree|Received sigquit|SIGQUIT received"
    r"|Possible solutions|Failed to load generation config"
    r"|^\d\. (?:set|disable) --|Warning:|(?<!NCCL )\bwarn(?:ing|ings)?\b|^INFO\b|^DEBUG\b|falling back|Abort COMPLETE"
    r"|Not enough SMs|server_args=|ServerArgs\(|Open an issue on GitHub|^\s*usage:",
    re.IGNORECASE,
)
_HEALTHY = re.compile(
    r"\"(?:GET|POST) [^\"]*\" 2\d\d|(?:Decode|Prefill) batch|Avg prompt throughput|fired up and ready"
)
_NOT_BOUND = re.compile(r"address already in use|EADDRINUSE|\[errno 98\]", re.IGNORECASE)
"""A server that couldn't bind its port didn't survive that: what answers afterwards is another one."""
_LAST_LINES = 12
_TRACEBACK_LINES = 2000
_NEAR_THE_END = 80


class Candidate(NamedTuple):
    """A line that may be the cause of a failure; `at` is its place among the lines.

    `is_announced` if the server said that it is fatal, `is_last` if the log ends with it, `survived` if the
    server went on to work after it.
    """

    at: int
    text: str
    kind: str
    is_traceback: bool = False
    severity: str | None = None
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
    whole = re.split(r"\r\n|[\r\n]", _ANSI.sub("", text))
    lines, labels = [], []
    for line in whole:
        clean, label = _split(line)
        lines.append(clean)
        labels.append(label)
    healthy = _last(lines, lambda line: _HEALTHY.search(line) is not None)
    last = _last(lines, lambda line: bool(line.strip()) and not _NOISE.search(line))
    found = []
    for at, end, message, is_traceback, severity in _scan(whole, lines, labels, last - _NEAR_THE_END):
        before = " ".join(lines[max(0, at - 2) : at + 1]) if is_traceback else ""
        kind = "warmup" if "warmup error" in before or "warmup error" in message else kind_of(message)
        found.append(
            Candidate(
                at=at,
                text=message,
                kind=kind,
                is_traceback=is_traceback,
                severity=severity,
                is_announced=_ANNOUNCED.search(before) is not None,
                is_last=end >= last - _LAST_LINES,
                survived=at < healthy and not _NOT_BOUND.search(message),
            )
        )
    return found


def _last(lines: list[str], fits: Callable[[str], bool]) -> int:
    """Return the index of the last line that fits, -1 if none does."""
    return next((at for at in range(len(lines) - 1, -1, -1) if fits(lines[at])), -1)


def _stripped(line: str) -> str:
    return _split(line)[0]


def _split(line: str) -> tuple[str, str]:
    """Return a line without its prefixes, and which of several processes wrote it; empty if it isn't said."""
    label = ""
    while (match := _PREFIX.match(line)) is not None:
        label = label or next(filter(None, match.groups()), "")
        line = line[match.end() :]
    return line, label


def _scan(
    whole: Sequence[str], lines: Sequence[str], labels: Sequence[str], near: int
) -> Iterator[tuple[int, int, str, bool, str | None]]:
    """Give begin, end, message, is_traceback, severity of each candidate; plain lines from `near` on."""
    at = 0
    read: set[int] = set()
    while at < len(lines):
        line = lines[at]
        if at in read:
            at += 1
            continue
        if is_head(line):
            own, message = _traceback(lines, labels, at)
            if message:
                yield at, own[-1], message, True, None
            read.update(own)
            continue
        if at >= near and line.strip() and not _NOISE.search(line):
            crash = read_crash(lines, at)
            if crash is not None:
                yield at, crash[0], crash[1], False, "fatal"
                at = crash[0] + 1
                continue
            severity = severity_of(whole[at]) or severity_of(line)
            if not line.startswith("  ") and _may_tell(line.strip(), severity):
                yield at, at, message_of(line.strip()), False, severity
        at += 1


def _traceback(lines: Sequence[str], labels: Sequence[str], at: int) -> tuple[list[int], str]:
    """Return which lines the traceback that begins at `at` has, among those of other processes, and its message."""
    stop = min(len(lines), at + _TRACEBACK_LINES)
    own = [n for n in range(at, stop) if labels[n] in ("", labels[at])]
    end, message = read_traceback([lines[n] for n in own], 0)
    return own[: end + 1], message


def _may_tell(text: str, severity: str | None) -> bool:
    return (severity is not None or kind_of(text) != "unknown") and not _HEALTHY.search(text)
