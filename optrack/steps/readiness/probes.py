"""The probes for readiness: a line in the log, an open port, a command that succeeds."""

from __future__ import annotations

import re
import signal
import socket
import time
from typing import Protocol

from optrack.core.parsers.output import cut_line
from optrack.steps.parsing import ParserProcess, ParseTimeoutError, SearchRequest
from optrack.steps.process.command import Command
from optrack.steps.process.logs import Follower
from optrack.steps.process.tree import Tree, start

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CARRY_CHARS = 65536
_PIECES_AT_ONCE = 8
PIECE_BYTES = 2**18
RETRY_S = 0.05
SEARCH_S = 10.0
"""How long a pattern may be looked for in one piece of the log."""


class Probe(Protocol):
    """One condition of readiness; `seen` says what was observed last, for the message of a time-out."""

    @property
    def seen(self) -> str: ...

    def holds(self) -> bool:
        """Whether the condition holds now, as far as is known without waiting."""

    def close(self) -> None:
        """Give back what the probe holds."""


class LogProbe:
    """A line of the log matches a pattern. Reads on as the log grows: constant memory, each byte once.

    `parser` is the process that searches, so that no pattern makes anybody wait; without one, an own process.
    """

    def __init__(self, follower: Follower, pattern: str, parser: ParserProcess | None = None) -> None:
        self.seen = f"no line of the log matches {pattern!r}"
        self._follower = follower
        self._pattern = pattern
        self._own = parser is None
        self._parser = parser or ParserProcess()
        self._is_searching = False
        self._rest = b""

    def holds(self) -> bool:
        """Whether a line has matched; a progress bar's carriage returns end lines, colours are left out.

        Raises ParseTimeoutError once the pattern has been looked for in one piece of the log for too long.
        """
        for _ in range(_PIECES_AT_ONCE):
            if not self._is_searching:
                piece = self._follower.read()
                if not piece:
                    return False
                self._parser.submit(SearchRequest(pattern=self._pattern, data=self._text(piece)))
                self._is_searching = True
            answer = self._parser.answer(RETRY_S)
            if answer is None:
                self._give_up_in_time()
                return False
            self._is_searching = False
            if answer.match is not None:
                self.seen = f"the log says {answer.match!r}"
                return True
        return False

    def close(self) -> None:
        """End the search, if there is one, and close the log."""
        self._follower.close()
        if self._own or self._is_searching:
            self._parser.close()

    def _text(self, piece: bytes) -> bytes:
        """Return the piece, with the begun line before it, as it is searched."""
        text = self._rest + piece
        cut = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        self._rest = text[cut:][-_CARRY_CHARS:]
        return "\n".join(map(cut_line, _readable(text).split("\n"))).encode()

    def _give_up_in_time(self) -> None:
        if self._parser.waited_s >= SEARCH_S:
            raise ParseTimeoutError(
                f"the log couldn't be searched for {self._pattern!r} within {SEARCH_S:g} s",
                hint="look at `ready.log`: nested repetitions like (a+)+ never end",
            )


class TcpProbe:
    """A TCP connection to the port is accepted."""

    def __init__(self, host: str, port: int) -> None:
        self.seen = f"nothing listens on port {port}"
        self._address = (host, port)
        self._next = 0.0

    def holds(self) -> bool:
        """Whether a connection was accepted now."""
        if time.monotonic() < self._next:
            return False
        try:
            socket.create_connection(self._address, timeout=1.0).close()
        except OSError as error:
            self._next = time.monotonic() + RETRY_S
            self.seen = f"port {self._address[1]}: {error}"
            return False
        return True

    def close(self) -> None:
        """Nothing is held."""


class CommandProbe:
    """A command exits with 0. One runs at a time, the next after as long a rest as the last one took."""

    def __init__(self, command: Command, *, run: str, timeout_s: float = 60.0) -> None:
        self._last = ""
        self._command = command
        self._run = run
        self._timeout_s = timeout_s
        self._tree: Tree | None = None
        self._next = 0.0

    @property
    def seen(self) -> str:
        """How the command ended last, and how long it has been running since."""
        running = f"running for {time.monotonic() - self._tree.started:.1f} s" if self._tree else ""
        return "the ready command: " + (
            "; now ".join(filter(None, (self._last, running))) or "not started yet"
        )

    def holds(self) -> bool:
        """Whether the command has just exited with 0."""
        now = time.monotonic()
        if self._tree is None:
            if now >= self._next:
                self._tree = start(self._command, run=self._run)
            return False
        tree = self._tree
        exit_ = tree.poll()
        if exit_ is None and now - tree.started < self._timeout_s:
            return False
        self.close()
        self._next = now + max(RETRY_S, now - tree.started)
        self._last = f"{exit_ or f'not done after {self._timeout_s:g} s'}"
        return exit_ is not None and exit_.ok

    def close(self) -> None:
        """End the command, if it runs, with all that it started."""
        if self._tree is not None:
            self._tree.stop(signal=signal.SIGTERM, grace_s=0.5)
            self._tree = None


def _readable(data: bytes) -> str:
    text = data.replace(b"\r", b"\n").decode(errors="replace")
    return _ANSI.sub("", text) if "\x1b" in text else text
