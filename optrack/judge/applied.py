"""Whether what a recipe asked for is what ran: its variables in the processes, its arguments in the server's
report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from optrack.judge.remarks import declining_lines
from optrack.judge.variables import plain
from optrack.model.run import Run
from optrack.model.secrets.masking import is_masked, mask_data, mask_value
from optrack.model.snapshot import Arguments, Environment, Libraries, Packages, Snapshot

_MOVING = re.compile(
    r"(?:^|_)(?:timestamp|uptime|pid|port|uuid|ip|addr|address|host|url)$|"
    r"^(?:startup_time|start_time|random_seed|seed|memory_usage|step_time_dict|launch_command|internal_states)$|"
    r"^(?:last|avg|mean|total|current|available|effective|num_running|num_waiting)_"
)
"""Keys of a server's report that are counters, clocks, ports and the like."""

ALIASES = {
    "model": "model_path",
    "mem": "mem_fraction_static",
    **{
        name: f"{short}_size"
        for short, long in {"tp": "tensor", "dp": "data", "pp": "pipeline", "ep": "expert"}.items()
        for name in (short, f"{long}_parallel_size")
    },
}
"""Other spellings of server arguments, and the names under which servers report them."""


def doubts_of(
    candidate: Run, baseline: Run | None, factors: Mapping[str, tuple[Any, Any]]
) -> tuple[str, ...]:
    """Return what a run's processes don't show of its recipe, and the factors that made no difference in what ran."""
    if candidate.snapshot is None:
        return ()
    recipe = candidate.recipe
    missing = not_applied(candidate.snapshot, recipe.get("env", {}), recipe.get("expect", {}))
    if baseline is None or baseline.snapshot is None:
        return missing
    return (*missing, *unseen_treatment(candidate.snapshot, baseline.snapshot, factors))


def arguments_part(
    *,
    asked: Mapping[str, Any],
    command: str | None,
    reported: Mapping[str, Any] | None,
    salt: bytes,
    log: str = "",
) -> Arguments:
    """Return the `arguments` part of a snapshot: what the recipe asked, the command as written, what the running
    server says of itself and, by its log so far, declined, secrets masked.

    `reported` is the server's own answer, or an engine's digest of it: `applied` (the arguments in force),
    `changed` (name -> what was asked and what was applied), `state`. Counters, clocks and ports are set
    apart. None if the server says nothing.
    """
    part: dict[str, Any] = {
        "asked": mask_data(dict(asked), salt),
        "command": mask_value("command", command, salt) if command else None,
        "declined": list(declining_lines(log, salt)),
    }
    if reported is None:
        return Arguments(**part)
    told: dict[str, Any] = mask_data(dict(reported), salt)
    if isinstance(applied := told.pop("applied", None), Mapping):
        part["changed"] = told.pop("changed", None) or {}
        told = {**(told.pop("state", None) or {}), **told, **applied}
    settings, moving = _split(told, _names(asked))
    part["reported"] = {**settings, "volatile": moving}
    return Arguments(**part)


def _split(told: Mapping[str, Any], asked: set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what of a report are settings, and what moves between two launches of the same server."""
    settings: dict[str, Any] = {}
    moving: dict[str, Any] = {}
    for key, value in told.items():
        if key not in asked and (_MOVING.search(key) or not _is_setting(value)):
            moving[key] = value
        elif isinstance(value, Mapping):
            settings[key], inner = _split(value, asked)
            moving |= {key: inner} if inner else {}
        else:
            settings[key] = value
    return settings, moving


def _is_setting(value: Any) -> bool:
    """Whether a reported value can be a setting: a single value, a list of such, or names with such."""
    if isinstance(value, Mapping):
        return all(_is_setting(inner) for inner in value.values())
    return not isinstance(value, list) or not any(isinstance(inner, (Mapping, list)) for inner in value)


def _names(asked: Mapping[str, Any]) -> set[str]:
    return {name for key in asked for name in _report_names(key)}


def _report_names(key: str) -> tuple[str, ...]:
    """Return the names under which a server may report an argument, likeliest first."""
    name = key.lstrip("-").replace("-", "_")
    return (ALIASES[name], name) if name in ALIASES else (name, f"{name}_size")


def not_applied(
    snapshot: Snapshot,
    recipe_env: Mapping[str, str | None],
    expect: Mapping[str, Mapping[str, str | None]] | None = None,
    *,
    salt: bytes = b"",
) -> tuple[str, ...]:
    """Return a sentence for each thing that the recipe sets or expects and the processes don't show.

    Variables are looked up in the server's worker processes, and, where there was no server, in what the
    commands were passed; what couldn't be seen gives no sentence. `expect` may also name `server`, `packages`
    and `libraries`. A masked value can only be compared with `salt`; without it, being set is enough.
    """
    wanted = {**recipe_env, **(expect or {}).get("env", {})}
    env = snapshot.env or Environment()
    seen, where = env.server, "in the server's processes"
    if seen is None:
        seen, where = (
            (env.passed, "in what the commands were passed") if not env.has("observed_in") else (None, "")
        )
    sentences = [] if seen is None else list(_variables(wanted, seen, where, salt))
    arguments, packages = snapshot.arguments or Arguments(), snapshot.packages or Packages()
    sentences += _arguments((expect or {}).get("server", {}), arguments.reported)
    sentences += _versions((expect or {}).get("packages", {}), packages.distributions, "package")
    libraries = snapshot.libraries or Libraries()
    loaded = {name: library.version for name, library in libraries.loaded.items()}
    sentences += _versions((expect or {}).get("libraries", {}), loaded, "library")
    return tuple(sentences)


def rewritten_arguments(snapshot: Snapshot) -> tuple[str, ...]:
    """Return a sentence for each argument that the server applied otherwise than the recipe asked."""
    arguments = snapshot.arguments or Arguments()
    if arguments.changed is None:
        return tuple(_arguments(arguments.asked, arguments.reported))
    return tuple(
        f"The server was started with {name} {_shown(about.asked)} and applied {_shown(about.applied)}."
        for name, about in sorted(arguments.changed.items())
    )


def unseen_treatment(
    candidate: Snapshot, baseline: Snapshot, declared: Mapping[str, tuple[Any, Any]]
) -> tuple[str, ...]:
    """Return a sentence for each declared factor that made no difference in what ran, as far as that could be
    seen.

    Variables are compared in the server's processes, arguments in the server's own report, a patch in the
    code.
    """
    found: list[str] = []
    for leaf, (before, after) in sorted(declared.items()):
        key, _, name = leaf.partition(".")
        theirs, ours = _seen_of(baseline, key, name), _seen_of(candidate, key, name)
        if theirs is _UNSEEN or ours is _UNSEEN or theirs != ours or str(before) == str(after):
            continue
        if key == "patch":
            found.append("The patch was to change the code, and the code of both runs is the same.")
        else:
            change = f"{_shown(before)} in the baseline and {_shown(after)} in the candidate"
            seen = "neither run had it set" if ours is None else f"both runs had {_shown(ours)}"
            found.append(f"{name} was to be {change}, and {seen}.")
    return tuple(found)


_UNSEEN = object()


def _seen_of(snapshot: Snapshot, key: str, name: str) -> Any:
    """Return what ran of a recipe's leaf, or `_UNSEEN`."""
    if key == "env":
        env = snapshot.env or Environment()
        seen = env.server if env.has("observed_in") else env.passed
        return _UNSEEN if seen is None else seen.get(name)
    if key == "server":
        reported = (snapshot.arguments or Arguments()).reported or {}
        return next((reported[known] for known in _report_names(name) if known in reported), _UNSEEN)
    if key == "patch":
        repo = snapshot.repositories.get("repo")
        return (repo and repo.code) or _UNSEEN
    return _UNSEEN


def _variables(
    wanted: Mapping[str, str | None], seen: Mapping[str, Any], where: str, salt: bytes
) -> list[str]:
    found: list[str] = []
    for name, value in sorted(wanted.items()):
        actual = seen.get(name)
        if value is None:
            if actual is not None:
                found.append(f"{name} was to be unset and is {_shown(actual)} {where}.")
        elif actual is None:
            found.append(f"{name} was set to {mask_value(name, str(value), salt)} and is not set {where}.")
        elif not _same(name, str(value), actual, salt):
            found.append(
                f"{name} was set to {mask_value(name, str(value), salt)} and is {_shown(actual)} {where}."
            )
    return found


def _same(name: str, value: str, actual: Any, salt: bytes) -> bool:
    if is_masked(actual):
        return not salt or mask_value(name, plain(value), salt) == actual
    return bool(plain(value) == actual)


def _arguments(asked: Mapping[str, Any], reported: Mapping[str, Any] | None) -> list[str]:
    """Compare arguments with the server's report; a name that the report doesn't know says nothing."""
    found: list[str] = []
    for key, value in sorted(asked.items()):
        name = next((name for name in _report_names(key) if name in (reported or {})), None)
        if name is None or reported is None or value is None or is_masked(reported[name]):
            continue
        if not same_argument(value, reported[name]):
            seen = _shown(reported[name])
            found.append(f"The server was started with {key} {_shown(value)} and reports {name} {seen}.")
    return found


def same_argument(asked: Any, reported: Any) -> bool:
    """Whether a server argument, as it was asked for, is what the server reports."""
    if isinstance(asked, (list, tuple)) or isinstance(reported, (list, tuple)):
        left = asked if isinstance(asked, (list, tuple)) else [asked]
        right = reported if isinstance(reported, (list, tuple)) else [reported]
        return list(map(str, left)) == list(map(str, right))
    if isinstance(reported, bool) or isinstance(asked, bool):
        return str(asked).lower() == str(reported).lower()
    try:
        return float(asked) == float(reported)
    except (TypeError, ValueError):
        return str(asked) == str(reported)


def _versions(wanted: Mapping[str, str | None], seen: Mapping[str, Any] | None, kind: str) -> list[str]:
    if seen is None:
        return []
    found: list[str] = []
    for name, version in sorted(wanted.items()):
        actual = seen.get(name)
        if version is None and actual is not None:
            found.append(f"The {kind} {name} was to be absent and is {actual}.")
        elif version is not None and (actual is None or not str(actual).startswith(str(version))):
            found.append(f"The {kind} {name} was expected as {version} and is {_shown(actual)}.")
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, (list, tuple)):
        return " or ".join(map(_shown, value))
    return str(value)
