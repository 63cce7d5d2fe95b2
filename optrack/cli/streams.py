"""The streams of a command: what reaches them holds nothing that a terminal would obey, in whatever encoding.

A stream that is closed, full or no longer read is met here too: what only answers ends with that, what changes
something goes on without its answer.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import sys
from typing import TextIO

from optrack.errors import OptrackError
from optrack.model.text import in_words

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_ESCAPED_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")
_HALVES = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
_ERRORS = "optrack.in_words"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(in_words, error.object[error.start : error.end])), error.end


codecs.register_error(_ERRORS, _replaced)


class AnswerLostError(OptrackError):
    """What was asked for couldn't be written to standard output."""

    code = "output"


def visible(text: str) -> str:
    """Return text with every control and direction-changing character but line ends and tabs spelt out, `\\x1b`."""
    return _OBEYED.sub(_spelt, text.replace("\r\n", "\n"))


def visible_but_colours(text: str) -> str:
    """The same for a log: colours stay, and each state of a line that was rewritten gets a line of its own."""
    parts = _COLOUR.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(part if index % 2 else visible(part) for index, part in enumerate(parts))


def _spelt(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def in_json(text: str) -> str:
    """Return a JSON document that says the same, with escapes for what a terminal obeys or the stream can't hold."""
    whole = _HALVES.sub("\ufffd", text)
    return (_ESCAPED_IN_JSON if _is_utf8() else _BEYOND_ASCII).sub(_json_escape, whole)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def in_markup(text: str) -> str:
    """Return HTML or SVG with references for the characters that the stream can't hold."""
    return text if _is_utf8() else text.encode("ascii", "xmlcharrefreplace").decode()


def _is_utf8() -> bool:
    return codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name == "utf-8"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is open and shows on a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


class ReaderGoneError(Exception):
    """Nobody reads standard output any more; no OSError, which the command line's library would end with 1."""


class Streams:
    """Standard output and standard error of one command.

    With `must_answer`, an answer that can't be written ends the command: AnswerLostError, or ReaderGoneError where
    the reader has gone. Without, it is said on standard error and the command goes on.
    """

    def __init__(self, *, closed: bool = False) -> None:
        self.must_answer = True
        self.lost = False
        self._closed = closed

    @classmethod
    def prepared(cls) -> Streams:
        """Open closed standard streams on nothing, so that no file takes their place, and let no character fail."""
        closed = sys.stdout is None
        for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
            if getattr(sys, name) is None:
                _lead_nowhere(descriptor)
                setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors=_ERRORS)
        return cls(closed=closed)

    def write(self, text: str) -> None:
        """Write text on standard output."""
        if self.lost:
            return
        try:
            if self._closed:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            self._lose(error)

    def write_bytes(self, data: bytes) -> None:
        """Write bytes on standard output as they are."""
        if self.lost:
            return
        try:
            if self._closed:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError as error:
            self._lose(error)

    def narrate(self, line: str) -> None:
        """Write a line on standard error, if anybody can read it."""
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except OSError:
            _lead_nowhere(2)

    def give_up(self) -> None:
        """Leave nothing in standard output's buffer that the interpreter would fail to write at its end."""
        self.lost = True
        _lead_nowhere(1)

    def _lose(self, error: OSError) -> None:
        self.give_up()
        reason = "it is closed" if error.errno == errno.EBADF else (error.strerror or str(error)).lower()
        if isinstance(error, BrokenPipeError):
            if self.must_answer:
                raise ReaderGoneError from error
        elif self.must_answer:
            raise AnswerLostError(f"can't write to standard output: {reason}") from error
        else:
            self.narrate(f"optrack: can't write to standard output: {reason}; going on without it")


def _lead_nowhere(descriptor: int) -> None:
    """Let a descriptor lead to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
