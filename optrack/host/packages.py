"""The interpreter of a running process and the packages that it can import, read from their folders."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from optrack.host.environment import content_digest
from optrack.host.installed_files import edited_files
from optrack.host.process_tree import Member, read_bytes, read_text
from optrack.judge.variables import plain
from optrack.model.secrets.masking import mask_text
from optrack.model.snapshot import Packages, Python

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
    """Return the folders that exist, each real folder once, and those with packages that their .pth files add."""
    found: dict[Path, Path] = {}
    for folder in folders:
        for place in (folder, *_added(folder)) if folder.is_dir() else ():
            found.setdefault(place.resolve(), place)
    return list(found.values())


def _added(folder: Path) -> list[Path]:
    lines = [line for file in sorted(folder.glob("*.pth")) for line in (read_text(file) or "").splitlines()]
    places = [folder / line for line in lines if line and not line.startswith(("#", "import ", "import\t"))]
    return [place for place in places if place.is_dir() and any(place.glob("*.dist-info"))]


_DISTRIBUTION = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist-info|egg-info)$")
_STARTUP = ("sitecustomize", "usercustomize")


def packages_part(interpreter: Interpreter, *, salt: bytes) -> Packages:
    """Return the `packages` part: the interpreter, `distributions` (name -> version, as the folders' names
    say), `editable` (name -> source folder), `direct` (name -> address and commit, PEP 610) and `startup`
    (sitecustomize, usercustomize and .pth files -> digest of their content).

    As in an import, the first folder that has a package counts.
    """
    distributions: dict[str, str] = {}
    editable: dict[str, str] = {}
    direct: dict[str, str] = {}
    startup: dict[str, str] = {}
    for folder in interpreter.folders:
        for entry in sorted(folder.iterdir()) if _readable(folder) else ():
            if found := _DISTRIBUTION.match(entry.name):
                name = normalised(found.group("name"))
                if name not in distributions:
                    distributions[name] = found.group("version")
                    _origin(entry, name, editable, direct, salt)
            elif entry.suffix == ".pth" or entry.stem in _STARTUP:
                startup |= _startup_file(entry)
    return Packages(
        python=Python(
            executable=plain(str(interpreter.executable)),
            binary=plain(str(interpreter.binary)),
            prefix=plain(str(interpreter.prefix)),
            version=_full_version(interpreter),
            path=[plain(str(path)) for path in interpreter.python_path],
            folders=[plain(str(path)) for path in interpreter.folders],
        ),
        distributions=dict(sorted(distributions.items())),
        editable=dict(sorted(editable.items())),
        direct=dict(sorted(direct.items())),
        startup=dict(sorted(startup.items())),
        edited=edited_files([f for f in interpreter.folders if f not in interpreter.python_path]),
    )


def normalised(name: str) -> str:
    """Return a distribution's name as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _readable(folder: Path) -> bool:
    try:
        next(folder.iterdir(), None)
    except OSError:
        return False
    return True


def _startup_file(entry: Path) -> dict[str, str]:
    """Return the digest of a file that the interpreter runs at its start; of a package, that of its
    `__init__.py`."""
    file = entry / "__init__.py" if entry.is_dir() else entry
    if file.suffix not in (".py", ".pth", ".so") or not file.is_file():
        return {}
    try:
        return {plain(str(file)): content_digest(file)}
    except OSError:
        return {plain(str(file)): "unreadable"}


def _origin(info: Path, name: str, editable: dict[str, str], direct: dict[str, str], salt: bytes) -> None:
    """Read where a package was installed from, if its record says so (`direct_url.json`)."""
    data = read_bytes(info / "direct_url.json") if info.suffix == ".dist-info" else None
    if data is None:
        return
    try:
        record = json.loads(data)
        address = str(record.get("url", ""))
    except (ValueError, AttributeError):
        return
    if address.startswith("file:") and (record.get("dir_info") or {}).get("editable"):
        editable[name] = unquote(urlparse(address).path)
        return
    commit = (record.get("vcs_info") or {}).get("commit_id", "")
    direct[name] = mask_text(f"{address}@{commit}" if commit else address, salt)


def _full_version(interpreter: Interpreter) -> str:
    """Return the interpreter's version, to the patch level where the environment's own record tells it."""
    config = read_bytes(interpreter.prefix / "pyvenv.cfg") or b""
    if found := re.search(rb"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+\.\d+)", config):
        return found.group(1).decode()
    header = interpreter.binary.parent.parent / "include" / f"python{interpreter.version}" / "patchlevel.h"
    if found := re.search(rb'#define PY_VERSION\s+"([^"]+)"', read_bytes(header) or b""):
        return found.group(1).decode()
    return interpreter.version
