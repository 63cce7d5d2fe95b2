"""A stretch of a file that something wrote, and as much of it as is read: all, or its begin and its end."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import BinaryIO

from optrack.host.logs import Mark
from optrack.host.regular import open_regular
from optrack.model.value import Frozen

WHOLE_BYTES = 8 * 2**20
HEAD_BYTES = 2**19
TAIL_BYTES = 2**21
DOCUMENT_BYTES = 64 * 2**20
"""A JSON document, which is nothing without its begin or its end, is read whole up to this size."""
_HEAD_LINES = 5_000
_TAIL_LINES = 30_000
MOST_LINES = 60_000
_PIECE = 2**16


class Stretch(Frozen):
    """The bytes of a file from `start` up to `end`."""

    path: Path
    start: int
    end: int

    @staticmethod
    def whole(path: Path) -> Stretch:
        """Return all of a file."""
        return Stretch(path=path, start=0, end=path.stat().st_size)

    @staticmethod
    def since(path: Path, begin: Mark) -> Stretch:
        """Return what was written to a log since `begin`: all of it where it was truncated or replaced."""
        try:
            with path.open("rb", buffering=0) as file:
                start = begin.offset_in(file.fileno())
                return Stretch(path=path, start=start, end=os.fstat(file.fileno()).st_size)
        except OSError:
            return Stretch(path=path, start=0, end=0)

    @property
    def size(self) -> int:
        """How many bytes that are."""
        return max(0, self.end - self.start)


class Window(Frozen):
    """What was read of a stretch; `note` says what was left out, if anything was."""

    data: bytes
    note: str | None = None


def tail_of(stretch: Stretch, most: int) -> bytes:
    """Return the last bytes of a stretch, at most `most`; empty if it can't be read."""
    try:
        with open_regular(stretch.path) as file:
            return _read(file, max(stretch.start, stretch.end - most), stretch.end)
    except OSError:
        return b""


def window_of(stretch: Stretch) -> Window:
    """Return a stretch whole, or of a long one its begin and its end, in whole lines; empty if it can't be read.

    A JSON document is read whole: the only one, or the one that the last line holds.
    """
    try:
        with open_regular(stretch.path) as file:
            return _window(file, stretch)
    except OSError:
        return Window(data=b"")


def _window(file: BinaryIO, stretch: Stretch) -> Window:
    start, end = stretch.start, stretch.end
    head = _read(file, start, min(end, start + HEAD_BYTES))
    is_document = stretch.size <= DOCUMENT_BYTES and _begins_document(head)
    if is_document or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Window(data=_read(file, start, min(end, start + DOCUMENT_BYTES)))
    if stretch.size <= WHOLE_BYTES:
        data = _read(file, start, end)
        if data.count(b"\n") + data.count(b"\r") <= MOST_LINES:
            return Window(data=data)
        del data
    begin = _begin_of_last_document(file, stretch)
    tail_start = max(start + len(head), end - TAIL_BYTES)
    tail = _read(file, tail_start if begin is None else begin, end)
    head, tail = _first_lines(head), tail if begin is not None else _last_lines(tail)
    note = f"of {_amount(stretch.size)} the first {_amount(len(head))} and the last {_amount(len(tail))} were read"
    return Window(data=head + b"\n" + tail, note=note)


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(max(0, end - start))


def _begins_document(head: bytes) -> bool:
    """Whether a text begins with a JSON document of more than a line, or of a line that is long."""
    first = head.lstrip()
    line = first.partition(b"\n")[0]
    return first[:1] in (b"{", b"[") and (len(line.strip()) <= 2 or len(line) > _PIECE)


def _begin_of_last_document(file: BinaryIO, stretch: Stretch) -> int | None:
    """Return where the last line begins if it holds a JSON document that doesn't fit in the tail; else None."""
    least = max(stretch.start, stretch.end - DOCUMENT_BYTES)
    at = stretch.end
    end = _read(file, max(least, at - 64), at)
    at -= len(end) - len(end.rstrip())
    while at > least:
        begin = max(least, at - _PIECE)
        found = _read(file, begin, at).rfind(b"\n")
        if found >= 0:
            start = begin + found + 1
            is_document = stretch.end - start > TAIL_BYTES and _read(file, start, start + 1) in (b"{", b"[")
            return start if is_document else None
        at = begin
    return None


def _first_lines(data: bytes) -> bytes:
    """Return the whole lines that a text begins with."""
    at = 0
    for _ in range(_HEAD_LINES):
        end = _line_end(data, at)
        if end < 0:
            break
        at = end + 1
    return data[:at] or data


def _line_end(data: bytes, at: int) -> int:
    feed = data.find(b"\n", at)
    back = data.find(b"\r", at, feed if feed >= 0 else len(data))
    return back if back >= 0 else feed


def _last_lines(data: bytes) -> bytes:
    """Return the whole lines that a text ends with; it may begin in the middle of one."""
    at = len(data)
    for _ in range(_TAIL_LINES):
        found = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", max(0, data.rfind(b"\n", 0, at)), at))
        if found < 0:
            break
        at = found
    return data[at + 1 :] if at < len(data) else data


def _amount(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**18 else f"{count / 2**10:.0f} KiB"
