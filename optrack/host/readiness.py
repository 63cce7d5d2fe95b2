"""The probes for readiness: HTTP, a line in the log, an open port, a command."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from optrack.engines.server import http_client
from optrack.host.command import Command
from optrack.host.logs import Follower
from optrack.host.parsing import ParserProcess, ParseTimeoutError, SearchRequest
from optrack.host.tree import Tree, start
from optrack.metrics.output import cut_line

if TYPE_CHECKING:
    import httpx

RETRY_S = 0.05
REST_MAX_S = 1.0
ANSWER_S = 60.0
SLOW_S = 0.5
"""From when on a request without an answer is what is seen, rather than the last answer."""
REDIRECTS = 5


class HttpProbe:
    """The address answers a GET with a 2xx status.

    It is asked from a thread, one request at a time, so that a slow answer holds nothing up; the rest between
    two requests is as long as the last one took, 50 ms to 1 s. Proxies of the environment play no part, a
    redirect counts only within the same host and port, and certificates aren't verified.
    """

    def __init__(self, url: str) -> None:
        self._last = f"{url} was not asked yet"
        self._asked: float | None = None
        self._url = url
        self._is_good = False
        self._closed = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._ask_on, name="ready-http", daemon=True)

    @property
    def seen(self) -> str:
        """The last answer, or what the present request has been waiting for since."""
        asked = self._asked
        waited = 0.0 if asked is None else time.monotonic() - asked
        if waited < SLOW_S:
            return self._last
        state = "no connection" if self._socket is None else "connected, no answer"
        return f"{self._url}: {state} for {waited:.1f} s"

    def holds(self) -> bool:
        """Whether the address has answered well; asking begins with the first call."""
        if self._thread.ident is None:
            self._thread.start()
        return self._is_good

    def close(self) -> None:
        """Stop asking."""
        self._closed.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        if self._thread.ident is not None:
            self._thread.join(timeout=1.0)

    def _ask_on(self) -> None:
        import httpx

        with http_client(ANSWER_S) as client:
            while not self._closed.is_set() and not self._is_good:
                begin = self._asked = time.monotonic()
                try:
                    self._is_good, self._last = self._ask(client)
                except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                    self._last = f"{self._url}: {error or type(error).__name__}"
                self._asked = self._socket = None
                if not self._is_good:
                    self._closed.wait(min(REST_MAX_S, max(RETRY_S, time.monotonic() - begin)))

    def _ask(self, client: httpx.Client) -> tuple[bool, str]:
        request = client.build_request("GET", self._url, extensions={"trace": self._trace})
        for _ in range(REDIRECTS + 1):
            answer = client.send(request, stream=True)
            answer.close()
            status, target = f"{request.url} answered {answer.status_code}", answer.next_request
            if answer.is_success or target is None:
                return answer.is_success, status
            if (target.url.host, target.url.port) != (request.url.host, request.url.port):
                return False, f"{request.url} redirects to another server, {target.url}"
            request = target
        return False, f"{self._url} redirects without an end"

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            self._socket = info["return_value"].get_extra_info("socket")


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CARRY_CHARS = 65536
_PIECES_AT_ONCE = 8
PIECE_BYTES = 2**18
PROBES_RETRY_S = 0.05
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
            answer = self._parser.answer(PROBES_RETRY_S)
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
            self._next = time.monotonic() + PROBES_RETRY_S
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
        self._next = now + max(PROBES_RETRY_S, now - tree.started)
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
