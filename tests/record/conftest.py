"""A store of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from optrack.store.write import Store
from tests.record.making import NOON, a_plan, an_item


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The path of a database that isn't there yet."""
    return tmp_path / ".optrack" / "optrack.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(database) as opened:
        yield opened


@pytest.fixture
def synced(store: Store) -> Store:
    """A store with a plan of three items: baseline, 1A, 1B."""
    store.sync(a_plan(an_item("baseline"), an_item("1A"), an_item("1B")), who="ann", at=NOON)
    return store
