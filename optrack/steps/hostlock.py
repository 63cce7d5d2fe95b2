"""One run at a time on a host's GPUs, whoever started it: locks that the kernel drops with their holder."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from optrack.errors import HostUnfitError
from optrack.steps.process.identity import own_identity

FOLDER = Path("/tmp")


class HostLock:
    """The right to measure on this host, held until `release` or the end of this process."""

    def __init__(self, handles: list[int]) -> None:
        self._handles = handles

    def release(self) -> None:
        """Give the right back."""
        while self._handles:
            os.close(self._handles.pop())

    def __enter__(self) -> HostLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock_host(
    run: str, *, project: Path, gpus: Collection[int] | None = None, folder: Path = FOLDER
) -> HostLock:
    """Take the host for a run: all of it, or only the given GPUs beside runs on other ones.

    Raises HostUnfitError, naming the run in the way, if it can't be had now.
    """
    who = json.dumps({"run": run, "project": str(project), "user": _user(), "pid": own_identity().pid})
    handles: list[int] = []
    lock = HostLock(handles)
    try:
        whole = folder / "optrack-host.lock"
        handles.append(_take(whole, shared=gpus is not None, who=None if gpus else who, folder=folder))
        for gpu in sorted(gpus or ()):
            handles.append(_take(folder / f"optrack-gpu{gpu}.lock", shared=False, who=who, folder=folder))
    except BaseException:
        lock.release()
        raise
    return lock


def _take(path: Path, *, shared: bool, who: str | None, folder: Path) -> int:
    handle = _opened(path)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise HostUnfitError(
            f"the host is measured on already: {_holders(path, folder)}",
            hint="wait for it with --wait, or stop it; runs on separate GPUs need `gpus:` in both recipes",
        ) from None
    if who is not None:
        os.ftruncate(handle, 0)
        os.pwrite(handle, who.encode(), 0)
    return handle


def _opened(path: Path) -> int:
    """Open a lock file of any user: one that exists is opened as it is, a new one is writable for all."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    for _ in range(3):
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)
        with contextlib.suppress(FileExistsError):
            handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
            os.fchmod(handle, 0o666)
            return handle
    raise HostUnfitError(f"the lock file {path} can't be opened")


def _holders(path: Path, folder: Path) -> str:
    files = [path, *sorted(folder.glob("optrack-gpu*.lock"))] if "host" in path.name else [path]
    found = []
    for file in files:
        try:
            found.append(_described(json.loads(file.read_text(encoding="utf-8")), file))
        except (OSError, ValueError):
            continue
    return "; ".join(text for text in found if text) or "by a run that hasn't said its name"


def _described(holder: dict[str, object], file: Path) -> str:
    if not Path(f"/proc/{holder.get('pid')}").exists():
        return ""
    on = "" if "host" in file.name else f" on {file.stem.removeprefix('optrack-')}"
    run, user, pid = holder.get("run"), holder.get("user"), holder.get("pid")
    return f"run {run}{on} of {user}, pid {pid}, in {holder.get('project')}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
