"""A comparison in words: the verdict and its reasons, the statistics, and the differences by class."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, pstdev
from typing import Any

from textual.content import Content

from optrack.model.judgement import Difference, DifferenceClass, Judgement
from optrack.model.metrics import series_of
from optrack.model.run import Run
from optrack.tui import figures, marks
from optrack.tui.board import Compared
from optrack.tui.outside import plain
from optrack.tui.widgets.item_text import attribution, toned, value_text
from optrack.tui.widgets.rows import shortened
from optrack.tui.widgets.sheet import field, heading, paragraph
from optrack.tui.widgets.strip_plot import strip_plot, strips

GROUPS: tuple[tuple[DifferenceClass, bool, str, str], ...] = (
    ("unexplained", True, "! Unexplained: they make the comparison unfair", "$bad"),
    ("volatile", True, "! Volatile, but too far apart: they make the comparison unfair", "$bad"),
    ("unknown", True, "? Unknown: not captured on one side", "$warn"),
    ("declared", False, "~ Declared: the treatment", "$live"),
    ("unexplained", False, ". Unexplained, but found or accepted to be of no matter", "$quiet"),
    ("unknown", False, ". Unknown, but found or accepted to be of no matter", "$quiet"),
    ("volatile", False, ". Volatile: they change from run to run", "$quiet"),
)
"""Each group's class, whether its differences stand in the way of a verdict, and its title and tone."""


def compared(found: Compared, width: int) -> list[Content]:
    """Return the whole comparison in lines of at most `width` cells."""
    judged = found.judgement
    lines = [
        *field("Candidate", _run(found.candidate), width),
        *field("Baseline", _run(found.baseline), width),
        *field("Verdict", _verdict(judged), width),
    ]
    for index, reason in enumerate(judged.reasons):
        lines += field("Why" if index == 0 else "", reason, width)
    if judged.launches_needed:
        lines += field("To decide", f"about {judged.launches_needed} launches of each side", width)
    lines += attribution(judged, width)
    rows, unit = strips(judged.metric, found.candidate.samples, found.baseline.samples)
    plot = strip_plot(rows, unit, width)
    if plot:
        lines += [*heading(f"{judged.metric}, each sample of each launch"), *plot]
    return [*lines, *statistics(found, width), *differences(judged.differences, width)]


def _run(run: Run) -> Content:
    return Content.assemble(
        (plain(run.item), "bold $strong"),
        f"  {plain(run.id)}  ",
        (f"{figures.clock(run.started_at)} on {plain(run.host)}", "$quiet"),
    )


def _verdict(judged: Judgement) -> Content:
    mark = marks.VERDICT[judged.verdict] if judged.verdict else marks.NO_VERDICT
    parts = [toned(mark)]
    if judged.effect:
        confidence = f"{judged.effect.confidence:.0%}"
        parts.append(
            Content(f"{figures.effect(judged.effect)} {figures.interval(judged.effect)} at {confidence}")
        )
    parts.append(toned(marks.COMPARISON[judged.comparison]))
    return Content("   ").join(parts)


def statistics(found: Compared, width: int) -> list[Content]:
    """Return median, spread and difference of every metric that both runs have."""
    names = list(dict.fromkeys(s.metric.name for s in found.candidate.samples))
    lines: list[Content] = []
    units = [len(s.metric.unit) for s in found.candidate.samples]
    room = width - 43 - max(units, default=0)
    wide = min(28, max([len(name) for name in names], default=10), max(10, room))
    for name in names:
        ours, theirs = series_of(found.candidate.samples, name), series_of(found.baseline.samples, name)
        if ours is None or theirs is None:
            continue
        mine, other = median(ours.values), median(theirs.values)
        change = figures.percent(mine / other - 1) if other else "-"
        spread = f"{pstdev(ours.values) / abs(mine):.1%}" if mine else "-"
        told = f"{figures.number(other):>10}{figures.number(mine):>12}{change:>10}{spread:>9}"
        unit = f"  {ours.metric.unit}" if width > 60 else ""
        lines.append(Content.assemble((shortened(plain(name), wide).ljust(wide), ""), told, (unit, "$quiet")))
    if not lines:
        return []
    title = f"{'':<{wide}}{'baseline':>10}{'candidate':>12}{'change':>10}{'spread':>9}"
    return [*heading("Medians of the counted passes"), Content.styled(title, "$quiet"), *lines]


def _side(value: Any, cls: DifferenceClass) -> str:
    return "not captured" if value is None and cls == "unknown" else value_text(value)


def differences(found: Sequence[Difference], width: int) -> list[Content]:
    """Return the differences grouped by class, those that matter first."""
    if not found:
        return [
            *heading("Differences"),
            *paragraph("None: both runs were made under the same conditions.", width),
        ]
    lines: list[Content] = []
    for cls, blocking, title, tone in GROUPS:
        group = [d for d in found if d.cls == cls and blocking == (d.severity == "blocking")]
        if not group:
            continue
        lines += [Content(""), Content.styled(title, f"bold {tone}")]
        wide = min(max(len(d.field) for d in group), max(12, width // 2))
        for one in group:
            told = f"{_side(one.baseline, cls)} -> {_side(one.candidate, cls)}"
            name = shortened(plain(one.field), wide).ljust(wide)
            lines += paragraph(Content.assemble(f"  {name}  ", (plain(told), "")), width)
            if one.meaning:
                lines += paragraph(Content.styled(f"    {plain(one.meaning)}", "$quiet"), width)
    return lines
