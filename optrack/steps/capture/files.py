"""Files whose content is part of a snapshot: watched files, patches, start-up files."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optrack.steps.regular import open_regular

WHOLE_LIMIT_BYTES = 256 * 2**20
"""Up to this size a file's whole content is digested; of a larger one its size and both ends."""

_BLOCK = 2**20
_LATE = "there was no time to read it"
_GROWTH_BYTES = 64 * 2**20
"""How much a file may grow while it is read."""


def files_part(watch: Sequence[Path], until: float | None = None) -> dict[str, Any]:
    """Return the digest and size of each watched file; of a folder, those of the files under it as one."""
    return {str(path): describe_file(path, until) for path in watch}


def describe_file(path: Path, until: float | None = None) -> dict[str, Any]:
    """Return `sha256` and `size` of a file; `sha256` is None, with the reason in `problem`, if it can't be
    read, isn't a file with content (a pipe, a device), or has to be read after `until` (monotonic, seconds)."""
    try:
        if path.is_dir():
            return _describe_folder(path, until)
        if until is not None and time.monotonic() > until:
            return {"sha256": None, "problem": _LATE}
        return {"sha256": content_digest(path), "size": path.stat().st_size}
    except OSError as error:
        return {"sha256": None, "problem": error.strerror or str(error) or type(error).__name__}


def regular_content(path: Path, limit: int) -> bytes:
    """Return the first `limit` bytes of a file, none of one that isn't regular or can't be read."""
    try:
        with open_regular(path) as file:
            return file.read(limit)
    except OSError:
        return b""


def content_digest(path: Path, limit: int = WHOLE_LIMIT_BYTES) -> str:
    """Return the SHA-256 of a regular file's content, or, of a file over `limit` bytes, `ends:` with that of its
    size and both ends. Raises OSError, also for a file that says it is smaller than what it goes on to give."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            most = max(size + _GROWTH_BYTES, _BLOCK)
            while block := file.read(min(_BLOCK, most + 1)):
                most -= len(block)
                if most < 0:
                    raise OSError(errno.EFBIG, "it goes on without end", str(path))
                digest.update(block)
            return digest.hexdigest()
        digest.update(str(size).encode() + file.read(_BLOCK))
        file.seek(-_BLOCK, 2)
        digest.update(file.read(_BLOCK))
    return f"ends:{digest.hexdigest()}"


def _describe_folder(folder: Path, until: float | None) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ):
        if until is not None and time.monotonic() > until:
            return {"sha256": None, "problem": _LATE}
        digest.update(
            f"{path.relative_to(folder)}\0{content_digest(path)}\n".encode(errors="surrogateescape")
        )
        size += path.stat().st_size
    return {"sha256": digest.hexdigest(), "size": size}
