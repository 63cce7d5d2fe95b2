"""What `git status` tells of a repository, read from its machine form."""

from __future__ import annotations

from dataclasses import dataclass, field

from optrack.core.fairness.variables import plain
from optrack.steps.capture.git_command import TIMED_OUT, GitCommand

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
