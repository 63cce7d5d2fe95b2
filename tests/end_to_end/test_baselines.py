"""Baselines over a campaign: adopted and undone, measured again, rejected; and what rests on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.campaigns import BASE, QUICK, Campaign, Make, item

FASTER = item("1", "Faster", 'env: {SPEED: "140"}')
PROTOCOL = item("2", "Another protocol", "env: {NCCL_PROTO: LL}")
SAME = item("2", "Nothing much", 'env: {SPEED: "100.2"}')
TUNED = {"NCCL_PROTO": "LL"}
AUTO = QUICK.replace("min_effect: 2%", "min_effect: 2%\nadopt: auto")


def in_blocks(base: str) -> str:
    """Return the base with launches that don't alternate."""
    return base.replace("launches: 3", "launches: 3\norder: block")


def accept_what_a_bare_folder_cannot_show(project: Campaign) -> None:
    """Accept that the folder is in no repository and that its host is shared."""
    for field in ("git.project", "load"):
        assert project.call("accept", field, "--why", "a test").code == 0


def baseline_run(project: Campaign) -> str:
    """Return the id of the baseline's latest run on its own."""
    return max(str(run["id"]) for run in project.runs() if run["item"] == "baseline" and not run["beside"])


def verdicts(project: Campaign) -> dict[str, Any]:
    """Return the verdict in force of each item but the baseline."""
    return {name: found["verdict"] for name, found in project.items().items() if name != "baseline"}


def test_the_campaign_with_a_lost_variable_ends_with_the_right_conclusions(make: Make) -> None:
    project = make(FASTER + SAME, base=in_blocks(BASE))
    assert project.call("next", env=TUNED).code == 0
    accept_what_a_bare_folder_cannot_show(project)
    for _ in range(2):
        assert project.call("next").code == 0
    assert {found["comparison"] for name, found in project.items().items() if name != "baseline"} == {
        "unfair"
    }
    assert verdicts(project) == {"1": None, "2": None}
    first = baseline_run(project)
    why = "NCCL_PROTO was set in its shell alone"
    told = project.call("audit", "--baseline", first, "--why", why)
    assert f"{first} is no longer compared with: {why}" in told.out
    assert {found["status"] for found in project.items().values()} == {"pending"}
    assert project.call("next", "--all", env=TUNED).code == 0
    found = verdicts(project)
    assert found["1"] == "improvement"
    assert found["2"] in ("no_change", "inconclusive")  # a busy machine may not let it be seen
    assert {found["comparison"] for name, found in project.items().items() if name != "baseline"} == {"fair"}
    assert project.show("1")["judgement"]["baseline"] != first
    assert f"rejected: {why}" in project.call("show", "baseline").out
    assert why in project.call("export").out


def test_launches_in_block_order_are_as_many_as_the_recipe_says_between_two_baselines(make: Make) -> None:
    base = QUICK.replace("launches: 3", "launches: 2\norder: block\nderived: {gain: score - baseline.score}")
    project = make(FASTER, base=base)
    assert project.call("next", "--all").code == 0
    accept_what_a_bare_folder_cannot_show(project)
    shown = project.show("1")
    assert [len(run["metrics"]["score"]["values"]) for run in shown["runs"]] == [2]
    assert verdicts(project) == {"1": "improvement"}
    assert not any("session" in reason for reason in shown["judgement"]["reasons"])
    assert shown["judgement"]["derived"]["gain"] == pytest.approx(40, abs=3)
    project.call("audit", "--baseline", baseline_run(project), "--why", "another job ran")
    assert project.show("1")["judgement"]["derived"]["gain"] == pytest.approx(40, abs=3)


def test_every_conclusion_that_rested_on_a_rejected_baseline_falls_and_is_offered_again(make: Make) -> None:
    project = make(FASTER, base=in_blocks(QUICK))
    project.call("next")
    accept_what_a_bare_folder_cannot_show(project)
    first = baseline_run(project)
    project.call("next")
    assert verdicts(project) == {"1": "inconclusive"}
    assert project.call("next").out.startswith("baseline: succeeded")
    assert verdicts(project) == {"1": "improvement"}
    answer = project.call("audit", "--baseline", first, "--why", "another job ran", "--json").json
    assert answer["rejected"] == first
    (change,) = answer["changed"]
    assert (change["item"], change["before"], change["after"]) == ("1", "improvement", None)
    assert "Another job ran" in change["why"]
    assert change["offered_again"]
    moves = [
        move for move in project.call("export", "--format", "json").json["transitions"] if not move["run"]
    ]
    assert {move["item"] for move in moves if move["after"] == "pending"} == {"1"}
    assert not any(move["by_hand"] for move in moves)
    assert project.call("audit").out == "every verdict stands\n"
    assert project.call("next", "--all").code == 0
    assert verdicts(project) == {"1": "improvement"}
    assert project.show("1")["judgement"]["baseline"] != first


def test_a_baseline_is_rejected_by_run_and_reason(make: Make) -> None:
    project = make(FASTER, base=QUICK)
    assert project.call("run", "1").code == 0
    judgement = project.show("1")["judgement"]
    for arguments, words in (
        (("--baseline", judgement["baseline"]), "with a reason"),
        (("--baseline", "no-such-run", "--why", "x"), "there is no run"),
        (("--baseline", judgement["candidate"], "--why", "x"), "not of the baseline"),
        (("--baseline", judgement["baseline"], "--why", " "), "reason is empty"),
    ):
        called = project.call("audit", *arguments)
        assert called.code == 2
        assert words in called.err


def test_what_follows_an_adoption_is_judged_against_its_base_and_the_original(make: Make) -> None:
    project = make(FASTER + PROTOCOL, base=AUTO)
    assert project.call("next", "--all").code == 0
    assert verdicts(project) == {"1": "improvement", "2": "improvement"}
    registry = project.show("baseline")["registry"]
    assert [base["adopted"] for base in registry["bases"]] == [[], ["1"]]
    assert [(a["item"], a["who"], a["stands"]) for a in registry["adoptions"]] == [
        ("1", "optrack", True),
        ("2", "optrack", True),
    ]
    assert project.show("1")["against_original"] is None
    shown = project.show("2")
    assert shown["judgement"]["effect"]["relative"] == pytest.approx(0.40, abs=0.03)
    original = shown["against_original"]
    assert original["verdict"] == "inconclusive"
    assert original["effect"]["relative"] == pytest.approx(0.96, abs=0.06)
    assert original["baseline"] == project.show("1")["judgement"]["baseline"]
    assert project.items()["2"]["effect"] == shown["judgement"]["effect"]
    words = project.call("show", "2").out
    assert "over the adopted base, +9" in words and "over the original" in words
    log = project.call("export").out
    assert "over the adopted base, +9" in log
    assert "with 1 adopted" in log
    assert "| 1 | adopted as the new baseline on" in log.replace("\\", "")


def test_the_registry_keeps_undone_adoptions_and_names_one_whose_evidence_fell(make: Make) -> None:
    project = make(FASTER + PROTOCOL, base=QUICK)
    project.call("run", "1")
    assert project.show("baseline")["registry"]["adoptions"] == []
    assert project.call("adopt", "1", "--why", "it is faster").code == 0
    project.call("run", "2")
    assert project.call("adopt", "--undo").code == 0
    project.call("run", "2")
    (adoption,) = project.show("baseline")["registry"]["adoptions"]
    assert (adoption["who"], adoption["undone_by"]) == ("ada", "ada")
    assert "undone" in project.call("show", "baseline").out
    assert project.show("2")["against_original"] is None
    assert "adoption undone" in project.call("export").out
    project.call("adopt", "1", "--why", "again")
    beside = project.show("1")["judgement"]["baseline"]
    answer = project.call("audit", "--baseline", beside, "--why", "throttled", "--json").json
    assert answer["adopted_without_evidence"] == ["1"]
    assert "its evidence doesn't stand" in project.call("show", "baseline").out


def test_the_drift_of_the_baseline_between_its_measurements_is_told(make: Make) -> None:
    project = make(base=QUICK)
    project.call("run", "baseline")
    project.call("run", "baseline", env=TUNED)
    (base,) = project.show("baseline")["registry"]["bases"]
    assert len(base["measurements"]) == 2
    assert base["drift"].startswith("The baseline moved by ")
    assert base["drift"] in project.call("show", "baseline").out
    assert "The baseline moved by " in project.call("export").out


def test_comparing_an_item_says_what_was_judged_though_the_baseline_was_measured_again(make: Make) -> None:
    project = make(FASTER, base=in_blocks(QUICK))
    assert project.call("next", "--all").code == 0
    judged = project.show("1")["judgement"]
    assert project.call("run", "baseline").code == 0
    compared = project.call("compare", "1", "baseline", "--json").json
    assert (compared["baseline"], compared["effect"]) == (judged["baseline"], judged["effect"])
    itself = project.call("compare", "1", "1")
    assert (itself.code, "mean the same run" in itself.err) == (2, True)
    anew = project.call("compare", "1", baseline_run(project), "--json").json
    assert anew["baseline"] == baseline_run(project) != judged["baseline"]
