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

from optrack.core.run import ProcessId
from optrack.errors import HostUnfitError
from optrack.steps.process.identity import is_alive, own_identity

FOLDER = Path("/tmp")


class HostLock:
    """The right to measure on this host, held until `release` or the end of this process.

    `earlier_runs` are the runs that held it before: nothing of them should be left on the host.
    """

    def __init__(self) -> None:
        self.earlier_runs: tuple[str, ...] = ()
        self._handles: list[int] = []

    def take(self, path: Path, *, shared: bool, who: str | None) -> None:
        """Take one lock file, and write into it who has it; raises HostUnfitError if another has it."""
        handle = _opened(path)
        self._handles.append(handle)
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HostUnfitError(
                f"the host is measured on already: {_holders(path)}",
                hint="--wait waits for its end; runs on separate GPUs need `gpus:` in both recipes",
            ) from None
        earlier = _read(path).get("run")
        self.earlier_runs += (str(earlier),) if earlier else ()
        if who is not None:
            os.ftruncate(handle, 0)
            os.pwrite(handle, who.encode(), 0)

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
    process = own_identity().model_dump()
    who = json.dumps({"run": run, "project": str(project), "user": _user(), "process": process})
    lock = HostLock()
    try:
        lock.take(
            folder / "optrack-host.lock", shared=gpus is not None, who=None if gpus is not None else who
        )
        for gpu in sorted(gpus or ()):
            lock.take(folder / f"optrack-gpu{gpu}.lock", shared=False, who=who)
    except BaseException:
        lock.release()
        raise
    return lock


def _opened(path: Path) -> int:
    """Open a lock file of any user: one that exists is opened as it is, a new one is writable for all."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    why = "it comes and goes"
    for _ in range(3):
        try:
            with contextlib.suppress(FileNotFoundError):
                return os.open(path, flags)
            with contextlib.suppress(FileExistsError):
                handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(handle, 0o666)
                return handle
        except OSError as error:
            why = (error.strerror or str(error)).lower()
    raise HostUnfitError(
        f"the lock file {path} can't be opened: {why}", hint="OPTRACK_LOCKS names another folder for it"
    )


def _holders(path: Path) -> str:
    files = [path, *sorted(path.parent.glob("optrack-gpu*.lock"))] if "host" in path.name else [path]
    found = [text for file in files if (text := _described(_read(file), file))]
    return "; ".join(found) or "by a run that hasn't said its name"


def _read(file: Path) -> dict[str, object]:
    try:
        holder = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _described(holder: dict[str, object], file: Path) -> str:
    process = ProcessId.model_validate(holder.get("process")) if holder.get("process") else None
    if process is None or not is_alive(process):
        return ""
    on = "" if "host" in file.name else f" on {file.stem.removeprefix('optrack-')}"
    run, user, pid = holder.get("run"), holder.get("user"), process.pid
    return f"run {run}{on} of {user}, pid {pid}, in {holder.get('project')}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
