"""Logs that are truncated, replaced or drawn with carriage returns are read as far as they exist."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from optrack.host import logs
from optrack.host.bench import run_bench
from optrack.host.launch import StageFailed, start_server
from optrack.host.logs import Follower
from optrack.host.stretch import Stretch, tail_of
from optrack.host.tree import Tree
from optrack.model.recipe_parts import Ready
from tests.process.conftest import Lab, eventually

BAR = b"".join(b"\r%3d%%|%-40s| %d/1000 \xe2\x96\x88" % (n // 10, b"#" * (n // 25), n) for n in range(1000))


class Printing:
    """What a pass of a benchmark prints: a Python script in a file."""

    def __init__(self, folder: Path, script: str) -> None:
        (folder / "printing.py").write_text(f"import os, sys, time\n{script}\n")
        self.shell = f"exec {sys.executable} -S -u printing.py"
        self.env: dict[str, str] = {}
        self.output = None


def served(lab: Lab, script: str) -> Tree:
    shell = Printing(lab.folder, f"{script}\ntime.sleep(60)").shell
    return start_server(shell, lab.env, lab.folder, lab.log, run=lab.run)


def content(written: Stretch) -> bytes:
    return tail_of(written, 2**20)


def bench(lab: Lab, script: str) -> Stretch:
    return run_bench(
        Printing(lab.folder, script),
        cwd=lab.folder,
        log=lab.folder / "bench.log",
        server=None,
        timeout_s=60,
        run=lab.run,
        should_stop=lambda: False,
        env=lab.env,
    )


ANEW = {
    "truncated": "os.ftruncate(1, 0)",
    "truncated and longer again": "os.ftruncate(1, 0); print('fresh line\\n' * 400)",
    "truncated in the middle of a line": "print('half', end=''); time.sleep(.3); os.ftruncate(1, 0)",
    "replaced": (
        "os.rename('server.log', 'server.log.1'); "
        "os.dup2(os.open('server.log', os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)"
    ),
    "emptied by the shell": "os.system(': > server.log')",
}


@pytest.mark.parametrize("how", ANEW)
def test_the_line_that_says_ready_is_seen_in_a_log_begun_anew(lab: Lab, how: str) -> None:
    tree = served(lab, f"print('filler\\n' * 200); time.sleep(.3); {ANEW[how]}; print('NOW READY')")
    lab.wait(tree, Ready(log="^NOW READY$", timeout_s=20))
    lab.stop(tree)


def test_a_ready_line_before_the_log_was_replaced_is_seen_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"first\n")
    follower = Follower(log)
    assert follower.read() == b"first\n"
    with log.open("ab") as file:
        file.write(b"last of the old\n")
    log.rename(tmp_path / "server.log.1")
    log.write_bytes(b"first of the new\n")
    assert [follower.read(), follower.read(), follower.read()] == [
        b"last of the old\n",
        b"first of the new\n",
        b"",
    ]
    follower.close()


def test_a_ready_line_is_seen_among_the_states_of_a_bar(lab: Lab) -> None:
    script = "[print(f'\\r{n}%|###', end='') for n in range(200_000)]; print('\\rREADY \\u2588 now', end='')"
    tree = served(lab, script)
    lab.wait(tree, Ready(log="READY █ now", timeout_s=30))
    lab.stop(tree)


def test_a_pass_that_truncates_its_log_gives_all_that_is_left_of_it(lab: Lab) -> None:
    bench(lab, "print('an earlier pass\\n' * 10)")
    output = content(bench(lab, "print('x: 1'); os.ftruncate(1, 0); print('x: 2\\n' * 100)"))
    assert output.startswith(b"x: 2\n") and output.count(b"x: 2") == 100


def test_a_later_pass_gives_only_its_own_output(lab: Lab) -> None:
    bench(lab, "print('first')")
    assert content(bench(lab, "print('second')")) == b"second\n"


def test_the_tail_of_a_failure_shows_what_stood_before_the_bar(lab: Lab) -> None:
    script = (
        "print('loading from /models/x')\n"
        "for n in range(1_200_000): sys.stdout.write(f'\\r{n // 12000:3d}%|###############| {n}/1200000')\n"
        "sys.exit(3)"
    )
    with pytest.raises(StageFailed) as failed:
        bench(lab, script)
    assert (lab.folder / "bench.log").stat().st_size > 40_000_000
    tail = failed.value.failure.log_tail
    assert tail.splitlines()[0] == "loading from /models/x"
    assert tail.splitlines()[-1].endswith("1199999/1200000") and len(tail) < 300


def test_a_bounded_tail_is_what_a_terminal_shows_and_never_half_a_character(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes("ünten\r\n".encode() * 50 + b"before\n" + BAR * 300 + "\nnäch der Leiste\n".encode())
    shown = logs.tail(log, limit=2000).decode()
    assert shown.splitlines()[-3:] == ["before", shown.splitlines()[-2], "näch der Leiste"]
    assert "999/1000 █" in shown and shown.count("/1000") == 1 and "\r" not in shown
    for limit in range(60, 90):
        assert "�" not in logs.tail(log, limit=limit).decode(errors="replace")


def test_a_line_without_end_costs_no_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(2**31)
        file.seek(0, os.SEEK_END)
        file.write(b"end")
    assert logs.tail(log, limit=1000).endswith(b"\0end") and len(logs.tail(log, limit=1000)) == 1000


def test_a_server_that_truncates_its_log_in_mid_pass_is_read_from_there(lab: Lab) -> None:
    tree = served(
        lab, "print('old ' * 100); time.sleep(.5); os.ftruncate(1, 0); print('verify: 3 ms\\n' * 200)"
    )
    assert eventually(lambda: lab.log.stat().st_size == 401)
    begin = logs.mark(lab.log)
    assert eventually(lambda: lab.log.stat().st_size > 2000)
    assert logs.tail(lab.log, start=begin).count(b"verify: 3 ms") == 200
    lab.stop(tree)
