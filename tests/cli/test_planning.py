"""Commands of planning: plans are checked, shown, begun; items added; todo lists exchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_checking_a_sound_plan_finds_no_error(folder: Path, call: Call) -> None:
    called = call("plan", "check")
    assert called.code == 0
    assert "0 errors" in called.err


def test_checking_names_file_line_and_the_nearest_spelling(folder: Path, call: Call) -> None:
    (folder / "bad.md").write_text("# P\n\n```yaml recipe\nlaunchs: 3\nbench: x\n```\n\n## Baseline\n")
    called = call("plan", "check", "bad.md")
    assert called.code == 2
    assert "bad.md:4:" in called.out and "launches" in called.out


def test_showing_a_plan_that_is_not_there_is_one_clear_error(folder: Path, call: Call) -> None:
    called = call("plan", "show", "nowhere.md", "--json")
    assert called.code == 2
    assert called.json["error"]["where"] == "nowhere.md"


def test_a_new_plan_passes_its_check_and_is_never_overwritten(folder: Path, call: Call) -> None:
    assert call("plan", "new", "plans/fresh.md", "--title", "A: b # c").code == 0
    assert call("plan", "check", "plans/fresh.md").code == 0
    before = (folder / "plans" / "fresh.md").read_bytes()
    assert call("plan", "new", "plans/fresh.md").code == 2
    assert (folder / "plans" / "fresh.md").read_bytes() == before


def test_the_todo_list_is_what_an_agent_reads_back(folder: Path, call: Call) -> None:
    todos = call("todo", "--json").json["todos"]
    entry = next(todo for todo in todos if todo["id"] == "2")
    assert entry == {"content": "2: Fusion patch", "status": "pending", "priority": "medium", "id": "2"}
    entry["status"] = "cancelled"
    (folder / "list.json").write_text(json.dumps(todos))
    assert call("todo", "import", "list.json", "--dry-run").out == "2: pending -> cancelled\n"
    assert call("status", "--json").json["items"][5]["status"] == "pending"
    changed = call("todo", "import", "list.json", "--json").json
    assert [t["who"] for t in changed["transitions"]] == ["ada"]
    assert call("status", "--json").json["items"][5]["status"] == "cancelled"


def test_what_fits_no_item_is_told(folder: Path, call: Call) -> None:
    (folder / "list.json").write_text('[{"content": "Buy milk", "status": "completed"}]')
    called = call("todo", "import", "list.json")
    assert called.code == 2
    assert "Buy milk: no item has this title" in called.err and "1A" in called.err


def test_a_list_that_gives_an_item_two_statuses_changes_nothing(folder: Path, call: Call) -> None:
    entries = [{"content": "Fusion", "id": "2", "status": s} for s in ("completed", "cancelled")]
    (folder / "list.json").write_text(
        json.dumps([{"content": "x", "id": "1B", "status": "cancelled"}, *entries])
    )
    before = call("status", "--json").json
    called = call("todo", "import", "list.json")
    assert called.code == 2 and "`completed`" in called.err and "`cancelled`" in called.err
    assert call("status", "--json").json == before


def test_a_reworded_entry_with_the_right_id_is_about_its_item(folder: Path, call: Call) -> None:
    (folder / "list.json").write_text('[{"content": "Try it with 4", "id": "1B", "status": "cancelled"}]')
    assert "1B: " in call("todo", "import", "list.json", "--dry-run").out


@pytest.mark.parametrize(
    "field", ["git.projekt.foo", "nonsense", "results.jsonl", "env.server.NO_SUCH_THING"]
)
def test_a_field_that_nothing_recorded_has_cannot_be_accepted(folder: Path, call: Call, field: str) -> None:
    called = call("accept", field, "--why", "a typo")
    assert called.code == 2 and field in called.err
    assert "did you mean" in called.err or "differ in" in called.err
    assert "accepted" not in called.out


@pytest.mark.parametrize("field", ["git.project", "env.server", "env.server.*", "load"])
def test_a_field_that_snapshots_have_can_be_accepted(folder: Path, call: Call, field: str) -> None:
    assert call("accept", field, "--why", "harmless").code == 0


def test_a_choice_with_a_next_item_never_says_that_all_is_done(folder: Path, call: Call) -> None:
    chosen = call("next", "--explain", "--json").json
    assert (
        chosen["next"]
        and chosen["next"] in chosen["summary"]
        and "all items are done" not in chosen["summary"]
    )


def test_a_plan_with_errors_has_as_many_wherever_they_are_counted(folder: Path, call: Call) -> None:
    plan = folder / "plans" / "tuning.md"
    plan.write_text(
        f"{plan.read_text()}\n## 9: Both\n\n```yaml recipe\ncombine: [1A, nowhere]\n```\n"
        "\n## 10: Odd\n\n```yaml recipe\nlanches: 3\n```\n"
    )
    checked = call("plan", "check", str(plan), "--json").json
    assert checked["errors"] == 2
    for command in (["status"], ["next", "--explain"]):
        called = call(*command)
        assert called.code == 2 and "2 errors" in called.err


def test_a_server_without_a_condition_of_readiness_is_warned_of(folder: Path, call: Call) -> None:
    plan = folder / "plans" / "tuning.md"
    plan.write_text(plan.read_text().replace("ready: {http: /health}\n", ""))
    checked = call("plan", "check", str(plan), "--json").json
    assert [p["severity"] for p in checked["problems"] if "without `ready`" in p["message"]] == ["warning"]
    plan.write_text(plan.read_text().replace("launch:", "ready: {tcp: true}\nlaunch:", 1))
    assert not [
        p for p in call("plan", "check", str(plan), "--json").json["problems"] if "`ready`" in p["message"]
    ]


def test_what_is_done_already_is_said_to_be(folder: Path, call: Call) -> None:
    assert "nothing changes" not in call("use", "tuning").out
    assert "nothing changes" in call("use", "tuning").out
    call("adopt", "1A", "--anyway", "--why", "a test")
    assert call("adopt", "1A", "--anyway", "--why", "a test").code == 2


def test_no_list_at_all_is_an_error(folder: Path, call: Call) -> None:
    (folder / "list.json").write_text("hello")
    assert call("todo", "import", "list.json").code == 2


def test_an_added_item_is_in_the_database_alone(folder: Path, call: Call) -> None:
    before = (folder / "plans" / "tuning.md").read_bytes()
    added = call(
        "add", "Try LL128", "--id", "9", "--needs", "1B", "--recipe", "env: {NCCL_PROTO: LL128}", "--json"
    )
    assert added.json["item"]["recipe"]["env"]["NCCL_PROTO"] == "LL128"
    assert added.json["item"]["needs"] == ["1B"]
    assert (folder / "plans" / "tuning.md").read_bytes() == before
    assert call("status", "--json").json["items"][-1]["id"] == "9"
    assert "export NCCL_PROTO=LL128" in call("run", "9", "--dry-run").out


def test_write_appends_to_the_plan_and_changes_nothing_else(folder: Path, call: Call) -> None:
    path = folder / "plans" / "tuning.md"
    before = path.read_text()
    assert call("add", "Fourth", "--id", "4", "--gain", "1-2 %", "--write").code == 0
    assert path.read_text().startswith(before)
    assert call("plan", "show", "--json").json["plan"]["items"][-1]["gain"]["high"] == 2


def test_write_puts_an_item_below_its_parent(folder: Path, call: Call) -> None:
    assert (
        call("add", "Under one", "--id", "1D", "--parent", "1", "--write", "--recipe", "env: {A: b}").code
        == 0
    )
    items = call("plan", "show", "--json").json["plan"]["items"]
    assert [item["id"] for item in items if item["parent"] == "1"] == ["1A", "1B", "1C", "1D"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Again", "--id", "1A"), "has an item 1A already"),
        (("X", "--parent", "7"), "no item '7'"),
        (("X", "--needs", "1Z"), "did you mean"),
        (("X", "--recipe", "launchs: 2"), "launches"),
        (("X", "--recipe", "```\nx"), "fence"),
        (("X", "--recipe", "{"), "recipe"),
        (("X", "--id", "a b"), "can't be an item's id"),
        ((" ",), "no title"),
        ((), "no title"),
    ],
)
def test_a_bad_item_is_refused_with_what_to_do(
    folder: Path, call: Call, arguments: tuple[str, ...], said: str
) -> None:
    called = call("add", *arguments)
    assert called.code == 2, called
    assert said in called.err
    assert "Traceback" not in called.err


def test_an_item_from_json_has_known_keys_only(folder: Path, call: Call) -> None:
    (folder / "item.json").write_text('{"title": "From JSON", "recipe": {"env": {"A": "1"}}}')
    assert call("add", "--from", "item.json", "--json").json["item"]["title"] == "From JSON"
    (folder / "item.json").write_text('{"titel": "x"}')
    assert "did you mean 'title'" in call("add", "--from", "item.json").err
