"""A run's numbers are the same ones wherever they are shown, and say how they were worked out."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean, geometric_mean, median

import pytest

from tests.cli.conftest import Call
from tests.report.filled import FASTER, STEADY

VALUES = [value for launch in FASTER for value in launch]


def level(launches: tuple[tuple[float, float], ...]) -> float:
    """Return the geometric mean of the launches' means."""
    return geometric_mean([fmean(launch) for launch in launches])


def test_a_run_shows_its_median_and_the_level_that_effects_compare(folder: Path, call: Call) -> None:
    run = call("show", "1B", "--json").json["runs"][0]
    assert run["metrics"]["output_throughput"]["median"] == median(VALUES)
    out = call("show", run["id"]).out
    row = next(line for line in out.splitlines() if line.startswith("output_throughput"))
    heads = next(line for line in out.splitlines() if line.startswith("METRIC"))
    assert heads.split()[:3] == ["METRIC", "GEOMEAN", "MEDIAN"]
    assert [float(n) for n in re.findall(r"([\d.]+) tok/s", row)] == [
        float(f"{level(FASTER):.4g}"),
        float(f"{median(VALUES):.4g}"),
    ]


def test_a_row_has_both_levels_and_their_ratio_is_the_effect(folder: Path, call: Call) -> None:
    effect = call("show", "1B", "--json").json["judgement"]["effect"]["relative"]
    ours, theirs = level(FASTER), level(STEADY)
    assert ours / theirs - 1 == pytest.approx(effect, rel=1e-9)
    shown = f"{ours:.4g} tok/s (3 launches)", f"{theirs:.4g} tok/s (3 launches)"
    runs = next(line for line in call("runs").out.splitlines() if "  1B  " in line)
    assert all(text in runs for text in shown)
    items = next(line for line in call("export").out.splitlines() if line.startswith("| ↳ 1B"))
    assert f"| {shown[1]} | {shown[0]} | +19.9% " in items
    compared = call("compare", "1B", "baseline").out
    assert all(text in compared for text in shown)


def test_what_was_expected_is_told_by_one_rule(folder: Path, call: Call) -> None:
    where = call("show", "1B", "--json").json["expected"]["standing"]
    assert f", {where} that" in call("show", "1B").out
    row = next(line for line in call("export").out.splitlines() if line.startswith("| 1B | +10.0%"))
    assert row.endswith(f"| {where} |")


def test_a_loss_has_a_minus_and_a_verdict_has_the_same_mark_in_every_line(folder: Path, call: Call) -> None:
    out = call("export").out
    assert "✗ failed" in out and "▲ improvement" in out and "! no verdict" in out
    assert not re.search(r"[✖⚠]|[^\d\w>]-\d+(\.\d+)?%", out)
