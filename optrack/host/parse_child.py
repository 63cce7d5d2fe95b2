"""The child that reads outputs: requests come on standard input, answers go to standard output.

Started as `python -m optrack.host.parse_child PARENT`. It ends with its parent, holds little memory, and one
request of it may be given up at any moment by killing it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from optrack.errors import OptrackError
from optrack.host.parsing import ParseAnswer, ParseRequest, Refusal, SearchAnswer, SearchRequest
from optrack.host.regular import problem_of
from optrack.host.stretch import Stretch, Window, tail_of, window_of
from optrack.metrics.read import parse_output
from optrack.metrics.registry import parsers
from optrack.metrics.server_logs import parse_server_log

MEMORY_BYTES = 2**30
_KEEP_BYTES = 96 * 2**20
_PR_SET_PDEATHSIG = 1
_TAIL_BYTES = 4096


def main() -> int:
    """Answer requests until there are no more, or until one took much memory, which only an end gives back."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(sys.argv[1]):
        return 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    parsers()
    requests = sys.stdin.buffer
    while (answer := _next(requests)) is not None:
        is_last = _peak_bytes() > _KEEP_BYTES
        pickle.dump((answer, is_last), answers)
        answers.flush()
        if is_last:
            break
    return 0


def _peak_bytes() -> int:
    """Return the most memory that this process had resident; `getrusage` would count its parent's, which forked it."""
    found = re.search(r"(?m)^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found[1]) * 1024 if found else 0


def _next(requests: BinaryIO) -> ParseAnswer | SearchAnswer | Refusal | None:
    try:
        request = pickle.load(requests)
    except EOFError:
        return None
    try:
        return _searched(request) if isinstance(request, SearchRequest) else _parsed(request)
    except OptrackError as error:
        return Refusal(message=error.message, hint=error.hint)
    except MemoryError:
        return Refusal(message=f"reading the output takes more than {MEMORY_BYTES // 2**30} GiB of memory")
    except Exception as error:  # noqa: BLE001 (a parser of another package may raise anything)
        return Refusal(message=f"the output can't be read: {type(error).__name__}: {str(error)[:200]}")


def _parsed(request: ParseRequest) -> ParseAnswer:
    output, log = _window(request.output), _window(request.log)
    problems = {name: problem_of(path) or "" for name, path in request.files.items()}
    problems |= dict.fromkeys(request.stale, "wasn't written by this pass")
    contents = {name: path for name, path in request.files.items() if not problems[name]}
    files = {name: window_of(Stretch.whole(path)) for name, path in contents.items()}
    parsed = parse_output(
        request.parser,
        output.data,
        rules=request.rules,
        log=log.data,
        files={name: window.data for name, window in files.items()},
        unread={name: problem for name, problem in problems.items() if problem},
        expected_requests=request.expected_requests,
        asked_requests=request.asked_requests,
        primary=request.primary,
    )
    notes = [*parsed.notes, *([f"of the output: {output.note}"] if output.note else [])]
    logged = parse_server_log(request.engine, log.data)
    if log.note and (logged or any(rule.log for rule in request.rules.values())):
        notes.append(f"of the server's log: {log.note}")
    notes += [f"of {name}: {window.note}" for name, window in files.items() if window.note]
    tail = (
        output.data[-_TAIL_BYTES:]
        if isinstance(request.output, bytes)
        else tail_of(request.output, _TAIL_BYTES)
    )
    return ParseAnswer(
        parsed=parsed.model_copy(
            update={"notes": tuple(notes), "earlier": tuple(() for _ in parsed.earlier)}
        ),
        logged=logged,
        tail=tail.decode(errors="replace"),
    )


def _window(source: Stretch | bytes | None) -> Window:
    if source is None:
        return Window(data=b"")
    return window_of(source) if isinstance(source, Stretch) else Window(data=source)


def _searched(request: SearchRequest) -> SearchAnswer:
    found = re.compile(request.pattern, re.MULTILINE).search(request.data.decode(errors="replace"))
    return SearchAnswer(match=found.group(0) if found else None)


if __name__ == "__main__":
    sys.exit(main())
