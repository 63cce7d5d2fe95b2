"""One run at a time on a host's GPUs, whoever started it: locks that the kernel drops with their holder."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import pwd
import stat
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from pydantic import ConfigDict, ValidationError

from optrack.errors import HostUnfitError
from optrack.host.proc import is_alive, own_identity
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

FOLDER = Path("/tmp")
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CONTENT_BYTES = 16_384
_ELSEWHERE = "OPTRACK_LOCKS names another folder for it"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Holder(Frozen):
    """What a lock file says of the run that has or had it. Everybody can write there: nothing of it is sure.

    `supervisor` is named as long as the run hasn't given the lock back itself.
    """

    run: str
    project: str
    user: str
    process: ProcessId
    supervisor: ProcessId | None = None

    model_config = ConfigDict(extra="ignore")


class HostLock:
    """The right to measure on this host, held until `release` or the end of this process.

    `earlier_runs` are the runs that held it before: nothing of them should be left on the host.
    """

    def __init__(self) -> None:
        self.earlier_runs: tuple[str, ...] = ()
        self._handles: list[int] = []
        self._written: list[tuple[int, Holder]] = []

    def take(self, path: Path, *, shared: bool, who: Holder | None) -> None:
        """Take one lock file, and write into it who has it; raises HostUnfitError if it can't be had."""
        handle = _opened(path)
        self._handles.append(handle)
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HostUnfitError(
                f"the host is measured on already: {_holders(path)}",
                hint="--wait waits for its end; runs on separate GPUs need `gpus:` in both recipes",
            ) from None
        except OSError as error:
            raise HostUnfitError(
                f"{path} can't be locked: {_reason(error)}", hint=f"{_ELSEWHERE}, on a local file system"
            ) from error
        earlier = _read(path)
        if earlier is not None:
            self.earlier_runs += (earlier.run,)
            if earlier.supervisor is not None and is_alive(earlier.supervisor):
                raise HostUnfitError(
                    f"what run {_plain(earlier.run)} left when it was killed is being ended by its supervisor, "
                    f"pid {earlier.supervisor.pid}",
                    hint="--wait waits for that",
                )
        if who is not None:
            try:
                _write(handle, who)
            except OSError as error:
                raise HostUnfitError(f"{path} can't be written: {_reason(error)}", hint=_ELSEWHERE) from error
            self._written.append((handle, who))

    def release(self) -> None:
        """Give the right back."""
        while self._written:
            handle, who = self._written.pop()
            with contextlib.suppress(OSError):
                _write(handle, who.model_copy(update={"supervisor": None}))
        while self._handles:
            os.close(self._handles.pop())

    def __enter__(self) -> HostLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock_host(
    run: str,
    *,
    project: Path,
    gpus: Collection[int] | None = None,
    folder: Path = FOLDER,
    supervisor: ProcessId | None = None,
) -> HostLock:
    """Take the host for a run: all of it, or only the given GPUs beside runs on other ones.

    As long as the `supervisor` of a killed run lives, nobody else gets what that run had. Raises HostUnfitError,
    naming the run in the way or what is wrong with a lock file, if it can't be had now.
    """
    who = Holder(run=run, project=str(project), user=_user(), process=own_identity(), supervisor=supervisor)
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
    why = "it comes and goes"
    for _ in range(3):
        try:
            with contextlib.suppress(FileNotFoundError):
                _require_file(path, path.lstat().st_mode)
                handle = os.open(path, os.O_RDWR | _FLAGS)
                _require_file(path, os.fstat(handle).st_mode)
                return handle
            with contextlib.suppress(FileExistsError):
                handle = os.open(path, os.O_RDWR | _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(handle, 0o666)
                return handle
        except OSError as error:
            why = _reason(error)
    raise HostUnfitError(f"the lock file {path}{_owner(path)} can't be opened: {why}", hint=_ELSEWHERE)


def _require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no file")
        raise HostUnfitError(
            f"the lock file {path} is {kind}{_owner(path)}", hint=f"remove it, or: {_ELSEWHERE}"
        )


def _owner(path: Path) -> str:
    """Return ` of USER` for what belongs to somebody else, else nothing."""
    try:
        owner = path.lstat().st_uid
    except OSError:
        return ""
    if owner == os.geteuid():
        return ""
    try:
        return f" of {pwd.getpwuid(owner).pw_name}"
    except KeyError:
        return f" of user {owner}"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _holders(path: Path) -> str:
    files = [path, *sorted(path.parent.glob("optrack-gpu*.lock"))] if "host" in path.name else [path]
    found = [text for file in files if (text := _described(_read(file), file))]
    return "; ".join(found) or "by a run that hasn't said its name"


def _write(handle: int, who: Holder) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, who.model_dump_json(exclude_none=True).encode(), 0)


def _read(file: Path) -> Holder | None:
    """Return what the file says of its holder; None for anything but that."""
    try:
        handle = os.open(file, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        content = os.read(handle, _CONTENT_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        return Holder.model_validate(json.loads(content))
    except (OSError, ValueError, ValidationError, RecursionError):
        return None
    finally:
        os.close(handle)


def _described(holder: Holder | None, file: Path) -> str:
    if holder is None or not is_alive(holder.process):
        return ""
    on = "" if "host" in file.name else f" on {file.stem.removeprefix('optrack-')}"
    run, user, project = map(_plain, (holder.run, holder.user, holder.project))
    return f"run {run}{on} of {user}, pid {holder.process.pid}, in {project}"


def _plain(text: str) -> str:
    """Return text that somebody else wrote without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:300]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
