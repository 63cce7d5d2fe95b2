"""The names of runs sort by time, are easy to type and safe as folder names."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from optrack.model.run import new_run_id
from optrack.model.value import canonical, recipe_digest
from tests.record.making import NOON


def test_a_run_id_tells_time_and_item() -> None:
    assert re.fullmatch(r"20261129T120000-[0-9a-z]{4}-1A", new_run_id(NOON, "1A"))


@given(st.integers(0, 10**12), st.integers(50, 10**12), st.text(), st.text())
def test_run_ids_sort_by_time(start_us: int, later_us: int, one: str, other: str) -> None:
    first = NOON + timedelta(microseconds=start_us)
    assert new_run_id(first, one) < new_run_id(first + timedelta(microseconds=later_us), other)


@given(st.text())
def test_a_run_id_is_a_plain_short_folder_name(item: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,44}[A-Za-z0-9]", new_run_id(NOON, item))


def test_the_time_of_a_run_id_is_utc() -> None:
    local = datetime(2026, 11, 29, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert new_run_id(local, "x").startswith("20261129T120000")


def test_a_recipe_has_one_digest_in_whatever_order_it_is_written() -> None:
    one = {"env": {"A": "1", "B": None}, "launches": 3}
    other = {"launches": 3, "env": {"B": None, "A": "1"}}
    assert recipe_digest(one) == recipe_digest(other) != recipe_digest({**one, "launches": 4})
    assert canonical({"b": (1, 2), "a": {3}}) == '{"a":[3],"b":[1,2]}'
