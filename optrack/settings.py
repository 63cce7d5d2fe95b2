"""Settings: the project folder, its database and files; the only reader of configuration."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from optrack.errors import SettingsError
from optrack.model.text import nearest
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


class FileSettings(Frozen):
    """What `optrack.toml`, or `[tool.optrack]` of a `pyproject.toml`, may hold; a description says what a value is."""

    database: str | None = Field(None, description="text")
    plans: str = Field("plans", description="text")
    plan: str | None = Field(None, description="text")
    env_prefixes: tuple[str, ...] = Field((), description="a list of texts")
    python: str = Field("python3", description="text")
    notify: str | None = Field(None, description="text")
    cpu_share: Annotated[float, BeforeValidator(str)] = Field(
        0.5, gt=0, le=1, description="a number above 0 and at most 1"
    )


_VARIABLES = {"database": "OPTRACK_DB", "plan": "OPTRACK_PLAN", "cpu_share": "OPTRACK_CPU_SHARE"}
"""The variables that go before the file."""


def load_settings(start: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that hold in folder `start`; SettingsError names the file and key that is wrong."""
    environ = os.environ if environ is None else environ
    project, source, table = _find_project(start.resolve())
    overriding = {key: environ[name] for key, name in _VARIABLES.items() if environ.get(name)}
    file = _checked({**table, **overriding}, source)
    state = project / ".optrack"
    database = file.database or str(state / "optrack.db")
    return Settings(
        project=project,
        database=database if "://" in database else str((project / database).resolve()),
        plans=project / file.plans,
        runs=state / "runs",
        state=state,
        plan=project / file.plan if file.plan else None,
        env_prefixes=file.env_prefixes,
        python=file.python,
        notify=file.notify,
        cpu_share=file.cpu_share,
        actor=environ.get("OPTRACK_ACTOR") or _user(),
        host=socket.gethostname(),
        locks=Path(environ.get("OPTRACK_LOCKS", "/tmp")),
    )


def _checked(table: Mapping[str, Any], source: Path | None) -> FileSettings:
    where, fields = str(source), FileSettings.model_fields
    for key in table:
        if key not in fields:
            near = nearest(key, fields)
            hint = f"did you mean {near!r}?" if near else f"known settings: {', '.join(fields)}"
            raise SettingsError(f"unknown setting {key!r}", where=where, hint=hint)
    try:
        return FileSettings.model_validate(table)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        message = f"{key} must be {fields[key].description}, not {table[key]!r}"
        raise SettingsError(message, where=where) from error


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


def salt_file(settings: Settings) -> Path:
    """Return the file of the key that belongs to a project's database, beside it: the folders that share a database
    share the key, so that one machine, or one secret, is the same in each."""
    text = settings.database
    if "://" in text:
        text = text.partition("://")[2].partition("?")[0].removeprefix("/")
    path = Path(text).expanduser()
    own = settings.state / "salt"
    return own if path.is_relative_to(settings.state) else path.with_name(f"{path.name}.salt")


def database_salt(path: Path, state: Path) -> bytes:
    """Return the key with which a database's secrets are digested, from its file, made at the first call.

    A project that had a key of its own before it shared a database gives that. Who may look at the project of
    somebody else, but neither read the key nor record anything, gets one for the moment.
    """
    if not path.exists():
        private_state(state)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}-{os.getpid()}")
        before = state / "salt"
        fresh.write_bytes(before.read_bytes() if before.exists() else secrets.token_bytes(32))
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
        if os.access(path.parent, os.W_OK):
            raise
        return secrets.token_bytes(32)
