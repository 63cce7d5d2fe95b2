"""What a command doesn't need isn't loaded: start-up is paid by the command that needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.plans import SMALL
from tests.end_to_end.project import ROOT, Project

HEAVY = frozenset({"textual", "sqlmodel", "sqlalchemy", "alembic", "git", "scipy", "numpy", "httpx", "mcp"})
"""What takes long to load."""

AFTER = """
import sys
from optrack.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
assert not code, code
print("\\nloaded:", *sorted({name.split(".")[0] for name in sys.modules}))
"""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Return the packages that are loaded when the command has ended."""
    command = [sys.executable, "-c", AFTER, *arguments]
    env = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return set(done.stdout.rsplit("loaded:", 1)[1].split())


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose database is current."""
    project = Project(tmp_path_factory.mktemp("start") / "project")
    project.write_plan(SMALL)
    assert project.optrack("status").code == 0
    return project.folder


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("next", "--help"), ("demo", "--help")])
def test_help_loads_nothing_but_the_command_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert loaded(tmp_path, *arguments) & (HEAVY | {"pydantic", "rich", "markdown_it", "sqlite3"}) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "--json"),
        ("status",),
        ("next", "--explain"),
        ("next", "--dry-run"),
        ("show", "1", "--json"),
        ("runs",),
        ("todo", "--json"),
        ("context",),
        ("failures",),
        ("export",),
        ("plan", "check", "plans/plan.md"),
    ],
    ids=" ".join,
)
def test_what_only_reads_loads_no_database_layer_and_no_screens(
    begun: Path, arguments: tuple[str, ...]
) -> None:
    assert loaded(begun, *arguments) & HEAVY == set()
