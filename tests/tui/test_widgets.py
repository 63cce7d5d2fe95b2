"""Rows, progress, charts and a comparison in words: what the screens show is worked out without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from optrack.app.viewing import history, run_view
from optrack.app.watching import View, Watcher
from optrack.errors import UsageError
from optrack.model.events import Entry, Noted, RunEnded, StopRequested
from optrack.model.judgement import Difference
from optrack.model.run import STAGES
from optrack.settings import load_settings
from optrack.tui import serve
from optrack.tui.screens.compare import differences, statistics
from optrack.tui.widgets.charts import Strip, metric_history, spark, strip_plot
from optrack.tui.widgets.plan_list import ListFilter, arranged, columns
from optrack.tui.widgets.stages import Progress, followed, remaining_s, stage_lines
from tests.tui.project import begin_run, fill

BEGAN = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
NOW = BEGAN + timedelta(minutes=5)
TOOK = {"launch": 15.0, "ready": 15.0, "bench": 60.0, "teardown": 5.0}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill(tmp_path_factory.mktemp("widgets") / "project")
    begin_run(folder, "2", BEGAN)
    return folder


@pytest.fixture(scope="module")
def view(project: Path) -> Iterator[View]:
    watcher = Watcher(load_settings(project))
    watcher.update()
    found = watcher.look()
    assert found is not None
    yield found


@pytest.fixture(scope="module")
def entries(view: View) -> tuple[Entry, ...]:
    found = run_view(view, view.live[0].id, 0, None)
    assert found is not None
    return tuple(found.entries)


def ids(view: View, by: ListFilter) -> list[str]:
    return [row.state.item.id for row in arranged(view, by)]


def test_the_tree_keeps_the_plans_order_and_a_folded_item_hides_its_children(view: View) -> None:
    assert ids(view, ListFilter())[:5] == ["baseline", "1", "1A", "1B", "1C"]
    assert ids(view, ListFilter(folded=frozenset({"1"})))[:3] == ["baseline", "1", "2"]


def test_a_list_that_is_not_the_whole_plan_by_rank_says_so() -> None:
    assert ListFilter().summary == ""
    by = ListFilter(order="value", only="failed", words=" nccl ")
    assert by.summary == "by value, only failed, with 'nccl'"


def test_a_match_keeps_what_is_above_it(view: View) -> None:
    assert ids(view, ListFilter(words="tree algo")) == ["1", "1A"]
    assert ids(view, ListFilter(only="blocked")) == ["1", "1D"]


def test_sorted_by_value_what_promises_most_for_its_effort_comes_first(view: View) -> None:
    worth = [view.worth.get(name, 0.0) for name in ids(view, ListFilter(order="value"))]
    assert worth == sorted(worth, reverse=True)


def test_sorted_by_result_improvements_come_first_and_the_unjudged_last(view: View) -> None:
    assert ids(view, ListFilter(order="result"))[:3] == ["1B", "1A", "1C"]


def test_the_interval_of_each_item_is_drawn_on_one_axis_that_its_head_names(view: View) -> None:
    rows = {row.state.item.id: row for row in arranged(view, ListFilter())}
    drawn = next(c for c in columns(list(rows.values()), 140, view.plan.min_effect) if "+10%" in c.title)
    gained, failed, open_ = (drawn.cell(rows[item]).text for item in ("1B", "1A", "2"))
    assert failed.index("✗") == open_.index("│") == drawn.title.index("0")
    assert drawn.title.index("+10%") < gained.index("●") < gained.index("┤") < drawn.width


def test_progress_tells_stage_launch_and_pass(entries: tuple[Entry, ...]) -> None:
    progress = followed(Progress(), entries)
    assert (progress.stage, progress.launch, progress.passes) == ("bench", 1, 1)
    assert not progress.two_sided


def test_entries_seen_twice_change_nothing(entries: tuple[Entry, ...]) -> None:
    once = followed(Progress(), entries)
    assert followed(once, entries) == once
    assert followed(followed(Progress(), entries[:7]), entries) == once


def test_a_stop_is_shown_until_the_run_has_ended() -> None:
    events = (Noted(text="[n]"), StopRequested(actor="mara"), RunEnded(outcome="interrupted", stage="bench"))
    journal = [Entry(seq=i + 1, run="r", at=NOW, event=e) for i, e in enumerate(events)]
    assert followed(Progress(), journal[:2]).stopping
    progress = followed(Progress(), journal)
    assert progress.ended is not None and progress.notes == ("[n]",)
    assert remaining_s(progress, {"bench": 60.0}, NOW) is None


def test_what_is_left_counts_this_launch_and_those_to_come(entries: tuple[Entry, ...]) -> None:
    progress = followed(Progress(), entries)
    assert progress.since is not None
    now = progress.since + timedelta(seconds=40)
    took: dict[Any, float] = dict(TOOK)
    assert remaining_s(progress, took, now) == pytest.approx(20 + 5 + 95)
    assert remaining_s(progress, {}, now) is None


@pytest.mark.parametrize("width", [20, 60, 78, 138])
@pytest.mark.parametrize("count", range(0, 24, 3))
def test_stage_lines_fit_the_width_at_any_time(entries: tuple[Entry, ...], width: int, count: int) -> None:
    took: dict[Any, float] = dict(TOOK)
    lines = stage_lines(followed(Progress(), entries[:count]), took, NOW, width)
    assert all(line.cell_length <= max(width, 80) for line in lines)
    assert count == 0 or all(stage in "".join(line.plain for line in lines) for stage in STAGES)


def test_a_strip_plot_has_a_line_for_each_launch_and_marks_the_median() -> None:
    lines = strip_plot([Strip("candidate 1", (1.0, 2.0, 2.0)), Strip("2", (3.0,))], "ms", 60)
    assert len(lines) == 3
    assert "o" in lines[0].plain and "|" in lines[0].plain
    assert strip_plot([], "ms", 60) == []
    assert strip_plot([Strip("a", (1.0,))], "ms", 12) == []


@pytest.mark.parametrize("size", [(24, 6), (60, 10), (140, 30)])
def test_the_history_of_the_metric_has_a_sign_for_each_run_within_its_place(
    view: View, size: tuple[int, int]
) -> None:
    steps = [step for step in history(view) if step.value is not None]
    lines = [line.plain for line in metric_history(steps, "m", *size)]
    assert len(lines) == size[1]
    assert all(len(line) <= size[0] for line in lines[1:])
    drawn = "".join(line.partition("│")[2] for line in lines[1:-1])
    assert sorted(drawn.replace(" ", "")) == ["b", "b", "o", "o"]
    assert "o" in lines[1] and "b" in lines[-2]


def test_a_spark_is_as_wide_as_its_place() -> None:
    assert spark((0.0, 50.0, 100.0), 100, 5) == "  ▁▅█"
    assert spark((), None, 3) == "   "
    assert len(spark(tuple(float(i) for i in range(500)), None, 20)) == 20


def difference(field: str, cls: Any, severity: Any) -> Difference:
    return Difference(field=field, baseline=1, candidate=2, cls=cls, severity=severity)


def test_a_difference_says_whether_it_stands_in_the_way_of_a_verdict() -> None:
    every = [
        difference(f"{cls}.{severity}", cls, severity)
        for cls in ("unexplained", "unknown", "volatile")
        for severity in ("blocking", "note")
    ]
    lines = [
        line.plain for line in differences([*every, difference("declared.note", "declared", "note")], 80)
    ]
    groups: dict[str, str] = {}
    title = ""
    for line in filter(None, lines):
        title = line if not line.startswith(" ") else title
        groups[line.split()[0]] = title
    assert all(groups[f"{cls}.note"].startswith(".") for cls in ("unexplained", "unknown", "volatile"))
    assert all("unfair" in groups[f"{cls}.blocking"] for cls in ("unexplained", "volatile"))
    assert all(sum(one.field in line for line in lines) == 1 for one in every)


def test_a_row_of_the_statistics_is_a_line_with_its_unit(view: View) -> None:
    run = view.campaign.reader.run("1B")
    metric = run.samples[0].metric.model_copy(
        update={"unit": "requests", "name": "total_output_tokens_retokenized"}
    )
    both = run.model_copy(
        update={"samples": tuple(s.model_copy(update={"metric": metric}) for s in run.samples)}
    )
    lines = statistics(both, both, 77)
    assert max(line.cell_length for line in lines) <= 77
    assert lines[-1].plain.endswith("requests")


def test_serving_to_other_machines_must_be_asked_for() -> None:
    with pytest.raises(UsageError, match="other machines"):
        serve.serve("true", host="0.0.0.0")
    assert serve.is_loopback("::1") and serve.is_loopback("localhost") and not serve.is_loopback("gpu-07")


def test_served_screens_are_read_only_unless_told_otherwise() -> None:
    assert serve.command_line(["--plan", "a b.md"]).endswith("--plan 'a b.md' --read-only")
    assert "--read-only" not in serve.command_line(writable=True)
