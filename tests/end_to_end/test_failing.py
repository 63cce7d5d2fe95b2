"""What fails is recorded as a failure with its cause, and nothing that measured nothing passes as measured."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.campaigns import QUICK, Campaign, Make, item, wait_for

ONCE = QUICK.replace("launches: 3", "launches: 1")
NOTHING_COMPLETED = """\
============ Serving Benchmark Result ============
Successful requests:                     0
Failed requests:                         8
Benchmark duration (s):                  1.10
Output token throughput (tok/s):         0.00
Mean TTFT (ms):                          0.00
==================================================
"""


def latest(project: Campaign) -> Any:
    """Return the latest run of item 1, with its failure."""
    return project.show("1")["runs"][-1]


def test_a_benchmark_that_fails_behind_a_pipe_fails_with_its_own_exit_code(make: Make) -> None:
    project = make(item("1", "Piped", 'bench: "(echo score = 5; exit 3) | tee out.txt"'), base=ONCE)
    assert project.call("run", "1").code == 1
    run = latest(project)
    assert (run["outcome"], run["stage"], run["metrics"]) == ("failed", "bench", {})
    assert run["failure"]["message"] == ("bench: exit code 3; the log ends with: score = 5")


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        ("bench: echo score = nan", "nan is no finite number"),
        ("bench: cat table.txt\nmetrics: null", "no request was completed (8 failed)"),
    ],
    ids=["NaN", "zero completed"],
)
def test_a_run_without_one_valid_repetition_fails_and_stops_after_its_first_launch(
    make: Make, recipe: str, why: str
) -> None:
    project = make(item("1", "Nothing", recipe + "\nlaunches: 3"), base=ONCE)
    (project.folder / "table.txt").write_text(NOTHING_COMPLETED, encoding="utf-8")
    assert project.call("run", "1").code == 1
    found = project.show("1")
    run = found["runs"][-1]
    assert (run["outcome"], run["stage"], run["failure"]["kind"]) == ("failed", "parse", "invalid_result")
    assert why in run["failure"]["message"]
    assert all(len(metric["values"]) == 1 for metric in run["metrics"].values())
    assert found["judgement"]["verdict"] == "failed"


def test_a_baseline_that_measured_nothing_valid_isnt_called_measured(make: Make) -> None:
    project = make(base=ONCE.replace("bash bench.sh", "echo score = nan"))
    assert project.call("next").code == 1
    assert project.items()["baseline"]["status"] == "pending"


def test_a_folder_that_isnt_there_is_named_as_people_write_it(make: Make) -> None:
    project = make(item("1", "Nowhere", "cwd: nowhere"), base=ONCE)
    assert project.call("run", "1").code == 1
    message = latest(project)["failure"]["message"]
    assert message == f"{project.folder / 'nowhere'}: no such file or directory"


def test_a_run_that_is_stopped_leaves_the_verdict_found_before_and_is_no_failure(make: Make) -> None:
    project = make(item("1", "Faster", 'env: {SPEED: "140"}'), base=QUICK)
    assert project.call("run", "1").code == 0
    (project.folder / "bench.sh").write_text("sleep 60\n", encoding="utf-8")
    run = project.call("run", "1", "--detach").out.strip()
    wait_for(lambda: (project.folder / f".optrack/runs/{run}/launch-0/bench.log").exists(), "the pass")
    assert project.call("stop", run).code == 0
    assert project.items()["1"]["verdict"] == "improvement"
    assert project.call("failures").err == "no run has failed\n"
    assert "Failed in stage" not in project.call("export").out
