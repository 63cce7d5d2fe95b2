"""Running git on somebody's repository: nothing that the repository or its settings name is run, nothing is fetched,
and nothing is written but what the command itself is there to write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from configparser import Error as ConfigError
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from optrack.host.process_tree import Deadline

_CONFIG = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "protocol.allow=never",
    "gpg.program=false",
    "log.showSignature=false",
    "diff.external=",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.renames=false",
    "diff.submodule=short",
    "status.showStash=false",
    "status.relativePaths=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
)
_ENV = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "LC_ALL": "C",
}
_KEPT = ("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""The only variables of git's that are passed on: the others send git to another repository than the one asked
about (a hook sets some), or make it run or write something."""

TIMEOUT_S = 60.0
LOOK_EVERY_S = 0.25
NO_GIT, TIMED_OUT = 127, 124
"""The status of an answer where there is no git to run, and where it took too long."""


class Answer:
    """What a git command gave: exit status, output as bytes, and its complaint as text."""

    def __init__(self, status: int, output: bytes, complaint: str) -> None:
        self.status = status
        self.output = output
        self.complaint = complaint

    @property
    def ok(self) -> bool:
        """Whether the command succeeded."""
        return self.status == 0

    @property
    def text(self) -> str:
        """The output as text, without its surrounding blanks."""
        return os.fsdecode(self.output).strip()

    @property
    def entries(self) -> list[bytes]:
        """The output's entries where it is separated by NUL."""
        return [entry for entry in self.output.split(b"\0") if entry]


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


class GitCommand:
    """git, run in one folder; its commands together take until `until` at most."""

    def __init__(self, folder: Path, until: Deadline | None = None) -> None:
        self.folder = folder
        self.until = until

    def at(self, folder: Path) -> GitCommand:
        """Return the same for another folder."""
        return GitCommand(folder, self.until)

    def ask(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        feed: bytes = b"",
        limit_s: float = TIMEOUT_S,
    ) -> Answer:
        """Run one git command, with `feed` on its standard input."""
        settings, variables = self._disarmed
        return self._run([*settings, *words], {**variables, **(env or {})}, feed, limit_s)

    @cached_property
    def _disarmed(self) -> tuple[list[str], dict[str, str]]:
        """Options and variables that take every filter away that any settings define, whatever files these are in.

        An empty `process` counts before `clean` and `smudge`, and means none.
        """
        listed = self._run(["config", "--null", "--name-only", "--get-regexp", r"^filter\."], {}, b"")
        names = {os.fsdecode(key).split(".", 1)[1].rpartition(".")[0] for key in listed.entries} | {"lfs"}
        pairs = [pair for name in sorted(names) for pair in _without_filter(name)]
        plain = [word for key, value in pairs if "=" not in key for word in ("-c", f"{key}={value}")]
        odd = [(key, value) for key, value in pairs if "=" in key]
        return plain, _as_variables(odd) if odd else {}

    def _run(
        self, words: Sequence[str], env: Mapping[str, str], feed: bytes, limit: float = TIMEOUT_S
    ) -> Answer:
        limit = limit if self.until is None else min(limit, self.until.left_s)
        if limit <= 0:
            return Answer(TIMED_OUT, b"", "git was not asked: the time for it was over")
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", "--no-optional-locks", *_OPTIONS, *words],
                cwd=self.folder,
                env={**_inherited(), **_ENV, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            return Answer(NO_GIT, b"", f"git can't be run: {error.strerror or error}")
        own = Deadline(limit)
        unsent: bytes | None = feed
        with process:
            while True:
                left = own.left_s if self.until is None else min(own.left_s, self.until.left_s)
                try:
                    output, complaint = process.communicate(unsent, timeout=max(0.0, min(left, LOOK_EVERY_S)))
                    break
                except subprocess.TimeoutExpired:
                    unsent = None
                    if left <= LOOK_EVERY_S:
                        process.kill()
                        process.communicate()
                        return Answer(TIMED_OUT, b"", f"git {words[-1]} took more than {limit:.0f} s")
        return Answer(process.returncode, output, complaint.decode(errors="replace").strip())


_OPTIONS = [word for setting in _CONFIG for word in ("-c", setting)]


def _without_filter(name: str) -> Iterator[tuple[str, str]]:
    for key, value in (("process", ""), ("clean", ""), ("smudge", ""), ("required", "false")):
        yield f"filter.{name}.{key}", value


def _as_variables(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return settings as git's variables, after those that are set already; a key may hold any character there."""
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    found = {"GIT_CONFIG_COUNT": str(first + len(pairs))}
    for number, (key, value) in enumerate(pairs, first):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _inherited() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }


def gitpython() -> Any:
    """Import GitPython, also where there is no git to run, or one that hangs: its import would run it."""
    replaced = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": "none-is-to-be-run"}
    before = {name: os.environ.get(name) for name in replaced}
    os.environ.update(replaced)
    try:
        import git as module
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return module


def open_repository(folder: Path) -> Any:
    """Open the repository that holds a folder as GitPython's `Repo`, which runs no git for that; None if there is
    none that it can read."""
    module = gitpython()
    try:
        return module.Repo(folder, search_parent_directories=True, expand_vars=False)
    except (module.exc.GitError, module.exc.NoSuchPathError, ValueError, OSError, ConfigError):
        return None


def head_of(repository: Any) -> dict[str, str | None]:
    """Return `commit` and `branch` as the repository's own files tell them, without git."""
    head = repository.head
    branch = None if head.is_detached else head.reference.name
    try:
        return {"commit": head.dereference_recursive(repository, head.path), "branch": branch}
    except (ValueError, OSError):
        return {"commit": None, "branch": branch}
