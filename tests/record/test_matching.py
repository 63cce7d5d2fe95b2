"""Which item of an edited plan is which of the known ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optrack.errors import PlanError
from optrack.model.plan import Item
from optrack.plan.sync import Known, Matching, match_items
from tests.record.making import a_plan, an_item


def known_from(*items: Item, archived: tuple[str, ...] = ()) -> list[Known]:
    """Return the items as the database has them, with keys 100, 101, …"""
    return [
        Known(
            key=100 + rank,
            id=item.id,
            title=item.title,
            parent=item.parent,
            rank=rank,
            archived=item.id in archived,
        )
        for rank, item in enumerate(items)
    ]


def matched(before: list[Known], *after: Item) -> Matching:
    return match_items(before, a_plan(*after).items)


FOO, BAR, BAZ = an_item("1", "Foo"), an_item("2", "Bar"), an_item("3", "Baz")


def test_an_unchanged_plan_matches_itself() -> None:
    assert matched(known_from(FOO, BAR), FOO, BAR) == Matching(keys=(100, 101))


def test_an_item_inserted_above_takes_no_history_when_labels_are_positions() -> None:
    result = matched(known_from(FOO, BAR), an_item("1", "New"), an_item("2", "Foo"), an_item("3", "Bar"))
    assert result.keys == (None, 100, 101)
    assert [(r.before_id, r.after_id) for r in result.renamed] == [("1", "2"), ("2", "3")]
    assert result.gone == () and result.moved == ()


def test_items_that_swap_places_and_labels_keep_their_histories() -> None:
    result = matched(known_from(FOO, BAR), an_item("1", "Bar"), an_item("2", "Foo"))
    assert result.keys == (101, 100)


def test_a_new_title_under_the_same_label_keeps_the_history() -> None:
    result = matched(known_from(FOO, BAR), an_item("1", "Foo, but better"), BAR)
    assert result.keys == (100, 101)
    assert [(r.before_title, r.after_title) for r in result.renamed] == [("Foo", "Foo, but better")]


def test_a_new_label_with_the_same_title_keeps_the_history() -> None:
    assert matched(known_from(FOO, BAR), an_item("A1", "Foo"), BAR).keys == (100, 101)


@pytest.mark.parametrize("title", ["foo", "Foo.", "**Foo**", " Foo  "])
def test_case_emphasis_and_spaces_make_no_other_title(title: str) -> None:
    result = matched(known_from(FOO), an_item("9", title))
    assert result.keys == (100,)


def test_a_vanished_item_is_gone() -> None:
    result = matched(known_from(FOO, BAR), FOO)
    assert result.gone == (101,)


def test_an_archived_item_comes_back_by_its_title() -> None:
    result = matched(known_from(FOO, BAR, archived=("2",)), FOO, BAR)
    assert result.keys == (100, 101) and result.revived == ("2",)


def test_a_new_item_under_an_archived_label_starts_afresh() -> None:
    result = matched(known_from(FOO, BAR, archived=("2",)), FOO, an_item("2", "Something else"))
    assert result.keys == (100, None)
    assert result.displaced == ((101, "2~1"),)


def test_a_title_found_twice_attaches_nothing_and_says_so() -> None:
    before = known_from(an_item("1", "Sweep"), an_item("2", "Sweep"))
    result = matched(before, an_item("7", "Sweep"))
    assert result.keys == (None,)
    assert result.gone == (100, 101)
    assert result.ambiguous == (
        "7 (Sweep) could be what was 1 or 2: taken as a new item, the history stays with the old ids",
    )


def test_equal_titles_are_told_apart_by_their_parents() -> None:
    before = known_from(
        an_item("1", "Tree"),
        an_item("1A", "Sweep", parent="1"),
        an_item("2", "Ring"),
        an_item("2A", "Sweep", parent="2"),
    )
    result = matched(
        before,
        an_item("1", "Ring"),
        an_item("1A", "Sweep", parent="1"),
        an_item("2", "Tree"),
        an_item("2A", "Sweep", parent="2"),
    )
    assert result.keys[0] == 102 and result.keys[2] == 100


def test_only_what_left_its_order_has_moved() -> None:
    result = matched(known_from(FOO, BAR, BAZ), BAZ, FOO, BAR)
    assert result.moved == ("3",)


def test_a_change_of_parent_is_a_move_and_a_renamed_parent_is_none() -> None:
    child = an_item("1A", "Child", parent="1")
    assert matched(known_from(FOO, child, BAR), FOO, an_item("1A", "Child", parent="2"), BAR).moved == ("1A",)
    renamed = matched(known_from(FOO, child), an_item("P1", "Foo"), an_item("1A", "Child", parent="P1"))
    assert renamed.moved == ()


def test_an_id_used_twice_is_an_error_that_names_both_lines() -> None:
    with pytest.raises(PlanError, match=r"the id 1 is used twice: on line 1 and on line 21"):
        matched([], FOO, BAR, an_item("1", "Again"))


LABELS = st.sampled_from(["1", "2", "3", "1A", "1B", "x"])
TITLES = st.sampled_from(["Foo", "Bar", "Baz", "Qux"])
PLANS = st.lists(st.tuples(LABELS, TITLES), max_size=6, unique_by=lambda pair: pair[0])


@given(before=PLANS, after=PLANS, archived=st.sets(LABELS))
def test_every_history_goes_to_one_item_at_most_and_labels_stay_unique(
    before: list[tuple[str, str]], after: list[tuple[str, str]], archived: set[str]
) -> None:
    known = known_from(*(an_item(*pair) for pair in before), archived=tuple(archived))
    result = matched(known, *(an_item(*pair) for pair in after))
    kept = [key for key in result.keys if key is not None]
    assert len(set(kept)) == len(kept)
    live = {entry.key for entry in known if not entry.archived}
    assert live == (live & set(kept)) | set(result.gone)
    labels = [label for label, _ in after]
    displaced = dict(result.displaced)
    for entry in known:
        if entry.key not in kept:
            labels.append(displaced.get(entry.key, entry.id))
    assert len(set(labels)) == len(labels)
