"""What commands print is true of the record, and `--json` is one document whatever happens."""

from __future__ import annotations

import json
import re
import socket

import pytest

from tests.end_to_end.campaigns import QUICK, Make, item

ONCE = QUICK.replace("launches: 3", "launches: 1")
FASTER = item("1", "Faster", 'env: {SPEED: "140"}')


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["next", "--bogus"], 2),
        (["run", "9"], 2),
        (["show", "zzz"], 2),
        (["mark", "1", "completed", "--why", " "], 2),
        (["accept", "env.X", "--why", ""], 2),
        (["export", "--format", "csv"], 2),
        (["run", "1", "baseline", "--detach"], 2),
        (["status", "--plan", "none.md"], 2),
        (["stop", "zzz"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_one_document_too(make: Make, arguments: list[str], code: int) -> None:
    called = make(FASTER, base=ONCE).call(*arguments, "--json")
    assert called.code == code
    assert set(json.loads(called.out)["error"]) >= {"code", "message", "hint", "where"}


def test_a_plan_without_items_isnt_called_done(make: Make) -> None:
    project = make(base="# Notes\n\nNothing yet.\n")
    called = project.call("next")
    assert (called.code, "the plan has no items" in called.err) == (3, True)
    assert "the plan has no items" in project.call("status").out
    assert project.call("next", "--all", "--detach").code == 3


def test_a_recipe_edited_since_is_stale_everywhere_and_the_log_keeps_the_treatment_that_was_measured(
    make: Make,
) -> None:
    project = make(FASTER)
    project.call("run", "1")
    project.write(FASTER.replace("140", "150"))
    log = project.call("export").out
    assert "| `env.SPEED` | not set | `140` |" in log
    assert "stale: a recipe was edited since" in log
    assert "improvement (stale)" in project.call("status").out
    shown = project.call("show", "1").out
    assert "edited since it was judged" in shown
    assert "! stale: this was found with a recipe that was edited since" in shown


def test_what_was_adopted_is_shown_and_an_effect_names_the_baseline_it_was_measured_against(
    make: Make,
) -> None:
    faster = item("1", "Faster", 'env: {SPEED: "120"}')
    project = make(faster + item("2", "Protocol", "env: {NCCL_PROTO: LL}"), base=QUICK)
    project.call("run", "1")
    assert project.call("adopt", "1", "--why", "faster").code == 0
    assert "completed, adopted" in project.call("status").out
    project.call("run", "2")
    project.call("adopt", "--undo")
    assert "completed, adopted" not in project.call("status").out
    best = next(line for line in project.call("export").out.splitlines() if "Best so far" in line)
    assert re.search(r"over the baseline of 12[01]\b", best)


def test_a_former_id_leads_to_the_item_and_not_to_a_run_that_ends_alike(make: Make) -> None:
    project = make(item("1A", "Tree algorithm", 'env: {SPEED: "140"}'), base=ONCE)
    project.call("run", "1A")
    project.write(item("2A", "Tree algorithm", 'env: {SPEED: "140"}'))
    shown = project.call("show", "1A")
    assert shown.out.startswith("2A  Tree algorithm")
    assert shown.err == "1A is called 2A now\n"
    assert "it is called 2A now" in project.call("run", "1A").err


def test_an_item_marked_in_progress_by_hand_isnt_said_to_be_run(make: Make) -> None:
    project = make(FASTER, base=ONCE)
    project.call("mark", "1", "in_progress", "--why", "by hand")
    called = project.call("run", "1")
    assert (called.code, "no run has it" in called.err) == (2, True)


def test_a_group_follows_its_items_unless_it_was_marked_itself(make: Make) -> None:
    below = item("1A", "Faster", 'env: {SPEED: "140"}') + item("1B", "Other", "env: {A: b}")
    project = make("## Priority 1: Both\n\n" + below.replace("## ", "### "), base=ONCE)
    project.call("mark", "1B", "completed", "--why", "by hand")
    assert project.items()["1"]["status"] == "pending"
    project.call("mark", "1A", "cancelled", "--why", "not now")
    assert project.items()["1"]["status"] == "completed"
    project.call("mark", "1A", "pending", "--why", "now")
    assert project.items()["1"]["status"] == "pending"
    project.call("mark", "1", "completed", "--why", "enough of it")
    project.call("mark", "1B", "pending", "--why", "once more")
    assert project.items()["1"]["status"] == "completed"  # by hand, so it stays


def test_comparing_with_the_baseline_takes_the_run_that_was_measured_beside(make: Make) -> None:
    project = make(FASTER, base=QUICK)
    project.call("next")
    project.call("next")
    judged = project.show("1")["judgement"]
    compared = project.call("compare", "1", "baseline", "--json").json
    assert compared["baseline"] == judged["baseline"]
    assert compared["method"] == "paired"


def test_what_was_run_before_a_command_broke_off_is_told_with_the_reason(make: Make) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = f"port: {holder.getsockname()[1]}\nlaunch: exec python3 -S -E server.py"
        project = make(item("1", "First", 'env: {A: "1"}') + item("2", "Port taken", taken), base=ONCE)
        called = project.call("run", "1", "2", "--json")
    assert called.code == 4
    assert [result["run"]["item"] for result in called.json["results"]] == ["1"]
    assert called.json["error"]["code"] == "host_unfit"


def test_an_item_with_a_secret_is_never_kept_beside_the_plans_text(make: Make) -> None:
    secret = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    project = make(item("1", "Both", f'env: {{HF_TOKEN: {secret}, A: "1"}}'), base=ONCE)
    for arguments in (["ablate", "1"], ["add", "Another", "--recipe", f"env: {{HF_TOKEN: {secret}}}"]):
        called = project.call(*arguments)
        assert (called.code, "env.HF_TOKEN" in called.err, secret in called.err) == (2, True, False)
    kept = [path for path in (project.folder / ".optrack").rglob("*") if path.is_file()]
    assert not [path for path in kept if secret.encode() in path.read_bytes()]
