"""Hides the user and the machine from every test: settings, git's configuration, locks, the current folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cleanliness import clean_environment


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home and a current folder of its own; return the folder that holds both."""
    own = tmp_path_factory.mktemp("own")
    home, here, locks = own / "home", own / "here", own / "locks"
    for folder in (home, here, locks):
        folder.mkdir()
    clean = clean_environment(os.environ, home=home, locks=locks)
    for name in [name for name in os.environ if name not in clean]:
        monkeypatch.delenv(name)
    for name, value in clean.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here)
    return own
