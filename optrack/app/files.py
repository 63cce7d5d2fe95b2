"""Files that commands read and write for the user; what goes wrong is said as an error, not a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.errors import UsageError
from optrack.host.regular import MOST_BYTES, open_regular, read_regular, reason

if TYPE_CHECKING:
    from optrack.host.stretch import Stretch
    from optrack.model.secrets.gate import Gate

_STDIN_HINT = "only regular files are read; `-` is standard input"


def read_bytes(file: str) -> bytes:
    """Return a regular file's bytes, or those of standard input for `-`, up to 64 MiB; else raises UsageError."""
    if file == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"standard input has more than {MOST_BYTES // 2**20} MiB")
        return data
    try:
        return read_regular(Path(file))
    except OSError as error:
        raise UsageError(f"{file} can't be read: {reason(error)}", hint=_STDIN_HINT) from error


def whole_file(file: str) -> Stretch:
    """Return a regular file to read from, of any size; raises UsageError."""
    from optrack.host.stretch import Stretch

    try:
        open_regular(Path(file)).close()
        return Stretch.whole(Path(file))
    except OSError as error:
        raise UsageError(f"{file} can't be read: {reason(error)}", hint=_STDIN_HINT) from error


def write_text(target: Path, text: str, gate: Gate) -> None:
    """Write a text file, its secrets masked, in one step: a reader sees the old text or the new one, never a part."""
    write_bytes(target, gate.text(text).encode("utf-8", errors="replace"))


def write_bytes(target: Path, data: bytes) -> None:
    """Write a file in one step; what is there and no plain file (a pipe, /dev/stdout) is written into."""
    real = target.resolve() if target.is_symlink() else target
    fresh = real.with_name(f".{real.name}.{os.getpid()}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if real.exists() and not real.is_file():
            real.write_bytes(data)
            return
        fresh.write_bytes(data)
        if real.is_file():
            fresh.chmod(real.stat().st_mode & 0o777)
        fresh.replace(real)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise UsageError(f"{target} can't be written: {reason(error)}") from error


def write_new(target: Path, text: str) -> None:
    """Write a text file that isn't there yet; raises UsageError for one that is."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{target} is there already", hint="name a new file") from error
    except OSError as error:
        raise UsageError(f"{target} can't be written: {reason(error)}") from error
