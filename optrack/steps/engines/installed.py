"""Where a Python package is installed for the interpreter that a recipe's commands would find."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path


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
