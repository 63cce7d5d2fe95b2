"""Which leaf of the recipes explains which field of a snapshot, and what one side couldn't see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

Declared = Mapping[str, tuple[Any, Any]]
Path = tuple[str, ...]

_COMMAND_KEYS = ("server", "launch", "engine", "cwd", "port")
_BENCH_KEYS = ("bench", "warmup", "engine", "cwd", "port")
_PATCHED = ("code", "untracked", "left_out", "edited_in_run")
_PLACED = ("affinity", "memory_nodes", "memory_policy", "nice", "scheduler", "limits")
_ENGINE_VARIABLES = ("SGLANG_", "SGL_", "VLLM_")
_SET_BY_ENGINES = (
    *_ENGINE_VARIABLES,
    "CUDA_DEVICE_MAX_",
    "CUDA_MODULE_",
    "NCCL_CUMEM_ENABLE",
    "NCCL_NVLS_ENABLE",
)
"""Variables that a server sets for its own workers, by its arguments."""


def covering_leaf(path: Path, baseline: Any, candidate: Any, declared: Declared) -> tuple[str | None, bool]:
    """Return the declared leaf that speaks of this field, and whether what was seen agrees with it.

    A variable covers itself in the processes and must have the declared values there. Arguments, launch
    command and engine cover what the server was started with and what it reports; `patch` and `repo` the code
    of the recipe's repository; `gpus` the devices. A library that only one side loaded goes with whatever
    changes what runs. `setup` covers nothing: what it changes shows, and has to be accepted.
    """
    if path[0] == "env":
        leaf = f"env.{path[-1]}"
        if leaf in declared:
            before, after = declared[leaf]
            return leaf, _agrees(before, baseline) and _agrees(after, candidate)
        return _variable(path[-1], declared), True
    covers = {
        "arguments": _argument,
        "git": _code,
        "files": _file,
        "libraries": _library,
        "processes": _place,
        "packages": _package,
        "hardware": _device,
        "load": _device,
    }
    return covers[path[0]](path, declared) if path[0] in covers else None, True


def covering_command(field: str, words: Collection[str], *, own: bool, declared: Declared) -> str | None:
    """Return the declared leaf that speaks of how a process was started; `words` are those that only one side has.

    A variable speaks of words that hold its value. What a program starts itself (`own`) goes with whatever is declared
    to change that program.
    """
    keys = _BENCH_KEYS if field.startswith("bench") else _COMMAND_KEYS
    if leaf := _first(declared, *keys):
        return leaf
    if own and (leaf := _first(declared, "env", "patch", "repo")):
        return leaf
    values = [word for word in words if not word.startswith("-") or "=" in word] or list(words)
    for leaf, sides in declared.items():
        texts = [str(value) for value in sides if value is not None] if leaf.startswith("env.") else []
        parts = {part for text in texts for part in (text, *text.split()) if len(part) > 1}
        if values and all(any(part in word for part in parts) for word in values):
            return leaf
    return None


def covering_bench(declared: Declared) -> str | None:
    """Return the declared leaf by which the benchmark itself is another one."""
    return _first(declared, *_BENCH_KEYS)


def covering_file(name: str, declared: Declared, *, one_sided: bool) -> str | None:
    """Return the declared leaf that speaks of a used file: another command uses others, a variable may name one."""
    if leaf := _file(("files", name), declared):
        return leaf
    if not one_sided:
        return None
    for leaf, sides in declared.items():
        if leaf.startswith("env.") and any(v and str(v).removeprefix("./") in name for v in sides if v != ""):
            return leaf
    return _first(declared, *_COMMAND_KEYS, *_BENCH_KEYS, "check", "setup", "ready", "repo", "patch")


def _agrees(declared: Any, seen: Any) -> bool:
    """Whether what was seen is what was declared; a recipe that says nothing agrees with anything
    inherited."""
    return (
        declared is None or seen == str(declared) or (isinstance(seen, str) and seen.startswith("<masked:"))
    )


def _variable(name: str, declared: Declared) -> str | None:
    if name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES") and (leaf := _first(declared, "gpus")):
        return leaf
    texts = [str(text) for text in declared.get("launch", ()) if text is not None]
    if any(f"{name}=" in text or f"unset {name}" in text for text in texts):
        return "launch"
    return _first(declared, "server", "engine") if name.startswith(_SET_BY_ENGINES) else None


def _argument(path: Path, declared: Declared) -> str | None:
    named = f"server.{path[-1]}" if path[1] == "asked" else f"server.{path[-1].replace('_', '-')}"
    if named in declared:
        return named
    if path[1] == "asked":
        return _first(declared, "engine")
    if path[1] == "reported":
        variable = next((leaf for leaf in declared if leaf.startswith(_REPORTED)), None)
        return _first(declared, *_COMMAND_KEYS) or variable or _first(declared, "patch", "repo")
    return _first(declared, *_COMMAND_KEYS)


_REPORTED = tuple(f"env.{prefix}" for prefix in _ENGINE_VARIABLES)


def _code(path: Path, declared: Declared) -> str | None:
    if path[1] != "repo":
        return None
    return (
        _first(declared, "repo", "patch")
        if len(path) < 3 or path[2] in _PATCHED
        else _first(declared, "repo")
    )


def _file(path: Path, declared: Declared) -> str | None:
    """A watched file is covered if it is one of the declared patches."""
    patches = [
        str(name)
        for value in declared.get("patch", ())
        for name in ([value] if isinstance(value, str) else value or ())
    ]
    return "patch" if any(path[1].endswith(name) for name in patches) else None


def _library(path: Path, declared: Declared) -> str | None:
    if path[1] == "preloaded":
        return _first(declared, "env.LD_PRELOAD")
    if path[1] == "loaded" and len(path) == 3:
        return _first(declared, *_COMMAND_KEYS, "env", "patch", "repo")
    return _first(declared, "launch", "engine") if path[1] == "executable" else None


def _place(path: Path, declared: Declared) -> str | None:
    return _first(declared, "launch") if path[1] in _PLACED else None


def _package(path: Path, declared: Declared) -> str | None:
    if path[1:] == ("python", "path"):
        return _first(declared, "env.PYTHONPATH")
    return None


def _device(path: Path, declared: Declared) -> str | None:
    """Which GPUs are looked at follows from the recipe's `gpus`; how they are set follows from nothing."""
    whole = path[:3] == ("hardware", "gpus", "devices") and len(path) == 4
    one_sided_load = path[0] == "load" and len(path) == 3
    return _first(declared, "gpus", "env.CUDA_VISIBLE_DEVICES") if whole or one_sided_load else None


def _first(declared: Declared, *keys: str) -> str | None:
    """Return the first declared leaf under one of these keys of a recipe."""
    return next(
        (leaf for key in keys for leaf in declared if leaf == key or leaf.startswith(f"{key}.")), None
    )
