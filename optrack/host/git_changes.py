"""The uncommitted changes of a repository: its status, a patch, LFS pointers."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optrack.host.environment import content_digest, regular_content
from optrack.host.git_command import TIMED_OUT, GitCommand
from optrack.host.git_loose import READ_LIMIT_BYTES, Selection, is_cache, is_output
from optrack.judge.variables import plain
from optrack.model.masking import keyed_digest, mask_text
from optrack.model.snapshot import Lfs

UNTRACKED_S = 8.0
"""So long git may look for untracked files."""

_OWN = (":(top)", ":(exclude,top,glob)**/.optrack/**", ":(exclude,top).optrack")


@dataclass
class Status:
    """Where HEAD is and which paths differ. Paths are bytes relative to the top; `links` maps each
    submodule's path to the recorded commit, `changed_links` names those whose checkout differs; `files` are
    the index's own entries; `unlisted` says that there was no time to look for untracked files."""

    commit: str | None = None
    branch: str | None = None
    changed: list[bytes] = field(default_factory=list)
    untracked: list[bytes] = field(default_factory=list)
    unmerged: list[bytes] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    changed_links: set[str] = field(default_factory=set)
    entries: list[bytes] = field(default_factory=list)
    unlisted: bool = False

    @property
    def dirty(self) -> bool:
        """Whether anything differs from the commit, untracked files included."""
        return bool(self.changed or self.untracked or self.unmerged or self.changed_links or self.unlisted)


def read_status(git: GitCommand) -> Status | None:
    """Ask git for its status and its index; None if it won't say. The form is `porcelain=v2` of
    git-status(1)."""
    words = ("status", "--porcelain=v2", "-z", "--branch", "--no-renames", "--ignore-submodules=dirty")
    answer = git.ask(*words, "--untracked-files=all", "--", *_OWN, limit_s=UNTRACKED_S)
    status = Status()
    if answer.status == TIMED_OUT:
        answer = git.ask(*words, "--untracked-files=no", "--", *_OWN)
        status.unlisted = True
    if not answer.ok:
        return None
    for record in answer.output.split(b"\0"):
        _take(status, record)
    listed = git.ask("ls-files", "--stage", "-z")
    status.entries = [entry for entry in listed.output.split(b"\0") if entry]
    for entry in status.entries:
        if entry.startswith(b"160000 "):
            about, _, path = entry.partition(b"\t")
            status.links[plain(path)] = about.split()[1].decode()
    return status


def _take(status: Status, record: bytes) -> None:
    """Take in one record: `# …` headers, `1` changed, `2` renamed, `u` unmerged, `?` untracked."""
    kind, _, rest = record.partition(b" ")
    if kind == b"#":
        name, _, value = rest.partition(b" ")
        if name == b"branch.oid":
            status.commit = None if value == b"(initial)" else value.decode()
        elif name == b"branch.head":
            status.branch = None if value == b"(detached)" else plain(value)
    elif kind == b"1":
        fields = rest.split(b" ", 7)
        if fields[1].startswith(b"S"):
            status.changed_links.add(plain(fields[7]))
            if fields[0][:1] == b"." and fields[1][1:2] != b"C":
                return
        status.changed.append(fields[7])
    elif kind == b"u":
        status.unmerged.append(rest.split(b" ", 9)[9])
    elif kind == b"?":
        status.untracked.append(rest)


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


def _kept(patch: bytes, salt: bytes) -> dict[str, Any]:
    """Return the patch as it may be kept, its size and digest as it was, and how many secrets were masked in
    it."""
    if not patch:
        return {}
    text = plain(mask_text(os.fsdecode(patch), salt))
    found = len(_MASK.findall(text))
    about = {"patch_bytes": len(patch), "patch_digest": keyed_digest(os.fsdecode(patch), salt)}
    return {"patch": text, **about, **({"masked": found} if found else {})}


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
