"""Whatever the document, reading and checking it ends without a traceback, and twice as much takes twice as long."""

from __future__ import annotations

import cProfile
import json
import os
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optrack.app.plan_check import check
from optrack.errors import OptrackError
from optrack.plan.quantity import quantity
from optrack.plan.read import parse_plan
from optrack.plan.scaffold import new_plan
from optrack.plan.schedule import choose
from optrack.plan.todo import read_todos, todos
from tests.plan.plans import CAMPAIGN, states

DOCUMENTS = int(os.environ.get("OPTRACK_TEST_DOCUMENTS", "150"))
PIECES = (
    *("# Plan\n", "## 1A: One\n", "### 1.2 x\n", "## HIGH PRIORITY\n", "## Priority 2 — ~~x~~ (DONE)\n"),
    *("- [ ] ", "- [x] ", "1. **T** — 5-10ms, 2 hours effort\n", "| 1 | a | 2x |\n", "- Needs: 1A\n", "\t"),
    *("| # | Task | Gain |\n|---|---|---|\n", "```yaml recipe\n", "```\n", "env: {A: 1}\n", "bench: x\n"),
    *("combine: [1A, 1A]\n", "<<: *a\n", "a: &a {b: 1}\n", "---\n", "title: x\n", "- Skip if: 1A failed\n"),
    *("~~~\n", "> ", "    ", "{#id}\n", "<!--", "-->", "**", "`", "\n"),
)


def read_all(data: bytes) -> None:
    try:
        plan = parse_plan(data, name="p", path="p.md")
    except OptrackError:
        return
    assert len({item.id for item in plan.items}) == len(plan.items)
    check(plan)
    known = states(plan)
    choose(plan, known)
    choose(plan, known, by="value")
    todos(plan, known)


@settings(max_examples=DOCUMENTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=30))
def test_any_document_is_read(pieces: list[str]) -> None:
    read_all("".join(pieces).encode("utf-8", "replace"))


@settings(max_examples=DOCUMENTS, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_all(data)


@settings(max_examples=DOCUMENTS, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_an_amount_or_stays_text(text: str) -> None:
    amount = quantity(text)
    assert amount.text == text.strip()
    assert amount.low is None or amount.high is None or 0 <= amount.low <= amount.high


@settings(max_examples=DOCUMENTS, deadline=None)
@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(("todos", "content", "status", "id", "task", "tool_name")), inner
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_is_a_todo_list_or_says_that_it_is_none(value: object) -> None:
    found = read_todos(json.dumps(value))
    assert found.todos or found.problems


def test_a_changed_plan_is_read_whatever_the_change() -> None:
    chance = random.Random(7)
    for _ in range(100):
        data = bytearray((CAMPAIGN + new_plan()).encode())
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data))
            piece = chance.choice(PIECES).encode()
            data[at : at + chance.randrange(8)] = piece * chance.choice((1, 1, 20))
        read_all(bytes(data))


def big(count: int) -> bytes:
    lines = ["# Plan\n"]
    for group in range(count // 10):
        lines.append(f"## Priority {group + 1}: Group {group}\n")
        lines += [
            f"### {group + 1}.{k} Item\n- **Gain**: 5-10 ms\n- Needs: {group + 1}.{k - 1}\n"
            for k in range(1, 10)
        ]
    return "\n".join(lines).encode()


def use(data: bytes) -> None:
    plan = parse_plan(data, name="p", path="p.md")
    choose(plan, states(plan))
    check(plan)


def calls_for(data: bytes) -> int:
    profile = cProfile.Profile()
    profile.runcall(use, data)
    return sum(entry.callcount for entry in profile.getstats())


def seconds_for(data: bytes) -> float:
    start = time.process_time()
    use(data)
    return time.process_time() - start


def test_twice_as_many_items_take_twice_the_work() -> None:
    use(big(50))
    assert calls_for(big(800)) < 2.05 * calls_for(big(400))


@pytest.mark.slow
def test_four_times_as_many_items_take_nowhere_near_sixteen_times_as_long() -> None:
    use(big(200))
    small = min(seconds_for(big(500)) for _ in range(2))
    large = min(seconds_for(big(2000)) for _ in range(2))
    assert large < 10 * small


HOSTILE = {
    "brackets in a title": "## 1A: " + "(" * 9000,
    "deep quotes": "> " * 3000,
    "a wide table": "|" * 9000 + "\n" + "|-" * 5000,
    "stars": "**" * 9000,
    "open links": "[a](" * 5000,
    "empty headings": "#\n" * 3000,
    "a word repeated": "## " + "action" * 3000 + "!",
    "deep flow in a recipe": "```yaml recipe\n" + "[" * 3000 + "\n```\n",
    "many amounts": "- Gain: " + "1-2 " * 9000,
    "a deep list": "\n".join("  " * i + "- [ ] a" for i in range(300)),
    "one id many times": "## 1A: x\n" * 1000,
    "spaces in a heading": "## 1A:" + " " * 100_000 + "x (done)" + " " * 100_000 + "— y",
    "spaces in an entry": "- [ ] a"
    + " " * 100_000
    + "- b\n- **Gain**:"
    + " " * 100_000
    + "5"
    + " " * 100_000
    + "ms",
    "spaces in a cell": "| # | Task |\n|--|--|\n| 1 | a" + " " * 100_000 + "b |",
    "many unknown names": "## 1A: x\n" + "".join(f"- **Expected gixn{n}**: 5 ms\n" for n in range(3000)),
    "one long list": "- [ ] a\n" * 5000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_no_time(text: str) -> None:
    start = time.process_time()
    read_all(f"# Plan\n{text}\n".encode())
    assert time.process_time() - start < 5


def test_lists_and_tables_longer_than_what_is_read_at_a_time_stay_whole() -> None:
    entries = "".join(f"- [ ] Task {n}\n" for n in range(5000))
    plan = parse_plan(f"# Plan\nWords.\n\n{entries}".encode(), name="p", path="p.md")
    assert [(item.title, item.line) for item in plan.items] == [(f"Task {n}", n + 4) for n in range(5000)]
    rows = "".join(f"| {n} | Task {n} | 2x |\n" for n in range(5000))
    head = "# Plan\n| # | Task | Gain |\n|---|---|---|\n"
    plan = parse_plan(f"{head}{rows}".encode(), name="p", path="p.md")
    assert [(item.title, item.line) for item in plan.items] == [(f"Task {n}", n + 4) for n in range(5000)]
