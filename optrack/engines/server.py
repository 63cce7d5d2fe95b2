"""Asking the server of a launch over HTTP, and where its package is installed."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optrack.engines.protocol import Place

_MOST_BYTES = 16 * 2**20


def call(place: Place, path: str, *, method: str = "GET", timeout_s: float = 10.0) -> tuple[int, bytes]:
    """Return status and body of a request to the server; status 0 if it doesn't answer.

    The proxies that the environment names are for other hosts, so they are not used.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    host = f"[{place.host}]" if ":" in place.host else place.host
    request = urllib.request.Request(f"http://{host}:{place.port}{path}", method=method)
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            return answer.status, answer.read(_MOST_BYTES)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error).encode(errors="replace")


def call_json(place: Place, *paths: str) -> Any:
    """Return the JSON document of the first of `paths` that the server answers with one, or None."""
    for path in paths:
        status, body = call(place, path)
        if status == 200:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                continue
    return None


_SECRET = re.compile(r"api_key|token$|password|secret|credential", re.IGNORECASE)
_NOT_ARGUMENTS = frozenset(
    {"internal_states", "version", "launch_command", "startup_time", "frontend", "status", "kv_events"}
)
_OF_THE_LAUNCH = frozenset(
    {"port", "host", "nccl_port", "dist_init_addr", "served_model_name", "random_seed"}
)
_STATE = (
    "max_total_num_tokens",
    "max_req_input_len",
    "effective_max_running_requests_per_dp",
    "memory_usage",
    "avg_spec_accept_length",
    "last_gen_throughput",
)


def report_of(info: Mapping[str, Any], *, asked: Mapping[str, Any], served: str) -> dict[str, Any]:
    """Return version, applied arguments, those applied otherwise than asked, and the server's state.

    `changed` maps an argument to what was asked and what was applied; arguments that belong to one launch
    (address, served name) are left out of `applied`. `ours` says whether the served name is `served`, or
    None where the recipe chose its own.
    """
    states = info.get("internal_states")
    state = states[0] if isinstance(states, list) and states and isinstance(states[0], dict) else {}
    applied = {k: v for k, v in {**state, **info}.items() if k not in _NOT_ARGUMENTS and k not in _STATE}
    changed = {
        name: {"asked": value, "applied": applied[name]}
        for name, value in asked.items()
        if name in applied and not _same(value, applied[name]) and name not in _OF_THE_LAUNCH
    }
    name = info.get("served_model_name", state.get("served_model_name"))
    return {
        "version": info.get("version"),
        "applied": {k: _shown(k, v) for k, v in sorted(applied.items()) if k not in _OF_THE_LAUNCH},
        "changed": {k: v for k, v in changed.items() if not _SECRET.search(k)},
        "state": {k: info.get(k, state.get(k)) for k in _STATE if k in info or k in state},
        "ours": None if name is None or "served_model_name" in asked else name == served,
    }


def _shown(name: str, value: Any) -> Any:
    return "(set)" if _SECRET.search(name) and value else value


def _same(asked: Any, applied: Any) -> bool:
    if asked is None or asked == applied:
        return True
    if isinstance(asked, list) and isinstance(applied, list):
        return [str(item) for item in asked] == [str(item) for item in applied]
    if isinstance(asked, bool) or isinstance(applied, bool):
        return str(asked).casefold() == str(applied).casefold()
    try:
        return float(asked) == float(applied)
    except (TypeError, ValueError):
        return str(asked) == str(applied)


def package_folder(
    name: str, env: Mapping[str, str | None] | None = None, python: str = "python3"
) -> Path | None:
    """Return the folder of package `name` for an interpreter on the PATH, or None; nothing is imported.

    `env` is the recipe's environment over the caller's. Searched are PYTHONPATH, the interpreter's
    site-packages with the folders that its .pth files add, and the user's own.
    """
    merged = {**os.environ, **(env or {})}
    for folder in _folders(merged, python):
        candidate = folder / name
        if (candidate / "__init__.py").is_file() or (candidate / "srt").is_dir():
            return candidate
    return None


def package_version(folder: Path) -> str | None:
    """Return the version of the package in `folder`, from the name of the metadata folder beside it."""
    found = sorted(folder.parent.glob(f"{folder.name}-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").split("-", 1)[1] if found else None


def _folders(env: Mapping[str, str | None], python: str) -> Iterator[Path]:
    for entry in (env.get("PYTHONPATH") or "").split(os.pathsep):
        if entry:
            yield Path(entry)
    interpreter = shutil.which(python, path=env.get("PATH"))
    roots = []
    if interpreter:
        for path in (Path(interpreter), Path(interpreter).resolve()):
            roots.append(path.parent.parent)
    if env.get("HOME"):
        roots.append(Path(str(env["HOME"])) / ".local")
    for root in roots:
        for packages in sorted(root.glob("lib/python3*/*-packages"), reverse=True):
            yield packages
            yield from _added(packages)


def _added(packages: Path) -> Iterator[Path]:
    """Yield the folders that the .pth files of `packages` name (editable installs)."""
    for file in sorted(packages.glob("*.pth")):
        try:
            lines = file.read_text(errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            if line.strip() and not line.startswith(("import ", "import\t", "#")):
                yield packages / line.strip()
