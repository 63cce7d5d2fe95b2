"""A second user may look at a project that he can read, and is told plainly what he may not."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.campaigns import QUICK, Called, Campaign, ended, item, wait_for

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@pytest.fixture
def shared() -> Iterator[Campaign]:
    """A project that everybody may read."""
    held = "bench: 'touch benching; while [ ! -e go ]; do sleep 0.05; done; echo score = 5'\norder: block"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        base = QUICK.replace("launches: 3", "launches: 1")
        project = Campaign(Path(folder) / "shared", item("1", "Held", held), base=base)
        for path in (project.folder, *project.folder.rglob("*")):
            path.chmod(0o755)
        yield project


AS_NOBODY = """
import importlib, os, pkgutil, sys
import difflib, encodings.ascii, encodings.idna, encodings.latin_1, encodings.unicode_escape, getpass, glob
import jinja2, pwd, rich.console, socket, stringprep
import optrack, optrack.cli
for found in pkgutil.walk_packages(optrack.__path__, "optrack."):
    if not any(part in found.name for part in ("__main__", "mlflow", ".versions", "migrations.env", "demo")):
        importlib.import_module(found.name)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(optrack.cli.main(sys.argv[1:]))
"""
"""Imports all before it becomes the other user, who may not be able to read the interpreter's folders."""


def as_nobody(project: Campaign, *arguments: str) -> Called:
    """Call a command as another user."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", AS_NOBODY, *arguments],
        cwd=project.folder,
        env=project.environment({"HOME": "/"}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Called(done.returncode, done.stdout, done.stderr)


def test_who_can_read_the_records_sees_them_without_the_key(shared: Campaign) -> None:
    (shared.folder / "go").touch()
    assert shared.call("run", "1").code == 0
    (run,) = shared.runs()
    os.chmod(shared.folder / ".optrack", 0o755)  # noqa: PTH101
    os.chmod(shared.folder / ".optrack" / "salt", 0o600)  # noqa: PTH101
    os.chmod(shared.folder / ".optrack" / "optrack.db", 0o644)  # noqa: PTH101
    for words in (("status",), ("show", "1"), ("show", run["id"]), ("runs",), ("export",)):
        seen = as_nobody(shared, *words)
        assert (seen.code, seen.err) == (0, ""), words
        assert "1" in seen.out


def test_who_cannot_read_them_is_told_whose_they_are(shared: Campaign) -> None:
    assert shared.call("status").code == 0
    os.chmod(shared.folder / ".optrack", 0o700)  # noqa: PTH101
    seen = as_nobody(shared, "status")
    assert seen.code == 2
    assert ".optrack" in seen.err and "root" in seen.err
    assert "Traceback" not in seen.err


def test_a_run_of_somebody_else_is_not_stopped_and_its_owner_named(shared: Campaign) -> None:
    follower = shared.start("run", "1")
    wait_for((shared.folder / "benching").exists, "the benchmark")
    os.chmod(shared.folder / ".optrack", 0o755)  # noqa: PTH101
    for record in (shared.folder / ".optrack").glob("optrack.db*"):
        record.chmod(0o644)
    run = shared.open_run()
    assert run is not None
    refused = as_nobody(shared, "stop", run[0])
    (shared.folder / "go").touch()
    assert ended(follower).code == 0
    assert refused.code == 2
    assert "belongs to root" in refused.err
