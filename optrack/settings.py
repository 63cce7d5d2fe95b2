"""Settings: the project folder, its database and files; the only reader of configuration."""

from __future__ import annotations

import difflib
import getpass
import os
import secrets
import socket
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from optrack.errors import SettingsError
from optrack.model.value import Frozen


class Settings(Frozen):
    """Everything that is configured. Paths are absolute.

    `database` is a path or a SQLAlchemy URL; `env_prefixes` are prefixes of variables recorded with their
    values, beside optrack's own table; `python` is the interpreter that engines start servers with;
    `notify` is a shell command run when a run ends; `locks` is the folder, shared by all users of the host, with
    the locks that let one run measure at a time. `cpu_share` is the share of the CPUs that others may keep
    busy while something is measured; 1 means that it isn't looked at.
    """

    project: Path
    database: str
    plans: Path
    runs: Path
    state: Path
    plan: Path | None = None
    env_prefixes: tuple[str, ...] = ()
    python: str = "python3"
    notify: str | None = None
    cpu_share: float = 0.5
    actor: str = "unknown"
    host: str = "localhost"
    locks: Path = Path("/tmp")


_KEYS = ("database", "plans", "plan", "env_prefixes", "python", "notify", "cpu_share")


def load_settings(start: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that hold in folder `start`; SettingsError names the file and key that is wrong."""
    environ = os.environ if environ is None else environ
    project, source, table = _find_project(start.resolve())
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            raise SettingsError(
                f"unknown setting {key!r}",
                where=str(source),
                hint=f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(_KEYS)}",
            )
    state = project / ".optrack"
    database = environ.get("OPTRACK_DB") or _text(table, "database", source) or str(state / "optrack.db")
    if "://" not in database:
        database = str((project / database).resolve())
    chosen = environ.get("OPTRACK_PLAN") or _text(table, "plan", source)
    return Settings(
        project=project,
        database=database,
        plans=project / (_text(table, "plans", source) or "plans"),
        runs=state / "runs",
        state=state,
        plan=project / chosen if chosen else None,
        env_prefixes=_texts(table, "env_prefixes", source),
        python=_text(table, "python", source) or "python3",
        notify=_text(table, "notify", source),
        cpu_share=_share(environ.get("OPTRACK_CPU_SHARE") or table.get("cpu_share"), source),
        actor=environ.get("OPTRACK_ACTOR") or _user(),
        host=socket.gethostname(),
        locks=Path(environ.get("OPTRACK_LOCKS", "/tmp")),
    )


def _find_project(start: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    for folder in (start, *start.parents):
        own, shared = folder / "optrack.toml", folder / "pyproject.toml"
        if own.is_file():
            return folder, own, _read_toml(own)
        if shared.is_file():
            table = _read_toml(shared).get("tool", {}).get("optrack")
            if isinstance(table, dict):
                return folder, shared, table
        if (folder / ".optrack").is_dir():
            return folder, None, {}
    return start, None, {}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"not valid TOML: {error}", where=str(path), hint="mend the file") from error
    except OSError as error:
        raise SettingsError(f"can't be read: {error.strerror}", where=str(path)) from error


def _text(table: Mapping[str, Any], key: str, source: Path | None) -> str | None:
    value = table.get(key)
    if value is None or isinstance(value, str):
        return value
    raise SettingsError(f"{key} must be text, not {value!r}", where=str(source))


def _texts(table: Mapping[str, Any], key: str, source: Path | None) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    raise SettingsError(f"{key} must be a list of texts, not {value!r}", where=str(source))


def _share(value: object, source: Path | None) -> float:
    try:
        share = 0.5 if value is None else float(str(value))
    except ValueError:
        share = -1.0
    if 0 < share <= 1:
        return share
    raise SettingsError(f"cpu_share must be a number above 0 and at most 1, not {value!r}", where=str(source))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def private_state(state: Path) -> None:
    """Make the project's `.optrack` folder, or put right the one there is: readable by its owner alone, since raw logs
    may hold secrets, and ignored by git. What somebody else owns is left as it is. Raises OSError."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(PermissionError):
        if state.stat().st_mode & 0o077:
            state.chmod(0o700)
        if not (state / ".gitignore").exists():
            (state / ".gitignore").write_text("*\n", encoding="utf-8")


def project_salt(state: Path) -> bytes:
    """Return the key with which this project's secrets are digested, made at the first call.

    It never leaves the project folder: equal secrets give equal digests within one project only. Who may look at
    the project of somebody else, but neither read the key nor record anything, gets one for the moment.
    """
    path = state / "salt"
    if not path.exists():
        private_state(state)
        fresh = path.with_name(f"salt-{os.getpid()}")
        fresh.write_bytes(secrets.token_bytes(32))
        fresh.chmod(0o600)
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    try:
        return path.read_bytes()
    except PermissionError:
        if os.access(state, os.W_OK):
            raise
        return secrets.token_bytes(32)
