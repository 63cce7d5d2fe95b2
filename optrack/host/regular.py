"""Regular files, and no others, read: a pipe, a device, a socket or a stream of the kernel never makes anybody wait."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 64 * 2**20
_STREAMS = frozenset({"/proc/kmsg"})
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; raises OSError, also for what is there and no regular file.

    A read that would have to wait, as of some files of the kernel, raises BlockingIOError instead.
    """
    _require_regular(path, path.stat())
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_regular(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes; raises OSError for all else."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most // 2**20} MiB", str(path))
    return data


def is_regular(path: Path) -> bool:
    """Whether there is a regular file."""
    return problem_of(path) is None


def is_folder(path: Path) -> bool:
    """Whether there is a folder; a text that can be no path names none."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def problem_of(path: Path) -> str | None:
    """Return why there is no regular file to read at `path`, or None if there is one."""
    try:
        _require_regular(path, path.stat())
    except (FileNotFoundError, ValueError):
        return "is missing"
    except OSError as error:
        return f"can't be read: {reason(error)}"
    return None


def reason(error: OSError) -> str:
    """Return what went wrong in a few words."""
    return (error.strerror or str(error)).lower()


def _require_regular(path: Path, status: os.stat_result) -> None:
    kind = next((name for holds, name in _KINDS if holds(status.st_mode)), None)
    if kind is None and os.path.realpath(path) in _STREAMS:
        kind = "a stream of the kernel"
    if kind is not None:
        code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(code, f"it is {kind}, not a regular file", str(path))


def written_at(path: Path) -> tuple[int, ...] | None:
    """Return what changes when a file is written (inode, size, times in ns), None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
