"""What the tests of the capture share: git without the user's settings, and a world to capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.repositories import SETTINGS
from tests.capture.world import World


@pytest.fixture(autouse=True)
def no_git_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's git settings out of the tests."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world to capture."""
    return World(tmp_path / "world")
