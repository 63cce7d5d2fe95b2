"""The environment: what was passed to the commands, and what each process of the server's tree had."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from optrack.core.fairness.variables import is_noise, is_relevant, plain
from optrack.core.secrets.masking import keyed_digest, mask_value
from optrack.steps.capture.tree import Member


def passed_environment(
    env: Mapping[str, str | None], *, names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the runner passes: performance-relevant variables by value, the others by keyed digest.

    `names` are relevant beside the table (the recipe's own, the settings'); `places` are texts that differ in
    every run (its folder) and what stands for them.
    """
    text = {plain(name): plain(value) for name, value in env.items() if value is not None}
    return {
        "passed": _relevant(text, names, salt, places),
        "other": _others(text, names, salt, places),
    }


def server_environment(
    members: Sequence[Member], *, names: Collection[str], salt: bytes, places: Mapping[str, str]
) -> dict[str, Any]:
    """Return the effective environment: `server` (each relevant variable as the worker processes had it; a
    list where they disagree), `differing` (where leader and children don't have the same), `witness` (which
    processes told), and without `server` if no process that counts could be read.
    """
    witnesses, witness = choose_witnesses(members)
    part: dict[str, Any] = {"witness": witness}
    wiped = sorted(member.name for member in members if member.environ is None)
    if wiped:
        part["unreadable"] = wiped
    if not witnesses:
        return part
    relevant = [_relevant(member.environ or {}, names, salt, places) for member in witnesses]
    everything = sorted(set().union(*relevant))
    part["server"] = {name: _agreed([values.get(name) for values in relevant]) for name in everything}
    others = [_others(member.environ or {}, names, salt, places) for member in witnesses]
    part["other"] = {
        name: _agreed([values.get(name) for values in others]) for name in sorted(set().union(*others))
    }
    part["differing"] = _differing(members, part["server"], names, salt, places)
    return part


def choose_witnesses(members: Sequence[Member]) -> tuple[list[Member], str]:
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
    workers = [
        m for m in programs[1:] if not m.helper and main is not None and m.executable == main.executable
    ]
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
    """Return the variables that aren't known to change performance by keyed digest, noise left out."""
    return {
        name: keyed_digest(in_place(value, places), salt)
        for name, value in sorted(env.items())
        if not is_relevant(name, names) and not is_noise(name)
    }


def _agreed(values: Sequence[str | None]) -> Any:
    """Return the one value that all processes have, or the sorted list of those that they have."""
    distinct = set(values)
    if len(distinct) == 1:
        return values[0]
    return sorted(distinct, key=lambda value: (value is not None, value or ""))


def _differing(
    members: Sequence[Member],
    server: Mapping[str, Any],
    names: Collection[str],
    salt: bytes,
    places: Mapping[str, str],
) -> dict[str, Any]:
    """Return, for each variable in which the tree's processes disagree, what the leader and which children
    had."""
    readable = [member for member in members if member.environ is not None and not member.helper]
    seen = {id(member): _relevant(member.environ or {}, names, salt, places) for member in readable}
    found: dict[str, Any] = {}
    for name in sorted(set(server).union(*seen.values())):
        values = [seen[id(member)].get(name) for member in readable]
        if len(set(values)) > 1:
            children: dict[str, list[str]] = {}
            for member, value in zip(readable[1:], values[1:], strict=True):
                children.setdefault("not set" if value is None else f"={value}", []).append(member.name)
            found[name] = {
                "leader": values[0],
                "children": {value: sorted(who) for value, who in children.items()},
            }
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
