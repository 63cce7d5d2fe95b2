"""One filled project for all tests of reports that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.filled import Filled, filled


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A project with a gain, a failure, an unfair comparison, an item marked by hand and one that is left."""
    made = filled(tmp_path_factory.mktemp("filled") / "project")
    yield made
    made.store.close()
