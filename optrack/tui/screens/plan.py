"""The plan: every item in rank order, where it stands, and the one that is next and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from optrack.app.viewing import baseline_series, recipe_of
from optrack.app.watching import View
from optrack.model.metrics import Series
from optrack.render import format as fmt
from optrack.render.report import best_item
from optrack.tui import commands
from optrack.tui.screens.item_actions import SelectionScreen
from optrack.tui.text import content, plain
from optrack.tui.widgets.detail import DetailPane, facts, treatment
from optrack.tui.widgets.header import SearchInput
from optrack.tui.widgets.list import RowList
from optrack.tui.widgets.plan_list import ONLY, ORDERS, ListFilter, PlanList, PlanRow, arranged, following

EMPTY = "The plan has no items yet.\nPress e to write some, or run: optrack plan new"
NO_MATCH = "Nothing matches. Press escape to show all items again."


class PlanScreen(SelectionScreen):
    """The first screen."""

    TAB = "Plan"
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(("next", *commands.ON_ITEM, "find", "only", "sort", "fold")),
        commands.binding("back", shown=False),
    ]
    AUTO_FOCUS = "#items"

    def __init__(self) -> None:
        super().__init__()
        self.shown = ListFilter()

    @property
    def rows(self) -> PlanList:
        return self.query_one("#items", PlanList)

    @property
    def filter(self) -> Input:
        """Where the words to filter by are typed."""
        return self.query_one("#filter", Input)

    @property
    def detail(self) -> DetailPane:
        return self.query_one("#detail", DetailPane)

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
                yield SearchInput(placeholder="words that must occur", id="filter", classes="-hidden")
            yield DetailPane(id="detail")

    def look(self, view: View) -> None:
        title = self.query_one("#title", Static)
        self.fetch(
            "baseline", lambda: baseline_series(view), lambda series: title.update(title_line(view, series))
        )
        line = next_line(view)
        if self.shown.summary:
            line = Content.assemble((f"{plain(self.shown.summary)}   ", "bold $strong"), line)
        self.query_one("#next", Static).update(line)
        empty = NO_MATCH if view.items else EMPTY
        self.rows.show(arranged(view, self.shown), empty=empty, min_effect=view.plan.min_effect)

    def on_row_list_highlighted(self, message: RowList.Highlighted[PlanRow]) -> None:
        row, view = message.row, self.view
        if row is None or view is None:
            self.detail.show(lambda width: ())
            return
        name = row.state.item.id
        self.navigator.selected = name
        about = partial(facts, row.state, blocked_by=view.blocked.get(name, ()), reason=view.reason(name))
        self.detail.show(about, from_top=True)
        self.fetch(
            "detail",
            lambda: recipe_of(view, name),
            lambda recipe: self.detail.show(lambda width: [*about(width), *treatment(recipe, width)]),
        )

    def on_row_list_chosen(self, message: RowList.Chosen[PlanRow]) -> None:
        self.navigator.show_item(message.row.state.item.id)

    def _show(self, shown: ListFilter) -> None:
        self.shown = shown
        self.renew()

    def do_sort(self) -> None:
        self._show(replace(self.shown, order=following(ORDERS, self.shown.order)))

    def do_only(self) -> None:
        self._show(replace(self.shown, only=following(ONLY, self.shown.only)))

    def do_fold(self) -> None:
        row = self.rows.row
        if row is not None and row.opened is not None:
            self._show(replace(self.shown, folded=self.shown.folded ^ {row.state.item.id}))

    def do_find(self) -> None:
        self.filter.remove_class("-hidden")
        self.filter.focus()

    def do_back(self) -> None:
        self.filter.value = ""
        self.filter.add_class("-hidden")
        self.rows.focus()
        self._show(replace(self.shown, words="", only=""))

    def on_input_changed(self, message: Input.Changed) -> None:
        self._show(replace(self.shown, words=message.value))

    def on_input_submitted(self) -> None:
        self.filter.set_class(not self.filter.value, "-hidden")
        self.rows.focus()


def title_line(view: View, baseline: Series | None) -> Content:
    """Return how much of the plan is done, its baseline, the best so far and the target, then its title."""
    plan = view.plan
    done = sum(state.status in ("completed", "cancelled") for state in view.items)
    parts = [(f"{done} of {len(view.items)} done", "bold $strong")]
    if baseline is not None:
        parts.append((f"   baseline {fmt.compact(baseline.level, baseline.metric.unit)}", ""))
        best = best_item(view.items, baseline.metric)
        if best is not None and best.judgement is not None:
            effect = fmt.short_effect(best.judgement.effect)
            parts.append((f"   {fmt.VERDICT['improvement'].sign} {plain(best.item.id)} {effect}", "$good"))
    if plan.target:
        parts.append((f"   target {plain(plan.target.text)}", "$quiet"))
    if view.sensitivity is not None and view.sensitivity.is_poor:
        parts.append((f"   {view.sensitivity.text}", "$bad"))
    return Content.assemble(*parts, (f"   {plain(plan.title or plan.name)}", "$quiet"))


def next_line(view: View) -> Content:
    """Return what is wrong with the plan's text, or what would run next and why, or why nothing would."""
    plan, choice = view.plan, view.choice
    if plan.problems:
        errors = [p for p in plan.problems if p.severity == "error"] or list(plan.problems)
        return content(f"! {errors[0].located(Path(plan.path).name)}", "$bad")
    if choice.item is None:
        return content(choice.summary, "$quiet")
    state = view.state(choice.item)
    title = state.item.title if state else ""
    return Content.assemble(
        ("next ", "$quiet"),
        (f"{plain(choice.item)} {plain(title)}", "$live"),
        (f": {plain(view.reason(choice.item))}", "$quiet"),
    )
