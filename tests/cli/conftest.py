"""What tests of commands share: a filled project, and commands called within it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from optrack.cli import main
from tests.report.filled import Filled, filled


class Called(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


Call = Callable[..., Called]


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPTRACK_DB", "OPTRACK_PLAN", "OPTRACK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPTRACK_ACTOR", "ada")
    monkeypatch.setenv("OPTRACK_CPU_SHARE", "1")
    monkeypatch.setenv("OPTRACK_LOCKS", str(tmp_path))


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project: Filled = filled(tmp_path_factory.mktemp("template") / "project")
    project.store.close()
    return project.folder


@pytest.fixture
def folder(_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A filled project of the test's own, which is the current folder."""
    own = tmp_path / "project"
    shutil.copytree(_template, own)
    monkeypatch.chdir(own)
    yield own


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that calls a command in this process and returns what it printed."""

    def called(*arguments: str) -> Called:
        capsys.readouterr()
        code = main(arguments)
        printed = capsys.readouterr()
        return Called(code, printed.out, printed.err)

    return called
