"""Process trees end whole, whatever their processes do to escape, and nobody else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from optrack.host.bench import CommandTimeoutError
from optrack.host.bench import run_to_end as run
from optrack.host.command import Exit
from optrack.host.proc import identity, is_alive, own_identity, program
from optrack.host.teardown import end, end_leftovers, leftovers
from optrack.host.tree import start
from optrack.model.run import ProcessId
from tests.process.conftest import Lab, eventually


@pytest.mark.parametrize("escape", ["--orphans 2", "--orphans 2 --setsid"])
def test_workers_that_left_their_parent_and_their_session_end_with_the_tree(lab: Lab, escape: str) -> None:
    tree = lab.serve(escape)
    lab.wait(tree)
    members = tree.track()
    assert len(leftovers(lab.run)) == len(members) == 3
    assert tree.stop(signal=signal.SIGTERM, grace_s=0.3).left == ()
    assert not any(is_alive(process) for process in members)
    assert leftovers(lab.run) == ()


@pytest.mark.usefixtures("subreaper")
def test_an_orphan_that_lost_its_marker_is_found_by_the_one_who_inherits_it(lab: Lab) -> None:
    tree = lab.serve("--orphans 1 --setsid --wipe")
    lab.wait(tree)
    members = tree.track()
    assert len(members) == 2
    assert tree.stop(signal=signal.SIGTERM, grace_s=0.1).left == ()
    assert not any(is_alive(process) for process in members)


@pytest.mark.usefixtures("subreaper")
def test_orphans_that_end_leave_no_zombies(lab: Lab) -> None:
    tree = start(lab.command("(setsid sleep 2 &) ; exec sleep 60"), run=lab.run)
    assert eventually(lambda: [program(process.pid) for process in tree.track()] == ["sleep", "sleep"])
    orphan = next(process for process in tree.track() if process != tree.leader)
    assert eventually(lambda: len(tree.track()) == 1)
    assert not Path(f"/proc/{orphan.pid}").exists()
    lab.stop(tree)


def test_a_parent_that_exits_at_once_does_not_hide_children_that_ignore_the_signal(lab: Lab) -> None:
    tree = lab.serve("--stubborn 2")
    lab.wait(tree)
    begin = time.monotonic()
    stopped = tree.stop(signal=signal.SIGTERM, grace_s=0.5)
    assert stopped.exit == Exit(code=0)
    assert len(stopped.killed) == 2 and stopped.left == ()
    assert time.monotonic() - begin < 3


def test_what_is_left_when_the_main_process_has_gone_does_not_use_up_the_grace(lab: Lab) -> None:
    tree = lab.serve("--stubborn 1")
    lab.wait(tree)
    begin = time.monotonic()
    assert len(tree.stop(signal=signal.SIGTERM, grace_s=60).killed) == 1
    assert time.monotonic() - begin < 10


def test_a_hurry_ends_the_grace(lab: Lab) -> None:
    tree = lab.serve("--ignore-term")
    lab.wait(tree)
    begin = time.monotonic()
    stopped = tree.stop(signal=signal.SIGTERM, grace_s=60, is_forced=lambda: time.monotonic() - begin > 0.2)
    assert stopped.exit == Exit(code=None, signal="SIGKILL")
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "shell", ["{}", "{} && echo never", "{} 2>&1 | tee copy.log", "cd . && {} ; exit $?"]
)
def test_the_graceful_signal_reaches_the_server_below_its_shell(lab: Lab, shell: str) -> None:
    tree = lab.serve(shell=shell)
    lab.wait(tree)
    stopped = tree.stop(signal=signal.SIGTERM, grace_s=20)
    assert stopped.killed == () and stopped.exit == Exit(code=0)


def test_each_process_is_announced_once_the_leader_first(lab: Lab) -> None:
    heard: list[ProcessId] = []
    tree = start(lab.command("sleep 60 & sleep 60 & wait"), run=lab.run, on_new=heard.append)
    assert eventually(lambda: len(tree.track()) == 3 and all(program(p.pid) for p in tree.track()))
    tree.track()
    assert heard[0] == tree.leader
    assert len(heard) == len(set(heard)) == 3
    lab.stop(tree)


def test_a_leader_that_puts_its_server_into_the_background_has_not_ended(lab: Lab) -> None:
    tree = lab.serve(shell="{} & exit 0")
    lab.wait(tree)
    assert eventually(lambda: tree.poll() is not None)
    assert tree.ended() is None
    lab.stop(tree)


def test_what_a_killed_runner_left_is_found_by_its_marker_and_ended(lab: Lab, tmp_path: Path) -> None:
    runner = f"""
import time, os, pathlib
from optrack.host.command import Command, become_subreaper
from optrack.host.bench import run_to_end as run
from optrack.host.tree import start
become_subreaper()
start(Command(shell="(setsid sleep 600 &); sleep 600 & wait", env=dict(os.environ),
    cwd=pathlib.Path("/"), log=pathlib.Path({str(tmp_path / "log")!r})), run={lab.run!r})
print("started", flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", runner], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"started\n"
        assert eventually(lambda: len(leftovers(lab.run)) == 3)
        process.kill()
    assert len(leftovers(lab.run)) == 3
    found, left = end_leftovers(lab.run, (), grace_s=1)
    assert len(found) == 3 and left == ()
    assert leftovers(lab.run) == ()


def test_a_process_that_lost_its_marker_is_found_by_its_record_and_with_it_its_session(lab: Lab) -> None:
    tree = start(lab.command("exec env -i sleep 600"), run=lab.run)
    assert eventually(lambda: program(tree.leader.pid) == "sleep")
    assert leftovers(lab.run) == ()
    assert leftovers(lab.run, [tree.leader]) == (tree.leader,)
    lab.stop(tree)


def test_a_number_given_to_another_process_is_not_taken_for_ours(lab: Lab) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        true = identity(other.pid)
        assert true is not None
        earlier = true.model_copy(update={"start_ticks": true.start_ticks - 1})
        other_boot = true.model_copy(update={"boot_id": "another"})
        for false in (earlier, other_boot):
            assert not is_alive(false)
            assert leftovers(lab.run, [false]) == ()
            assert end([false], grace_s=0) == ()
        assert other.poll() is None and is_alive(true)
        other.kill()


def test_a_process_never_counts_itself_or_its_parents_among_the_leftovers(lab: Lab) -> None:
    code = f"from optrack.host.teardown import leftovers; print(leftovers({lab.run!r}))"
    env = {**os.environ, "OPTRACK_RUN": lab.run}
    below_a_shell = ["bash", "-c", '"$@"; true', "-", sys.executable, "-c", code]
    done = subprocess.run(below_a_shell, env=env, capture_output=True, check=True)
    assert done.stdout.strip() == b"()"


def test_this_process_is_alive_and_a_reaped_child_is_not() -> None:
    assert is_alive(own_identity())
    with subprocess.Popen(["sleep", "600"]) as child:
        known = identity(child.pid)
        child.kill()
        assert known is not None
        assert eventually(lambda: not is_alive(known))


def test_an_exit_code_before_a_pipe_is_kept(lab: Lab) -> None:
    command = lab.command(f"{sys.executable} -c 'import sys; print(1); sys.exit(3)' | tee out.txt")
    assert run(command, run=lab.run, timeout_s=20) == Exit(code=3)
    assert (lab.folder / "out.txt").read_bytes() == b"1\n"


@pytest.mark.parametrize(
    ("shell", "expected"),
    [
        ("kill -SEGV $$", Exit(code=None, signal="SIGSEGV")),
        ("bash -c 'kill -9 $$'; exit $?", Exit(code=137, signal="SIGKILL")),
        ("exit 200", Exit(code=200, signal=None)),
        ("read line", Exit(code=1)),
    ],
)
def test_exits_tell_code_and_signal(lab: Lab, shell: str, expected: Exit) -> None:
    assert run(lab.command(shell), run=lab.run, timeout_s=20) == expected


def test_a_command_that_takes_too_long_is_ended_with_its_children(lab: Lab) -> None:
    with pytest.raises(CommandTimeoutError):
        run(lab.command("sleep 600 | sleep 600"), run=lab.run, timeout_s=0.2)
    assert leftovers(lab.run) == ()


def test_what_a_command_leaves_in_the_background_ends_with_it_unless_it_is_kept(lab: Lab) -> None:
    command = lab.command("sleep 600 & exit 0")
    assert run(command, run=lab.run, timeout_s=20).ok
    assert leftovers(lab.run) == ()
    assert run(command, run=lab.run, timeout_s=20, keep_background=True).ok
    assert eventually(lambda: len(leftovers(lab.run)) == 1)


def test_exit_codes_are_kept_while_another_thread_looks_for_orphans(lab: Lab) -> None:
    server = start(lab.command("exec sleep 600"), run=lab.run)
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            server.track()

    looking = [threading.Thread(target=look) for _ in range(3)]
    for thread in looking:
        thread.start()
    try:
        codes = [run(lab.command("exit 3"), run=lab.run, timeout_s=60).code for _ in range(150)]
    finally:
        done.set()
        for thread in looking:
            thread.join()
        server.stop(signal=signal.SIGTERM, grace_s=2.0)
    assert set(codes) == {3}


def test_a_signal_that_was_ignored_here_is_not_ignored_in_what_is_started(lab: Lab) -> None:
    code = f"""
import os, pathlib, signal
from optrack.host.command import Command, become_subreaper
from optrack.host.bench import run_to_end as run
from optrack.host.tree import start
become_subreaper()
e = run(Command(shell="grep SigIgn /proc/self/status", env=dict(os.environ), cwd=pathlib.Path("/"),
    log=pathlib.Path({str(lab.folder / "ignored.log")!r})), run={lab.run!r}, timeout_s=20)
"""
    ignoring = ["bash", "-c", 'trap "" INT QUIT HUP; exec "$@"', "-", sys.executable, "-c", code]
    subprocess.run(ignoring, check=True)
    mask = int((lab.folder / "ignored.log").read_text().split()[1], 16)
    assert not any(mask & 1 << (n - 1) for n in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP))


def test_a_command_that_ends_at_once_keeps_its_exit_code_while_another_thread_looks_for_processes(
    lab: Lab,
) -> None:
    server = start(lab.command("exec sleep 60", "server.log"), run=lab.run)
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            server.track()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        codes = {run(lab.command("exit 3"), run=lab.run, timeout_s=20).code for _ in range(30)}
    finally:
        done.set()
        looking.join()
        lab.stop(server)
    assert codes == {3}
