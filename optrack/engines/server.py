"""HTTP requests, what a server reports of itself, and where its package is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.engines.protocol import Place
from optrack.judge.applied import same_argument

if TYPE_CHECKING:
    import httpx

_MOST_BYTES = 16 * 2**20


def http_client(timeout_s: float, *, verify: bool = False, uses_proxies: bool = False) -> httpx.Client:
    """Return the HTTP client of all requests: one connection a request, redirects left to the caller.

    The proxies that the environment names are for other hosts than this one, and used only if asked for.
    """
    import httpx

    return httpx.Client(
        trust_env=uses_proxies,
        verify=verify,
        timeout=timeout_s,
        limits=httpx.Limits(max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "optrack"},
    )


def call(place: Place, path: str, *, method: str = "GET", timeout_s: float = 10.0) -> tuple[int, bytes]:
    """Return status and body (its first 16 MiB) of a request to the server; status 0 if it doesn't answer."""
    import httpx

    host = f"[{place.host}]" if ":" in place.host else place.host
    body = b""
    try:
        with (
            http_client(timeout_s) as client,
            client.stream(
                method, f"http://{host}:{place.port}{path}", follow_redirects=method == "GET"
            ) as answer,
        ):
            for piece in answer.iter_raw():
                body += piece
                if len(body) >= _MOST_BYTES:
                    break
            return answer.status_code, body
    except (httpx.HTTPError, httpx.InvalidURL) as error:
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
        if name in applied
        and value is not None
        and not same_argument(value, applied[name])
        and name not in _OF_THE_LAUNCH
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
