"""A log file read by offset from its end: any page of a file of any size in a few small reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PIECE = 1 << 14
"""A line is shown in pieces of at most this many bytes, so that a file without line ends costs no more."""
REDRAWN = 1 << 28
"""A line drawn anew with carriage returns is one line up to so many bytes."""
BLOCK = 1 << 20
"""How many bytes a search reads at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: the offset of its first byte and its text."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines in a row, the offset behind the last of them, and the file's size when they were read."""

    lines: tuple[Line, ...]
    end: int
    size: int

    @property
    def top(self) -> int:
        """The offset of the first line."""
        return self.lines[0].offset if self.lines else 0

    @property
    def at_end(self) -> bool:
        """Whether nothing comes behind this page."""
        return self.end >= self.size


def page(path: Path, top: int | None, move: int, lines: int) -> Page:
    """Return `lines` lines that begin `move` lines below the line at offset `top` (None: the file's end).

    Reads only what is shown and passed over. A file that can't be read is an empty page; one that has
    become shorter is shown from its end.
    """
    try:
        with path.open("rb", buffering=0) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            start = size if top is None or top > size else top
            start = _back(fd, start, -move) if move < 0 else _forth(fd, start, move, size)
            found, end = _read(fd, start, lines, size)
            if end >= size and len(found) < lines:
                found, end = _read(fd, _back(fd, size, lines), lines, size)
    except OSError:
        return Page((), 0, 0)
    return Page(tuple(found), end, size)


def _back(fd: int, offset: int, lines: int) -> int:
    """Return the start of the line that is `lines` lines above the one that begins, or ends, at `offset`."""
    position = offset
    while lines > 0 and position > 0:
        low = max(0, position - PIECE)
        block = os.pread(fd, position - low, low)
        end = len(block)
        while lines > 0 and end > 0:
            newline = block.rfind(b"\n", 0, end - 1)
            if newline < 0:
                break
            end, lines = newline + 1, lines - 1
        if end == len(block):
            if low > 0 and block.find(b"\r", 0, end - 2) >= 0:
                low = _redrawn_start(fd, low)
            end, lines = 0, lines - 1
        elif lines > 0 and low == 0:
            end = 0
        position = low + end
    return position


def _forth(fd: int, offset: int, lines: int, size: int) -> int:
    """Return the start of the line that is `lines` lines below the one that begins at `offset`."""
    position = offset
    while lines > 0 and position < size:
        found, position = _read(fd, position, lines, size)
        lines -= len(found)
        if not found:
            break
    return position


def _read(fd: int, start: int, lines: int, size: int) -> tuple[list[Line], int]:
    """Return at most `lines` lines from `start` on, and the offset behind them."""
    found: list[Line] = []
    position = start
    while len(found) < lines and position < size:
        block = os.pread(fd, PIECE, position)
        if not block:
            break
        here = 0
        while len(found) < lines and here < len(block):
            newline = block.find(b"\n", here)
            if newline < 0 and position + len(block) < size:
                if here > 0:
                    break
                if block.find(b"\r", 0, len(block) - 1) >= 0:
                    text, here = _redrawn(fd, position, size)
                    found.append(Line(position, text))
                    break
            stop = newline + 1 if newline >= 0 else len(block)
            text = block[here:stop].decode("utf-8", errors="replace").rstrip("\r\n")
            found.append(Line(position + here, text))
            here = stop
        position += here
    return found, position


def _redrawn_start(fd: int, offset: int) -> int:
    """Return where the line that `offset` lies in begins, looking back REDRAWN bytes at most."""
    position, floor = offset, max(0, offset - REDRAWN)
    while position > floor:
        low = max(floor, position - BLOCK)
        newline = os.pread(fd, position - low, low).rfind(b"\n")
        if newline >= 0:
            return low + newline + 1
        position = low
    return floor


def _redrawn(fd: int, start: int, size: int) -> tuple[str, int]:
    """Return the last state of the line at `start`, which carriage returns drew anew, and its length in bytes."""
    position, end = start, min(size, start + REDRAWN)
    while position < end:
        block = os.pread(fd, min(BLOCK, end - position), position)
        newline = block.find(b"\n")
        if newline >= 0 or not block:
            end = position + newline + 1
            break
        position += len(block)
    low = max(start, end - PIECE)
    states = os.pread(fd, end - low, low).decode("utf-8", errors="replace").rstrip("\r\n")
    return states.rpartition("\r")[2], end - start


def search(
    path: Path, words: str, start: int, *, backward: bool, stopped: Callable[[], bool] = lambda: False
) -> int | None:
    """Return the offset of the line nearest to `start` that holds `words`, upper and lower case alike.

    Searches from `start` to the end, or `backward` to the beginning; None if there is none, or once
    `stopped` is true.
    """
    wanted = words.encode("utf-8", errors="replace").lower()
    if not wanted:
        return None
    try:
        with path.open("rb", buffering=0) as file:
            fd = file.fileno()
            hit = (_search_back if backward else _search_on)(fd, wanted, start, stopped)
            return None if hit is None else _line_start(fd, hit)
    except OSError:
        return None


def _line_start(fd: int, offset: int) -> int:
    low = max(0, offset - PIECE)
    return low + os.pread(fd, offset - low, low).rfind(b"\n") + 1


def _search_on(fd: int, wanted: bytes, start: int, stopped: Callable[[], bool]) -> int | None:
    position = start
    while not stopped():
        block = os.pread(fd, BLOCK, position)
        if len(block) < len(wanted):
            return None
        found = block.lower().find(wanted)
        if found >= 0:
            return position + found
        position += len(block) - len(wanted) + 1
    return None


def _search_back(fd: int, wanted: bytes, start: int, stopped: Callable[[], bool]) -> int | None:
    position = start
    while position > 0 and not stopped():
        low = max(0, position - BLOCK)
        found = os.pread(fd, position - low, low).lower().rfind(wanted)
        if found >= 0:
            return low + found
        if low == 0:
            return None
        position = low + len(wanted) - 1
    return None
