"""The progress log says what stands where, and the same for the same records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from optrack.app.answers.logs import json_log
from optrack.render.data import csv_log
from optrack.render.document import markdown_log
from optrack.render.log import Log, selected
from tests.report.filled import CRASH, FASTER, STEADY, Filled, filled


def head(text: str) -> str:
    """Return what stands before the table of items."""
    return text.split("\n## ", 1)[0]


def table(text: str) -> str:
    """Return the table of items."""
    return text.split("\n## Items\n", 1)[1].split("\n\n```", 1)[0]


def fold(text: str, title: str) -> str:
    """Return what is folded under a title that begins so, with what is folded within."""
    depth, lines = 1, []
    for line in text.split(f"\n<summary>{title}", 1)[1].split("\n"):
        depth += (line == "<details>") - (line == "</details>")
        if not depth:
            break
        lines.append(line)
    return "\n".join(lines)


def visible(text: str) -> list[str]:
    """Return the lines that are seen before anything is unfolded."""
    depth, lines = 0, []
    for line in text.rstrip("\n").split("\n"):
        depth += line == "<details>"
        if not depth or (depth == 1 and line.startswith("<summary>")):
            lines.append(line)
        depth -= line == "</details>"
    return lines


def test_the_same_records_give_the_same_text(project: Filled) -> None:
    assert markdown_log(project.log()) == markdown_log(project.log())


def test_the_head_says_the_goal_and_how_far_it_is(project: Filled) -> None:
    first = head(markdown_log(project.log()))
    assert "Target 120 tok/s, **not reached**: 96.13 tok/s is the best that was measured" in first
    assert "**Best so far**: **1B**" in first
    assert "**Next**: **2** Fusion patch" in first


def test_the_head_says_what_gained_what_failed_and_what_has_no_verdict_and_why(project: Filled) -> None:
    lines = head(markdown_log(project.log())).splitlines()
    gained, failed, unfair = (
        next(line for line in lines if line.startswith(f"- **{heading}"))
        for heading in ("Gained", "Failed", "No verdict")
    )
    assert "**1B** Fewer channels: +19.9% (95% interval " in gained
    assert "**1A** Tree algorithm: failed in stage ready (nccl): NCCL error" in failed
    assert "**1C** More threads: unfair: LD_PRELOAD" in unfair


def test_the_head_says_how_much_launches_differ_and_which_effects_that_shows(project: Filled) -> None:
    line = next(line for line in head(markdown_log(project.log())).splitlines() if "**Baseline**" in line)
    found = re.search(
        r"Launches differ by ([\d.]+)%, so 3 launches a side show effects above ([\d.]+)%", line
    )
    assert found is not None
    assert 0.05 < float(found[1]) < 0.3 and 2 * float(found[1]) < float(found[2]) < 2


def test_every_launch_of_both_sides_is_evidence(project: Filled) -> None:
    details = fold(markdown_log(project.log()), "Details")
    own = details.split("### 1B", 1)[1].split("### 1C", 1)[0]
    assert "interleaved launch by launch" in own
    for row in ("| 1 | 80, 80.4 | 96, 96.3 |", "| 2 | 80.2, 79.9 | 96.4, 95.8 |", "| 3 | 80.1, 80.3 |"):
        assert row in own


def test_an_unexplained_difference_is_shown_with_its_meaning(project: Filled) -> None:
    details = fold(markdown_log(project.log()), "Details").split("### 1C", 1)[1]
    assert "**Also different, and not explained**" in details
    assert "`env.server.LD_PRELOAD`" in details


def test_the_line_that_matters_of_a_failure_is_told_with_its_fingerprint(project: Filled) -> None:
    failures = fold(markdown_log(project.log()), "Failures")
    assert "`NCCL error: invalid usage while CUDA graphs were captured`" in failures
    assert "| 1A | nccl | ready | 1 |" in failures


def test_what_was_accepted_and_decided_names_who_and_why(project: Filled) -> None:
    text = markdown_log(project.log())
    assert "| `hardware.boot.id` | the whole plan | ada |" in fold(text, "Accepted differences")
    assert "rebooted for the driver" in fold(text, "Accepted differences")
    assert "marked completed by hand | ada | read on paper" in fold(text, "Decisions")


def test_a_status_set_by_hand_is_labelled_in_every_format(project: Filled) -> None:
    log = project.log()
    assert "none (marked by hand)" in table(markdown_log(log))
    assert '"by_hand": true' in json_log(log)
    row = next(line for line in csv_log(log).splitlines() if line.startswith("3,"))
    assert row.startswith("3,completed,yes,,")


def test_only_decided_fair_results_calibrate_the_estimates(project: Filled) -> None:
    calibration = fold(markdown_log(project.log()), "Expected and measured")
    assert "| 1B | +10.0% to +20.0% |" in calibration
    assert "1A" not in calibration and "1C" not in calibration


def test_provenance_has_what_was_the_same_and_the_environment(project: Filled) -> None:
    provenance = fold(markdown_log(project.log()), "Provenance")
    assert "- **CPU**: `EPYC 9555, 64 cores`" in provenance
    assert "- **Code, project**: `aaaaaaaaaaaa (main)`" in provenance
    assert "| `NCCL_ALGO` | `Ring` |" in provenance


def test_items_narrow_the_log_to_themselves(project: Filled) -> None:
    text = markdown_log(selected(project.log(), items=["1B"]))
    assert "### 1B" in text
    assert "### 1A" not in text and "1C" not in table(text)


def test_since_leaves_out_the_details_of_what_is_older(project: Filled) -> None:
    log = project.log()
    late = selected(log, since=datetime(2026, 11, 1, 9, 39, tzinfo=UTC))
    text = markdown_log(late)
    assert "### 1C" in text and "### baseline" not in text
    assert "| ↳ 1B |" in table(text)
    assert "### " not in markdown_log(selected(log, since=datetime(2099, 1, 1, tzinfo=UTC)))


def test_a_plan_without_runs_has_a_log_too(project: Filled) -> None:
    log = project.log()
    bare = Log(plan=log.plan, states=(), runs=())
    text = markdown_log(bare)
    assert "**Baseline**: not measured yet" in text
    assert "no fair improvement yet" in text


def test_how_false_improvements_are_bounded_and_how_good_the_estimates_were_is_folded(
    project: Filled,
) -> None:
    text = markdown_log(project.log())
    bounded = fold(text, "How to read this")
    assert "The chance of even one false improvement among 4 comparisons" in bounded
    assert "Bonferroni: 1.25% for each" in bounded
    assert "The estimates of this plan were 1.3 times too low (over 1 item" in fold(text, "Expected")


def test_runs_on_an_adopted_base_are_told_apart_from_the_originals(tmp_path: Path) -> None:
    project = filled(tmp_path / "own")
    campaign = project.campaign
    judged = next(state.judgement for state in campaign.states if state.item.id == "1B")
    assert judged is not None
    at = campaign.reader.run(judged.candidate).started_at
    project.store.adopt(campaign.plan.name, "1B", who="ada", why="faster", at=at, run=judged.candidate)
    project.minutes += 600
    project.run("baseline", FASTER)
    said = fold(markdown_log(project.log()), "Baselines")
    assert "**the original**" in said and "**with 1B adopted**" in said
    assert "| 1B |" in said and "in force" in said
    assert "moved by" not in said


MANY = """---
title: Twelve things
metric: {name: output_throughput, unit: tok/s, better: higher}
min_effect: 2%
---

```yaml recipe
launch: python server.py
bench: python bench.py
launches: 3
```

## Baseline
""" + "".join(
    f"\n## {n}: Setting number {n}\n\n```yaml recipe\nenv: {{NCCL_SETTING: {n}}}\n```\n" for n in range(1, 13)
)


def scaled(launches: Sequence[Sequence[float]], factor: float) -> list[list[float]]:
    return [[value * factor for value in launch] for launch in launches]


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Twelve items: gains, losses, failures, nothing, undecided ones; one fails after two complete pairs."""
    made = Filled(tmp_path_factory.mktemp("twelve") / "project", MANY)
    made.run("baseline", STEADY)
    noisy = ((60.0, 61.0), (99.0, 98.0), (80.0, 81.0))
    for item in range(1, 12):
        if item in (4, 5, 6):
            made.run(str(item), (), failure=CRASH)
        elif item in (7, 8, 9):
            made.pair(str(item), scaled(STEADY, 1.0005), STEADY)
        elif item in (10, 11):
            made.pair(str(item), noisy, STEADY)
        else:
            made.pair(str(item), scaled(STEADY, 1 + item / 10 if item < 3 else 0.7), STEADY)
    late = made.run("12", scaled(STEADY[:2], 0.1), judged=False)
    made.run("baseline", STEADY, beside=late)
    made.end(late, failure=CRASH)
    yield made
    made.store.close()


def test_the_story_is_told_in_25_lines_and_all_that_is_seen_in_80(twelve: Filled) -> None:
    text = markdown_log(twelve.log())
    first = head(text)
    assert len(first.splitlines()) <= 25
    for heading in ("Goal", "Baseline", "Gained", "Worse", "Failed", "No effect", "Can't be told", "Next"):
        assert f"- **{heading}" in first
    assert len(visible(text)) <= 80
    assert {f"**{n}** Setting" in first for n in range(1, 13)} == {True}
    assert first.index("**2** Setting") < first.index("**1** Setting")


def test_what_cannot_be_told_says_what_it_would_take(twelve: Filled) -> None:
    line = next(line for line in head(markdown_log(twelve.log())).splitlines() if "**10** Setting" in line)
    assert re.search(
        r"after 3 launches a side; (about \d+ launches a side would tell|more launches would)", line
    )


def test_the_complete_pairs_of_a_run_that_failed_later_are_told(twelve: Filled) -> None:
    text = markdown_log(twelve.log())
    assert "its 2 complete pairs showed −90.0%" in head(text)
    assert "−90.0% in 2 complete pairs" in next(
        line for line in table(text).splitlines() if line.startswith("| 12 |")
    )


def test_a_short_log_is_what_is_seen_of_the_whole_one(twelve: Filled) -> None:
    log = twelve.log()
    short = markdown_log(log, short=True)
    assert "<details>" not in short
    assert [line for line in short.splitlines() if line] == [
        line for line in visible(markdown_log(log)) if line and not line.startswith("<summary>")
    ]
