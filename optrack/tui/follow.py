"""A log file read by offset from its end: any page of a file of any size in a few small reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 1 << 16
_LONGEST = 1 << 14
"""A line is shown in pieces of this many bytes, so that a file without line ends costs no more."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: the offset of its first byte and its text."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines in a row, the offset behind the last of them, and the size of the file when they were read."""

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


def tail(path: Path, lines: int) -> Page:
    """Return the last `lines` lines of the file; an empty page where there is no file."""
    return page(path, None, -lines, lines)


def page(path: Path, top: int | None, move: int, lines: int) -> Page:
    """Return `lines` lines that begin `move` lines below the line at offset `top` (None: the file's end).

    Reads from the file only what is shown and passed; raises nothing if the file can't be read.
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
    """Return the start of the line that is `lines` lines above the one that starts (or ends) at `offset`."""
    position = offset
    for _ in range(lines):
        if position <= 0:
            return 0
        position = _line_start(fd, position - 1)
    return position


def _line_start(fd: int, offset: int) -> int:
    """Return where the line begins whose last byte (its line end) is at `offset`."""
    low = max(0, offset - _LONGEST)
    found = os.pread(fd, offset - low, low).rfind(b"\n")
    if found >= 0:
        return low + found + 1
    return low


def _forth(fd: int, offset: int, lines: int, size: int) -> int:
    position = offset
    while lines > 0 and position < size:
        block = os.pread(fd, _LONGEST, position)
        if not block:
            return position
        here = 0
        while lines > 0 and here < len(block):
            end = block.find(b"\n", here)
            if end < 0:
                break
            here, lines = end + 1, lines - 1
        if here == 0:
            here, lines = len(block), lines - 1
        position += here
    return position


def _read(fd: int, start: int, lines: int, size: int) -> tuple[list[Line], int]:
    found: list[Line] = []
    position = start
    while len(found) < lines and position < size:
        block = os.pread(fd, _LONGEST, position)
        if not block:
            break
        here = 0
        while len(found) < lines and here < len(block):
            end = block.find(b"\n", here)
            if end < 0 and (here > 0 and position + len(block) < size):
                break
            stop = end + 1 if end >= 0 else len(block)
            text = block[here:stop].decode("utf-8", errors="replace").rstrip("\r\n")
            found.append(Line(position + here, text))
            here = stop
        position += here
    return found, position


def search(path: Path, words: str, start: int, *, backward: bool, stopped: object = None) -> int | None:
    """Return the offset of the line that holds `words`, upper and lower case alike, nearest to `start`.

    Searches from `start` towards the end, or towards the beginning; None if there is none. `stopped` is a
    callable that ends the search early.
    """
    wanted = words.encode("utf-8", errors="replace").lower()
    if not wanted:
        return None
    is_stopped = stopped if callable(stopped) else (lambda: False)
    try:
        with path.open("rb", buffering=0) as file:
            fd = file.fileno()
            hit = (_search_back if backward else _search_on)(fd, wanted, start, is_stopped)
            return None if hit is None else _line_start(fd, hit) if hit else 0
    except OSError:
        return None


def _search_on(fd: int, wanted: bytes, start: int, stopped: object) -> int | None:
    position, overlap = start, len(wanted) - 1
    while callable(stopped) and not stopped():
        block = os.pread(fd, _BLOCK * 16, position)
        if len(block) < len(wanted):
            return None
        found = block.lower().find(wanted)
        if found >= 0:
            return position + found
        position += max(1, len(block) - overlap)
    return None


def _search_back(fd: int, wanted: bytes, start: int, stopped: object) -> int | None:
    position, overlap = start, len(wanted) - 1
    while position > 0 and callable(stopped) and not stopped():
        low = max(0, position - _BLOCK * 16)
        found = os.pread(fd, position - low, low).lower().rfind(wanted)
        if found >= 0:
            return low + found
        if low == 0:
            return None
        position = low + overlap
    return None
