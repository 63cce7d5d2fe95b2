"""The files of installed packages that no installation accounts for: edited in place, or put beside packages.

Each installation lists its files with their digests (`RECORD` of the binary distribution format). A file that is older
than that list and of the same size is what was installed; the content of others is compared.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from optrack.host.environment import content_digest, regular_content
from optrack.host.process_tree import Deadline, read_text
from optrack.judge.variables import plain

WALK_S = 4.0
"""So long one walk may take; most take a tenth of it."""

_CODE = (".py", ".so", ".json", ".yaml", ".cu", ".cuh", ".h", ".pyx")
_ADDED = (".py", ".so")
_LARGE_BYTES = 4 * 2**20
_MOST_TOLD = 500
_AFTER_S = 2.0
_CHANGED_AFTER_S = 120.0
"""Time stamps up to so much newer than the list are the installation's own: contents', and those of a copied image."""

_INFO = re.compile(r"\.(?:dist|egg)-info$")


def edited_files(folders: Sequence[Path]) -> dict[str, str]:
    """Return path -> digest of each code file in folders of an import path that was edited, or that nobody installed;
    a package without a list of its files has one digest. `missing` stands for one that is gone."""
    until = Deadline(WALK_S)
    found: dict[str, str] = {}
    for folder in folders:
        for path, state in _of_folder(folder, until):
            found[plain(str(path))] = state
            if len(found) >= _MOST_TOLD:
                return found
    return dict(sorted(found.items()))


def _of_folder(folder: Path, until: Deadline) -> Iterator[tuple[Path, str]]:
    owned: set[str] = set()
    for info in sorted(folder.glob("*.dist-info")):
        for name, digest, size, newest, changed in _recorded(info):
            owned.add(name)
            state = _compared(folder / name, digest, size, newest, changed) if until.left_s > 0 else None
            if state is not None:
                yield folder / name, state
    parents = {name.rpartition("/")[0] for name in owned}
    for parent in sorted(parents - {""}):
        for entry in _entries(folder / parent):
            name = f"{parent}/{entry.name}"
            if entry.name.endswith(_ADDED) and name not in owned and until.left_s > 0:
                yield Path(entry.path), _digest(Path(entry.path))
    tops = {name.partition("/")[0] for name in owned}
    for entry in sorted(_entries(folder), key=lambda e: e.name):
        if entry.name in tops or _INFO.search(entry.name) or entry.name in _NOT_CODE or until.left_s <= 0:
            continue
        if entry.is_dir():
            yield from ((Path(entry.path), state) for state in [_whole(Path(entry.path), until)] if state)
        elif entry.name.endswith(_ADDED):
            yield Path(entry.path), _digest(Path(entry.path))


_NOT_CODE = ("__pycache__", "site-packages", "dist-packages", "test", "idlelib", "lib2to3", "ensurepip")


def _recorded(info: Path) -> Iterator[tuple[str, str, int, float, float]]:
    """Yield the code files that an installation lists: name, digest as listed, size, and the times after which a file
    was written, or its inode changed, by somebody else."""
    record = info / "RECORD"
    text = read_text(record)
    if text is None:
        return
    about = record.stat()
    newest = about.st_mtime + _AFTER_S
    changed = max(about.st_mtime, about.st_ctime) + _CHANGED_AFTER_S
    for row in csv.reader(text.splitlines()):
        if len(row) >= 3 and row[0].endswith(_CODE) and not row[0].startswith(("..", "/")):
            yield row[0], row[1], int(row[2] or -1), newest, changed


def _compared(path: Path, digest: str, size: int, newest: float, changed: float) -> str | None:
    """Return None for a file that is as it was installed, else what stands for its content."""
    try:
        about = path.stat()
    except OSError:
        return "missing"
    if not digest:
        return None
    if (
        about.st_size == size
        and about.st_mtime <= newest
        and (about.st_ctime <= changed or size > _LARGE_BYTES)
    ):
        return None
    if about.st_size == size and _as_recorded((str(path), about.st_size, about.st_mtime_ns), digest):
        return None
    return _digest(path)


@lru_cache(maxsize=100_000)
def _as_recorded(state: tuple[str, int, int], digest: str) -> bool:
    """Whether the content is what the list says; asked once of each state (path, size, time) of a file."""
    path, size, _ = state
    kind, _, value = digest.partition("=")
    if kind not in hashlib.algorithms_available:
        return False
    content = hashlib.new(kind, regular_content(Path(path), size)).digest()
    return base64.urlsafe_b64encode(content).decode().rstrip("=") == value.rstrip("=")


def _whole(top: Path, until: Deadline) -> str | None:
    """Return one digest of the code of a package that nobody lists, None where it has none: of names and contents."""
    digest, count = hashlib.sha256(), 0
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in _NOT_CODE)
        for name in sorted(files):
            if name.endswith((".py", ".so", ".json")):
                if until.left_s <= 0:
                    return None
                path = Path(folder, name)
                digest.update(f"{path.relative_to(top)}\0{_digest(path)}\0".encode(errors="surrogateescape"))
                count += 1
    return digest.hexdigest() if count else None


def _digest(path: Path) -> str:
    try:
        about = path.stat()
        return _digest_of((str(path), about.st_size, about.st_mtime_ns, about.st_ctime_ns))
    except OSError:
        return "unreadable"


@lru_cache(maxsize=100_000)
def _digest_of(state: tuple[str, int, int, int]) -> str:
    """Return the digest of a file's content, read once of each state (path, size, times) of it."""
    return content_digest(Path(state[0]), _LARGE_BYTES)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
