"""A run as it goes: its stage and times, the metric so far, the host's load, and its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, Static

from optrack.app import running, viewing
from optrack.app.host_load import Gauge
from optrack.app.project import Project, now
from optrack.app.viewing import LOG_KINDS, LogKind, RunView
from optrack.app.watching import View
from optrack.model.metrics import Sample, series_of
from optrack.render import format as fmt
from optrack.tui import commands
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.screens.dialogs import Confirm
from optrack.tui.text import plain, toned
from optrack.tui.widgets.charts import Gauges, strip_plot, strips
from optrack.tui.widgets.header import SearchInput
from optrack.tui.widgets.log import LogView
from optrack.tui.widgets.stages import Progress, followed, stage_lines

NOTHING = "No run is in progress, and none was chosen.\n\nPress 1, then n, to run the plan's next item."
LOG_NAMES: Mapping[LogKind, str] = {"server": "server log", "bench": "benchmark output"}
Tick = tuple[Sequence[Gauge], tuple[LogKind, Path | None], datetime]


class LiveScreen(CampaignScreen):
    """The screen of the run in progress, or of one that was chosen.

    A run that has ended stays until a newer one begins; ids of runs sort by time.
    """

    TAB = "Live"
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(("stop", "other_log", "find", "pause", "back"))
    ]
    AUTO_FOCUS = "#log"

    def __init__(self) -> None:
        super().__init__()
        self._chosen: str | None = None
        self._following: str | None = None
        self._progress = Progress()
        self._read: RunView | None = None
        self._which: LogKind | None = None
        self._log_of: tuple[str, LogKind] | None = None

    @property
    def log_view(self) -> LogView:
        return self.query_one("#log", LogView)

    @property
    def words(self) -> Input:
        return self.query_one("#search", Input)

    def body(self) -> ComposeResult:
        yield Static(Content(""), id="run-title")
        yield Static(Content(""), id="stages")
        yield Static(Content(""), id="metric")
        yield Gauges(id="gauges")
        yield Static(Content(""), id="strips")
        yield LogView(id="log", empty="Nothing has been written yet.")
        yield SearchInput(placeholder="search the log", id="search", classes="-hidden")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def open(self, run_id: str | None) -> None:
        """Follow this run; None for the one in progress."""
        self._chosen, self._following = run_id, None
        self.renew()

    def look(self, view: View) -> None:
        latest = max([self._following or "", *(run.id for run in view.live)])
        target = self._chosen or latest or None
        if target is None:
            self.query_one("#stages", Static).update(Content.styled(NOTHING, "$quiet"))
            self.log_view.add_class("-hidden")
            return
        if target != self._following:
            self._following, self._progress, self._read = target, Progress(), None
        self.log_view.remove_class("-hidden")
        seq, which = self._progress.seq, self._which
        self.fetch("live", lambda: viewing.run_view(view, target, seq, which), partial(self._show, target))

    def _show(self, target: str, read: RunView | None) -> None:
        if read is not None and target == self._following:
            self._read = read
            self._progress = followed(self._progress, read.entries)
            self._draw()

    def _tick(self) -> None:
        """Read what changes without an entry in the journal."""
        read, view, which = self._read, self.view, self._which
        if read is None or view is None or not self.is_current or self._progress.ended is not None:
            return
        run = read.run

        def work() -> Tick:
            return viewing.gauges_of(view, run), viewing.log_of(view, run.id, which), now()

        self.fetch("tick", work, partial(self._ticked, run.id))

    def _ticked(self, run: str, tick: Tick) -> None:
        if self._read is not None and run == self._read.run.id:
            gauges, (which, log), now = tick
            self._read = replace(self._read, gauges=gauges, which=which, log=log, now=now)
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        read, view = self._read, self.view
        title = LOG_NAMES[read.which if read else self._which or LOG_KINDS[0]]
        if self.log_view.border_title != title:
            self.log_view.border_title = title
        if read is None or view is None:
            return
        run = read.run
        shown = (run.id, read.which)
        if shown != self._log_of or self.log_view.following:
            self._log_of = shown
            self.log_view.open(read.log)
        self.query_one("#gauges", Gauges).show(read.gauges)
        width = max(10, self.size.width - 2)
        state = view.state(run.item)
        self.query_one("#run-title", Static).update(
            Content.assemble(
                (plain(run.item), "bold $live"),
                (f"  {plain(state.item.title if state else '')}", "bold $strong"),
                (f"   {plain(run.id)}", "$quiet"),
            )
        )
        metric, progress = view.plan.metric.name, self._progress
        sides = progress.measured("candidate") or run.samples, progress.measured("baseline")
        rows, unit = strips(metric, *sides)
        for name, lines in (
            ("#stages", stage_lines(progress, read.expected, read.now, width)),
            ("#metric", self._metric(metric, read, *sides)),
            ("#strips", strip_plot(rows[-8:], unit, width)),
        ):
            self.query_one(name, Static).update(Content("\n").join(lines))

    def _metric(
        self, metric: str, read: RunView, candidate: Sequence[Sample], baseline: Sequence[Sample]
    ) -> list[Content]:
        ours, theirs = series_of(tuple(candidate), metric), series_of(tuple(baseline), metric)
        failure = self._progress.ended.failure if self._progress.ended else None
        lines = [Content.styled(plain(failure.message), "$bad")] if failure else []
        if ours is None:
            nothing = Content.styled(f"{metric}: nothing measured yet", "$quiet")
            return lines or [nothing]
        value = fmt.compact(ours.level, ours.metric.unit)
        parts: list[tuple[str, str]] = [(f"{metric} ", "$quiet"), (value, "bold $strong")]
        if theirs is not None:
            parts.append((f"  baseline {fmt.compact(theirs.level)}", "$quiet"))
        judged = read.so_far
        if judged is not None and judged.effect is not None:
            parts.append((f"  {fmt.effect(judged.effect)}", "$live"))
        lines.append(Content.assemble(*parts))
        mark = fmt.verdict_mark(judged)
        if judged is not None and mark is not None:
            reason = plain(judged.reasons[0]) if judged.reasons else ""
            lines.append(Content.assemble(toned(mark), (f"   {reason}", "$quiet")))
        return lines

    def do_other_log(self) -> None:
        shown = self._which or (self._read.which if self._read else LOG_KINDS[0])
        self._which = LOG_KINDS[(LOG_KINDS.index(shown) + 1) % len(LOG_KINDS)]
        self.renew()

    def do_pause(self) -> None:
        self.log_view.action_pause()

    async def do_stop(self) -> None:
        run = self._following
        if run is None or self._progress.ended is not None:
            self.notify("Nothing is running here.", markup=False)
            return
        text = "The server is torn down, the run recorded as interrupted, and the item is pending again."
        answers = (("yes", "Stop"), ("force", "Stop at once"))
        answer = await self.ask(Confirm(f"Stop run {run}?", text, answers))

        def stopped(project: Project) -> str:
            running.stop(project, run, force=answer == "force")
            return "The runner was asked to stop; it tears down and records."

        if answer:
            self.navigator.act(stopped)

    def do_find(self) -> None:
        self.words.remove_class("-hidden")
        self.words.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.words.add_class("-hidden")
        self.log_view.focus()
        self.log_view.search(message.value)

    def do_back(self) -> None:
        """End the search, or else go back."""
        if self.words.has_class("-hidden") and not self.log_view.words:
            self.navigator.action_issue("back")
            return
        self.words.value = ""
        self.words.add_class("-hidden")
        self.log_view.search("")
        self.log_view.focus()
