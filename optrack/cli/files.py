"""Files that commands read and write for the user; what goes wrong is said as an error, not a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from optrack.errors import UsageError


def read_bytes(file: str) -> bytes:
    """Return a file's bytes, or those of standard input for `-`."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {_reason(error)}") from error


def write_text(target: Path, text: str) -> None:
    """Write a file in one step, so that a reader sees the old text or the new one, never a part."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        fresh.write_text(text, encoding="utf-8")
        if target.is_file():
            fresh.chmod(target.stat().st_mode & 0o777)
        fresh.replace(target.resolve() if target.is_symlink() else target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UsageError(f"{target} can't be written: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
