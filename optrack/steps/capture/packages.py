"""The packages that a server's interpreter can import, read from their folders: no interpreter is started for
it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from optrack.core.fairness.variables import plain
from optrack.core.secrets.masking import mask_text
from optrack.steps.capture.files import content_digest
from optrack.steps.capture.interpreter import Interpreter
from optrack.steps.capture.tree import read_bytes

_DISTRIBUTION = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist-info|egg-info)$")
_STARTUP = ("sitecustomize", "usercustomize")


def packages_part(interpreter: Interpreter, *, salt: bytes) -> dict[str, Any]:
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
    return {
        "python": {
            "executable": plain(str(interpreter.executable)),
            "binary": plain(str(interpreter.binary)),
            "prefix": plain(str(interpreter.prefix)),
            "version": _full_version(interpreter),
            "path": [plain(str(path)) for path in interpreter.python_path],
            "folders": [plain(str(path)) for path in interpreter.folders],
        },
        "distributions": dict(sorted(distributions.items())),
        "editable": dict(sorted(editable.items())),
        "direct": dict(sorted(direct.items())),
        "startup": dict(sorted(startup.items())),
    }


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
