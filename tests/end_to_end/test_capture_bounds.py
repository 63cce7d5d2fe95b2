"""What lies in a repository neither holds a run up nor passes for seen when it wasn't read."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from tests.capture.repositories import new_repository
from tests.end_to_end.campaigns import QUICK, Campaign, Make, ended, item, wait_for

BASE = QUICK.replace("launches: 3", "launches: 1\norder: block")


def crowded(make: Make, files: int = 1100) -> Campaign:
    """Return a campaign in a repository with many untracked files, and some that nobody should read."""
    project = make(item("1", "Faster", 'env: {SPEED: "140"}'), base=BASE)
    new_repository(project.folder, {"tracked.py": "1\n"})
    store = project.folder / "store"
    store.mkdir()
    for number in range(files):
        (store / f"f{number:06}").touch()
    with (project.folder / "weights.bin").open("wb") as sparse:
        sparse.truncate(5 * 2**30)
    os.mkfifo(project.folder / "pipe")
    (project.folder / "tracked.py").unlink()
    os.mkfifo(project.folder / "tracked.py")
    (project.folder / "loop").symlink_to("loop")
    (project.folder / "around").symlink_to(".")
    return project


def comparison(project: Campaign) -> tuple[str, list[str]]:
    """Return the comparison of item 1, and what stands in its way but for what others do on this machine."""
    judgement = project.show("1")["judgement"]
    blocking = [d["field"] for d in judgement["differences"] if d["severity"] == "blocking"]
    others = [field for field in blocking if field.startswith("load.")]
    rest = [field for field in blocking if field not in others]
    if others:
        return ("unknown" if rest else "fair"), rest
    return judgement["comparison"], rest


def test_what_is_too_much_to_read_is_told_where_it_changed_and_stands_in_no_way_while_nothing_uses_it(
    make: Make,
) -> None:
    project = crowded(make)
    assert project.call("run", "baseline", "1").code == 0
    run = project.show("1")["runs"][-1]
    unread = run["snapshot"]["git"]["project"]["unread"]
    assert unread["files"] >= 101
    assert unread["bytes"] >= 5 * 2**30
    assert comparison(project) == ("fair", [])
    with (project.folder / "weights.bin").open("r+b") as weights:
        weights.write(b"others")
    called = project.call("run", "1")
    assert called.code == 0, called
    assert comparison(project) == ("fair", [])
    assert "git.project.unread" in [d["field"] for d in project.show("1")["judgement"]["differences"]]


def test_the_snapshot_for_people_folds_many_untracked_files(make: Make) -> None:
    project = crowded(make)
    assert project.call("run", "baseline").code == 0
    run = project.runs()[0]["id"]
    shown = project.call("show", run, "--snapshot").out
    assert shown.count("store/f") < 30
    assert "files (shown in full on request)" in shown


def test_a_watched_pipe_doesnt_hold_a_run_up(make: Make) -> None:
    project = make(base=BASE.replace("launches: 1", "launches: 1\nwatch: [pipe]"))
    os.mkfifo(project.folder / "pipe")
    assert project.call("run", "baseline").code == 0


def with_hanging_git(make: Make, bench: str) -> tuple[Campaign, dict[str, str]]:
    """Return a campaign in a repository, and an environment in which git never answers."""
    lines = BASE.splitlines()
    project = make(base="\n".join(f"bench: {bench}" if line.startswith("bench:") else line for line in lines))
    new_repository(project.folder, {"tracked.py": "1\n"})
    slow = project.folder / "slow"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 300\n")
    (slow / "git").chmod(0o755)
    return project, {"PATH": f"{slow}:{os.environ['PATH']}"}


def test_a_slow_capture_of_the_code_holds_no_benchmark_up_and_is_said_to_be_unknown(make: Make) -> None:
    project, env = with_hanging_git(make, "date +%s.%N > begun; echo score = 1")
    called = project.call("run", "baseline", env=env)
    assert called.code == 0, called
    run = project.show("baseline")["runs"][-1]
    begun = float((project.folder / "begun").read_text())
    assert begun - datetime.fromisoformat(run["started_at"]).timestamp() < 15
    assert "unknown" in run["snapshot"]["git"]["project"]


def test_a_run_that_is_stopped_at_once_leaves_no_git_behind(make: Make) -> None:
    project, env = with_hanging_git(make, "touch begun; sleep 60; echo score = 1")
    follower = project.start("run", "baseline", env=env)
    wait_for((project.folder / "begun").exists, "the benchmark")
    run = project.open_run()
    assert run is not None
    os.kill(run[1], signal.SIGINT)
    assert ended(follower).code == 130
    wait_for(lambda: not project.processes(), "the end of all that was started", timeout_s=5)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("existing", [False, True], ids=["new", "there already"])
def test_the_state_folder_is_its_owners_alone_and_git_ignores_it(make: Make, existing: bool) -> None:
    project = make(base=BASE)
    state = project.folder / ".optrack"
    if existing:
        state.mkdir(mode=0o755)
        state.chmod(0o755)
    new_repository(project.folder, {"tracked.py": "1\n"})
    assert project.call("run", "baseline").code == 0
    assert mode(state) == 0o700
    assert mode(state / "optrack.db") == 0o600
    listed = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=project.folder,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ".optrack" not in listed.stdout


def test_a_database_elsewhere_is_its_owners_alone_in_a_folder_left_as_it_is(
    make: Make, tmp_path: Path
) -> None:
    project = make(base=BASE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    env = {"OPTRACK_DB": str(elsewhere / "records.db")}
    assert project.call("run", "baseline", env=env).code == 0
    assert (mode(elsewhere), mode(elsewhere / "records.db")) == (0o755, 0o600)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_repository_that_git_refuses_is_named_with_its_remedy_by_comparison_and_doctor(make: Make) -> None:
    project = make(item("1", "Faster", 'env: {SPEED: "140"}'), base=BASE)
    new_repository(project.folder, {"tracked.py": "1\n"})
    for path in (project.folder, project.folder / ".git"):
        os.chown(path, 12345, 12345)
    assert project.call("run", "baseline", "1").code == 0
    judgement = project.show("1")["judgement"]
    assert judgement["comparison"] == "unknown"
    assert any("safe.directory" in reason for reason in judgement["reasons"])
    assert "safe.directory" in project.call("doctor").out
