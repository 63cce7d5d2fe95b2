"""A patched copy of a repository's working tree; the repository itself isn't touched, and nothing of it is run."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from optrack.host.git_command import NO_GIT, GitCommand
from optrack.model.recipe import Recipe

_COPIED_SETTINGS = r"^(core\.(autocrlf|eol|filemode|ignorecase|symlinks|safecrlf)|remote\.origin\.url)$"
_NOT_OPTRACKS = (":(top)", ":(exclude,top,glob)**/.optrack/**", ":(exclude,top).optrack")
_GITLINK = b"160000 "


class PatchError(Exception):
    """A patch is missing or doesn't apply; the message says which and why."""


class CopyError(Exception):
    """There is no repository to copy, or the host doesn't let it be copied; `is_full` where the disk is full."""

    def __init__(self, message: str, *, is_full: bool = False) -> None:
        super().__init__(message)
        self.is_full = is_full or "No space left on device" in message


class CopyStoppedError(Exception):
    """Somebody asked to stop while files were copied."""


def working_tree(folder: Path) -> Path:
    """Return the top of the working tree that `folder` lies in; raises CopyError where no patch can be applied to
    it: no such folder, no repository, a bare one, one without a commit, or one that git refuses to read."""
    if not folder.is_dir():
        raise CopyError(f"there is no folder {folder}")
    git = GitCommand(folder)
    answer = git.ask("rev-parse", "--is-inside-work-tree", "--show-toplevel")
    if answer.status == NO_GIT:
        raise CopyError(answer.complaint)
    if not answer.ok and "not a git repository" in answer.complaint and "dubious" not in answer.complaint:
        raise CopyError(f"{folder} is not in a git repository")
    if not answer.ok and "must be run in a work tree" in answer.complaint:
        raise CopyError(f"{folder} is a bare repository, without files")
    if not answer.ok:
        raise CopyError(f"git refuses {folder}: {' '.join(answer.complaint.split())}")
    top = Path(answer.text.split("\n", 1)[-1])
    if not git.ask("rev-parse", "--verify", "-q", "HEAD^{commit}").ok:
        raise CopyError(f"the repository {top} has no commit yet")
    return top


def why_not_applied(top: Path, patch: Path) -> str | None:
    """Return why a patch doesn't apply to a working tree, None if it does. Nothing is changed."""
    if not patch.is_file():
        return f"there is no patch {patch}"
    git, file = GitCommand(top), str(patch.resolve())
    answer = git.ask("apply", "--check", "--whitespace=nowarn", file)
    if answer.ok:
        return None
    why = f"{patch} doesn't apply to {top}: {answer.complaint or 'git apply failed'}"
    if git.ask("apply", "--check", "--reverse", "--whitespace=nowarn", file).ok:
        why += "; it seems to be applied already"
    return why


def repository_of(recipe: Recipe, project: Path) -> Path | None:
    """Return the folder that the recipe's code comes from: its `repo`, or for a `patch` alone the project's own."""
    return project / recipe.repo if recipe.repo else project if recipe.patch else None


def patched_copy(
    folder: Path,
    patches: Sequence[Path],
    target: Path,
    should_stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Copy the working tree that `folder` lies in to `target` as it is now, apply the patches in order, and return
    what `folder` is in the copy.

    Tracked and untracked files come along, those of submodules too; ignored ones don't. The copy is a repository
    of its own that borrows the objects of the first, so its commit and changes can be captured. Raises PatchError,
    CopyError, CopyStoppedError.
    """
    top = working_tree(folder)
    try:
        _copy_repository(top, target, should_stop)
        for patch in patches:
            if (why := why_not_applied(target, patch)) is not None:
                raise PatchError(why.replace(str(target), str(top)))
            _apply(target, patch)
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        message = f"the repository {top} can't be copied: {what}{(error.strerror or str(error)).lower()}"
        raise CopyError(message, is_full=error.errno in (errno.ENOSPC, errno.EDQUOT)) from error
    return target / folder.resolve().relative_to(top.resolve())


def _apply(target: Path, patch: Path) -> None:
    """Apply a patch, and put the files that it makes into the index: they belong to the code, whatever their names."""
    before = set(_git(target, "ls-files", "-z", "--others"))
    _git(target, "apply", "--whitespace=nowarn", str(patch.resolve()))
    made = [name for name in _git(target, "ls-files", "-z", "--others") if name not in before]
    _feed(
        target, (name for name in made if not name.endswith(b"/")), "update-index", "-z", "--add", "--stdin"
    )


def _copy_repository(source: Path, target: Path, should_stop: Callable[[], bool]) -> None:
    entries = _git(source, "ls-files", "-z", "--stage")
    loose = _git(source, "ls-files", "-z", "--others", "--exclude-standard", "--", *_NOT_OPTRACKS)
    _make_repository(source, target, entries)
    links = [_path(entry) for entry in entries if entry.startswith(_GITLINK)]
    inner = [*links, *(name.rstrip(b"/") for name in loose if name.endswith(b"/"))]
    files = [_path(entry) for entry in entries if not entry.startswith(_GITLINK)]
    for name in dict.fromkeys((*files, *(name for name in loose if not name.endswith(b"/")))):
        if should_stop():
            raise CopyStoppedError
        _copy(source / os.fsdecode(name), target / os.fsdecode(name))
    for name in inner:
        below = source / os.fsdecode(name)
        (target / os.fsdecode(name)).mkdir(parents=True, exist_ok=True)
        if (below / ".git").exists() and GitCommand(below).ask("rev-parse", "--verify", "-q", "HEAD").ok:
            _copy_repository(below, target / os.fsdecode(name), should_stop)
    GitCommand(target).ask("update-index", "-q", "--refresh")


def _make_repository(source: Path, target: Path, entries: Sequence[bytes]) -> None:
    """Make a repository at `target` that has the index of `source` and stands at its commit."""
    git = GitCommand(source)
    objects, shallow, exclude, attributes = (
        source / os.fsdecode(git.ask("rev-parse", "--git-path", name).output).removesuffix("\n")
        for name in ("objects", "shallow", "info/exclude", "info/attributes")
    )
    kind = git.ask("rev-parse", "--show-object-format").text
    target.mkdir(parents=True, exist_ok=True)
    _git(target, "init", "-q", "--template=", *([f"--object-format={kind}"] if kind == "sha256" else []))
    own = target / ".git"
    for folder in (own / "objects" / "info", own / "info"):
        folder.mkdir(parents=True, exist_ok=True)
    (own / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects.resolve()) + b"\n")
    for file, place in ((shallow, "shallow"), (exclude, "info/exclude"), (attributes, "info/attributes")):
        if file.is_file():
            shutil.copyfile(file, own / place)
    for setting in git.ask("config", "-z", "--get-regexp", _COPIED_SETTINGS).entries:
        name, _, value = os.fsdecode(setting).partition("\n")
        _git(target, "config", name, value)
    _feed(target, entries, "update-index", "-z", "--index-info")
    tags = git.ask("ls-files", "-z", "-t").entries
    skipped = [tag[2:] for tag in tags if tag.startswith(b"S ")]
    if skipped:
        _feed(target, skipped, "update-index", "-z", "--skip-worktree", "--stdin")
    commit = _git(source, "rev-parse", "--verify", "HEAD")[0].strip()
    _git(target, "update-ref", "--no-deref", "HEAD", os.fsdecode(commit))


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a link with its times; what isn't there, or is something else, is left out."""
    try:
        about = source.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISLNK(about.st_mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(about.st_mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        if about.st_blocks * 512 < about.st_size:
            _copy_sparse(source, target, about.st_size)
            shutil.copystat(source, target)
        else:
            shutil.copy2(source, target)


def _copy_sparse(source: Path, target: Path, size: int) -> None:
    """Copy the parts of a file that are written, and leave its holes holes."""
    with source.open("rb") as ours, target.open("wb") as theirs:
        theirs.truncate(size)
        end = 0
        while end < size:
            try:
                start = os.lseek(ours.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return
                raise
            end = os.lseek(ours.fileno(), start, os.SEEK_HOLE)
            ours.seek(start)
            theirs.seek(start)
            while (left := end - ours.tell()) > 0 and (block := ours.read(min(left, 2**20))):
                theirs.write(block)


def _path(entry: bytes) -> bytes:
    """Return the path of an entry of `ls-files --stage`."""
    return entry.partition(b"\t")[2]


def _git(folder: Path, *words: str) -> list[bytes]:
    """Return what git prints, split at NUL; raises CopyError if it fails."""
    return _feed(folder, (), *words)


def _feed(folder: Path, entries: Iterable[bytes], *words: str) -> list[bytes]:
    answer = GitCommand(folder).ask(*words, feed=b"".join(entry + b"\0" for entry in entries))
    if not answer.ok:
        raise CopyError(f"git {words[0]} failed in {folder}: {answer.complaint or 'without a word'}")
    return answer.entries
