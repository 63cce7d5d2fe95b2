"""Reading what was written in a child process, which can be given up: no expression can hold up the one who asks.

One child serves many requests, one at a time, each a pickled value through its standard input and output; it is
started when it is first needed, and again after one that was given up.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from optrack.errors import OptrackError
from optrack.host.stretch import Stretch
from optrack.metrics.output import Parsed
from optrack.model.metrics import Reading
from optrack.model.recipe_parts import MetricRule
from optrack.model.value import Frozen

TIMEOUT_S = 30.0
"""How long one output may take to read: a thousand times what the largest result takes."""
POLL_S = 0.05


class ParseRequest(Frozen):
    """One pass's output to read: what it wrote, the server's log meanwhile, and the files that rules name, of which it
    didn't write those in `stale`."""

    parser: str = "auto"
    output: Stretch | bytes
    log: Stretch | None = None
    engine: str = ""
    rules: Mapping[str, MetricRule] = {}
    files: Mapping[str, Path] = {}
    stale: tuple[str, ...] = ()
    expected_requests: int | None = None
    asked_requests: int | None = None
    primary: str = ""


class ParseAnswer(Frozen):
    """What was read: the pass's readings (of earlier results only how many), the engine's log's, the output's end."""

    parsed: Parsed
    logged: tuple[Reading, ...] = ()
    tail: str = ""


class SearchRequest(Frozen):
    """A text in which an expression is looked for."""

    pattern: str
    data: bytes


class SearchAnswer(Frozen):
    """What the expression matched, None if nothing."""

    match: str | None


class Refusal(Frozen):
    """A request that couldn't be answered: why, and what to do."""

    message: str
    hint: str | None = None


class ParseError(OptrackError):
    """A text that couldn't be read, for its expressions, its size or its parser; `is_timeout` for time."""

    exit_code = 2
    is_timeout = False


class ParseTimeoutError(ParseError):
    """Reading took too long and was given up."""

    is_timeout = True


class ParseStoppedError(Exception):
    """Reading was given up because somebody wants everything to stop."""


class ParserProcess:
    """The child that reads; a context manager, at whose end it is gone."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the child, if it isn't there, so that it is ready when it is needed."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "optrack.host.parse_child", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self) -> None:
        """End the child, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()

    def submit(self, request: ParseRequest | SearchRequest) -> None:
        """Hand a request to the child; its answer is fetched with `answer`, before the next request."""
        data = pickle.dumps(request)
        for again in (True, False):
            self.start()
            assert self._process is not None and self._process.stdin is not None
            try:
                self._process.stdin.write(data)
                self._process.stdin.flush()
                break
            except BrokenPipeError:
                self.close()
                if not again:
                    raise ParseError("the process that reads outputs ended at once") from None
        self._asked = time.monotonic()

    @property
    def waited_s(self) -> float:
        """The seconds since the last request."""
        return time.monotonic() - self._asked

    def answer(self, within_s: float) -> Any:
        """Return the answer to the last request, None if there is none within the time; raises ParseError."""
        process = self._process
        if process is None or process.stdout is None:
            raise ParseError("the process that reads outputs is gone")
        if not select.select([process.stdout], [], [], within_s)[0]:
            return None
        try:
            answer, is_last = pickle.load(process.stdout)
        except (EOFError, pickle.UnpicklingError):
            self.close()
            code = process.returncode
            raise ParseError(
                f"the process that reads outputs ended in the middle of it (exit {code})"
            ) from None
        if is_last:
            self.close()
        if isinstance(answer, Refusal):
            raise ParseError(answer.message, hint=answer.hint)
        return answer

    def parse(
        self,
        request: ParseRequest,
        *,
        timeout_s: float = TIMEOUT_S,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ParseAnswer:
        """Return what a pass's output holds.

        Raises ParseTimeoutError after `timeout_s`, ParseStoppedError as soon as `should_stop`, ParseError for
        what can't be read. The child that is given up is killed.
        """
        try:
            self.submit(request)
            while (answer := self.answer(POLL_S)) is None:
                if should_stop():
                    raise ParseStoppedError
                if self.waited_s >= timeout_s:
                    raise ParseTimeoutError(
                        f"the output couldn't be read within {timeout_s:g} s",
                        hint=_hint(request.rules),
                    )
        except BaseException:
            self.close()
            raise
        assert isinstance(answer, ParseAnswer)
        return answer


def _hint(rules: Mapping[str, MetricRule]) -> str | None:
    names = [name for name, rule in rules.items() if rule.regex or rule.log or rule.json_path]
    if not names:
        return None
    return f"look at the expressions of {', '.join(names)}: nested repetitions like (a+)+ never end"
