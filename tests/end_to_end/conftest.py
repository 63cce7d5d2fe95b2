"""An empty project for each test that goes the whole way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project without a plan."""
    return Project(tmp_path / "project")
