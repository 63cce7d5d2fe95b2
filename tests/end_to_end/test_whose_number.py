"""A number counts if this pass measured it, of the server that the recipe names, wherever that runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.campaigns import BASE, QUICK, SERVER, Campaign, Make, alive, wait_for

ONCE = BASE.replace("launches: 3", "launches: 1")
DAEMON = """\
rm -f queue; mkfifo queue; echo > started
while read -r line < queue; do
  env -i PATH="$PATH" unshare --pid --fork --mount-proc --kill-child bash -c "$line" > engine.log 2>&1 &
  echo $! > engine.pid
done
"""


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    """A server that was started by hand; yields its pid and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = folder / "by_hand.py"
    program.write_text(SERVER, encoding="utf-8")
    env = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(
        [sys.executable, "-S", "-E", str(program)], env=env, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None and server.stdout.readline()
        try:
            yield server.pid, port
        finally:
            server.kill()


def measured(project: Campaign, code: int) -> Any:
    """Run the baseline once and return its run."""
    called = project.call("run", "baseline", "--json")
    assert called.code == code, called.err
    return project.show(project.runs()[0]["id"])["run"]


def test_a_benchmark_that_asks_a_stale_server_measures_nothing(make: Make, tmp_path: Path) -> None:
    project = make(base=ONCE)
    with serving(tmp_path) as (pid, port):
        bench = (project.folder / "bench.sh").read_text(encoding="utf-8")
        (project.folder / "bench.sh").write_text(bench.replace("$PORT", str(port)), encoding="utf-8")
        run = measured(project, 1)
        assert alive(pid)
    assert run["outcome"] == "failed"
    message = run["failure"]["message"]
    assert "did not talk to the server that was started" in message and f"port {port}" in message


def test_a_server_that_runs_already_is_measured_and_left_alone(make: Make, tmp_path: Path) -> None:
    with serving(tmp_path) as (pid, port):
        base = ONCE.replace("launch: exec python3 -S -E server.py", f"process: {{port: {port}}}")
        run = measured(make(base=base), 0)
        assert alive(pid)
    tree = run["snapshot"]["processes"]["tree"]
    assert any(process["pid"] == pid for process in tree)


def test_a_file_of_an_earlier_pass_is_no_result(make: Make) -> None:
    base = QUICK.replace("launches: 3", "launches: 1").replace(
        "unit: pt, better: higher}}", "file: result.txt}}"
    )
    project = make(base=base.replace("bench: bash bench.sh", "bench: 'true'"))
    (project.folder / "result.txt").write_text("score = 99\n", encoding="utf-8")
    assert "result.txt wasn't written by this pass" in measured(project, 1)["failure"]["message"]
    project.base = base.replace("bench: bash bench.sh", "bench: bash bench.sh > result.txt")
    project.write("")
    assert project.call("run", "baseline").code == 0


@pytest.fixture
def daemon(make: Make) -> Iterator[Campaign]:
    """A project beside something like a container daemon, which runs commands in pid namespaces of their own."""
    able = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    if subprocess.run(able, capture_output=True, check=False).returncode != 0:
        pytest.skip("no pid namespace can be made here")
    command = "cd $PWD; export PORT=$PORT RUN_DIR=$RUN_DIR MY_TOKEN=abcdefgh12345 OMP_NUM_THREADS=3;"
    launch = f'launch: echo "{command} exec $OPTRACK_WITNESS python3 -S -E server.py" > queue'
    more = "process: {port: true}\nstop: kill -9 $(cat engine.pid)"
    project = make(base=ONCE.replace("launch: exec python3 -S -E server.py", f"{launch}\n{more}"))
    with subprocess.Popen(["bash", "-c", DAEMON], cwd=project.folder, start_new_session=True) as process:
        wait_for(lambda: (project.folder / "started").exists(), "the daemon")
        try:
            yield project
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_server_in_a_namespace_of_its_own_is_found_witnessed_and_stopped(daemon: Campaign) -> None:
    run = measured(daemon, 0)
    assert run["snapshot"]["env"]["server"]["OMP_NUM_THREADS"] == "3"
    (witness,) = daemon.folder.glob(".optrack/runs/*/launch-0/witness-*.json")
    about = json.loads(witness.read_text(encoding="utf-8"))
    assert about["argv"][0] == "python3" and about["python"]["version"]
    assert "abcdefgh12345" not in witness.read_text(encoding="utf-8")
    engine = int((daemon.folder / "engine.pid").read_text(encoding="utf-8"))
    begin = time.monotonic()
    while alive(engine) and time.monotonic() - begin < 10:
        time.sleep(0.05)
    assert not alive(engine)


WIPES = """\
import ctypes, os, sys
libc = ctypes.CDLL(None)
for name, value in os.environ.items():
    libc.setenv(name.encode(), value.encode() + b"", 1)
words = open("/proc/self/stat").read().rpartition(")")[2].split()
begin, end = int(words[47]), int(words[48])
ctypes.memset(begin, 0, end - begin)
print("wiped", flush=True)
sys.stdin.read()
"""


def test_variables_are_known_of_a_process_that_wrote_over_them() -> None:
    from optrack.host.process_tree import read_tree

    env = {"PATH": os.environ["PATH"], "KV_CACHE_DTYPE": "fp8"}
    with subprocess.Popen(
        [sys.executable, "-S", "-c", WIPES], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"wiped\n"
        assert b"KV_CACHE" not in Path(f"/proc/{process.pid}/environ").read_bytes()
        (member,) = read_tree([process.pid], process.pid)
        process.kill()
    assert member.environ is not None and member.environ["KV_CACHE_DTYPE"] == "fp8"
