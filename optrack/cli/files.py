"""Files that commands read and write for the user; what goes wrong is said as an error, not a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from optrack.cli import output
from optrack.errors import UsageError


def read_bytes(file: str) -> bytes:
    """Return a file's bytes, or those of standard input for `-`."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {_reason(error)}") from error


def write_text(target: Path, text: str) -> None:
    """Write a text file, its secrets masked, in one step, so that a reader sees the old text or the new one, never a part."""
    write_bytes(target, output.gate().text(text).encode("utf-8", errors="replace"))


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
        raise UsageError(f"{target} can't be written: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
