"""What the tests of the screens share: a small real project, and hiding the user's settings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tui.project import fill


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide what the user's terminal asks for."""
    for name in (
        "NO_COLOR",
        "EDITOR",
        "VISUAL",
        "TEXTUAL",
        "TEXTUAL_THEME",
        "TEXTUAL_ANIMATIONS",
        "FORCE_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, made once."""
    return fill(tmp_path_factory.mktemp("made") / "project")


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """A copy of the project for one test."""
    return shutil.copytree(made, tmp_path / "project")
