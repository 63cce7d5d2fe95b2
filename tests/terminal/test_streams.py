"""Standard output that is closed, full, cut off or in another encoding: the answer is right, or a line says why not."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.quick import quick
from tests.terminal.shells import shell

ASCII = {"PYTHONIOENCODING": "ascii"}
LATIN = {"PYTHONIOENCODING": "latin-1"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TITLE = "Über 5 − 3 → “Größe” ≤ 2× 日本"
PLAN = f"""# {TITLE}

## Baseline

## 1: {TITLE}

- **Hypothesis**: weniger Kanäle — schneller
- **Expected gain**: 5–10 ms
"""
READS = (
    "status",
    "show 1",
    "todo",
    "runs",
    "failures",
    "context",
    "export",
    "export --format html",
    "export --format csv",
    "report 1",
    "plan show",
    "plan check",
    "plan schema",
    "next --explain",
    "diff baseline nothing",
    "show nothing-ö",
    "schema status",
    "--help",
)
JSON = (
    "status",
    "show 1",
    "todo",
    "runs",
    "failures",
    "context",
    "export",
    "plan show",
    "watch --after 0 --for 0",
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A project whose plan has characters of many kinds."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "optrack.toml").touch()
    (tmp_path / "plans" / "p.md").write_text(PLAN, encoding="utf-8")
    shell(tmp_path, 'optrack note 1 "schnell − gut"')
    return tmp_path


@pytest.mark.parametrize("encoding", [ASCII, C_LOCALE], ids=["ascii", "C"])
def test_every_command_answers_in_ascii_as_in_utf_8(written: Path, encoding: dict[str, str]) -> None:
    for command in READS:
        right = shell(written, f"optrack {command}")
        plain = shell(written, f"optrack {command}", **encoding)
        assert plain.code == right.code, command
        assert (plain.out + plain.err).isascii(), command
        assert len(plain.out.splitlines()) == len(right.out.splitlines()), command


def test_what_ascii_lacks_is_replaced_by_what_is_like_it(written: Path) -> None:
    assert b'Uber 5 - 3 -> "Grosse" <= 2x ??' in shell(written, "optrack show 1", **ASCII).out.replace(
        b"Gro?e", b"Grosse"
    )
    assert "Über 5 - 3".encode("latin-1") in shell(written, "optrack show 1", **LATIN).out


@pytest.mark.parametrize("encoding", [ASCII, LATIN, C_LOCALE], ids=["ascii", "latin-1", "C"])
def test_json_says_the_same_in_every_encoding(written: Path, encoding: dict[str, str]) -> None:
    for command in JSON:
        right = [json.loads(line) for line in documents(shell(written, f"optrack {command} --json").out)]
        answer = [
            json.loads(line)
            for line in documents(shell(written, f"optrack {command} --json", **encoding).out)
        ]
        assert [sorted(document) for document in answer] == [sorted(document) for document in right]
        if command == "status":
            assert answer == right
            assert answer[0]["items"][1]["title"] == TITLE


def documents(out: bytes) -> list[str]:
    """Return the documents that a command printed: one, or one a line."""
    text = out.decode("utf-8")
    return [text] if text.startswith("{\n") else text.splitlines()


@pytest.mark.parametrize("command", ["status", "status --json", "show 1", "export", "plan show --json"])
def test_an_answer_that_cannot_be_written_is_said_in_one_line(written: Path, command: str) -> None:
    for target, word in ((">/dev/full", b"no space"), (">&-", b"closed")):
        ended = shell(written, f"optrack {command} {target}")
        assert ended.code == 2
        assert word in ended.err
        assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["status", "export", "plan schema"])
def test_a_reader_that_leaves_early_is_no_error(written: Path, command: str) -> None:
    ended = shell(written, f"optrack {command} | head -c 0; exit ${{PIPESTATUS[0]}}")
    assert ended == (0, b"", b"")


@pytest.mark.parametrize(
    "target", [">/dev/full", ">&-", "2>&-", ">&- 2>&- <&-", "2>/dev/full", "| head -c 0"]
)
def test_a_run_goes_on_and_its_exit_code_is_its_own(tmp_path: Path, target: str) -> None:
    folder = quick(tmp_path / "project")
    for arguments, code, outcome in (("run baseline", 0, "succeeded"), ("run 2 --json", 1, "failed")):
        ended = shell(folder, f"optrack {arguments} {target}; exit ${{PIPESTATUS[0]}}")
        assert ended.code == code, ended
        runs = json.loads(shell(folder, "optrack runs --json").out)["runs"]
        mine = [run for run in runs if run["item"] == arguments.split()[1]]
        assert mine[-1]["outcome"] == outcome


def test_what_was_marked_is_marked_though_nobody_could_be_told(written: Path) -> None:
    ended = shell(written, "optrack mark 1 cancelled --why no >/dev/full")
    assert ended.code == 0
    assert b"no space" in ended.err
    assert json.loads(shell(written, "optrack status --json").out)["items"][1]["status"] == "cancelled"


def test_files_do_not_take_the_place_of_closed_streams(written: Path) -> None:
    shell(written, "optrack mark 1 cancelled --why no >&- 2>&- <&-")
    with sqlite3.connect(written / ".optrack" / "optrack.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("command", ["todo import", "todo import -", "parse -"])
def test_closed_standard_input_is_empty(written: Path, command: str) -> None:
    assert shell(written, f"optrack {command} <&-").code in (0, 2)


def test_a_remark_in_the_c_locale_is_kept_as_it_was_typed(written: Path) -> None:
    assert shell(written, 'optrack note 1 "größer − besser"', **C_LOCALE).code == 0
    notes = shell(written, "optrack show 1").out.decode()
    assert "größer − besser" in notes
