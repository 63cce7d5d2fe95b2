"""A patched copy of a repository's working tree; the repository itself isn't touched."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_GIT_ENV = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


class PatchError(Exception):
    """The copy can't be made or a patch doesn't apply; the message says which and why."""


def patched_copy(repo: Path, patches: Sequence[Path], target: Path) -> Path:
    """Copy the working tree of `repo` as it is now to `target`, apply the patches in order, return `target`.

    Tracked and untracked files come along, ignored ones don't. The copy is a repository of its own that
    borrows the objects of `repo`, so its commit and changes can be captured. Raises PatchError.
    """
    top = Path(_git(repo, "rev-parse", "--show-toplevel").rstrip("\n"))
    _git(top, "clone", "-q", "--shared", "--no-checkout", str(top), str(target))
    _git(target, "reset", "-q")
    listed = _git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--recurse-submodules")
    for name in dict.fromkeys(filter(None, listed.split("\0"))):
        _copy(top / name, target / name)
    origin = _git(top, "config", "--default", "", "--get", "remote.origin.url").rstrip("\n")
    if origin:
        _git(target, "remote", "set-url", "origin", origin)
    else:
        _git(target, "remote", "remove", "origin")
    for patch in patches:
        if not patch.is_file():
            raise PatchError(f"there is no patch {patch}")
        try:
            _git(target, "apply", "--whitespace=nowarn", str(patch.resolve()))
        except PatchError as error:
            raise PatchError(f"{patch} doesn't apply to {top}: {error}") from error
    return target


def _copy(source: Path, target: Path) -> None:
    if not source.is_symlink() and not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**os.environ, **_GIT_ENV},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise PatchError(f"git can't be run: {error}") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip() or f"git {arguments[0]} failed"
        raise PatchError(message)
    return done.stdout.decode(errors="surrogateescape")
