"""Which changed and untracked files of a repository are read, which of them are kept, and what is told of the rest.

Of what isn't read, names, sizes and times are digested: as long as these are the same, so is the content.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from pathlib import Path
from typing import Any

from optrack.host.environment import content_digest, regular_content
from optrack.judge.variables import plain
from optrack.model.masking import keyed_digest

TRACKED_LIMIT_BYTES = 2 * 2**20
"""Up to this size a changed tracked file goes into the patch, in all `PATCH_LIMIT_BYTES`."""

PATCH_LIMIT_BYTES = 16 * 2**20
UNTRACKED_LIMIT_BYTES = 256 * 2**10
"""Up to this size an untracked text goes into the patch, in all `UNTRACKED_TOTAL_BYTES`."""

UNTRACKED_TOTAL_BYTES = 4 * 2**20
READ_LIMIT_BYTES = 64 * 2**20
"""So much is read to digest what doesn't go into the patch."""

UNTRACKED_LIMIT = 200
_NAMED = 20
_DOCUMENTS = (b".md", b".markdown", b".rst")
_OUTPUTS = re.compile(
    rb"(?:\.(?:log|out|err|jsonl|csv|tsv|txt|db|db-wal|db-shm|sqlite3?|png|svg|html|pdf|prof|pstats|nsys-rep|ncu-rep|"
    rb"qdrep|trace|tmp|swp|swo|bak|orig|rej|pid|lock|tar|gz|zst|xz|zip|diff|patch)|~|nohup\.out)$"
)
_CACHES = re.compile(
    rb"(?:^|/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.ipynb_checkpoints|\.idea|\.vscode|\.venv|venv|"
    rb"node_modules)/|\.py[co]$"
)
_PRIVATE = re.compile(
    rb"(?i)(?:^|/)(?:[\w.-]*\.env(?:\.[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519)|"
    rb"credentials(?:\.json)?|kubeconfig|\.htpasswd|service[_-]account[\w-]*\.json)$|\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$"
)


def is_cache(path: bytes) -> bool:
    """Whether an untracked file belongs to some tool's cache."""
    return _CACHES.search(path) is not None


def is_output(path: bytes) -> bool:
    """Whether an untracked file is a by-product (a log, a result) or prose, and no part of the code."""
    return path.endswith(_DOCUMENTS) or _OUTPUTS.search(path) is not None


class Selection:
    """Decides, file by file, what goes into the patch; `left_out` maps the other files that were read to why and to
    their digest. Nothing is read after `until` (monotonic, seconds)."""

    def __init__(self, root: Path, salt: bytes, until: float | None) -> None:
        self._root, self._salt, self._until = root, salt, until
        self._top = os.fsencode(root)
        self._kept = self._loose = self._read = self._count = 0
        self._unread: list[tuple[bytes, os.stat_result | None]] = []
        self.left_out: dict[str, str] = {}

    def takes(self, path: bytes, *, tracked: bool) -> bool:
        """Whether a file goes into the patch."""
        if path.endswith(b"/"):
            return self._leave(path, "a repository of its own")
        if self._until is not None and time.monotonic() > self._until:
            return self._skip(path, None)
        try:
            about = os.lstat(os.path.join(self._top, path))  # noqa: PTH118 (a Path for each costs much)
        except OSError:
            return tracked
        if stat.S_ISLNK(about.st_mode) or (tracked and stat.S_ISDIR(about.st_mode)):
            return True
        if not stat.S_ISREG(about.st_mode):
            return self._leave(path, "no regular file")
        self._count += not tracked
        if not tracked and self._count > UNTRACKED_LIMIT:
            return self._skip(path, about)
        file = self._root / os.fsdecode(path)
        if not os.access(file, os.R_OK):
            return self._skip(path, about)
        return self._by_content(path, file, about, tracked)

    def _by_content(self, path: bytes, file: Path, about: os.stat_result, tracked: bool) -> bool:
        size, private = about.st_size, _PRIVATE.search(path) is not None
        if not private and tracked and size <= TRACKED_LIMIT_BYTES and self._kept + size <= PATCH_LIMIT_BYTES:
            self._kept += size
            return True
        small = size <= UNTRACKED_LIMIT_BYTES and self._loose + size <= UNTRACKED_TOTAL_BYTES
        if not private and not tracked and small and b"\0" not in regular_content(file, 8192):
            self._loose += size
            return True
        if self._read + size > READ_LIMIT_BYTES:
            return self._skip(path, about)
        self._read += size
        digest = content_digest(file)
        if private:
            return self._leave(path, f"private {keyed_digest(digest, self._salt)}")
        return self._leave(path, f"{size} bytes {digest}")

    def unread(self) -> dict[str, Any]:
        """Return what is told of the files that weren't read: how many, their bytes, the first names, and a digest of
        their names, sizes and times; None as digest where there was no time to look at them."""
        if not self._unread:
            return {}
        digest = hashlib.sha256()
        for path, about in sorted(self._unread, key=lambda pair: pair[0]):
            if about is not None:
                numbers = (about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
                digest.update(path + b"\0" + repr(numbers).encode())
        seen = [about for _, about in self._unread if about is not None]
        return {
            "files": len(self._unread),
            "bytes": sum(about.st_size for about in seen),
            "first": [plain(path) for path, _ in self._unread[:_NAMED]],
            "digest": digest.hexdigest() if len(seen) == len(self._unread) else None,
        }

    def _leave(self, path: bytes, why: str) -> bool:
        self.left_out[plain(path)] = why
        return False

    def _skip(self, path: bytes, about: os.stat_result | None) -> bool:
        self._unread.append((path, about))
        return False
