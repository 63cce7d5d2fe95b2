"""The probes for readiness: HTTP, a line in the log, an open port, a command."""

from __future__ import annotations

import contextlib
import http.client
import re
import signal
import socket
import ssl
import threading
import time
from typing import Protocol
from urllib.parse import SplitResult, urljoin, urlsplit

from optrack.host.command import Command
from optrack.host.logs import Follower
from optrack.host.parsing import ParserProcess, ParseTimeoutError, SearchRequest
from optrack.host.tree import Tree, start
from optrack.metrics.output import cut_line

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
    redirect counts only within the same host and port.
    """

    def __init__(self, url: str) -> None:
        self._last = f"{url} was not asked yet"
        self._asked: float | None = None
        self._is_connected = False
        self._url = url
        self._good = False
        self._closed = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._thread: threading.Thread | None = None

    @property
    def seen(self) -> str:
        """The last answer, or what the present request has been waiting for since."""
        asked = self._asked
        waited = 0.0 if asked is None else time.monotonic() - asked
        if waited < SLOW_S:
            return self._last
        state = "connected, no answer" if self._is_connected else "no connection"
        return f"{self._url}: {state} for {waited:.1f} s"

    def holds(self) -> bool:
        """Whether the address has answered well; asking begins with the first call."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._ask_on, name="ready-http", daemon=True)
            self._thread.start()
        return self._good

    def close(self) -> None:
        """Stop asking."""
        self._closed.set()
        if (connection := self._connection) is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(2)
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _ask_on(self) -> None:
        while not self._closed.is_set() and not self._good:
            begin = time.monotonic()
            try:
                self._good, self._last = self._ask(self._url)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self._last = f"{self._url}: {error or type(error).__name__}"
            took = time.monotonic() - begin
            if not self._good:
                self._closed.wait(min(REST_MAX_S, max(RETRY_S, took)))

    def _ask(self, url: str) -> tuple[bool, str]:
        first = urlsplit(url)
        for _ in range(REDIRECTS + 1):
            status, location = self._get(urlsplit(url))
            if 200 <= status < 300:
                return True, f"{url} answered {status}"
            if not (300 <= status < 400 and location):
                return False, f"{url} answered {status}"
            target = urlsplit(urljoin(url, location))
            if (target.hostname, target.port) != (first.hostname, first.port):
                return False, f"{url} redirects to another server, {target.geturl()}"
            url = target.geturl()
        return False, f"{first.geturl()} redirects without an end"

    def _get(self, url: SplitResult) -> tuple[int, str | None]:
        connection = _connection(url)
        self._connection, self._is_connected, self._asked = connection, False, time.monotonic()
        try:
            connection.connect()
            self._is_connected = True
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            connection.request("GET", path, headers={"Connection": "close", "Accept": "*/*"})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location")
        finally:
            self._connection = self._asked = None
            connection.close()


def _connection(url: SplitResult) -> http.client.HTTPConnection:
    host = url.hostname or "127.0.0.1"
    if url.scheme == "https":
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(host, url.port or 443, timeout=ANSWER_S, context=unverified)
    return http.client.HTTPConnection(host, url.port or 80, timeout=ANSWER_S)


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
