"""How many statements a command asks the database: as many for fifty runs as for five."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.report.filled import FASTER, STEADY, Filled

COMMANDS = (
    ("status",),
    ("runs", "--json", "--limit", "100"),
    ("show", "1B", "--json"),
    ("compare", "1B", "baseline"),
    ("export",),
    ("export", "--format", "json"),
    ("audit",),
    ("failures",),
)


def fill(folder: Path, runs: int) -> Path:
    """Make a project with so many runs of the baseline, and one item judged against one beside it."""
    project = Filled(folder)
    for _ in range(runs - 2):
        project.run("baseline", STEADY)
    project.pair("1B", FASTER, STEADY)
    project.store.close()
    return folder


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Projects of five and of fifty runs."""
    return {runs: fill(tmp_path_factory.mktemp("budget") / f"p{runs}", runs) for runs in (5, 50)}


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of every connection that is opened from now on, in order."""
    asked: list[str] = []
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", traced)
    return asked


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_fifty_runs_take_no_more_statements_than_five(
    projects: dict[int, Path],
    statements: list[str],
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    counts = {}
    for runs, folder in projects.items():
        monkeypatch.chdir(folder)
        call(*words)
        statements.clear()
        assert call(*words).code == 0
        counts[runs] = len(statements)
    assert counts[5] == counts[50] > 0
