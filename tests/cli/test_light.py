"""Commands that only read stay light: what they load is checked in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call

HEAVY = ("sqlmodel", "sqlalchemy", "scipy", "numpy", "git", "textual", "httpx", "mcp", "mlflow")

ONLY_FOR_DOCUMENTS = ("jinja2",)


@pytest.mark.parametrize(
    "arguments",
    [["status"], ["todo", "--json"], ["failures"], ["context"], ["watch", "--for", "0"], ["schema"]],
)
def test_reading_loads_nothing_heavy(folder: Path, call: Call, arguments: list[str]) -> None:
    call("status")  # takes the copied plan's new place over
    unwanted = HEAVY if arguments == ["context"] else HEAVY + ONLY_FOR_DOCUMENTS
    script = (
        "import sys; from optrack.cli import main; code = main(sys.argv[1:]); "
        f"print(*[m for m in {unwanted!r} if m in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
