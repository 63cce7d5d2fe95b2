"""Which leaf of the recipes explains which field of a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COMMAND_KEYS = ("server", "launch", "engine", "cwd", "port")
_REPORTING_PREFIXES = ("SGLANG_", "SGL_", "VLLM_")


def covering_leaf(
    path: tuple[str, ...], baseline: Any, candidate: Any, declared: Mapping[str, tuple[Any, Any]]
) -> tuple[str | None, bool]:
    """Return the declared leaf that speaks of this field, and whether what was seen agrees with it.

    A variable covers itself in the processes and must have the declared values there; arguments, launch
    command and engine cover what the server was started with and reports; `patch` and `repo` cover the code
    of the recipe's repository; `gpus` the visible devices. `setup` covers nothing: what it changes shows and
    has to be accepted.
    """
    part = path[0]
    if part == "env":
        return _variable(path, baseline, candidate, declared)
    if part == "arguments":
        return _argument(path, declared), True
    if part == "git" and len(path) > 1 and path[1] == "repo":
        return _first(
            declared, ("repo", "patch") if path[2] in ("code", "untracked", "left_out") else ("repo",)
        ), True
    if part == "files":
        return _first(declared, ("patch",)) if _is_patch(path, declared) else None, True
    if part == "processes" and path[1] in ("affinity", "memory_nodes", "memory_policy", "nice", "scheduler"):
        return _first(declared, ("launch",)), True
    return None, True


def _variable(
    path: tuple[str, ...], baseline: Any, candidate: Any, declared: Mapping[str, tuple[Any, Any]]
) -> tuple[str | None, bool]:
    name = path[-1]
    leaf = f"env.{name}"
    if leaf in declared:
        before, after = declared[leaf]
        return leaf, _agrees(before, baseline) and _agrees(after, candidate)
    if name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        return _first(declared, ("gpus",)), True
    return None, True


def _agrees(declared: Any, seen: Any) -> bool:
    """Whether what was seen is what was declared; a recipe that says nothing agrees with anything
    inherited."""
    return (
        declared is None or seen == str(declared) or (isinstance(seen, str) and seen.startswith("<masked:"))
    )


def _argument(path: tuple[str, ...], declared: Mapping[str, tuple[Any, Any]]) -> str | None:
    if path[1] == "asked":
        leaf = f"server.{path[-1]}"
        return leaf if leaf in declared else _first(declared, ("engine",))
    leaf = f"server.{path[-1].replace('_', '-')}"
    if leaf in declared:
        return leaf
    if path[1] == "reported":
        variable = next(
            (key for key in declared if key.startswith(tuple(f"env.{p}" for p in _REPORTING_PREFIXES))), None
        )
        return _first(declared, _COMMAND_KEYS) or variable or _first(declared, ("patch", "repo"))
    return _first(declared, _COMMAND_KEYS)


def _first(declared: Mapping[str, tuple[Any, Any]], keys: tuple[str, ...]) -> str | None:
    """Return the first declared leaf under one of these keys of a recipe."""
    return next(
        (leaf for key in keys for leaf in declared if leaf == key or leaf.startswith(f"{key}.")), None
    )


def _is_patch(path: tuple[str, ...], declared: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether a watched file is one of the declared patches."""
    named = [
        name
        for value in declared.get("patch", ())
        if value
        for name in ([value] if isinstance(value, str) else value)
    ]
    return any(path[1].endswith(str(name)) for name in named)
