"""The plan goes out as a todo list and comes back from one, whatever its shape."""

from __future__ import annotations

import json

import pytest

from optrack.plan.todo import match_todos, read_todos, todos
from tests.plan.plans import CAMPAIGN, read, states


def test_the_plan_is_a_todo_list_with_priorities() -> None:
    plan = read(CAMPAIGN)
    found = todos(plan, states(plan, {"1A": "failed"}))
    assert found[2] == {
        "content": "1A: Tree algorithm",
        "status": "completed",
        "priority": "high",
        "id": "1A",
    }
    assert [e["priority"] for e in found] == ["high", "high", "high", "high", "high", "medium"]


def test_bands_give_their_priority() -> None:
    plan = read("# T\n## LOW PRIORITY\n1. Fix a\n## HIGH PRIORITY\n1. Fix b\n")
    assert [e["priority"] for e in todos(plan)] == ["low", "low", "high", "high"]


@pytest.mark.parametrize(
    "text",
    [
        '[{"content": "A b", "status": "in_progress", "priority": "high", "id": "1"}]',
        '{"lastUpdated": "x", "todos": [{"content": "A b", "status": "in_progress", "activeForm": "Doing"}]}',
        '{"tool_input": {"todos": [{"content": "A b", "status": "in_progress"}]}}',
        '{"id": "bd-1", "title": "A b", "status": "in_progress", "priority": 2}\n',
        '[{"tool_name": "TaskCreate", "task": {"subject": "A b", "status": "pending"}},'
        ' {"tool_name": "TaskUpdate", "task": {"id": "1", "subject": "", "status": "in_progress"}}]',
        '● Update Todos\n{"todos": [{"content": "A b", "status": "in_progress"}]}\nand so on\n',
        'text\n[\n {"content": "A b",\n  "status": "in_progress"}\n]\nmore\n',
    ],
)
def test_every_shape_of_list_is_read(text: str) -> None:
    found = read_todos(text)
    assert [(t.content, t.status) for t in found.todos] == [("A b", "in_progress")]
    assert found.problems == ()


def test_a_torn_piece_is_left_out_and_said() -> None:
    text = (
        '{"todos": [{"content": "A", "status": "pending"}]}\n - x"}, {"content": "B", "status": "pending"}]\n'
    )
    found = read_todos(text)
    assert [t.content for t in found.todos] == ["A"]
    assert found.problems == ("line 2 holds a torn piece of a list, which is left out",)


@pytest.mark.parametrize(
    "text", ["", "nothing", "[" * 100_000, '{"todos": 3}', '[{"content": "x", "status": "odd"}]']
)
def test_what_is_no_list_gives_no_entries_but_says_so(text: str) -> None:
    found = read_todos(text)
    assert found.todos == ()
    assert found.problems


def test_a_list_that_went_out_comes_back_as_the_same_items() -> None:
    plan = read(CAMPAIGN)
    out = todos(plan, states(plan))
    out[2]["status"] = "completed"
    match = match_todos(plan, states(plan), read_todos(json.dumps(out)).todos)
    assert [(c.item, c.before, c.after) for c in match.changes] == [("1A", "pending", "completed")]
    assert (len(match.same), match.unmatched) == (5, ())


def test_entries_match_by_content_where_they_have_no_id() -> None:
    plan = read(CAMPAIGN)
    entries = read_todos(
        '[{"content": "tree  algorithm", "status": "completed"},'
        ' {"content": "Run experiment 1B: Fewer channels", "status": "in_progress"},'
        ' {"content": "Something else", "status": "completed"}]'
    ).todos
    match = match_todos(plan, states(plan), entries)
    assert [(c.item, c.after) for c in match.changes] == [("1A", "completed"), ("1B", "in_progress")]
    assert match.unmatched == ("Something else: no item has this title",)


def test_an_id_that_the_words_contradict_changes_nothing() -> None:
    plan = read(CAMPAIGN)
    entries = read_todos(
        '[{"content": "Write the documentation", "status": "completed", "id": "1"},'
        ' {"content": "Fewer channels", "status": "completed", "id": "1A"}]'
    ).todos
    match = match_todos(plan, states(plan), entries)
    assert match.changes == ()
    assert len(match.unmatched) == 2


def test_words_that_fit_two_items_change_nothing() -> None:
    plan = read("# P\n## 1A: Same\n## 1B: Same\n")
    match = match_todos(plan, states(plan), read_todos('[{"content": "Same", "status": "completed"}]').todos)
    assert match.changes == ()
    assert "`1A` and `1B`" in match.unmatched[0]
