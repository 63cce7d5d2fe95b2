"""The environment of the processes, and files whose content is part of a snapshot."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from optrack.host.process_tree import Deadline, Member
from optrack.host.regular import open_regular
from optrack.judge.variables import is_noise, is_relevant, plain
from optrack.model.secrets.masking import keyed_digest, mask_text, mask_value
from optrack.model.snapshot import Disagreement, Environment, Program, WatchedFile


def passed_environment(
    env: Mapping[str, str | None], *, names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> Environment:
    """Return what the runner passes: performance-relevant variables, and the others apart from them.

    `names` are relevant beside the table (the recipe's own, the settings'); `places` are texts that differ in
    every run (its folder) and what stands for them.
    """
    text = {plain(name): plain(value) for name, value in env.items() if value is not None}
    return Environment(
        passed=_relevant(text, names, salt, places), other=dict(_others(text, names, salt, places))
    )


def server_environment(
    members: Sequence[Member], *, names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> Environment:
    """Return the effective environment: `server` (each relevant variable as the worker processes had it; a
    list where they disagree), `differing` (where the main process and others don't have the same), `observed_in`
    (which processes told), `program` (what the main process runs), and without `server` if no process that
    counts could be read, or if another program beside it had other variables: either may be the server then.
    """
    observed, observed_in = representative_processes(members)
    if observed and _ambiguous(members, names, salt, places):
        observed, observed_in = [], "unknown"
    part: dict[str, Any] = {"observed_in": observed_in}
    if (main := _main(members)) is not None:
        part["program"] = Program(executable=Path(main.executable).name, name=mask_text(main.name, salt))
    wiped = sorted(mask_text(member.name, salt) for member in members if member.environ is None)
    if wiped:
        part["unreadable"] = wiped
    if not observed:
        return Environment(**part)
    relevant = [_relevant(member.environ or {}, names, salt, places) for member in observed]
    everything = sorted(set().union(*relevant))
    part["server"] = {name: _agreed([values.get(name) for values in relevant]) for name in everything}
    others = [_others(member.environ or {}, names, salt, places) for member in observed]
    part["other"] = {
        name: _agreed([values.get(name) for values in others]) for name in sorted(set().union(*others))
    }
    part["differing"] = _differing(members, part["server"], names, salt, places)
    return Environment(**part)


def representative_processes(members: Sequence[Member]) -> tuple[list[Member], str]:
    """Return the processes whose environment is the server's, and who they are.

    Workers that were started anew show what their parent had changed after its own start (`sitecustomize`,
    code); a parent shows only what it was started with. So workers count, then the trackers that
    multiprocessing starts, then the main process, and a shell last. With unreadable workers and nobody but
    the main process to ask, nobody counts: `unknown`.
    """
    readable = [member for member in members if member.environ is not None]
    programs = [member for member in members if not member.shell]
    if any(member.remote for member in programs):
        return [], "unknown"
    main = programs[0] if programs else None
    workers = [m for m in programs[1:] if main is not None and _works_with(m, main, members)]
    own = [member for member in workers if member.environ is not None and not member.forked]
    if own:
        return own, "workers"
    helpers = [member for member in programs[1:] if member.tracker and member.environ is not None]
    if helpers:
        return helpers, "trackers"
    if any(member.environ is None for member in workers):
        return [], "unknown"
    if main is not None:
        return ([main], "main") if main.environ is not None else ([], "unknown")
    return readable[:1], "shell" if readable else "unknown"


def _works_with(member: Member, main: Member, members: Sequence[Member]) -> bool:
    """Whether a process is one of the server's workers: the same program, and not something that the start
    script runs beside the process that is known to serve."""
    if member.helper or member.executable != main.executable:
        return False
    alike = member.name == main.name and not main.name.endswith(" -c")
    return not main.serving or alike or _below(member, [main], members)


def _main(members: Sequence[Member]) -> Member | None:
    """Return the process that the shells and wrappers are there for."""
    return next((member for member in members if not member.shell), None)


def _ambiguous(
    members: Sequence[Member], names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> bool:
    """Whether another program that the shells started has other relevant variables than the main process.

    Where it is known which of them serves, the others aren't asked.
    """
    main = _main(members)
    if main is None or main.environ is None or any(member.serving for member in members):
        return False
    programs = [member for member in members if not member.shell]
    own = _relevant(main.environ, names, salt, places)
    return any(
        member.executable != main.executable
        and not member.helper
        and member.environ is not None
        and _relevant(member.environ, names, salt, places) != own
        and not _below(member, programs, members)
        for member in programs
    )


def _below(member: Member, over: Sequence[Member], members: Sequence[Member]) -> bool:
    """Whether a process descends from one of those in `over`."""
    parents = {other.pid: other.parent for other in members}
    wanted, seen, pid = {other.pid for other in over}, {member.pid}, member.parent
    while pid in parents and pid not in seen | wanted:
        seen.add(pid)
        pid = parents[pid]
    return pid in wanted and pid != member.pid


def _relevant(
    env: Mapping[str, str], names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> dict[str, str]:
    return {
        name: mask_value(name, in_place(value, places), salt)
        for name, value in sorted(env.items())
        if is_relevant(name, names)
    }


def _others(
    env: Mapping[str, str], names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that aren't known to change performance, noise left out; a long value by its digest."""
    return {
        name: mask_value(name, in_place(value, places), salt)
        if len(value) <= _LONGEST_VALUE
        else keyed_digest(in_place(value, places), salt)
        for name, value in sorted(env.items())
        if not is_relevant(name, names) and not is_noise(name)
    }


def _agreed(values: Sequence[str | None]) -> Any:
    """Return the one value that all processes have, or the sorted list of those that they have."""
    distinct = set(values)
    if len(distinct) == 1:
        return values[0]
    return sorted(distinct, key=lambda value: (value is not None, value or ""))


def with_later(server: Mapping[str, Any], later: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a first launch's variables with what a later launch's processes had of those named, as a list."""
    told = dict(server)
    for name in names:
        values = [side.get(name) for side in (server, later)]
        told[name] = _agreed([v for value in values for v in (value if isinstance(value, list) else [value])])
    return told


def _differing(
    members: Sequence[Member],
    server: Mapping[str, Any],
    names: Collection[str],
    salt: bytes,
    places: Mapping[str, str],
) -> dict[str, Disagreement]:
    """Return, for each variable in which the tree's processes disagree, what the main process had (`leader`,
    left out where it can't be read) and what which of the others had."""
    main = _main(members) or next(iter(members), None)
    readable = [member for member in members if member.environ is not None and not member.helper]
    seen = {id(member): _relevant(member.environ or {}, names, salt, places) for member in readable}
    found: dict[str, Disagreement] = {}
    for name in sorted(set(server).union(*seen.values())):
        if len({seen[id(member)].get(name) for member in readable}) > 1:
            about: dict[str, Any] = {}
            others: dict[str, list[str]] = {}
            for member in readable:
                value = seen[id(member)].get(name)
                if member is main:
                    about["leader"] = value
                else:
                    others.setdefault("not set" if value is None else f"={value}", []).append(
                        mask_text(member.name, salt)
                    )
            children = {value: sorted(who) for value, who in others.items()}
            found[name] = Disagreement(**about, children=children)
    return found


def in_place(text: str, places: Mapping[str, str]) -> str:
    """Return a text with what differs in every run replaced by what stands for it, longest first."""
    for place, stand_in in sorted(places.items(), key=lambda pair: -len(pair[0])):
        if len(place) > 1:
            text = text.replace(place, stand_in)
    return text


def own_places(env: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that optrack itself put into a process's environment and that differ in every run."""
    return {
        value.rstrip("/"): f"${name}"
        for name, value in env.items()
        if name in ("RUN_DIR", "OPTRACK_RUN_DIR") and value.startswith("/") and len(value) > 4
    }


_LONGEST_VALUE = 4096

WHOLE_LIMIT_BYTES = 256 * 2**20
"""Up to this size a file's whole content is digested; of a larger one its size and both ends."""

_BLOCK = 2**20
_LATE = "there was no time to read it"
_GROWTH_BYTES = 64 * 2**20
"""How much a file may grow while it is read."""


def files_part(watch: Sequence[Path], until: Deadline | None = None) -> dict[str, WatchedFile]:
    """Return the digest and size of each watched file; of a folder, those of the files under it as one."""
    return {str(path): describe_file(path, until) for path in watch}


def describe_file(path: Path, until: Deadline | None = None) -> WatchedFile:
    """Return `sha256` and `size` of a file; `sha256` is None, with the reason in `problem`, if it can't be
    read, isn't a file with content (a pipe, a device), or has to be read after `until`."""
    try:
        if path.is_dir():
            return _describe_folder(path, until)
        if until is not None and until.left_s <= 0:
            return WatchedFile(sha256=None, problem=_LATE)
        return WatchedFile(sha256=content_digest(path), size=path.stat().st_size)
    except OSError as error:
        return WatchedFile(sha256=None, problem=error.strerror or str(error) or type(error).__name__)


def regular_content(path: Path, limit: int) -> bytes:
    """Return the first `limit` bytes of a file, none of one that isn't regular or can't be read."""
    try:
        with open_regular(path) as file:
            return file.read(limit)
    except OSError:
        return b""


def content_digest(path: Path, limit: int = WHOLE_LIMIT_BYTES) -> str:
    """Return the SHA-256 of a regular file's content, or, of a file over `limit` bytes, `ends:` with that of its
    size and both ends. Raises OSError, also for a file that says it is smaller than what it goes on to give."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            most = max(size + _GROWTH_BYTES, _BLOCK)
            while block := file.read(min(_BLOCK, most + 1)):
                most -= len(block)
                if most < 0:
                    raise OSError(errno.EFBIG, "it goes on without end", str(path))
                digest.update(block)
            return digest.hexdigest()
        digest.update(str(size).encode() + file.read(_BLOCK))
        file.seek(-_BLOCK, 2)
        digest.update(file.read(_BLOCK))
    return f"ends:{digest.hexdigest()}"


def _describe_folder(folder: Path, until: Deadline | None) -> WatchedFile:
    digest = hashlib.sha256()
    size = 0
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ):
        if until is not None and until.left_s <= 0:
            return WatchedFile(sha256=None, problem=_LATE)
        digest.update(
            f"{path.relative_to(folder)}\0{content_digest(path)}\n".encode(errors="surrogateescape")
        )
        size += path.stat().st_size
    return WatchedFile(sha256=digest.hexdigest(), size=size)
