"""The chart shows each judged item at its effect, as a picture and as text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from optrack.render.chart import Axis, Bar, Chart, chart_of, chart_svg, chart_text
from tests.report.filled import Filled

NARROW = Axis(low=-0.1, high=0.1, min_effect=0.02)


def test_every_judged_item_has_a_row(project: Filled) -> None:
    chart = chart_of(project.log())
    assert [bar.item for bar in chart.bars] == ["1A", "1B", "1C"]
    assert len(chart_text(chart)) == 4


def test_the_text_places_an_improvement_to_the_right_of_no_change(project: Filled) -> None:
    failed, gained, _, axis = chart_text(chart_of(project.log()))
    assert gained.index("●") > gained.index("│")
    assert "✗ failed" in failed
    assert axis.index("0") == failed.index("✗")


def test_the_picture_is_well_formed_and_names_its_items(project: Filled) -> None:
    root = ElementTree.fromstring(chart_svg(chart_of(project.log())))
    words = " ".join(root.itertext())
    assert "1B  Fewer channels" in words and "failed" in words


def test_doubling_and_halving_are_as_far_from_no_change() -> None:
    chart = Axis(low=-1.0, high=1.0, min_effect=0.02)
    assert chart.place(1.0) - chart.place(0) == pytest.approx(chart.place(0) - chart.place(-0.5))


def test_what_is_beyond_the_axis_stays_at_its_end() -> None:
    chart = Axis(low=-1.0, high=1.0, min_effect=0.02)
    assert (chart.place(-1.0), chart.place(100.0)) == (0.0, 1.0)


def test_ticks_keep_their_distance() -> None:
    chart = Axis(low=-2.0, high=2.0, min_effect=0.02)
    ticks = chart.ticks(6)
    assert 0.0 in ticks and len(ticks) <= 8


def test_a_chart_of_nothing_says_so() -> None:
    chart = Chart(title="t", metric="m", better="", bars=(), axis=NARROW)
    assert chart_text(chart) == ["nothing was judged yet"]
    assert "Nothing was judged yet" in chart_svg(chart)


def test_long_titles_are_cut_to_their_column() -> None:
    bar = Bar(
        item="1", title="x" * 200, verdict="none", sign="⚠", effect=None, text="no verdict", measured="-"
    )
    chart = Chart(title="t", metric="m", better="", bars=(bar,), axis=NARROW)
    assert chart_text(chart)[0].index("…") == 29
