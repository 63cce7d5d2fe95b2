"""Two runs or items side by side: the verdict and why, the samples, and what differs."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from optrack.errors import OptrackError
from optrack.tui import commands
from optrack.tui.board import Compared
from optrack.tui.messages import Picture
from optrack.tui.screens.base import BoardScreen
from optrack.tui.screens.dialogs import AskText
from optrack.tui.widgets.sheet import Sheet, paragraph
from optrack.tui.widgets.verdict_text import compared

NOTHING = "Nothing is compared yet. Press c on an item of the plan, or c here to name two runs or items."


class ComparisonRead(Message):
    """A comparison was made, or could not be and `problem` says why."""

    def __init__(self, pair: tuple[str, str], found: Compared | None, problem: str = "") -> None:
        super().__init__()
        self.pair, self.found, self.problem = pair, found, problem


class CompareScreen(BoardScreen):
    """The screen of one comparison."""

    TAB = "Compare"
    OFFERS = (commands.Compare, commands.Swap, commands.Back)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#comparison"

    def __init__(self, candidate: str | None = None, baseline: str | None = None) -> None:
        super().__init__()
        self._candidate, self._baseline = candidate, baseline
        self._shown: tuple[str, str] | None = None

    @property
    def sheet(self) -> Sheet:
        """The comparison in words."""
        return self.query_one("#comparison", Sheet)

    def body(self) -> ComposeResult:
        yield Sheet(id="comparison")

    def open(self, candidate: str, baseline: str | None = None) -> None:
        """Compare these; without a baseline, with the one that the candidate was judged against."""
        self._candidate, self._baseline = candidate, baseline
        self.renew()

    def look(self, picture: Picture) -> None:
        candidate = self._candidate
        if candidate is None:
            self.sheet.show(partial(paragraph, NOTHING, style="$quiet"))
            return
        state = picture.state(candidate)
        judged = state.judgement.baseline if state and state.judgement else None
        pair = (candidate, self._baseline or judged or picture.plan.baseline)

        def work() -> Message:
            try:
                return ComparisonRead(pair, self.board.compare(*pair))
            except OptrackError as error:
                said = [error.message, error.hint[:1].upper() + error.hint[1:] if error.hint else ""]
                told = " ".join(s if s.endswith(("?", ".")) else f"{s}." for s in said if s)
                return ComparisonRead(pair, None, told)

        self.fetch("compare", work)

    def on_comparison_read(self, message: ComparisonRead) -> None:
        first = message.pair != self._shown
        self._shown = message.pair
        if message.found is None:
            text = f"{message.pair[0]} against {message.pair[1]}: {message.problem}"
            self.sheet.show(partial(paragraph, text), from_top=first)
        else:
            self.sheet.show(partial(compared, message.found), from_top=first)
        self.sheet.border_title = Content(f"{message.pair[0]} against {message.pair[1]}")

    @on(commands.Swap)
    def swap(self) -> None:
        """Make the baseline the candidate."""
        if self._shown is not None:
            self.open(self._shown[1], self._shown[0])

    @on(commands.Compare)
    def ask(self) -> None:
        """Ask for what to compare."""

        def answered(answer: str | None) -> None:
            names = (answer or "").split()
            if names:
                self.open(names[0], names[1] if len(names) > 1 else None)

        text = "The candidate, and after a space the baseline: ids of items or runs."
        self.app.push_screen(AskText("Compare", text), answered)
