"""A server that a shell script starts: which of its processes is the server, and who gave it its variables."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from optrack.host.capture import capture_running
from optrack.host.process_tree import read_tree
from optrack.judge.difference import comparison, differences
from optrack.judge.unseen import of_a_failed_start
from optrack.model.hardware import Hardware
from optrack.model.snapshot import Snapshot

SERVER = '"$PYTHON" -S -E -c "import time; time.sleep(60)  # server"'
MONITOR = '"$PYTHON" -S -E -c "import time; time.sleep(60)  # monitor" &'
REST: dict[str, Any] = {
    "git": {},
    "hardware": Hardware(),
    "packages": None,
    "libraries": None,
    "processes": None,
}


@contextmanager
def script(text: str, programs: int) -> Iterator[list[psutil.Process]]:
    """Run a start script until it has so many programs below it; give its shell and these, in their order."""
    env = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "NCCL_PROTO": "LL"}
    shell = subprocess.Popen(["bash", "-c", f"{text}\ntrue"], env=env)
    leader = psutil.Process(shell.pid)
    found: list[psutil.Process] = []
    try:
        deadline = time.monotonic() + 20
        while len(found) < programs or any(child.name() == "bash" for child in found):
            assert time.monotonic() < deadline
            time.sleep(0.02)
            found = sorted(leader.children(recursive=True), key=lambda child: child.pid)
        yield [leader, *found]
    finally:
        for process in [*leader.children(recursive=True), leader]:
            process.kill()
        shell.wait()


def captured(text: str, programs: int = 1, *, serving: int | None = None) -> Snapshot:
    """Capture a start script's processes; the program number `serving` from the end holds the port."""
    with script(text, programs) as found:
        pids = [process.pid for process in found]
        holders: Sequence[int] = [] if serving is None else [pids[-serving]]
        seen = capture_running(pids, leader=pids[0], recipe_env={}, salt=b"salt", holders=holders)
        return seen.model_copy(update=REST)


def env_of(snapshot: Snapshot) -> dict[str, Any]:
    assert snapshot.env is not None
    return snapshot.env.model_dump()


def test_a_variable_that_the_start_script_exports_isnt_one_that_the_program_set() -> None:
    exported = captured(f"export OMP_NUM_THREADS=4\n{SERVER}")
    assert env_of(exported)["differing"]["OMP_NUM_THREADS"]["leader"] == "4"
    found = differences(exported, captured(SERVER), declared={})
    assert comparison(found) == "unfair"
    assert [d.field for d in found if d.severity == "blocking"] == ["env.server.OMP_NUM_THREADS"]
    assert not any("at run time" in d.meaning for d in found)


@pytest.mark.parametrize("beside", ["sleep 60 &", MONITOR])
def test_what_the_script_started_before_the_server_doesnt_tell_for_it(beside: str) -> None:
    lost = captured(f"{beside}\nunset NCCL_PROTO\n{SERVER}", 2, serving=1)
    assert env_of(lost)["observed_in"] == "main"
    assert "NCCL_PROTO" not in env_of(lost)["server"]


def test_where_nobody_knows_which_program_serves_two_that_differ_tell_nothing() -> None:
    other = env_of(captured(f"sleep 60 &\nunset NCCL_PROTO\n{SERVER}", 2))
    assert other["observed_in"] == "unknown"
    assert "server" not in other
    assert env_of(captured(f"sleep 60 &\n{SERVER}", 2))["server"]["NCCL_PROTO"] == "LL"


def test_text_given_to_an_interpreter_is_no_name() -> None:
    with script(SERVER, 1) as (leader, program):
        (_, member) = read_tree([leader.pid, program.pid], leader.pid)
        assert member.name == f"{program.name()} -c"


def failed(program: dict[str, str] | None) -> Snapshot:
    """What was seen of a start: the variables of this program."""
    about = {} if program is None else {"program": program}
    return Snapshot(env={"observed_in": "main", "server": {"NCCL_PROTO": "LL"}, **about})


@pytest.mark.parametrize(
    ("seen", "declared", "certain"),
    [
        ({"executable": "python3", "name": "server.py"}, [], True),
        ({"executable": "python3", "name": "sglang::scheduler"}, [], True),
        ({"executable": "python3", "name": "other.py"}, ["launch"], True),
        ({"executable": "python3", "name": "prepare.py"}, ["env.NCCL_ALGO"], False),
        ({"executable": "sleep", "name": "sleep"}, ["launch"], False),
        (None, [], False),
    ],
)
def test_a_failed_start_of_which_another_program_was_seen_is_unknown(
    seen: dict[str, str] | None, declared: list[str], certain: bool
) -> None:
    baseline = failed({"executable": "python3", "name": "server.py"})
    found = of_a_failed_start((), failed(seen), baseline, declared)
    assert comparison(found) == ("fair" if certain else "unknown")
