"""One run at a time has a host's GPUs, and the lock goes with its holder."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from optrack.errors import HostUnfitError
from optrack.host.locks import lock_host
from optrack.host.proc import identity

HOLD = """
import sys, time, pathlib
from optrack.host.locks import lock_host
folder = pathlib.Path(sys.argv[1])
gpus = [int(n) for n in sys.argv[2].split(",")] if sys.argv[2] else None
lock = lock_host("other-run", project=pathlib.Path("/srv/other"), gpus=gpus, folder=folder)
print("held", flush=True)
time.sleep(600)
"""


def holder(folder: Path, gpus: str = "") -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, folder, gpus], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    return process


def test_a_second_run_is_refused_and_told_who_measures(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        with pytest.raises(HostUnfitError) as refused:
            lock_host("mine", project=tmp_path, folder=tmp_path)
        for word in ("other-run", f"pid {other.pid}", "/srv/other"):
            assert word in refused.value.message
        other.kill()


def test_the_lock_goes_with_a_killed_holder_whose_run_is_then_known(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        other.kill()
    with lock_host("mine", project=tmp_path, folder=tmp_path) as lock:
        assert lock.earlier_runs == ("other-run",)


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        with lock_host("mine", project=tmp_path, folder=tmp_path):
            pass


def test_runs_on_separate_gpus_stand_side_by_side(tmp_path: Path) -> None:
    with holder(tmp_path, "0,1") as other:
        with lock_host("mine", project=tmp_path, gpus=[2, 3], folder=tmp_path):
            pass
        with pytest.raises(HostUnfitError, match="other-run on gpu1"):
            lock_host("mine", project=tmp_path, gpus=[1, 2], folder=tmp_path)
        with pytest.raises(HostUnfitError, match="other-run on gpu0"):
            lock_host("mine", project=tmp_path, folder=tmp_path)
        other.kill()


def test_a_run_on_some_gpus_waits_for_one_that_has_them_all(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        with pytest.raises(HostUnfitError, match="other-run"):
            lock_host("mine", project=tmp_path, gpus=[0], folder=tmp_path)
        other.kill()


def test_a_refused_run_holds_nothing(tmp_path: Path) -> None:
    with lock_host("first", project=tmp_path, gpus=[1], folder=tmp_path):
        with pytest.raises(HostUnfitError):
            lock_host("second", project=tmp_path, gpus=[0, 1], folder=tmp_path)
        with lock_host("third", project=tmp_path, gpus=[0], folder=tmp_path):
            pass


def test_the_lock_files_are_for_all_users_of_the_host(tmp_path: Path) -> None:
    with lock_host("mine", project=tmp_path, folder=tmp_path):
        assert (tmp_path / "optrack-host.lock").stat().st_mode & 0o777 == 0o666


def make_pipe(path: Path) -> None:
    os.mkfifo(path, 0o666)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", [make_pipe, make_folder, make_link, make_socket])
def test_what_is_no_file_is_refused_and_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "optrack-host.lock"
    make(path)
    before = path.lstat()
    with pytest.raises(HostUnfitError, match=r"optrack-host\.lock is a ") as refused:
        lock_host("mine", project=tmp_path, folder=tmp_path)
    assert refused.value.hint and "OPTRACK_LOCKS" in refused.value.hint
    assert path.lstat().st_ino == before.st_ino
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"rubbish \xff",
        b"[" * 16_000,
        b"5",
        b'{"run": 5, "process": "abc"}',
        b'{"run": {}, "process": []}',
    ],
)
def test_a_holder_that_cannot_be_told_is_unknown(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "optrack-host.lock"
    path.write_bytes(content)
    with lock_host("mine", project=tmp_path, folder=tmp_path) as lock:
        assert lock.earlier_runs == ()
    path.write_bytes(content)
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(HostUnfitError, match="hasn't said its name"):
            lock_host("mine", project=tmp_path, folder=tmp_path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(handle: int, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(HostUnfitError, match="can't be locked"):
        lock_host("mine", project=tmp_path, folder=tmp_path)


def test_the_host_is_refused_while_the_supervisor_of_a_killed_run_lives(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as above:
        supervisor = identity(above.pid)
        killed = lock_host("killed", project=tmp_path, folder=tmp_path, supervisor=supervisor)
        for handle in killed._handles:
            os.close(handle)
        with pytest.raises(HostUnfitError, match=f"is being ended by its supervisor, pid {above.pid}"):
            lock_host("mine", project=tmp_path, folder=tmp_path)
        above.communicate(b"\n")
    with lock_host("mine", project=tmp_path, folder=tmp_path) as lock:
        assert lock.earlier_runs == ("killed",)
