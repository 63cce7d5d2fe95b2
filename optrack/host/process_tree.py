"""The processes of a server's tree, as Linux shows them in /proc (proc(5))."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from optrack.host.live_environ import live_environ
from optrack.judge.variables import parse_environ, plain
from optrack.model.hardware import Allowances

_SHELLS = frozenset(
    (
        "sh bash dash zsh fish ksh busybox env timeout stdbuf tee nice setsid script nsys nsys-launcher ncu perf "
        "strace ltrace gdb valgrind sudo su runuser mpirun mpiexec orterun prterun uv tini dumb-init conda time"
    ).split()
)
"""Shells and wrappers that start the real program and wait for it."""

_REMOTE = frozenset({"docker", "podman", "nerdctl", "kubectl", "ssh", "srun", "machinectl", "lxc"})
"""Clients that ask somebody else to run the program: its processes aren't in this tree."""

_TRACKERS = re.compile(r"multiprocessing\.(?:resource_tracker|semaphore_tracker|forkserver)")
_HELPERS = re.compile(
    r"_inductor/compile_worker|multiprocessing\.(?:resource_tracker|semaphore_tracker|forkserver)|"
    r"/pip\b|-m pip\b|setup\.py"
)
"""Processes of the same interpreter that serve no requests: trackers and compilers."""


@dataclass(frozen=True)
class Member:
    """One process of the tree. `environ` is None where the process overwrote it or it can't be read; `forked`
    means that the process is a copy of its parent, so that its environ shows the parent's start, not its
    own; `serving`, that it is known to be of the server and not of what was started beside it.

    `image` tells one executed program of a process from the next, `started` is the command line that it was executed
    with as far as it was seen, before a title took its place. `brief` says that it was seen for a moment only;
    `mapped` and `allowed` are what was seen of it while it lived, None where its /proc is still to be read.
    """

    pid: int
    parent: int
    name: str
    argv: tuple[str, ...]
    executable: str
    environ: dict[str, str] | None
    forked: bool
    cwd: str | None = None
    serving: bool = False
    image: str = ""
    started: tuple[str, ...] = ()
    brief: bool = False
    mapped: tuple[Path, ...] | None = None
    allowed: Allowances | None = None

    @property
    def shell(self) -> bool:
        """Whether this is a shell or a wrapper that only starts the real program."""
        return Path(self.executable).name in _SHELLS

    @property
    def remote(self) -> bool:
        """Whether this only asks for the real program to be run elsewhere."""
        return Path(self.executable).name in _REMOTE

    @property
    def tracker(self) -> bool:
        """Whether this is a process that multiprocessing starts beside the workers."""
        return _TRACKERS.search(" ".join(self.argv)) is not None

    @property
    def helper(self) -> bool:
        """Whether this process serves no requests."""
        return _HELPERS.search(" ".join(self.argv)) is not None


def read_tree(
    pids: Iterable[int], leader: int, proc: Path = Path("/proc"), earlier: Mapping[int, Member] | None = None
) -> list[Member]:
    """Read the processes of a tree, the leader first, then by start; those that ended meanwhile are left
    out. What was seen `earlier` of the same executed program completes what it has overwritten since: a process
    that sets its title may wipe its environment and its command line with it."""
    earlier = earlier or {}
    images = {pid: member.image for pid, member in earlier.items()}
    found: list[tuple[int, Member]] = []
    for pid in sorted(set(pids) | {leader}, key=lambda pid: (pid != leader, pid)):
        stat = _stat(proc / str(pid))
        if stat is None:
            continue
        member = _completed(_member(pid, stat, proc), earlier.get(pid))
        images[pid] = member.image
        found.append((int(stat[19]), member))
    found.sort(key=lambda pair: (pair[1].pid != leader, pair[0], pair[1].pid))
    members = {member.pid: _with_fork(member, images) for _, member in found}
    for pid, member in members.items():
        parent = members.get(member.parent) or earlier.get(member.parent)
        if member.forked and member.environ is None and parent is not None:
            members[pid] = replace(member, environ=parent.environ)
    return list(members.values())


def _image(stat: Sequence[str]) -> str:
    """Return what tells one executed program from the next: where its arguments and environment lie; or nothing."""
    return ",".join(stat[45:49]) if stat[47] != "0" else ""


def _completed(member: Member, earlier: Member | None) -> Member:
    if earlier is None or earlier.image != member.image or earlier.executable != member.executable:
        return member
    return replace(
        member,
        environ=earlier.environ or member.environ,
        started=earlier.started or member.started,
        cwd=earlier.cwd or member.cwd,
        mapped=earlier.mapped,
        allowed=earlier.allowed,
    )


def serving_first(members: Sequence[Member], holders: Collection[int]) -> list[Member]:
    """Return the members with those first that lead to the processes `holders`, which hold the server's port.

    A start script may have started something else before (a monitor, a log's reader): that is not the server.
    """
    by_pid = {member.pid: member for member in members}
    serving: set[int] = set()
    for holder in holders:
        pid = holder
        while pid in by_pid and pid not in serving:
            serving.add(pid)
            pid = by_pid[pid].parent
    told = [replace(m, serving=True) if m.pid in serving else m for m in members]
    return sorted(told, key=lambda member: not member.serving)


def _with_fork(member: Member, images: dict[int, str]) -> Member:
    forked = images.get(member.parent) is not None and images[member.parent] == images[member.pid]
    return replace(member, forked=True) if forked else member


def _member(pid: int, stat: list[str], proc: Path) -> Member:
    folder = proc / str(pid)
    argv = tuple(plain(word) for word in (read_bytes(folder / "cmdline") or b"").split(b"\0") if word)
    data = read_bytes(folder / "environ")
    executable = read_link(folder / "exe") or ""
    return Member(
        pid=pid,
        parent=int(stat[1]),
        name=_name(folder, argv, executable),
        argv=argv,
        executable=executable.removesuffix(" (deleted)"),
        environ=None if data is None else _environ(pid, data, proc),
        forked=False,
        cwd=read_link(folder / "cwd"),
        image=_image(stat) or f"{pid}",
        started=argv,
    )


_PLACE = re.compile(r":\d{2,5}\b|\(\d{2,5}\)")
"""A port in a title that a process gave itself."""


def _environ(pid: int, data: bytes, proc: Path) -> dict[str, str] | None:
    """Return what a process was started with, or, where it wrote its title over that, what it has now."""
    found = parse_environ(data)
    if found is not None or (live := live_environ(pid, proc)) is None:
        return found
    return {plain(name): plain(value) for name, value in live.items()}


def _name(folder: Path, argv: tuple[str, ...], executable: str) -> str:
    """Return what people call a process: the title it set, or its program and script."""
    comm = (read_bytes(folder / "comm") or b"").decode(errors="replace").strip()
    first = argv[0] if argv else comm
    if "::" in first or (first and " " in first.strip() and not Path(first).exists()):
        return _PLACE.sub("", first.strip())
    words = [word for word in argv[1:] if word]
    tracker = _TRACKERS.search(" ".join(words))
    if tracker:
        return tracker.group(0)
    if not Path(executable).name.startswith("py"):
        return f"{comm} -c" if words[:1] == ["-c"] else comm
    kind, script = _script(words)
    return f"{comm} -c" if kind == "c" else script if kind == "m" else Path(script).name or comm


def _script(words: Sequence[str]) -> tuple[str, str]:
    """Return what Python's arguments say that it runs: `c` and nothing, `m` and a module, or a script."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            return "", word
        if word.startswith("--"):
            continue
        if kind := re.match(r"-[A-Za-z]*?([cmXW])(.*)", word, re.DOTALL):
            letter, joined = kind.groups()
            given = joined or next(rest, "")
            if letter in "cm":
                return letter, given if letter == "m" else ""
    return "", ""


def _stat(folder: Path) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the name: `[0]` is the state, `[1]` the parent, `[19]` the
    start time in clock ticks, `[45:49]` the addresses of arguments and environment."""
    data = read_bytes(folder / "stat")
    if not data:
        return None
    return data.rpartition(b")")[2].decode().split()


class Deadline:
    """A moment after which nothing more is begun: so many seconds from now, or as soon as `expire` is called."""

    def __init__(self, within_s: float) -> None:
        self._at = time.monotonic() + within_s

    @property
    def left_s(self) -> float:
        """How many seconds are left, less than 0 afterwards."""
        return self._at - time.monotonic()

    def expire(self) -> None:
        """Let the moment be now."""
        self._at = time.monotonic()


def read_bytes(path: Path) -> bytes | None:
    """Return the content of a file, or None if it can't be read (the process ended, or isn't ours)."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def read_text(path: Path) -> str | None:
    """Return the content of a small text file without its surrounding blanks, or None if it can't be read."""
    data = read_bytes(path)
    return None if data is None else data.decode(errors="replace").strip()


def read_link(path: Path) -> str | None:
    """Return where a symbolic link of /proc points, or None if it can't be read."""
    try:
        return str(path.readlink())
    except OSError:
        return None
