"""What witnesses wrote down in a launch's folder: processes as they were when they became the server (`witness.py`)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from optrack.host import proc
from optrack.host.process_tree import Member
from optrack.model.secrets.masking import mask_argv, mask_value
from optrack.model.snapshot import Packages, Python

WITNESS = "witness.py"
_MOST_BYTES = 8 * 2**20


def put_witness(folder: Path) -> None:
    """Put the witness's program into a launch's folder, which a container may be given alone."""
    target = folder / WITNESS
    shutil.copyfile(Path(__file__).with_name(WITNESS), target)
    target.chmod(0o755)


def read_witnesses(folder: Path, salt: bytes) -> list[dict[str, Any]]:
    """Return what was witnessed in a folder, first to last, secrets masked there too."""
    found = []
    for path in sorted(folder.glob("witness-*.json"), key=lambda path: path.stat().st_mtime_ns):
        try:
            about = json.loads(path.read_bytes()[:_MOST_BYTES])
            about["environ"] = {str(k): mask_value(str(k), str(v), salt) for k, v in about["environ"].items()}
            about["argv"] = mask_argv([str(word) for word in about["argv"]], salt)
            path.write_text(json.dumps(about, sort_keys=True), encoding="utf-8")
            found.append(about)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def with_witnesses(members: Sequence[Member], witnesses: Sequence[Mapping[str, Any]]) -> list[Member]:
    """Return the processes with what witnesses tell of them: of one that can be seen here what it was started with, of
    one in another namespace all that is known; that is the server's then, and what is seen here only asks for it."""
    known = {member.pid: member for member in members}
    here = _pid_namespace()
    others = []
    for about in witnesses:
        pid, namespace = about.get("pid"), (about.get("namespaces") or {}).get("pid")
        row = proc.row(pid) if namespace == here and isinstance(pid, int) else None
        if row is not None and pid in known and row.start_ticks == about.get("start_ticks"):
            known[pid] = replace(known[pid], environ=about["environ"], serving=True)
        elif namespace != here:
            others.append(_member(about))
    if not others:
        return list(known.values())
    return [*others, *(member for member in known.values() if not member.remote and not member.shell)]


def witnessed_packages(witnesses: Sequence[Mapping[str, Any]]) -> Packages | None:
    """Return the packages of a server in a place that can't be looked into."""
    here = _pid_namespace()
    for about in witnesses:
        python = about.get("python")
        if isinstance(python, dict) and (about.get("namespaces") or {}).get("pid") != here:
            told = Python(
                executable=python.get("executable"),
                version=python.get("version"),
                prefix=python.get("prefix"),
                path=python.get("path") or [],
            )
            return Packages(python=told, distributions=python.get("packages") or {})
    return None


def _member(about: Mapping[str, Any]) -> Member:
    argv = tuple(about["argv"])
    return Member(
        pid=int(about.get("pid") or 0),
        parent=0,
        name=Path(argv[0]).name if argv else "?",
        argv=argv,
        executable=str(about.get("program") or ""),
        environ=about["environ"],
        forked=False,
        cwd=about.get("cwd"),
        serving=True,
    )


def is_elsewhere(witnesses: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a server that can't be looked into from here was witnessed."""
    here = _pid_namespace()
    return any((about.get("namespaces") or {}).get("pid") != here for about in witnesses)


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115
    except OSError:
        return ""
