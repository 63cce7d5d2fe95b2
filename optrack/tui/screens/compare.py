"""Two runs or items side by side: the verdict and why, the samples, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import pstdev
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from optrack.app import queries
from optrack.app.answers.runs import CompareAnswer
from optrack.app.watching import View
from optrack.errors import OptrackError
from optrack.model.judgement import Difference, DifferenceClass, Judgement
from optrack.model.run import Run
from optrack.render import format as fmt
from optrack.render.phrases import compared
from optrack.tui import commands
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.screens.dialogs import AskText
from optrack.tui.text import field, heading, paragraph, plain, shortened, toned
from optrack.tui.widgets.charts import strip_plot, strips
from optrack.tui.widgets.detail import DetailPane, attribution, value_text

NOTHING = "Nothing is compared yet. Press c on an item of the plan, or c here to name two runs or items."


class CompareScreen(CampaignScreen):
    """The screen of one comparison."""

    TAB = "Compare"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(("comparison", "swap", "back"))]
    AUTO_FOCUS = "#comparison"

    def __init__(self) -> None:
        super().__init__()
        self._candidate: str | None = None
        self._baseline: str | None = None
        self._shown: tuple[str, str] | None = None

    @property
    def detail(self) -> DetailPane:
        return self.query_one("#comparison", DetailPane)

    def body(self) -> ComposeResult:
        yield DetailPane(id="comparison")

    def open(self, candidate: str, baseline: str | None = None) -> None:
        """Compare these; without a baseline, with the one that the candidate was judged against."""
        self._candidate, self._baseline = candidate, baseline
        self.renew()

    def look(self, view: View) -> None:
        candidate = self._candidate
        if candidate is None:
            self.detail.show(partial(paragraph, NOTHING, style="$quiet"))
            return
        state = view.state(candidate)
        judged = state.judgement.baseline if state and state.judgement else None
        pair = (candidate, self._baseline or judged or view.plan.baseline)

        def read() -> CompareAnswer | str:
            try:
                return queries.compare(view.campaign, *pair)
            except OptrackError as error:
                hint = error.hint[:1].upper() + error.hint[1:] if error.hint else ""
                sentences = (s if s.endswith(("?", ".")) else f"{s}." for s in (error.message, hint) if s)
                return f"{pair[0]} against {pair[1]}: {' '.join(sentences)}"

        self.fetch("compare", read, partial(self._show, pair))

    def _show(self, pair: tuple[str, str], read: CompareAnswer | str) -> None:
        """Show a comparison, or why it can't be made."""
        first = pair != self._shown
        self._shown = pair
        if isinstance(read, str):
            self.detail.show(partial(paragraph, read), from_top=first)
        else:
            self.detail.show(partial(comparison, read), from_top=first)
        self.detail.border_title = Content(f"{pair[0]} against {pair[1]}")

    def do_swap(self) -> None:
        if self._shown is not None:
            self.open(self._shown[1], self._shown[0])

    async def do_comparison(self) -> None:
        """Ask for what to compare."""
        text = "The candidate, and after a space the baseline: ids of items or runs."
        names = (await self.ask(AskText("Compare", text)) or "").split()
        if names:
            self.open(names[0], names[1] if len(names) > 1 else None)


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


def comparison(judged: CompareAnswer, width: int) -> list[Content]:
    """Return the whole comparison in lines of at most `width` cells."""
    candidate, baseline = judged.ours, judged.theirs
    lines = [
        *field("Candidate", _run(candidate), width),
        *field("Baseline", _run(baseline), width),
        *field("Verdict", _verdict(judged), width),
    ]
    for index, reason in enumerate(judged.reasons):
        lines += field("Why" if index == 0 else "", reason, width)
    if judged.launches_needed:
        lines += field("To decide", f"about {judged.launches_needed} launches of each side", width)
    lines += attribution(judged, width)
    rows, unit = strips(judged.metric, candidate.samples, baseline.samples)
    plot = strip_plot(rows, unit, width)
    if plot:
        lines += [*heading(f"{judged.metric}, each sample of each launch"), *plot]
    return [*lines, *statistics(candidate, baseline, width), *differences(judged.differences, width)]


def _run(run: Run) -> Content:
    return Content.assemble(
        (plain(run.item), "bold $strong"),
        f"  {plain(run.id)}  ",
        (f"{fmt.clock(run.started_at)} on {plain(run.host)}", "$quiet"),
    )


def _verdict(judged: Judgement) -> Content:
    mark = fmt.VERDICT[judged.verdict] if judged.verdict else fmt.NO_VERDICT
    parts = [toned(mark)]
    if judged.effect:
        parts.append(Content(f"{fmt.effect(judged.effect)} at {fmt.level(judged.effect.confidence)}"))
    parts.append(toned(fmt.COMPARISON[judged.comparison]))
    return Content("   ").join(parts)


def statistics(candidate: Run, baseline: Run, width: int) -> list[Content]:
    """Return level, change and the candidate's spread of every metric that both runs have."""
    names = list(dict.fromkeys(s.metric.name for s in candidate.samples))
    lines: list[Content] = []
    units = [len(s.metric.unit) for s in candidate.samples]
    room = width - 43 - max(units, default=0)
    wide = min(28, max([len(name) for name in names], default=10), max(10, room))
    for name in names:
        ours, theirs = compared(candidate, baseline, name)
        if ours is None or theirs is None:
            continue
        change = fmt.percent(ours.level / theirs.level - 1) if theirs.level else "-"
        spread = fmt.percent(pstdev(ours.values) / abs(ours.level), signed=False) if ours.level else "-"
        row = f"{fmt.compact(theirs.level):>10}{fmt.compact(ours.level):>12}{change:>10}{spread:>9}"
        unit = f"  {ours.metric.unit}" if width > 60 else ""
        lines.append(Content.assemble((shortened(plain(name), wide).ljust(wide), ""), row, (unit, "$quiet")))
    if not lines:
        return []
    title = f"{'':<{wide}}{'baseline':>10}{'candidate':>12}{'change':>10}{'spread':>9}"
    return [*heading("Levels: geometric means of the launches"), Content.styled(title, "$quiet"), *lines]


def _side(value: Any, cls: DifferenceClass) -> str:
    return "not captured" if value is None and cls == "unknown" else value_text(value)


def differences(every: Sequence[Difference], width: int) -> list[Content]:
    """Return the differences grouped by class, those that matter first."""
    if not every:
        return [
            *heading("Differences"),
            *paragraph("None: both runs were made under the same conditions.", width),
        ]
    lines: list[Content] = []
    for cls, blocking, title, tone in GROUPS:
        group = [d for d in every if d.cls == cls and blocking == (d.severity == "blocking")]
        if not group:
            continue
        lines += [Content(""), Content.styled(title, f"bold {tone}")]
        wide = min(max(len(d.field) for d in group), max(12, width // 2))
        for one in group:
            values = f"{_side(one.baseline, cls)} -> {_side(one.candidate, cls)}"
            name = shortened(plain(one.field), wide).ljust(wide)
            lines += paragraph(Content.assemble(f"  {name}  ", (plain(values), "")), width)
            if one.meaning:
                lines += paragraph(Content.styled(f"    {plain(one.meaning)}", "$quiet"), width)
    return lines
