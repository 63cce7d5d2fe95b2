"""What was seen of a benchmark's processes while they lived, as a part of the snapshot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from optrack.host.capture import command_places, run_places, server_packages
from optrack.host.code_capture import captured
from optrack.host.environment import server_environment, with_later
from optrack.host.libraries import libraries_part
from optrack.host.limits import ended_processes_part
from optrack.host.process_tree import Member
from optrack.judge.processes import joined
from optrack.model.snapshot import BenchProcesses, Environment, Libraries, Packages, ProcessTree


def capture_bench(
    members: Sequence[Member],
    working: Sequence[Member],
    *,
    recipe_env: Mapping[str, str | None],
    salt: bytes,
    names: Collection[str] = (),
    project: Path | None = None,
    port: int | None = None,
) -> BenchProcesses:
    """Capture what was seen of a benchmark's processes while they lived, as of a server's: `working` are those that
    did its work."""
    relevant, places = {*recipe_env, *names}, run_places(members)
    commands = command_places(members, project)
    members = _without_brief_shells(members)
    serving = [replace(member, serving=True) for member in working] or list(members)
    return BenchProcesses(
        env=captured(
            lambda: server_environment(serving, names=relevant, salt=salt, places=places), Environment, salt
        ),
        packages=captured(lambda: server_packages(serving, salt), Packages, salt),
        libraries=captured(lambda: libraries_part(serving), Libraries, salt),
        processes=captured(
            lambda: ended_processes_part(members, working, salt=salt, places=commands, port=port),
            ProcessTree,
            salt,
        ),
    )


def _without_brief_shells(members: Sequence[Member]) -> list[Member]:
    """Return the programs of a tree, and those of its shells that lead to one."""
    parents = {member.pid: member.parent for member in members}
    leading: set[int] = set()
    for member in members:
        pid = member.pid
        while not member.shell and pid in parents and pid not in leading:
            leading.add(pid)
            pid = parents[pid]
    return [member for member in members if member.pid in leading or not member.brief]


def with_later_pass(first: BenchProcesses, later: BenchProcesses) -> BenchProcesses:
    """Return what was captured of a benchmark with what another pass of it had otherwise."""
    env, now = first.env, later.env
    if env is not None and now is not None and env.server is not None and now.server is not None:
        before, after = env.server, now.server
        names = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        env = env.model_copy(update={"server": with_later(before, after, names)}) if names else env
    processes = first.processes
    if processes is not None and later.processes is not None:
        processes = joined(processes, later.processes)
    return first.model_copy(update={"env": env, "processes": processes})
