"""How programs that aren't Python's say why they end: panics, aborts, uncaught errors, and fatal lines of logs.

As worded by Rust, Go, the C++ runtime, glibc, the JVM, node, redis, nginx, PostgreSQL, and loggers with levels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

Severity = Literal["fatal", "error"]

_FATAL = re.compile(
    r"\[(?:emerg|alert|crit|critical|fatal|panic)\]|\b(?:FATAL|PANIC|EMERG|CRITICAL)\b(?: ERROR)?(?:[:\]|]| +[-|])"
    r"|\blevel=\"?(?:fatal|panic|critical)\b|^F\d{4} \d\d:\d\d:\d\d\S* +\d+ \S+\]|^fatal(?: error)?: "
    r"|^\d+:[A-Z] \d\d \w{3} \d{4} [\d:.]+ # (?:Fatal|Can't|Could not|Failed|Unable|Error|Bad|Configured to not)"
    r"|^panic: |^runtime: out of memory|^Fatal Python error: |^FATAL ERROR: "
    r"|\b(?:double free|free\(\): invalid|malloc\(\): |corrupted size vs|stack smashing detected)"
    r"|==\d+==ERROR: \w+Sanitizer|^terminate called (?:without|recursively)|!{3,} Segfault encountered"
    r"|: Assertion .{1,400} failed|\bCheck failed: |\bGGML_ASSERT\b"
)
_ERROR = re.compile(
    r"\[error\]|\bERROR\b(?:[:\]|]| +[-|\[\]])|(?:^|[\s:])[Ee]rror(?:\[\w+\])?: |\blevel=\"?error\b"
    r"|^E\d{4} \d\d:\d\d:\d\d\S* +\d+ \S+\]"
)
_LEVELS: dict[str, Severity] = {
    **dict.fromkeys(("fatal", "panic", "critical", "emerg", "emergency", "alert", "crit"), "fatal"),
    **dict.fromkeys(("error", "err"), "error"),
}  # fmt: skip
_PANICKED = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at ")
_THROWN = re.compile(r"terminate called after throwing an instance of '(.+)'")
_UNCAUGHT = re.compile(r"(?:Uncaught )?(?:\w+)?(?:Error|Exception)(?: \[\w+\])?: \S|(?:Uncaught )?\w*Error$")
_JAVA = re.compile(
    r"Exception in thread \"[^\"]*\" (.+)|(?:Caused by|Error occurred during initialization of VM)\b:? ?(.*)"
)
_BLOCK_LINES = 80


def severity_of(line: str) -> Severity | None:
    """Return how bad a line with its prefixes says that it is, None if it speaks of no error."""
    if line.startswith("{") and (entry := _entry(line)) is not None:
        return _LEVELS.get(str(entry.get("level", entry.get("severity", ""))).casefold())
    if _FATAL.search(line):
        return "fatal"
    return "error" if _ERROR.search(line) else None


def message_of(line: str) -> str:
    """Return what a line says: of a JSON record its message with its error."""
    entry = _entry(line) if line.startswith("{") else None
    if entry is None:
        return line
    words = [str(entry[key]) for key in ("msg", "message", "error", "err", "exception") if entry.get(key)]
    return ": ".join(dict.fromkeys(words)) or line


def read_crash(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """Return the index of the last line of the crash that is told from `at` on, and its message; None if none is."""
    line = lines[at].strip()
    if _PANICKED.match(line):
        return (at + 1, f"{line} {_text(lines, at + 1)}") if line.endswith(":") else (at, line)
    if (thrown := _THROWN.match(line)) is not None:
        what = _text(lines, at + 1)
        return (at + 1, f"{thrown[1]}: {what.removeprefix('what():').strip()}") if what else (at, line)
    if line.startswith("# A fatal error has been detected by the Java Runtime"):
        end = next((n for n in range(at + 1, min(at + 6, len(lines))) if len(lines[n].strip(" #")) > 3), at)
        return end, f"{line.strip('# :')}: {lines[end].strip(' #')}"
    if line.startswith("*** FATAL CONFIG FILE ERROR"):
        told = [text for n in range(at + 1, min(at + 5, len(lines))) if (text := lines[n].strip())]
        return at + len(told), f"{line.strip('* ')}: {' '.join(told)}"
    if line.startswith("fatal error: ") and any("goroutine " in _text(lines, n) for n in range(at, at + 8)):
        return at, line
    return _java(lines, at, line) or _node(lines, at, line)


def _java(lines: Sequence[str], at: int, line: str) -> tuple[int, str] | None:
    uncaught = _JAVA.match(line)
    if uncaught is None:
        return None
    if not line.startswith("Exception in"):
        return at, uncaught[2] or f"{line} {_text(lines, at + 1)}".strip()
    end, cause = at, uncaught[1]
    for n in range(at + 1, min(at + _BLOCK_LINES, len(lines))):
        text = lines[n].strip()
        if text.startswith("Caused by: "):
            cause = text.removeprefix("Caused by: ")
        elif not text.startswith(("at ", "... ")):
            break
        end = n
    return end, cause if cause == uncaught[1] else f"{cause}; raised again as {uncaught[1]}"


def _node(lines: Sequence[str], at: int, line: str) -> tuple[int, str] | None:
    if not _UNCAUGHT.match(line) or not re.match(r"\s+at \S", lines[at + 1] if at + 1 < len(lines) else ""):
        return None
    end = at + 1
    while end + 1 < len(lines) and re.match(r"\s+at \S", lines[end + 1]):
        end += 1
    return end, line


def _text(lines: Sequence[str], at: int) -> str:
    return lines[at].strip() if at < len(lines) else ""


def _entry(line: str) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
