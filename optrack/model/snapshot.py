"""What was captured of a run: code, environment, arguments, packages, libraries, hardware, files, processes, load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from optrack.model.hardware import Allowances, ControlGroup, Hardware, Load
from optrack.model.part import Part, Text, Value
from optrack.model.value import Frozen, canonical


class Unread(Part):
    """Files of a repository that weren't read; `digest` is that of their names, sizes and times."""

    files: int | None = None
    bytes: int | None = None
    first: list[str] = Field(default_factory=list)
    digest: Text = None


class Lfs(Part):
    """Files kept through LFS, and those of which only the pointer is on disk."""

    files: int | None = None
    missing: list[str] = Field(default_factory=list)


class GitState(Part):
    """The code of a repository, or of one of its submodules (`recorded`: the commit that it should be at)."""

    state: Text = None
    root: Text = None
    inside: Text = None
    copied_from: Text = None
    commit: Text = None
    recorded: Text = None
    branch: Text = None
    worktree: bool | None = None
    remote: Text = None
    describe: Text = None
    committed_at: Text = None
    sparse: list[str] | None = None
    shallow: bool | None = None
    lfs: Lfs | None = None
    dirty: bool | None = None
    code: Text = None
    tracked: Mapping[str, str] | None = None
    changed: list[str] = Field(default_factory=list)
    untracked: Mapping[str, str] = {}
    left_out: Mapping[str, str] = {}
    outputs: int | None = None
    unread: Unread | None = None
    patch: Text = None
    patch_bytes: int | None = None
    patch_digest: Text = None
    masked: int | None = None
    unknown: list[str] = Field(default_factory=list)
    edited_in_run: list[str] | None = None
    commit_after: Text = None
    code_after: Text = None
    submodules: Mapping[str, GitState] = {}


class Program(Part):
    """What the server's main process runs."""

    executable: Text = None
    name: Text = None


class Disagreement(Part):
    """A variable in which processes differ: the main one's value, and value -> which others had it."""

    leader: Text = None
    children: Mapping[str, list[str]] = {}


class Environment(Part):
    """Variables: passed to the commands, those of the server's processes (`observed_in`: which), and the others.

    `read_by` has the names that were looked for in what ran, each with a file that reads it; null where none does.
    """

    passed: Mapping[str, str] | None = None
    server: Mapping[str, Value] | None = None
    other: Mapping[str, Value] | None = None
    differing: Mapping[str, Disagreement] | None = None
    observed_in: Text = None
    program: Program | None = None
    unreadable: list[str] | None = None
    read_by: Mapping[str, Text] | None = None


class AppliedArgument(Part):
    """An argument that the server applied otherwise than asked."""

    asked: Any = None
    applied: Any = None


class Arguments(Part):
    """The server's arguments: asked by the recipe, the command as written, and what the server reports by name."""

    asked: Mapping[str, Any] = {}
    command: Text = None
    declined: list[str] = Field(default_factory=list)
    changed: Mapping[str, AppliedArgument] | None = None
    reported: Mapping[str, Any] | None = None


class Python(Part):
    """The interpreter of the server, its PYTHONPATH, and the folders that hold packages."""

    executable: Text = None
    binary: Text = None
    prefix: Text = None
    version: Text = None
    path: list[str] | None = None
    folders: list[str] | None = None


class Packages(Part):
    """Python packages: name -> version, source folder, origin; and start-up files -> digest."""

    python: Python | None = None
    distributions: Mapping[str, Text] | None = None
    editable: Mapping[str, str] = {}
    direct: Mapping[str, str] = {}
    startup: Mapping[str, str] = {}
    edited: Mapping[str, str] = {}


class Library(Part):
    """A loaded file: its place, its version, and what tells its build apart."""

    path: Text = None
    version: Text = None
    build: Text = None


class Libraries(Part):
    """Shared libraries of the server's processes."""

    loaded: Mapping[str, Library] = {}
    preloaded: list[str] = Field(default_factory=list)
    executable: Library | None = None


class WatchedFile(Part):
    """A watched or used file or folder; `sha256` is null where it couldn't be read.

    Of one that the recipe doesn't watch, `use` says how it is used; `later` are its other contents at later looks,
    `written` says that the run made it."""

    sha256: Text = None
    use: Text = None
    changed_s: float | None = None
    later: list[str] | None = None
    written: bool | None = None
    size: int | None = None
    changed_in_run: bool | None = None
    sha256_after: Text = None


class Process(Part):
    """A process of a tree; `parent` is its parent's place in the list.

    `program` is its executable, links resolved. `command` is its command line as it was seen last, `started` the one
    that it was executed with, where it gave itself a title since. `starts` says in how many of the tree's starts it
    was seen; `brief`, that it ended too soon to be seen each time. `role` is
    `shell` or `helper` where it serves nothing.
    """

    name: Text = None
    pid: int | None = None
    parent: int | None = None
    program: Text = None
    command: list[str] = Field(default_factory=list)
    started: list[str] | None = None
    cwd: Text = None
    environment: Text = None
    role: Text = None
    brief: bool | None = None
    starts: int | None = None


class ProcessTree(Allowances):
    """Processes of the server or of the benchmark, and what those that work may use.

    `starts` says how often the tree was started (a server's launches, a benchmark's passes) and seen; `used` how much
    a process of it used of what the limits are for, at most.
    """

    count: int | None = None
    starts: int | None = None
    used: Mapping[str, int] = {}
    tree: list[Process] = Field(default_factory=list)
    cgroup: ControlGroup | None = None


class BenchWork(Part):
    """What the passes of a benchmark were asked to do, as its tool repeats it (a list where passes differ).

    `unread` has lines that may count failed requests in words that aren't known; `unseen` says why it can't be told
    whether the passes reached the server.
    """

    settings: Mapping[str, Value] = {}
    unread: list[str] = Field(default_factory=list)
    unseen: Text = None


class BenchProcesses(Part):
    """What the benchmark's processes had, as of a server: variables, packages, libraries and the processes."""

    env: Environment | None = None
    packages: Packages | None = None
    libraries: Libraries | None = None
    processes: ProcessTree | None = None


class Snapshot(Frozen):
    """The parts of a snapshot. One that is None wasn't captured: a comparison of it is `unknown`.

    `git` and `files` map names to states; why they couldn't be captured stands under `problem`.
    """

    git: Mapping[str, GitState | str] | None = None
    env: Environment | None = None
    arguments: Arguments | None = None
    packages: Packages | None = None
    libraries: Libraries | None = None
    hardware: Hardware | None = None
    files: Mapping[str, WatchedFile | str] | None = None
    processes: ProcessTree | None = None
    bench: BenchProcesses | None = None
    load: Load | None = None
    work: Mapping[str, BenchWork | str] | None = None

    @property
    def repositories(self) -> dict[str, GitState]:
        """The states of the captured repositories, by name."""
        return {name: state for name, state in (self.git or {}).items() if isinstance(state, GitState)}


PARTS: tuple[str, ...] = tuple(Snapshot.model_fields)


_STATE = "hardware.state"
_CHANGES: tuple[tuple[str, ...], ...] = (
    ("boot", "uptime_s"),
    ("cpu", "frequency_mhz"),
    ("memory", "available_bytes"),
    ("memory", "swap_used_bytes"),
    ("gpus", "devices", "*", "state"),
)
"""What of the hardware is another in every run: a part of its own, so that the rest is stored once."""


def parts_of(snapshot: Snapshot, since: Snapshot | None = None) -> dict[str, str]:
    """Return the captured parts as canonical JSON, without those that `since` has as they are."""
    parts = snapshot.model_dump()
    if parts["hardware"] is not None:
        for path in _CHANGES:
            parts[_STATE] = _merged(parts.get(_STATE, {}), _taken(parts["hardware"], path))
    texts = {name: canonical(data) for name, data in parts.items() if data is not None}
    known = parts_of(since) if since is not None else {}
    return {name: text for name, text in texts.items() if known.get(name) != text}


def snapshot_of(parts: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that has these parts, as `parts_of` names them, each as plain data."""
    whole = {name: data for name, data in parts.items() if name != _STATE}
    if _STATE in parts:
        whole["hardware"] = _merged(whole["hardware"], parts[_STATE])
    return Snapshot.model_validate(whole)


def _taken(data: Any, path: Sequence[str]) -> dict[str, Any]:
    """Remove what stands at the path (`*`: every key) from the data and return it, as it was nested."""
    first, *rest = path
    names = [name for name in data if first in ("*", name)] if isinstance(data, dict) else []
    if not rest:
        return {name: data.pop(name) for name in names}
    taken = {name: _taken(data[name], rest) for name in names}
    return {name: inner for name, inner in taken.items() if inner}


def _merged(data: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested data with more of it; what both have is merged, or the latter's."""
    shared = [name for name in more if isinstance(data.get(name), Mapping)]
    return {**data, **more, **{name: _merged(data[name], more[name]) for name in shared}}
