"""What the user wants of a running session, as signals tell it."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Protocol


class Will(Protocol):
    """Asked wherever a session waits."""

    def stop(self) -> bool:
        """Whether to stop, with a full teardown."""

    def hurry(self) -> bool:
        """Whether to stop without much grace."""


class SignalledWill:
    """Goes on until SIGTERM says to stop, or SIGINT to stop and hurry; a lost terminal (SIGHUP) is nothing."""

    def __init__(self) -> None:
        self._stop = False
        self._hurry = False
        signal.signal(signal.SIGTERM, self._take)
        signal.signal(signal.SIGINT, self._take)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def stop(self) -> bool:
        """Whether either signal has come."""
        return self._stop

    def hurry(self) -> bool:
        """Whether SIGINT has come."""
        return self._hurry

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self._stop = True
        self._hurry = self._hurry or number == signal.SIGINT
