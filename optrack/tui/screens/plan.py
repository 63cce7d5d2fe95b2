"""The plan: every item in rank order, where it stands, and the one that is next and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from optrack.tui import commands, plan_rows
from optrack.tui.board import ResolvedItem
from optrack.tui.messages import Picture
from optrack.tui.outside import content, plain
from optrack.tui.plan_rows import Looking, PlanRow
from optrack.tui.screens.acting import ItemScreen
from optrack.tui.widgets import item_text
from optrack.tui.widgets.plan_list import PlanList
from optrack.tui.widgets.rows import RowList
from optrack.tui.widgets.sheet import Build, Sheet
from optrack.tui.widgets.words import Words

EMPTY = "The plan has no items yet.\nPress e to write some, or run: optrack plan new"
NO_MATCH = "Nothing matches. Press escape to show all items again."


class TreatmentRead(Message):
    """The recipe of the selected item was read; `told` builds what stands above it."""

    def __init__(self, item: str, told: Build, resolved: ResolvedItem) -> None:
        super().__init__()
        self.item, self.told, self.resolved = item, told, resolved


class PlanScreen(ItemScreen):
    """The first screen."""

    TAB = "Plan"
    OFFERS = (
        commands.RunNext,
        *commands.ON_ITEM,
        commands.Filter,
        commands.NextShown,
        commands.Sort,
        commands.Fold,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(OFFERS),
        *commands.bindings((commands.Back,), shown=False),
    ]
    AUTO_FOCUS = "#items"

    def __init__(self) -> None:
        super().__init__()
        self.looking = Looking()

    @property
    def rows(self) -> PlanList:
        """The list of items."""
        return self.query_one("#items", PlanList)

    @property
    def filter(self) -> Input:
        """Where the words to filter by are typed."""
        return self.query_one("#filter", Input)

    @property
    def sheet(self) -> Sheet:
        """The selected item in words."""
        return self.query_one("#detail", Sheet)

    @property
    def current(self) -> str | None:
        row = self.rows.row
        return row.state.item.id if row else None

    def body(self) -> ComposeResult:
        yield Static(Content("Reading the plan ..."), id="title")
        yield Static(Content(""), id="next")
        with Container(id="halves"):
            with Vertical(id="left"):
                yield PlanList(id="items")
                yield Words(placeholder="words that must occur", id="filter", classes="-hidden")
            yield Sheet(id="detail")

    def look(self, picture: Picture) -> None:
        self.query_one("#title", Static).update(self._title(picture))
        told = next_line(picture)
        if self.looking.told:
            told = Content.assemble((f"{plain(self.looking.told)}   ", "bold $strong"), told)
        self.query_one("#next", Static).update(told)
        rows = plan_rows.arranged(
            picture.items,
            self.looking,
            choice=picture.choice,
            launches=picture.launches,
        )
        self.rows.show(rows, empty=NO_MATCH if picture.items else EMPTY)

    def _title(self, picture: Picture) -> Content:
        plan = picture.plan
        done = sum(s.status in ("completed", "cancelled") for s in picture.items)
        parts = [
            (plain(plan.title or plan.name), "bold $strong"),
            (f"   {done} of {len(picture.items)} done", "$quiet"),
        ]
        if plan.target:
            parts.append((f"   target {plain(plan.target.text)}", "$quiet"))
        return Content.assemble(*parts)

    def on_row_list_highlighted(self, message: RowList.Highlighted[PlanRow]) -> None:
        self._detail(message.row)

    def _detail(self, row: PlanRow | None) -> None:
        picture = self.picture
        if row is None or picture is None:
            self.sheet.show(lambda width: ())
            return
        name = row.state.item.id
        self.optrack.selected = name
        blocked_by, reason = picture.choice.blocked.get(name, ()), picture.choice.reasons.get(name, "")
        told = partial(item_text.facts, row.state, blocked_by=blocked_by, reason=reason)
        self.sheet.show(told, from_top=True)
        board = self.board
        self.fetch("detail", lambda: TreatmentRead(name, told, board.resolved(name)))

    def on_treatment_read(self, message: TreatmentRead) -> None:
        if message.item == self.current:
            self.sheet.show(
                lambda width: [*message.told(width), *item_text.treatment(message.resolved, width)]
            )

    def on_row_list_chosen(self, message: RowList.Chosen[PlanRow]) -> None:
        self.optrack.show_item(message.row.state.item.id)

    def _look_again(self, looking: Looking) -> None:
        self.looking = looking
        self.renew()

    @on(commands.Sort)
    def sort(self) -> None:
        at = plan_rows.ORDERS.index(self.looking.order)
        self._look_again(replace(self.looking, order=plan_rows.ORDERS[(at + 1) % len(plan_rows.ORDERS)]))

    @on(commands.NextShown)
    def only(self) -> None:
        at = plan_rows.ONLY.index(self.looking.only)
        self._look_again(replace(self.looking, only=plan_rows.ONLY[(at + 1) % len(plan_rows.ONLY)]))

    @on(commands.Fold)
    def fold(self) -> None:
        row = self.rows.row
        if row is not None and row.opened is not None:
            self._look_again(replace(self.looking, folded=self.looking.folded ^ {row.state.item.id}))

    @on(commands.Filter)
    def start_filter(self) -> None:
        self.filter.remove_class("-hidden")
        self.filter.focus()

    @on(commands.Back)
    def leave_filter(self, message: commands.Back) -> None:
        message.stop()
        self.filter.value = ""
        self.filter.add_class("-hidden")
        self.rows.focus()
        self._look_again(replace(self.looking, words="", only=""))

    def on_input_changed(self, message: Input.Changed) -> None:
        self._look_again(replace(self.looking, words=message.value))

    def on_input_submitted(self) -> None:
        self.filter.set_class(not self.filter.value, "-hidden")
        self.rows.focus()


def next_line(picture: Picture) -> Content:
    """Return what is wrong with the plan's text, or what would run next and why, or why nothing would."""
    plan, choice = picture.plan, picture.choice
    if plan.problems:
        errors = [p for p in plan.problems if p.severity == "error"] or list(plan.problems)
        return content(f"! {errors[0].located(Path(plan.path).name)}", "$bad")
    if choice.item is None:
        return content(choice.why, "$quiet")
    state = picture.state(choice.item)
    title = state.item.title if state else ""
    return Content.assemble(
        ("next ", "$quiet"),
        (f"{plain(choice.item)} {plain(title)}", "$live"),
        (f": {plain(choice.why)}", "$quiet"),
    )
