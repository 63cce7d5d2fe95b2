"""What the tests of the screens share: a board with logs, and hiding the user's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.driving import write_logs
from tests.tui.fake_board import FakeBoard


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


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    """The re-enacted campaign, with logs."""
    return FakeBoard(write_logs(tmp_path))
