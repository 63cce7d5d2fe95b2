"""A run is stopped, killed or left alone at any stage: what it started ends with it, and the record says so."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.campaigns import BASE, QUICK, Campaign, Make, alive, command, ended, item, wait_for

ONCE = BASE.replace("launches: 3", "launches: 1")
SLOW_SERVER = (
    "import signal, time\nsignal.signal(15, lambda *_: (print('slow', flush=True), time.sleep(60)))\n"
)

STAGES = {
    "setup": ("setup: sleep 60", "setup.log"),
    "ready": ("launch: 'sleep 60; exec python3 -S -E server.py'", "server.log"),
    "bench": ("bench: 'sleep 60; echo score = 5'", "bench.log"),
}


def at_stage(make: Make, stage: str) -> tuple[Campaign, str]:
    """Make a project whose item 1 stays in this stage; return it with the log that shows that it is there."""
    recipe, log = STAGES[stage]
    return make(item("1", "Slow", recipe) + item("2", "Quick", 'env: {A: "1"}'), base=ONCE), log


def on_a_terminal(
    project: Campaign, arguments: list[str], meanwhile: Callable[[int, int], None]
) -> tuple[int, str]:
    """Call a command on a terminal of its own; `meanwhile` gets its pid and the terminal's descriptor."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project.folder)
        os.execvpe(command([])[0], command(arguments), {**project.environment(), "TERM": "xterm"})
    seen = bytearray()

    def read() -> None:
        try:
            while piece := os.read(terminal, 4096):
                seen.extend(piece)
        except OSError:
            pass

    reading = threading.Thread(target=read)
    reading.start()
    meanwhile(pid, terminal)
    _, status = os.waitpid(pid, 0)
    reading.join()
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")


@pytest.mark.parametrize("stage", STAGES)
def test_whatever_is_called_next_closes_a_run_whose_runner_and_follower_were_killed(
    make: Make, stage: str
) -> None:
    project, log = at_stage(make, stage)
    follower = project.start("run", "1")
    wait_for(lambda: project.wrote(log), stage)
    run = project.open_run()
    assert run is not None
    follower.kill()
    os.kill(run[1], signal.SIGKILL)
    ended(follower)
    wait_for(lambda: not alive(run[1]), "the runner's end")
    status = project.call("status", "--json")
    assert f"run {run[0]} of 1 had died" in status.err
    assert {i["id"]: i["status"] for i in status.json["items"]}["1"] == "pending"
    assert project.processes() == []
    with closing(sqlite3.connect(project.folder / ".optrack" / "optrack.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    shown = project.show("1")["runs"][-1]
    assert (shown["outcome"], shown["failure"]["kind"]) == ("interrupted", "runner_died")
    assert shown["stage"] in (stage, "launch")


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_in_a_follower_stops_the_run_at_any_stage(make: Make, stage: str) -> None:
    project, log = at_stage(make, stage)

    def press(_: int, terminal: int) -> None:
        wait_for(lambda: project.wrote(log), stage)
        os.write(terminal, b"\x03")

    code, said = on_a_terminal(project, ["run", "1"], press)
    assert code == 130
    assert "Traceback" not in said
    assert project.items()["1"]["status"] == "pending"
    assert project.show("1")["runs"][-1]["outcome"] == "interrupted"


def test_a_second_ctrl_c_shortens_the_grace_of_a_server_that_ends_slowly(make: Make) -> None:
    project = make(
        item("1", "Stubborn", "launch: exec python3 -S -E slow.py\ntimeout: {grace: 60s}"), base=ONCE
    )
    (project.folder / "slow.py").write_text(
        SLOW_SERVER + (project.folder / "server.py").read_text(encoding="utf-8"), encoding="utf-8"
    )

    def slow() -> bool:
        return any("slow" in log.read_text() for log in project.folder.glob(".optrack/runs/*-1/*/server.log"))

    def press_twice(_: int, terminal: int) -> None:
        wait_for(slow, "the teardown")
        os.write(terminal, b"\x03")
        time.sleep(0.3)
        os.write(terminal, b"\x03")

    begun = time.monotonic()
    code, _ = on_a_terminal(project, ["run", "1"], press_twice)
    assert code == 130
    assert time.monotonic() - begun < 50


def test_ctrl_c_while_waiting_for_the_host_leaves_no_runner_that_would_begin_later(make: Make) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        project = make(item("1", "Waits", f"port: {holder.getsockname()[1]}"), base=ONCE)

        def press(_: int, terminal: int) -> None:
            wait_for(
                lambda: (project.folder / "optrack-host.lock").exists(), "the runner to look at the host"
            )
            os.write(terminal, b"\x03")

        code, said = on_a_terminal(project, ["run", "1", "--wait", "--json"], press)
        wait_for(lambda: project.processes() == [], "the runner's end")
    assert code == 130
    answer = json.loads(said[said.index("{") :])
    assert answer["error"]["code"] == "interrupted"
    assert project.runs() == []


def test_a_closed_terminal_leaves_the_run_going_and_attach_follows_it_again(make: Make) -> None:
    project = make(item("1", "Slow", "bench: 'sleep 3; bash bench.sh'"), base=ONCE)

    def close(pid: int, _: int) -> None:
        wait_for(lambda: project.wrote("bench.log"), "the pass")
        os.kill(pid, signal.SIGHUP)

    on_a_terminal(project, ["run", "1"], close)
    assert project.open_run() is not None
    attached = project.call("attach")
    assert attached.code == 0
    assert attached.out.startswith("1: succeeded")


def test_a_database_locked_while_a_run_finishes_loses_no_measurement(make: Make) -> None:
    project = make(item("1", "Slow", "bench: 'sleep 1; bash bench.sh'"), base=ONCE)
    running = project.start("run", "1")
    wait_for(lambda: project.wrote("bench.log"), "the pass")
    database = Path(project.folder / ".optrack" / "optrack.db")
    with closing(sqlite3.connect(database, isolation_level=None, timeout=20)) as viewer:
        viewer.execute("BEGIN EXCLUSIVE")
        time.sleep(8)
        viewer.execute("ROLLBACK")
    assert ended(running).code == 0
    run = project.show("1")["runs"][-1]
    assert (run["outcome"], len(run["metrics"]["score"]["values"])) == ("succeeded", 1)


def test_of_several_that_ask_for_the_next_item_at_once_each_gets_its_own(make: Make) -> None:
    items = "".join(item(str(n), "Quick", f'env: {{A: "{n}"}}') for n in range(1, 4))
    project = make(items, base=QUICK.replace("launches: 3", "launches: 1"))
    project.call("next")
    called = [ended(process) for process in [project.start("next", "--wait") for _ in range(4)]]
    assert sorted(one.code for one in called) == [0, 0, 0, 3]
    assert sorted(run["item"] for run in project.runs() if not run["beside"]) == ["1", "2", "3", "baseline"]
