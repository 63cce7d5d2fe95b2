"""The order of launches: random rounds that share the baseline, what is laid down first, and what they can show."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.campaigns import QUICK, Campaign, item

ITEMS = "".join(item(str(k), f"Number {k}", f'env: {{SPEED: "{100 + 20 * k}"}}') for k in (1, 2, 3))


def facts(project: Campaign, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Return run and data of the recorded events of a kind, in order."""
    with closing(sqlite3.connect(project.folder / ".optrack" / "optrack.db")) as database:
        rows = database.execute("SELECT run, data FROM event WHERE kind = ? ORDER BY seq", (kind,)).fetchall()
    return [(run, json.loads(data)) for run, data in rows]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """A campaign of a baseline and three items in rounds, of which one can't be measured."""
    broken = item("4", "Broken", "bench: exit 3")
    base = QUICK.replace("launches: 3", "launches: 3\norder: rounds\nstop: fixed")
    project = Campaign(tmp_path_factory.mktemp("rounds") / "c", ITEMS + broken, base=base)
    project.answer = project.call("next", "--all", "--json")  # type: ignore[attr-defined]
    return project


def test_items_that_share_a_base_are_measured_in_rounds_with_the_same_baseline(rounds: Campaign) -> None:
    found = rounds.items()
    assert {name: found[name]["verdict"] for name in "1234"} == {
        "1": "improvement",
        "2": "improvement",
        "3": "improvement",
        "4": "failed",
    }
    judged = [rounds.show(name)["judgement"] for name in "123"]
    assert len({judgement["baseline"] for judgement in judged}) == 1
    assert {judgement["method"] for judgement in judged} == {"rounds"}
    results = rounds.answer.json["results"]  # type: ignore[attr-defined]
    assert {result["run"]["item"] for result in results} == {"baseline", "1", "2", "3", "4"}


def test_the_places_of_launches_and_what_bounds_the_error_are_laid_down_first(rounds: Campaign) -> None:
    placed = facts(rounds, "launch_placed")
    shared = rounds.show("1")["judgement"]["baseline"]
    session = {shared, *(run for run, _ in facts(rounds, "session_planned"))}
    positions = sorted(data["position"] for run, data in placed if run in session)
    assert positions == list(range(len(positions)))
    by_round = {data["round"] for run, data in placed if run == shared}
    assert by_round == {0, 1, 2}
    planned = dict(facts(rounds, "session_planned"))
    assert {data["family"] for data in planned.values()} == {4}
    assert {data["max_launches"] for data in planned.values()} == {3}
    assert len({data["seed"] for data in planned.values()}) == 1


def test_a_plan_that_lost_items_afterwards_makes_no_claim_easier(rounds: Campaign) -> None:
    before = rounds.show("3")["judgement"]["reasons"]
    assert any("among 4 comparisons" in reason for reason in before)
    rounds.write(item("3", "Number 3", 'env: {SPEED: "160"}'))
    assert rounds.call("audit").code == 0
    assert any("among 4 comparisons" in reason for reason in rounds.show("3")["judgement"]["reasons"])


def noisy(folder: Path) -> Campaign:
    """A campaign on a host whose launches differ by a quarter."""
    base = QUICK.replace("launches: 3", "launches: {min: 2, max: 3}")
    project = Campaign(folder, item("1", "Faster", 'env: {SPEED: "104"}'), base=base)
    count = project.folder / "count"
    (project.folder / "bench.sh").write_text(
        f"n=$(cat {count} 2>/dev/null || echo 0); echo $((n + 1)) > {count}\n"
        'set -- 100 150 95 140 104 98 155 99 149\nshift $((n % 9))\necho "score = $1"\n',
        encoding="utf-8",
    )
    return project


def test_after_the_first_baseline_it_is_said_what_the_host_can_show(tmp_path: Path) -> None:
    project = noisy(tmp_path / "noisy")
    dry = project.call("run", "1", "--dry-run")
    assert "launches: 2 to 3" in dry.out
    told = project.call("run", "baseline").err
    for text in (told, project.call("status").out, project.call("export").out):
        assert "with 3 a side only effects above" in text and "find the cause first" in text
    assert project.call("status", "--json").json["sensitivity"]["is_poor"]
    assert project.call("run", "1").code == 0
    assert 2 <= project.show("1")["judgement"]["launches"] <= 3
