"""Nothing from outside that a terminal obeys reaches it: from plans, notes, logs, file names, the environment."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.quick import PLAN, quick
from tests.terminal.shells import Terminal, shell

EVIL = "A \x1b]0;PWN\x07\x1b[2J\x9b31m \x7f\x08 \u202e\u2066x"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
COMMANDS = (
    "status",
    "show 1",
    "show baseline",
    "runs",
    "failures",
    "todo",
    "context",
    "export",
    "export --format csv",
    "report 1",
    "plan show",
    "plan check",
    "next --explain",
    "next --dry-run",
    "run 1 --dry-run",
    "watch --after 0 --for 0",
    "status --json",
    "show 1 --json",
    "export --format json",
    "plan show --json",
    "show $'no \\e[2Jitem'",
    "status --plan $'no\\e[2J.md'",
    "plan check $'plans/odd\\e[2J.md'",
    "run $'\\e[2J'",
    "$'\\e[2J'",
    "mark 1 $'\\e[2J' --why x",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which everything that comes from outside holds escapes."""
    folder = quick(tmp_path_factory.mktemp("hostile") / "project")
    hostile = f"- **Hypothesis**: h {EVIL}\n- **Risk**: r {EVIL}\n- **Expected gain**: 50 %\n"
    plan = PLAN.replace("- **Expected gain**: 50 %\n", hostile).replace("Twice the speed", f"Twice {EVIL}")
    plan = plan.replace("title: Quick", 'title: "Quick \\e]0;PWN\\a\\u202e"')
    plan = plan.replace("env: {SPEED: 200}", 'env: {SPEED: 200, ODD: "a\\e[2Jb"}')
    plan = plan.replace("RuntimeError: out of luck", "RuntimeError: \\x1b[2Jout").replace(
        "echo '", "printf '%b' '"
    )
    (folder / "plans" / "quick.md").write_text(plan, encoding="utf-8")
    (folder / "plans" / "odd\x1b[2J.md").write_text(
        "```yaml recipe\nbench: 1\n\x1b[2Jbad: x\n```\n", encoding="utf-8"
    )
    (folder / "optrack.toml").write_text('cpu_share = 1\nplan = "plans/quick.md"\n', encoding="utf-8")
    assert shell(folder, "optrack note 1 $'n \\e]0;PWN\\a\\e[2J'", OPTRACK_ACTOR="ada\x1b[2J").code == 0
    shell(folder, "optrack run 2")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_terminal_obeys(hostile: Path, command: str) -> None:
    ended = shell(hostile, f"optrack {command}")
    printed = (ended.out + ended.err).decode("utf-8")
    assert printed
    assert not OBEYED.search(printed), OBEYED.search(printed)


def test_json_keeps_what_the_text_shows_spelt_out(hostile: Path) -> None:
    notes = json.loads(shell(hostile, "optrack show 1 --json").out)["item"]["notes"]
    assert notes[0]["text"] == "n \x1b]0;PWN\x07\x1b[2J"
    assert b"n \\x1b]0;PWN\\x07\\x1b[2J" in shell(hostile, "optrack show 1").out


@pytest.fixture
def logged(hostile: Path) -> Iterator[tuple[Path, str]]:
    """A run whose log has colours, a window's title, and lines that were rewritten."""
    run = json.loads(shell(hostile, "optrack runs --json").out)["runs"][0]["id"]
    log = hostile / ".optrack" / "runs" / run / "launch-0" / "bench.log"
    before = log.read_bytes()
    log.write_bytes(
        b"\x1b[31mred\x1b[0m \x1b]0;PWN\x07 \x1b[2J \xc2\x9b2J\r\n10%\r20%\r\n\xff end"
        + b"x" * 65530
        + b"\x1b[32mgreen\n"
    )
    yield hostile, run
    log.write_bytes(before)


def test_a_log_keeps_its_colours_and_nothing_else_on_a_terminal(logged: tuple[Path, str]) -> None:
    folder, run = logged
    command = [sys.executable, "-P", "-m", "optrack", "log", run, "--which", "bench"]
    terminal = Terminal(folder, command)
    try:
        assert terminal.end() == 0
        shown = terminal.shown.decode("utf-8").replace("\r\n", "\n")
        assert "\x1b[31mred\x1b[0m" in shown
        assert "\x1b[32mgreen" in shown
        assert "10%\n20%\n" in shown
        assert not OBEYED.search(re.sub(r"\x1b\[[0-9;]*m", "", shown))
    finally:
        terminal.close()


def test_a_log_goes_into_a_pipe_byte_for_byte(logged: tuple[Path, str]) -> None:
    folder, run = logged
    log = folder / ".optrack" / "runs" / run / "launch-0" / "bench.log"
    assert shell(folder, f"optrack log {run} --which bench").out == log.read_bytes()


def test_the_progress_of_a_run_obeys_nothing_of_the_plan(hostile: Path) -> None:
    terminal = Terminal(hostile, [sys.executable, "-P", "-m", "optrack", "run", "2"])
    try:
        assert terminal.end() == 1
        assert b"\x1b[2J" not in terminal.shown
        assert b"PWN\x07" not in terminal.shown
        assert b"out" in terminal.shown
    finally:
        terminal.close()
