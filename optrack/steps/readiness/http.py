"""The HTTP probe: asks one address until it answers well, without proxies and without haste."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
import time
from urllib.parse import SplitResult, urljoin, urlsplit

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
