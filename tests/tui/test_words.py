"""Rows, progress and figures: what the screens show is worked out without a screen."""

from __future__ import annotations

import math

import pytest

from optrack.errors import UsageError
from optrack.model.events import Entry, Noted, RunEnded, StopRequested
from optrack.model.judgement import Effect
from optrack.model.plan import STATUSES, Quantity
from optrack.tui import figures, marks, serve
from optrack.tui.pictures import picture_of
from optrack.tui.plan_rows import Looking, arranged
from optrack.tui.progress import Progress, followed, remaining_s
from optrack.tui.screens.history import against
from optrack.tui.widgets.gauges import course
from optrack.tui.widgets.stage_bar import stage_lines
from optrack.tui.widgets.strip_plot import Strip, strip_plot
from tests.tui.enacted_plan import NOW
from tests.tui.enacted_runs import STAGE_S, live_journal
from tests.tui.fake_board import FakeBoard


def ids(board: FakeBoard, looking: Looking) -> list[str]:
    return [row.state.item.id for row in arranged(board.items(), looking, choice=board.choice())]


def test_the_tree_keeps_the_plans_order_and_a_folded_item_hides_its_children(board: FakeBoard) -> None:
    assert ids(board, Looking())[:5] == ["baseline", "1", "1A", "1B", "1C"]
    assert ids(board, Looking(folded=frozenset({"1"})))[:3] == ["baseline", "1", "2"]


def test_a_list_that_is_not_the_whole_plan_by_rank_says_so() -> None:
    assert Looking().told == ""
    assert Looking(order="value", only="failed", words=" nccl ").told == "by value, only failed, with 'nccl'"


def test_a_match_keeps_what_is_above_it(board: FakeBoard) -> None:
    assert ids(board, Looking(words="tree NCCL_")) == ["1", "1A"]
    assert ids(board, Looking(only="blocked")) == ["1", "1C"]


def test_sorted_by_value_what_promises_most_for_its_effort_comes_first(board: FakeBoard) -> None:
    assert ids(board, Looking(order="value"))[:3] == ["2", "1", "1B"]


def test_sorted_by_result_improvements_come_first_and_the_unjudged_last(board: FakeBoard) -> None:
    assert ids(board, Looking(order="result"))[:4] == ["4", "3", "1A", "2"]


def test_ten_thousand_items_are_arranged(board: FakeBoard) -> None:
    first = board.items()[0]
    many = [
        first.model_copy(update={"item": first.item.model_copy(update={"id": f"i{n}", "rank": n})})
        for n in range(10_000)
    ]
    assert len(arranged(many, Looking())) == 10_000


def test_progress_tells_stage_side_launch_and_pass() -> None:
    progress = followed(Progress(), live_journal())
    assert (progress.stage, progress.side, progress.launch, progress.passes) == ("bench", "baseline", 1, 3)
    assert progress.two_sided


def test_entries_seen_twice_change_nothing() -> None:
    once = followed(Progress(), live_journal())
    assert followed(once, live_journal()) == once
    assert followed(followed(Progress(), live_journal()[:7]), live_journal()) == once


def test_the_end_a_stop_and_notes_are_kept() -> None:
    events = (Noted(text="[n]"), StopRequested(actor="mara"), RunEnded(outcome="interrupted", stage="bench"))
    progress = followed(
        Progress(), [Entry(seq=i + 1, run="r", at=NOW, event=e) for i, e in enumerate(events)]
    )
    assert progress.notes == ("[n]",)
    assert progress.stopping
    assert progress.ended is not None
    assert remaining_s(progress, STAGE_S, NOW) is None


def test_what_is_left_counts_this_launch_and_those_to_come() -> None:
    progress = followed(Progress(), live_journal())
    left = remaining_s(progress, STAGE_S, NOW)
    assert left == pytest.approx(3 * sum(STAGE_S.values()) + (188 - 130.2) + 0.2 + 11, abs=1)
    assert remaining_s(progress, {}, NOW) is None


@pytest.mark.parametrize("width", [20, 60, 78, 138])
@pytest.mark.parametrize("count", range(0, 34, 3))
def test_stage_lines_fit_the_width_at_any_time(width: int, count: int) -> None:
    progress = followed(Progress(), live_journal()[:count])
    lines = stage_lines(progress, STAGE_S, NOW, width)
    assert all(line.cell_length <= max(width, 76) for line in lines)


def test_a_strip_plot_has_a_line_for_each_launch_and_marks_the_median() -> None:
    lines = strip_plot([Strip("candidate 1", (1.0, 2.0, 2.0)), Strip("2", (3.0,))], "ms", 60)
    assert len(lines) == 3
    assert "o" in lines[0].plain and "|" in lines[0].plain
    assert strip_plot([], "ms", 60) == []
    assert strip_plot([Strip("a", (1.0,))], "ms", 12) == []


def test_figures_are_short_and_odd_values_are_named() -> None:
    assert figures.number(math.nan) == "nan"
    assert figures.number(None) == "-"
    assert figures.number(88.8, "tok/s") == "88.80 tok/s"
    assert figures.number(12345.6) == "12,346"
    assert figures.duration(3723) == "1:02:03"
    assert figures.interval(Effect(relative=0.1, low=-0.01, high=0.2, confidence=0.95)) == "[-1.0, +20.0]"
    assert figures.size(1_900_000_000) == "1.9 GB"
    assert figures.plural(1, "run") == "1 run"


def test_expected_against_measured_is_a_word() -> None:
    plan = Quantity(text="5-10 ms", low=5, high=10, unit="ms")
    assert against(plan, Quantity(text="2-3 ms", low=2, high=3, unit="ms")).text == "- less"
    assert against(plan, Quantity(text="12 ms", low=12, high=12, unit="ms")).text == "+ more"
    assert against(plan, Quantity(text="7-12 ms", low=7, high=12, unit="ms")).text == "= as told"
    assert against(plan, Quantity(text="+7%", low=7, high=7, unit="%")).text == ""
    assert against(plan, None).text == ""


def test_a_course_is_as_wide_as_its_place() -> None:
    assert course((0.0, 50.0, 100.0), 100, 5) == "  ▁▅█"
    assert course((), None, 3) == "   "
    assert len(course(tuple(float(i) for i in range(500)), None, 20)) == 20


def test_every_status_has_a_mark() -> None:
    assert set(marks.STATUS) == set(STATUSES)


def test_serving_to_other_machines_must_be_asked_for() -> None:
    with pytest.raises(UsageError, match="other machines"):
        serve.serve("true", host="0.0.0.0")
    assert serve.is_loopback("::1") and serve.is_loopback("localhost") and not serve.is_loopback("gpu-07")


def test_served_screens_are_read_only_unless_told_otherwise() -> None:
    assert serve.command_line(["--plan", "a b.md"]).endswith("--plan 'a b.md' --read-only")
    assert "--read-only" not in serve.command_line(writable=True)


def test_a_picture_shows_the_screen_that_the_keys_lead_to(board: FakeBoard) -> None:
    drawn = picture_of(board, ["6"], size=(80, 24)).replace("&#160;", " ")
    assert drawn.startswith("<svg")
    assert "nccl-9f31c2" in drawn


def test_what_rounds_to_nothing_has_no_minus() -> None:
    assert figures.percent(-0.0004) == "+0.0%"
    assert figures.interval(Effect(relative=0, low=-0.0003, high=0.01, confidence=0.95)) == "[+0.0, +1.0]"
