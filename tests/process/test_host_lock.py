"""One run at a time has a host's GPUs, and the lock goes with its holder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from optrack.errors import HostUnfitError
from optrack.steps.hostlock import lock_host

HOLD = """
import sys, time, pathlib
from optrack.steps.hostlock import lock_host
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
