"""What the end-to-end tests share: an empty project, and projects with the items of a campaign."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.campaigns import BASE, Campaign, Make
from tests.end_to_end.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project without a plan."""
    return Project(tmp_path / "project")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A function that makes a campaign with these items; nothing of it is left running."""
    made: list[Campaign] = []

    def campaign(plan: str = "", *, base: str = BASE) -> Campaign:
        made.append(Campaign(tmp_path / f"campaign-{len(made)}", plan, base=base))
        return made[-1]

    yield campaign
    assert [process for one in made for process in one.processes()] == []
