"""The uncommitted changes of a repository: a digest of the code as it is, and one patch that makes it again.

Staged, unstaged and untracked changes are put into an index and an object store of our own, outside the
repository, which git then compares with the commit.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optrack.core.fairness.variables import plain
from optrack.core.secrets.masking import keyed_digest, mask_text
from optrack.steps.capture.files import content_digest
from optrack.steps.capture.git_command import GitCommand
from optrack.steps.capture.git_status import Status

FILE_LIMIT_BYTES = 2 * 2**20
PATCH_LIMIT_BYTES = 16 * 2**20
UNTRACKED_LIMIT = 1000
_NAMED = 200
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
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
_MASK = re.compile(r"<masked:[0-9a-f]{16}>")


def is_output(path: bytes) -> bool:
    """Whether an untracked file is a by-product (a log, a result) or prose, and no part of the code."""
    return path.endswith(_DOCUMENTS) or _OUTPUTS.search(path) is not None


def changes(git: GitCommand, status: Status, *, salt: bytes, keep: bool = True) -> dict[str, Any]:
    """Return `code` (the digest of every tracked file as it is on disk, documents left out), `changed`,
    `untracked` (path -> digest of each file that may be code), `left_out` (path -> why, and a digest),
    `outputs_left_out` and the `patch` with all changes, untracked outputs included, caches not.

    The patch has its secrets masked; `masked` counts them, since it can't make the tree again then.
    """
    if not status.dirty:
        return {"code": _code(status.entries)}
    loose = [path for path in status.untracked if not _CACHES.search(path)]
    code, outputs = [p for p in loose if not is_output(p)], [p for p in loose if is_output(p)]
    choice, side = _Choice(git, salt), _Choice(git, salt)
    taken = [
        path for path in (*status.changed, *status.unmerged, *code[:UNTRACKED_LIMIT]) if choice.takes(path)
    ]
    side.bytes = choice.bytes
    taken += [path for path in outputs[:UNTRACKED_LIMIT] if side.takes(path)] if keep else []
    with tempfile.TemporaryDirectory(prefix="optrack-git-") as folder:
        env = _own_index(git, Path(folder))
        _take_up(git, taken, Path(folder), env)
        entries = [
            entry for entry in git.ask("ls-files", "--stage", "-z", env=env).output.split(b"\0") if entry
        ]
        patch = _patch(git, status, env) if keep else b""
    blobs = {path: about for about, _, path in (entry.partition(b"\t") for entry in entries)}
    untracked = set(status.untracked)
    data: dict[str, Any] = {
        "code": _code([entry for entry in entries if entry.partition(b"\t")[2] not in untracked]),
        "changed": [plain(path) for path in (*status.changed, *status.unmerged)][:_NAMED],
        "untracked": {plain(path): blobs[path].split()[1].decode() for path in code if path in blobs},
        "outputs": len(outputs),
        "left_out": dict(sorted(choice.left_out.items())),
        "outputs_left_out": sorted(side.left_out)[:_NAMED],
    }
    if len(code) > UNTRACKED_LIMIT:
        rest = hashlib.sha256(b"\0".join(sorted(code[UNTRACKED_LIMIT:]))).hexdigest()
        data["left_out"]["(more untracked files)"] = f"{len(code) - UNTRACKED_LIMIT} files, {rest}"
    return data | _kept(patch, salt)


class _Choice:
    """Decides which changed files go into the patch, and keeps what is to be said of the others."""

    def __init__(self, git: GitCommand, salt: bytes) -> None:
        self._root = git.folder
        self._salt = salt
        self.bytes = 0
        self.left_out: dict[str, str] = {}

    def takes(self, path: bytes) -> bool:
        """Whether a file goes into the patch: not if it is too large, private, or a repository of its own."""
        file = self._root / os.fsdecode(path)
        if path.endswith(b"/"):
            self.left_out[plain(path)] = "a repository of its own"
            return False
        if file.is_symlink() or not file.is_file():
            return True
        size = file.stat().st_size
        if _PRIVATE.search(path):
            return self._leave(path, f"private {keyed_digest(content_digest(file), self._salt)}")
        if size > FILE_LIMIT_BYTES or self.bytes + size > PATCH_LIMIT_BYTES:
            return self._leave(path, f"{size} bytes {content_digest(file)}")
        self.bytes += size
        return True

    def _leave(self, path: bytes, why: str) -> bool:
        self.left_out[plain(path)] = why
        return False


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


def _take_up(git: GitCommand, paths: Sequence[bytes], folder: Path, env: Mapping[str, str]) -> None:
    """Put files as they are on disk into our own index.

    git marks an object that it already has as used, by touching its file, so it isn't shown the repository's
    objects here, unless it can't do without (a sparse index).
    """
    (folder / "paths").write_bytes(b"".join(path + b"\0" for path in paths))
    words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
    alone = {name: value for name, value in env.items() if name != "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
    if not git.ask(*words, env=alone, feed=folder / "paths").ok:
        git.ask(*words, env=env, feed=folder / "paths")


def _patch(git: GitCommand, status: Status, env: Mapping[str, str]) -> bytes:
    base = status.commit or _EMPTY_TREE
    words = (
        "--cached",
        "--binary",
        "--full-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=none",
    )
    return git.ask("diff", *words, base, env=env).output


def _code(entries: Sequence[bytes]) -> str:
    """Return the digest of the index's entries (mode, blob, path); documents and submodules are left out."""
    code = [e for e in entries if not e.startswith(b"160000 ") and not e.lower().endswith(_DOCUMENTS)]
    return hashlib.sha256(b"\0".join(code)).hexdigest()


def _kept(patch: bytes, salt: bytes) -> dict[str, Any]:
    """Return the patch as it may be kept, its size and digest as it was, and how many secrets were masked in
    it."""
    if not patch:
        return {}
    text = plain(mask_text(os.fsdecode(patch), salt))
    found = len(_MASK.findall(text))
    about = {"patch_bytes": len(patch), "patch_digest": keyed_digest(os.fsdecode(patch), salt)}
    return {"patch": text, **about, **({"masked": found} if found else {})}
