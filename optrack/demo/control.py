"""The control line between the front end and one rank: JSON, one value a line, over a socket pair."""

import json
import socket
from typing import Any


class LineClosedError(Exception):
    """The process at the other end is gone."""


class ControlLine:
    """One end of the line. It closes when either process ends, so each learns of the other's death."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._lines = sock.makefile("rb")

    def send(self, value: object) -> None:
        """Sends one JSON value; raises `LineClosedError` if nobody is left to read it."""
        try:
            self._socket.sendall(json.dumps(value).encode() + b"\n")
        except OSError as error:
            raise LineClosedError from error

    def receive(self) -> Any:
        """Waits for the next JSON value; raises `LineClosedError` when no more can come."""
        try:
            line = self._lines.readline()
        except OSError as error:
            raise LineClosedError from error
        if not line.endswith(b"\n"):
            raise LineClosedError
        return json.loads(line)
