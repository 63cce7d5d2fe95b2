"""The Python interpreter of a running process, found without starting it: where it is, and the folders it
imports from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from optrack.steps.capture.tree import Member, read_text

_NAME = re.compile(r"^(?:python|pypy)\d?(?:\.\d+)?[a-z]*$")
_VERSION = re.compile(r"(?:python|libpython)(\d+\.\d+)")


@dataclass(frozen=True)
class Interpreter:
    """An interpreter as a process runs it: `executable` as it was called, `prefix` of its environment,
    `version` as `3.12`, and `folders`, those of `sys.path` that hold packages, in their order."""

    executable: Path
    binary: Path
    prefix: Path
    version: str
    folders: tuple[Path, ...]
    python_path: tuple[Path, ...]


def interpreter_of(member: Member) -> Interpreter | None:
    """Return the interpreter that a process runs, or None if it isn't Python.

    The process's executable has its links resolved, so the virtual environment is found from the name under
    which it was called (PEP 405: `pyvenv.cfg` beside it or one folder above).
    """
    binary = Path(member.executable)
    if not _NAME.match(binary.name):
        return None
    called = _called(member, binary)
    version = _version(called, binary)
    config = next(
        (
            place / "pyvenv.cfg"
            for place in (called.parent, called.parent.parent)
            if (place / "pyvenv.cfg").is_file()
        ),
        None,
    )
    base = binary.parent.parent
    prefix = config.parent if config is not None else base
    env = member.environ or {}
    python_path = tuple(
        Path(member.cwd or "/", part)
        for part in env.get("PYTHONPATH", "").split(":")
        if part and "-I" not in member.argv
    )
    folders = [*python_path, *_site_folders(prefix, version)]
    settings = (read_text(config) or "") if config is not None else "include-system-site-packages = true"
    if re.search(r"(?im)^include-system-site-packages\s*=\s*true", settings):
        folders += _user_site(env, member.argv, version)
        folders += _site_folders(base, version) if config is not None else []
        folders += [Path("/usr/lib/python3/dist-packages")] if base == Path("/usr") else []
    return Interpreter(called, binary, prefix, version, tuple(_existing(folders)), python_path)


def _called(member: Member, binary: Path) -> Path:
    """Return the path under which the interpreter was started, links kept."""
    word = member.argv[0] if member.argv else ""
    if "/" in word:
        path = Path(member.cwd or "/", word)
        return path if path.exists() else binary
    if word:
        for folder in (member.environ or {}).get("PATH", "").split(":"):
            if folder and (path := Path(folder, word)).is_file() and path.resolve() == binary:
                return path
    virtual = (member.environ or {}).get("VIRTUAL_ENV")
    if virtual and (path := Path(virtual, "bin", "python")).exists() and path.resolve() == binary:
        return path
    return binary


def _version(called: Path, binary: Path) -> str:
    for name in (binary.name, called.name):
        if found := _VERSION.search(name):
            return found.group(1)
    folders = sorted((binary.parent.parent / "lib").glob("python3.*"))
    return folders[-1].name.removeprefix("python") if folders else ""


def _site_folders(prefix: Path, version: str) -> Sequence[Path]:
    library = [prefix / lib / f"python{version}" for lib in ("lib", "lib64")]
    folders = [folder / name for folder in library for name in ("site-packages", "dist-packages")]
    if prefix == Path("/usr"):
        folders = [Path("/usr/local/lib") / f"python{version}" / "dist-packages", *folders]
    return [*folders, *library]


def _user_site(env: dict[str, str], argv: Sequence[str], version: str) -> list[Path]:
    if env.get("PYTHONNOUSERSITE") or any(flag in argv[:4] for flag in ("-s", "-I")):
        return []
    base = env.get("PYTHONUSERBASE") or (f"{env['HOME']}/.local" if env.get("HOME") else "")
    return [Path(base) / "lib" / f"python{version}" / "site-packages"] if base else []


def _existing(folders: Sequence[Path]) -> list[Path]:
    """Return the folders that exist, each real folder once."""
    found: dict[Path, Path] = {}
    for folder in folders:
        if folder.is_dir():
            found.setdefault(folder.resolve(), folder)
    return list(found.values())
