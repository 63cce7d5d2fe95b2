"""Files that a repository keeps through Git LFS: pointers in git, the content elsewhere.

Their filters are not run, since they write into the repository; the pointers are compared here instead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from optrack.core.fairness.variables import plain
from optrack.steps.capture.files import content_digest, regular_content
from optrack.steps.capture.git_command import GitCommand
from optrack.steps.capture.git_loose import READ_LIMIT_BYTES
from optrack.steps.capture.git_status import Status

_POINTER = b"version https://git-lfs.github.com/spec/v1"
_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)


def lfs_part(git: GitCommand, status: Status) -> dict[str, Any]:
    """Return how many files are kept through LFS and which of them are pointers on disk (never fetched).

    Of `status`, files that only look changed because their content stands in place of the pointer are taken
    out.
    """
    paths = _lfs_paths(git, status)
    if not paths:
        return {}
    changed = set(status.changed)
    for path in sorted(changed & set(paths)):
        if _is_content_of_pointer(git, path):
            status.changed.remove(path)
    missing = [plain(path) for path in paths if _pointer_on_disk(git.folder / os.fsdecode(path))]
    return {"lfs": {"files": len(paths), "missing": sorted(missing)}}


def _lfs_paths(git: GitCommand, status: Status) -> list[bytes]:
    """Return the tracked files that git attributes give the LFS filter."""
    paths = [entry.partition(b"\t")[2] for entry in status.entries]
    attributes = [path for path in paths if path == b".gitattributes" or path.endswith(b"/.gitattributes")]
    if not any(
        b"filter=lfs" in regular_content(git.folder / os.fsdecode(path), 2**20) for path in attributes
    ):
        return []
    listed = b"\0".join(paths) + b"\0"
    fields = git.ask("check-attr", "-z", "--stdin", "filter", feed=listed).output.split(b"\0")
    return [path for path, value in zip(fields[::3], fields[2::3], strict=False) if value == b"lfs"]


def _is_content_of_pointer(git: GitCommand, path: bytes) -> bool:
    """Whether the file on disk is what the tracked pointer points to."""
    pointer = _OID.search(git.ask("cat-file", "blob", f":{os.fsdecode(path)}").output)
    file = git.folder / os.fsdecode(path)
    if pointer is None or not file.is_file() or file.stat().st_size > READ_LIMIT_BYTES:
        return False
    return content_digest(file) == pointer.group(1).decode()


def _pointer_on_disk(path: Path) -> bool:
    return regular_content(path, len(_POINTER)) == _POINTER
