"""A run as it goes: its stage and times, the metric so far, the host's load, and its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from optrack.model.events import Entry
from optrack.model.judgement import Judgement
from optrack.model.metrics import series_of
from optrack.model.run import Run, Stage
from optrack.tui import commands, figures, marks
from optrack.tui.board import LOG_KINDS, Board, Gauge, LogKind
from optrack.tui.messages import Acted, Picture
from optrack.tui.outside import plain
from optrack.tui.progress import Progress, followed
from optrack.tui.screens.base import BoardScreen
from optrack.tui.screens.dialogs import Confirm
from optrack.tui.widgets.gauges import Gauges
from optrack.tui.widgets.item_text import toned
from optrack.tui.widgets.log_view import LogView
from optrack.tui.widgets.stage_bar import stage_lines
from optrack.tui.widgets.strip_plot import strip_plot, strips
from optrack.tui.widgets.words import Words

NOTHING = "No run is in progress, and none was chosen.\n\nPress 1, then n, to run the plan's next item."
LOG_NAMES: Mapping[LogKind, str] = {"server": "server log", "bench": "benchmark output"}


@dataclass(frozen=True)
class Seen:
    """What was read of a run at one time."""

    run: Run
    entries: Sequence[Entry]
    so_far: Judgement | None
    gauges: Sequence[Gauge]
    expected: Mapping[Stage, float]
    which: LogKind
    log: Path | None
    now: datetime


class RunSeen(Message):
    """The run was read; None if there is no run to show."""

    def __init__(self, seen: Seen | None) -> None:
        super().__init__()
        self.seen = seen


class Ticked(Message):
    """Time has passed: what changes without an entry in the journal."""

    def __init__(
        self, run: str, gauges: Sequence[Gauge], log: tuple[LogKind, Path | None], now: datetime
    ) -> None:
        super().__init__()
        self.run, self.gauges, self.log, self.now = run, gauges, log, now


def log_of(board: Board, run_id: str, which: LogKind | None) -> tuple[LogKind, Path | None]:
    """Return the log that was asked for, or else the first that is written: not every run has a server."""
    kinds = (which,) if which else LOG_KINDS
    found = [(kind, path) for kind in kinds if (path := board.log_path(run_id, kind))]
    return found[0] if found else (kinds[0], None)


def seen(board: Board, run_id: str, after: int, which: LogKind | None) -> RunSeen:
    """Read what there is of a run beyond journal number `after`."""
    run = board.run(run_id)
    if run is None:
        return RunSeen(None)
    kind, log = log_of(board, run_id, which)
    return RunSeen(
        Seen(
            run=run,
            entries=board.entries(run_id, after),
            so_far=board.so_far(run_id),
            gauges=board.gauges(run_id),
            expected=board.expected_stages(run_id),
            which=kind,
            log=log,
            now=board.now(),
        )
    )


class LiveScreen(BoardScreen):
    """The screen of the run in progress, or of one that was chosen.

    A run that has ended stays until a newer one begins; ids of runs sort by time.
    """

    TAB = "Live"
    OFFERS = (commands.StopRun, commands.OtherLog, commands.Filter, commands.Pause, commands.Back)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#log"

    def __init__(self, run_id: str | None = None) -> None:
        super().__init__()
        self._chosen = run_id
        self._following: str | None = None
        self._progress = Progress()
        self._seen: Seen | None = None
        self._which: LogKind | None = None
        self._log_of: tuple[str, LogKind] | None = None

    @property
    def log_view(self) -> LogView:
        """The log."""
        return self.query_one("#log", LogView)

    @property
    def words(self) -> Input:
        """Where the words to search for are typed."""
        return self.query_one("#search", Input)

    def body(self) -> ComposeResult:
        yield Static(Content(""), id="run-title")
        yield Static(Content(""), id="stages")
        yield Static(Content(""), id="metric")
        yield Gauges(id="gauges")
        yield Static(Content(""), id="strips")
        yield LogView(id="log", empty="Nothing has been written yet.")
        yield Words(placeholder="search the log", id="search", classes="-hidden")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def open(self, run_id: str | None) -> None:
        """Follow this run; None for the one in progress."""
        self._chosen, self._following = run_id, None
        self.renew()

    def look(self, picture: Picture) -> None:
        target = self._chosen or max([self._following or "", *(run.id for run in picture.live)]) or None
        if target is None:
            self.query_one("#stages", Static).update(Content.styled(NOTHING, "$quiet"))
            self.log_view.add_class("-hidden")
            return
        if target != self._following:
            self._following, self._progress, self._seen = target, Progress(), None
        self.log_view.remove_class("-hidden")
        self.fetch("live", partial(seen, self.board, target, self._progress.seq, self._which))

    def _tick(self) -> None:
        run, which = self._following, self._which
        if not self.is_current or self._progress.ended is not None or run is None:
            return
        board = self.board
        self.fetch("tick", lambda: Ticked(run, board.gauges(run), log_of(board, run, which), board.now()))

    def on_ticked(self, message: Ticked) -> None:
        if self._seen is None or message.run != self._following:
            return
        which, log = message.log
        self._seen = replace(self._seen, gauges=message.gauges, which=which, log=log, now=message.now)
        self._tell()

    def on_resize(self) -> None:
        self._tell()

    def on_run_seen(self, message: RunSeen) -> None:
        if message.seen is None or message.seen.run.id != self._following:
            return
        self._seen = message.seen
        self._progress = followed(self._progress, message.seen.entries)
        self._tell()

    def _tell(self) -> None:
        found = self._seen
        title = LOG_NAMES[found.which if found else self._which or LOG_KINDS[0]]
        if self.log_view.border_title != title:
            self.log_view.border_title = title
        if found is None:
            return
        shown = (found.run.id, found.which)
        if shown != self._log_of or self.log_view.following:
            self._log_of = shown
            self.log_view.open(found.log)
        self.query_one("#gauges", Gauges).show(found.gauges)
        width = max(10, self.size.width - 2)
        picture = self.picture
        state = picture.state(found.run.item) if picture else None
        named = [
            (plain(found.run.item), "bold $live"),
            (f"  {plain(state.item.title if state else '')}", "bold $strong"),
        ]
        self.query_one("#run-title", Static).update(
            Content.assemble(*named, (f"   {plain(found.run.id)}", "$quiet"))
        )
        lines = stage_lines(self._progress, found.expected, found.now, width)
        self.query_one("#stages", Static).update(Content("\n").join(lines))
        metric = picture.plan.metric.name if picture else "output_throughput"
        self.query_one("#metric", Static).update(Content("\n").join(self._metric(metric, found)))
        rows, unit = strips(metric, self._progress.measured("candidate"), self._progress.measured("baseline"))
        self.query_one("#strips", Static).update(Content("\n").join(strip_plot(rows[-8:], unit, width)))

    def _metric(self, metric: str, found: Seen) -> list[Content]:
        ours = series_of(self._progress.measured("candidate"), metric)
        theirs = series_of(self._progress.measured("baseline"), metric)
        failure = self._progress.ended.failure if self._progress.ended else None
        lines = []
        if failure:
            lines.append(Content.styled(plain(failure.message), "$bad"))
        if ours is None:
            return (
                [*lines, Content.styled(f"{metric}: nothing measured yet", "$quiet")]
                if not failure
                else lines
            )
        told = f"{figures.number(median(ours.values), ours.metric.unit)}"
        parts: list[Content | tuple[str, str]] = [(f"{metric} ", "$quiet"), (told, "bold $strong")]
        if theirs is not None:
            parts.append((f"  baseline {figures.number(median(theirs.values))}", "$quiet"))
        judged = found.so_far
        if judged is not None and judged.effect is not None:
            parts.append((f"  {figures.effect(judged.effect)} {figures.interval(judged.effect)}", "$live"))
        lines.append(Content.assemble(*parts))
        if judged is not None:
            verdict = marks.VERDICT[judged.verdict] if judged.verdict else marks.NO_VERDICT
            reason = plain(judged.reasons[0]) if judged.reasons else ""
            lines.append(Content.assemble(toned(verdict), (f"   {reason}", "$quiet")))
        return lines

    @on(commands.OtherLog)
    def other_log(self) -> None:
        """Change between the logs."""
        shown = self._which or (self._seen.which if self._seen else LOG_KINDS[0])
        at = LOG_KINDS.index(shown)
        self._which = LOG_KINDS[(at + 1) % len(LOG_KINDS)]
        self.renew()

    @on(commands.Pause)
    def pause(self) -> None:
        """Stop following the end of the log, or follow it again."""
        self.log_view.action_pause()

    @on(commands.StopRun)
    def stop_run(self) -> None:
        """Ask before the run is stopped."""
        run = self._following
        if run is None or self._progress.ended is not None:
            self.notify("Nothing is running here.", markup=False)
            return

        def stopped(answer: str | None) -> None:
            if answer:
                force = answer == "force"

                def work() -> Message:
                    self.board.stop(run, force=force)
                    return Acted("The runner was asked to stop; it tears down and records.")

                self.optrack.act(work)

        text = "The server is torn down, the run recorded as interrupted, and the item is pending again."
        answers = (("yes", "Stop"), ("force", "Stop at once"))
        self.app.push_screen(Confirm(f"Stop run {run}?", text, answers), stopped)

    @on(commands.Filter)
    def start_search(self) -> None:
        """Ask for the words to search for."""
        self.words.remove_class("-hidden")
        self.words.focus()

    @on(Input.Submitted)
    def searched(self, message: Input.Submitted) -> None:
        """Search for the words."""
        self.words.add_class("-hidden")
        self.log_view.focus()
        self.log_view.search(message.value)

    @on(commands.Back)
    def leave_search(self, message: commands.Back) -> None:
        """End the search, or else go back."""
        if self.words.has_class("-hidden") and not self.log_view.words:
            return
        message.stop()
        self.words.value = ""
        self.words.add_class("-hidden")
        self.log_view.search("")
        self.log_view.focus()
