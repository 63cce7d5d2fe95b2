"""The uncommitted changes of a repository: what is read of them, the patch, LFS pointers.

Of what isn't read, names, sizes and times are digested: as long as these are the same, so is the content.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optrack.host.environment import content_digest, regular_content
from optrack.host.git_command import GitCommand, Status
from optrack.host.process_tree import Deadline
from optrack.judge.variables import plain
from optrack.model.secrets.masking import keyed_digest, mask_text
from optrack.model.snapshot import Lfs, Unread

_NAMED = 200
_MOST_TRACKED = 5000
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DOCUMENTS = (b".md", b".markdown", b".rst")

TRACKED_LIMIT_BYTES = 2 * 2**20
"""Up to this size a changed tracked file goes into the patch, in all `PATCH_LIMIT_BYTES`."""

PATCH_LIMIT_BYTES = 16 * 2**20
UNTRACKED_LIMIT_BYTES = 256 * 2**10
"""Up to this size an untracked text goes into the patch, in all `UNTRACKED_TOTAL_BYTES`."""

UNTRACKED_TOTAL_BYTES = 4 * 2**20
READ_LIMIT_BYTES = 64 * 2**20
"""So much is read to digest what doesn't go into the patch."""

UNTRACKED_LIMIT = 200
_FIRST_NAMED = 20
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
_MASK = re.compile(r"<masked:[0-9a-f]{16}>")


def changes(git: GitCommand, status: Status, *, salt: bytes, keep: bool = True) -> dict[str, Any]:
    """Return `code` (the digest of every tracked file as it is on disk, documents left out), `changed`,
    `untracked` (path -> digest of each small text that may be code), `left_out` (path -> why, and a digest),
    `unread` (what is told of files that weren't read), `outputs` and the `patch` with all changes to tracked files
    and the untracked texts.

    The patch has its secrets masked; `masked` counts them, since it can't make the tree again then.
    """
    if not status.dirty:
        return {"code": _code(status.entries), **_tracked(status.entries)}
    loose = [path for path in status.untracked if not _is_cache(path)]
    code = [path for path in loose if not _is_output(path)]
    choice = Selection(git.folder, salt, git.until)
    taken = [path for path in (*status.changed, *status.unmerged) if choice.takes(path, tracked=True)]
    taken += [path for path in code if choice.takes(path, tracked=False)]
    with tempfile.TemporaryDirectory(prefix="optrack-git-") as folder:
        env = _own_index(git, Path(folder))
        if not _take_up(git, taken, env):
            return {"unknown": ["changes"], "problem": "git couldn't read the changed files"}
        entries = git.ask("ls-files", "--stage", "-z", env=env).entries
        patch = _patch(git, status, env) if keep else b""
    blobs = {path: about for about, _, path in (entry.partition(b"\t") for entry in entries)}
    untracked = set(status.untracked)
    tracked = [entry for entry in entries if entry.partition(b"\t")[2] not in untracked]
    data: dict[str, Any] = {
        "code": _code(tracked),
        **_tracked(tracked),
        "changed": [plain(path) for path in (*status.changed, *status.unmerged)][:_NAMED],
        "untracked": {plain(path): blobs[path].split()[1].decode() for path in code if path in blobs},
        "outputs": len(loose) - len(code),
        "left_out": dict(sorted(choice.left_out.items())),
    }
    unread = choice.unread()
    return data | ({"unread": unread} if unread is not None else {}) | _kept(patch, salt)


def _own_index(git: GitCommand, folder: Path) -> Mapping[str, str]:
    """Copy the repository's index into `folder` and return the environment in which git uses it and writes
    objects there. The copy keeps its time, by which git knows files that were edited right at a commit."""
    paths = os.fsdecode(git.ask("rev-parse", "--git-path", "index", "--git-path", "objects").output).split(
        "\n"
    )
    index, objects = Path(paths[0]), Path(paths[1])
    if (git.folder / index).is_file():
        shutil.copy2(git.folder / index, folder / "index")
    (folder / "objects").mkdir()
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{(git.folder / objects).resolve()}"',
    }


def _take_up(git: GitCommand, paths: Sequence[bytes], env: Mapping[str, str]) -> bool:
    """Put files as they are on disk into our own index; return whether that was possible.

    git marks an object that it already has as used, by touching its file, so it isn't shown the repository's
    objects here, unless it can't do without (a sparse index).
    """
    feed = b"".join(path + b"\0" for path in paths)
    words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
    alone = {name: value for name, value in env.items() if name != "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
    return git.ask(*words, env=alone, feed=feed).ok or git.ask(*words, env=env, feed=feed).ok


def _patch(git: GitCommand, status: Status, env: Mapping[str, str]) -> bytes:
    base = status.commit or _EMPTY_TREE
    words = (
        "--cached",
        "--binary",
        "--full-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
    )
    return git.ask("diff", *words, base, env=env).output


def _code(entries: Sequence[bytes]) -> str:
    """Return the digest of the index's entries (mode, blob, path); documents and submodules are left out."""
    code = [e for e in entries if not e.startswith(b"160000 ") and not e.lower().endswith(_DOCUMENTS)]
    return hashlib.sha256(b"\0".join(code)).hexdigest()


def _tracked(entries: Sequence[bytes]) -> dict[str, Mapping[str, str]]:
    """Return path -> mode and blob of each tracked file that `code` is of; of very many, nothing."""
    code = [e for e in entries if not e.startswith(b"160000 ") and not e.lower().endswith(_DOCUMENTS)]
    if len(code) > _MOST_TRACKED:
        return {}
    return {
        "tracked": {plain(path): plain(about[:23]) for about, _, path in (e.partition(b"\t") for e in code)}
    }


def _kept(patch: bytes, salt: bytes) -> dict[str, Any]:
    """Return the patch as it may be kept, its size and digest as it was, and how many secrets were masked in
    it."""
    if not patch:
        return {}
    text = plain(mask_text(os.fsdecode(patch), salt))
    found = len(_MASK.findall(text))
    about = {"patch_bytes": len(patch), "patch_digest": keyed_digest(os.fsdecode(patch), salt)}
    return {"patch": text, **about, **({"masked": found} if found else {})}


def _is_cache(path: bytes) -> bool:
    """Whether an untracked file belongs to some tool's cache."""
    return _CACHES.search(path) is not None


def _is_output(path: bytes) -> bool:
    """Whether an untracked file is a by-product (a log, a result) or prose, and no part of the code."""
    return path.endswith(_DOCUMENTS) or _OUTPUTS.search(path) is not None


class Selection:
    """Decides, file by file, what goes into the patch; `left_out` maps the other files that were read to why and to
    their digest. Nothing is read after `until`."""

    def __init__(self, root: Path, salt: bytes, until: Deadline | None) -> None:
        self._root, self._salt, self._until = root, salt, until
        self._top = os.fsencode(root)
        self._kept = self._loose = self._read = self._count = 0
        self._unread: list[tuple[bytes, os.stat_result | None]] = []
        self.left_out: dict[str, str] = {}

    def takes(self, path: bytes, *, tracked: bool) -> bool:
        """Whether a file goes into the patch."""
        if path.endswith(b"/"):
            return self._leave(path, "a repository of its own")
        if self._until is not None and self._until.left_s <= 0:
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

    def unread(self) -> Unread | None:
        """Return what is told of the files that weren't read: how many, their bytes, the first names, and a digest of
        their names, sizes and times; None as digest where there was no time to look at them."""
        if not self._unread:
            return None
        digest = hashlib.sha256()
        for path, about in sorted(self._unread, key=lambda pair: pair[0]):
            if about is not None:
                numbers = (about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
                digest.update(path + b"\0" + repr(numbers).encode())
        seen = [about for _, about in self._unread if about is not None]
        return Unread(
            files=len(self._unread),
            bytes=sum(about.st_size for about in seen),
            first=[plain(path) for path, _ in self._unread[:_FIRST_NAMED]],
            digest=digest.hexdigest() if len(seen) == len(self._unread) else None,
        )

    def _leave(self, path: bytes, why: str) -> bool:
        self.left_out[plain(path)] = why
        return False

    def _skip(self, path: bytes, about: os.stat_result | None) -> bool:
        self._unread.append((path, about))
        return False


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
    return {"lfs": Lfs(files=len(paths), missing=sorted(missing))}


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
