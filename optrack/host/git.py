"""The code state of a repository: where it stands, its status and its LFS pointers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optrack.host.git_changes import changes, lfs_part
from optrack.host.git_command import NO_GIT, TIMED_OUT, Answer, GitCommand, Status, head_of, open_repository
from optrack.host.process_tree import Deadline
from optrack.judge.variables import plain
from optrack.model.secrets.masking import mask_text
from optrack.model.snapshot import GitState, Unread

_DEPTH = 3
UNTRACKED_S = 8.0
"""So long git may look for untracked files."""

_OWN = (":(top)", ":(exclude,top,glob)**/.optrack/**", ":(exclude,top).optrack")


def describe_repository(
    folder: Path, *, salt: bytes, patch: bool = True, depth: int = 0, until: Deadline | None = None
) -> GitState:
    """Return the state of the repository that holds `folder`.

    `state` is `branch`, `detached`, `unborn`, `bare`, `none` (no repository), `no_git` (no git to ask) or
    `refused` (git won't read it, for instance because somebody else owns it); in the last two the commit
    comes from the repository's files, and `unknown` lists what couldn't be told. With `patch` the uncommitted
    changes are kept, too. What isn't done by `until` is left unknown.
    """
    if not folder.is_dir():
        return GitState(state="none", problem="no such folder")
    repository = open_repository(folder)
    if repository is None:
        return _without_git(None, GitCommand(folder, until).ask("rev-parse", "--git-dir"))
    with repository:
        if repository.working_tree_dir is None or repository.bare:
            return GitState(state="bare", **{**head_of(repository), "branch": None})
        return _describe(folder, repository, salt, patch, depth, until)


def _describe(
    folder: Path, repository: Any, salt: bytes, patch: bool, depth: int, until: Deadline | None
) -> GitState:
    root, common = Path(repository.working_tree_dir).resolve(), Path(repository.common_dir).resolve()
    git = GitCommand(root, until)
    status = read_status(git)
    if status is None:
        return _without_git(repository, git.ask("status", "--porcelain"))
    commit = status.commit
    data: dict[str, Any] = {
        "state": "unborn" if commit is None else "detached" if status.branch is None else "branch",
        "root": plain(str(root)),
        **_inside(folder, root),
        "commit": commit,
        "branch": status.branch,
        "worktree": Path(repository.git_dir).resolve() != common,
        **(_background(git, commit, salt) if patch else {}),
    }
    if (common / "shallow").is_file():
        data["shallow"] = True
    data |= lfs_part(git, status)
    submodules = _submodules(git, status, salt, depth)
    data["dirty"] = status.dirty
    data |= changes(git, status, salt=salt, keep=patch)
    unread = [data.get("unread"), *(module.unread for module in submodules.values())]
    if status.unlisted or any(unread):
        data["unread"] = _added_up([part for part in unread if part], unlisted=status.unlisted)
    return GitState(**data, submodules=submodules) if submodules else GitState(**data)


def _added_up(parts: Sequence[Unread], *, unlisted: bool) -> Unread:
    """Return what is told of unread files of a repository and of its submodules as one."""
    digests = [part.digest for part in parts if part.digest is not None]
    whole = not unlisted and len(digests) == len(parts)
    return Unread(
        files=None if unlisted else sum(part.files or 0 for part in parts),
        bytes=sum(part.bytes or 0 for part in parts),
        first=[name for part in parts for name in part.first],
        digest=hashlib.sha256("".join(digests).encode()).hexdigest() if whole else None,
    )


def _inside(folder: Path, root: Path) -> dict[str, str]:
    """Return where in the repository the folder lies, nothing if that is the top."""
    try:
        inside = str(folder.resolve().relative_to(root.resolve()))
    except ValueError:
        return {}
    return {} if inside == "." else {"inside": plain(inside)}


def _background(git: GitCommand, commit: str | None, salt: bytes) -> dict[str, Any]:
    """Return what explains a state: the address that `origin` (or the only remote) is fetched from, without
    its credentials; the commit's name by tags and its time; whether history or files are only there in
    part."""
    answer = git.ask("config", "--get-regexp", r"^(remote\..*\.url|core\.sparsecheckout)$")
    settings = dict(line.split(" ", 1) for line in plain(answer.output).splitlines() if " " in line)
    remotes = {name: address for name, address in settings.items() if name.startswith("remote.")}
    address = remotes.get("remote.origin.url") or next(iter(remotes.values()), None)
    found: dict[str, Any] = {"remote": mask_text(address, salt) if address else None}
    if commit is not None:
        described = git.ask("describe", "--tags", "--always", "--long", "HEAD")
        found["describe"] = described.text if described.ok else None
        when = git.ask("show", "-s", "--format=%cI", "HEAD")
        found["committed_at"] = when.text if when.ok else None
    if settings.get("core.sparsecheckout") == "true":
        found["sparse"] = sorted(git.ask("sparse-checkout", "list").text.splitlines())
    return found


def _submodules(git: GitCommand, status: Status, salt: bytes, depth: int) -> dict[str, GitState]:
    """Return the state of each submodule: the commit that is recorded and the one that is checked out. Those that
    differ are marked in `status`. Each is asked by itself, since git would ask them with their own settings."""
    found: dict[str, GitState] = {}
    for path, recorded in sorted(status.links.items()):
        folder = git.folder / os.fsdecode(path)
        about: dict[str, Any] = {"recorded": recorded}
        if not (folder / ".git").exists():
            about |= {"state": "not checked out", "commit": None}
        elif depth >= _DEPTH or _is_clean(git.at(folder), recorded):
            about |= {"commit": recorded, "dirty": False}
        else:
            inner = describe_repository(folder, salt=salt, depth=depth + 1, until=git.until)
            about |= {key: getattr(inner, key) for key in _OF_SUBMODULE if inner.has(key)}
            status.changed_links.add(path)
        found[path] = GitState(**about)
    return found


def _is_clean(git: GitCommand, recorded: str) -> bool:
    status = read_status(git)
    return status is not None and status.commit == recorded and not status.dirty and not status.links


_OF_SUBMODULE = (
    "state",
    "commit",
    "dirty",
    "code",
    "changed",
    "untracked",
    "patch",
    "left_out",
    "unread",
    "unknown",
    "submodules",
)


def _without_git(repository: Any, answer: Answer) -> GitState:
    """Return what can be told of a repository that git can't or won't read: its commit, from its own files."""
    complaint = answer.complaint.strip().strip("'").strip()
    if answer.status != NO_GIT and "not a git repository" in complaint and "dubious" not in complaint:
        return GitState(state="none")
    state = "no_git" if answer.status == NO_GIT else "refused"
    if repository is None and state == "no_git":
        return GitState(state="none")
    problem = "no git to ask" if state == "no_git" else refusal(complaint)
    if repository is None:
        return GitState(state=state, problem=problem, unknown=["commit"])
    unknown = ["changes", "untracked files"]
    return GitState(**head_of(repository), state=state, problem=problem, unknown=unknown)


def unreadable(folder: Path) -> str | None:
    """Return why git won't read the repository that `folder` lies in; None if it does, or if there is none."""
    if not folder.is_dir():
        return None
    answer = GitCommand(folder).ask("rev-parse", "--git-dir")
    refused = not answer.ok and answer.status != NO_GIT and "dubious ownership" in answer.complaint
    return refusal(answer.complaint) if refused else None


def refusal(complaint: str) -> str:
    """Return why git won't read a repository, with the remedy that it names."""
    first, *rest = [line.strip() for line in complaint.splitlines() if line.strip()] or ["git gave no reason"]
    remedy = next((line for line in rest if "safe.directory" in line), None)
    return f"{first}; `{remedy}` allows it" if remedy else first


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
