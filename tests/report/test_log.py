"""The progress log says what stands where, and the same for the same records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from optrack.app.answers.logs import json_log
from optrack.render.data import csv_log
from optrack.render.document import markdown_log
from optrack.render.log import Log, selected
from tests.report.filled import FASTER, Filled, filled


def section(text: str, heading: str) -> str:
    """Return what stands under a heading of the second level."""
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_the_same_records_give_the_same_text(project: Filled) -> None:
    assert markdown_log(project.log()) == markdown_log(project.log())


def test_the_head_says_the_goal_and_how_far_it_is(project: Filled) -> None:
    head = markdown_log(project.log()).split("\n## ", 1)[0]
    assert "target 120 tok/s" in head
    assert "**not reached**: 96.13 tok/s is the best that was measured" in head
    assert "**Best so far**: **1B**" in head
    assert "**Next**: **2** Fusion patch" in head


def test_negative_results_stand_beside_the_gains(project: Filled) -> None:
    results = section(markdown_log(project.log()), "Results")
    assert results.index("**1B** Fewer channels") < results.index("**Lost, failed or without effect**")
    assert "**1A** Tree algorithm: failed in stage ready (nccl): NCCL error" in results
    assert "**1C** More threads: The comparison is unfair" in results


def test_every_launch_of_both_sides_is_evidence(project: Filled) -> None:
    details = section(markdown_log(project.log(), level=1), "Details")
    own = details.split("### 1B", 1)[1].split("### 1C", 1)[0]
    assert "interleaved launch by launch" in own
    for row in ("| 1 | 80, 80.4 | 96, 96.3 |", "| 2 | 80.2, 79.9 | 96.4, 95.8 |", "| 3 | 80.1, 80.3 |"):
        assert row in own


def test_an_unexplained_difference_is_shown_with_its_meaning(project: Filled) -> None:
    details = section(markdown_log(project.log()), "Details").split("### 1C", 1)[1]
    assert "**Also different, and not explained**" in details
    assert "`env.server.LD_PRELOAD`" in details


def test_the_line_that_matters_of_a_failure_is_told_with_its_fingerprint(project: Filled) -> None:
    failures = section(markdown_log(project.log()), "Failures")
    assert "`NCCL error: invalid usage while CUDA graphs were captured`" in failures
    assert "| 1A | nccl | ready | 1 |" in failures


def test_what_was_accepted_and_decided_names_who_and_why(project: Filled) -> None:
    text = markdown_log(project.log())
    assert "| `hardware.boot.id` | the whole plan | ada |" in section(text, "Accepted differences")
    assert "rebooted for the driver" in section(text, "Accepted differences")
    assert "marked completed by hand | ada | read on paper" in section(text, "Decisions")


def test_a_status_set_by_hand_is_labelled_in_every_format(project: Filled) -> None:
    log = project.log()
    assert "none (marked by hand)" in section(markdown_log(log), "Items")
    assert '"by_hand": true' in json_log(log)
    row = next(line for line in csv_log(log).splitlines() if line.startswith("3,"))
    assert row.startswith("3,completed,yes,,")


def test_only_decided_fair_results_calibrate_the_estimates(project: Filled) -> None:
    calibration = section(markdown_log(project.log()), "Expected and measured")
    assert "| 1B | +10.0% to +20.0% |" in calibration
    assert "1A" not in calibration and "1C" not in calibration


def test_provenance_has_what_was_the_same_and_the_environment(project: Filled) -> None:
    provenance = section(markdown_log(project.log()), "Provenance")
    assert "- **CPU**: `EPYC 9555, 64 cores`" in provenance
    assert "- **Code, project**: `aaaaaaaaaaaa (main)`" in provenance
    assert "| `NCCL_ALGO` | `Ring` |" in provenance


def test_items_narrow_the_log_to_themselves(project: Filled) -> None:
    text = markdown_log(selected(project.log(), items=["1B"]))
    assert "### 1B" in text
    assert "### 1A" not in text and "1C" not in section(text, "Items")


def test_since_leaves_out_the_details_of_what_is_older(project: Filled) -> None:
    log = project.log()
    late = selected(log, since=datetime(2026, 11, 1, 9, 39, tzinfo=UTC))
    text = markdown_log(late)
    assert "### 1C" in text and "### baseline" not in text
    assert "| ↳ 1B |" in section(text, "Items")
    assert "### " not in markdown_log(selected(log, since=datetime(2099, 1, 1, tzinfo=UTC)))


def test_a_plan_without_runs_has_a_log_too(project: Filled) -> None:
    log = project.log()
    bare = Log(plan=log.plan, states=(), runs=())
    text = markdown_log(bare)
    assert "**Baseline**: not measured yet" in text
    assert "no fair improvement yet" in text


def test_the_head_says_how_false_improvements_are_bounded_and_how_good_the_estimates_were(
    project: Filled,
) -> None:
    head = markdown_log(project.log()).split("\n## ", 1)[0]
    assert "**Many comparisons**: The chance of even one false improvement among 4 comparisons" in head
    assert "Bonferroni: 1.25% for each" in head
    assert "**Estimates**: The estimates of this plan were 1.3 times too low (over 1 item" in head


def test_runs_on_an_adopted_base_are_told_apart_from_the_originals(tmp_path: Path) -> None:
    project = filled(tmp_path / "own")
    campaign = project.campaign
    judged = next(state.judgement for state in campaign.states if state.item.id == "1B")
    assert judged is not None
    at = campaign.reader.run(judged.candidate).started_at
    project.store.adopt(campaign.plan.name, "1B", who="ada", why="faster", at=at, run=judged.candidate)
    project.minutes += 600
    project.run("baseline", FASTER)
    said = section(markdown_log(project.log()), "Baselines")
    assert "**the original**" in said and "**with 1B adopted**" in said
    assert "| 1B |" in said and "in force" in said
    assert "moved by" not in said
