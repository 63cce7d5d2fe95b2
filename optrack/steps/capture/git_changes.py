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
from optrack.steps.capture.git_command import GitCommand
from optrack.steps.capture.git_loose import Selection, is_cache, is_output
from optrack.steps.capture.git_status import Status

_NAMED = 200
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DOCUMENTS = (b".md", b".markdown", b".rst")
_MASK = re.compile(r"<masked:[0-9a-f]{16}>")


def changes(git: GitCommand, status: Status, *, salt: bytes, keep: bool = True) -> dict[str, Any]:
    """Return `code` (the digest of every tracked file as it is on disk, documents left out), `changed`,
    `untracked` (path -> digest of each small text that may be code), `left_out` (path -> why, and a digest),
    `unread` (what is told of files that weren't read), `outputs` and the `patch` with all changes to tracked files
    and the untracked texts.

    The patch has its secrets masked; `masked` counts them, since it can't make the tree again then.
    """
    if not status.dirty:
        return {"code": _code(status.entries)}
    loose = [path for path in status.untracked if not is_cache(path)]
    code = [path for path in loose if not is_output(path)]
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
    data: dict[str, Any] = {
        "code": _code([entry for entry in entries if entry.partition(b"\t")[2] not in untracked]),
        "changed": [plain(path) for path in (*status.changed, *status.unmerged)][:_NAMED],
        "untracked": {plain(path): blobs[path].split()[1].decode() for path in code if path in blobs},
        "outputs": len(loose) - len(code),
        "left_out": dict(sorted(choice.left_out.items())),
    }
    unread = choice.unread()
    return data | ({"unread": unread} if unread else {}) | _kept(patch, salt)


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


def _kept(patch: bytes, salt: bytes) -> dict[str, Any]:
    """Return the patch as it may be kept, its size and digest as it was, and how many secrets were masked in
    it."""
    if not patch:
        return {}
    text = plain(mask_text(os.fsdecode(patch), salt))
    found = len(_MASK.findall(text))
    about = {"patch_bytes": len(patch), "patch_digest": keyed_digest(os.fsdecode(patch), salt)}
    return {"patch": text, **about, **({"masked": found} if found else {})}
