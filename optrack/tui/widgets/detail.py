"""A page of text that scrolls, built for the width at hand, and an item in words: facts, recipe, notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from optrack.app.viewing import ItemRecipe
from optrack.model.item import ItemState, Transition
from optrack.model.judgement import Judgement
from optrack.model.treatment import leaves
from optrack.render import format as fmt
from optrack.tui.text import content, field, hanging, heading, paragraph, plain, toned

Build = Callable[[int], Sequence[Content]]
_FIRST = ("env", "server", "launch", "patch")


class DetailPane(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Shows what its `build` makes for the present width; built anew when the width changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("pagedown,ctrl+f", "page_down", "Page down", show=False),
        Binding("pageup,ctrl+b", "page_up", "Page up", show=False),
        Binding("home,g", "scroll_home", "Top", show=False),
        Binding("end,G", "scroll_end", "End", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._build: Build = lambda width: ()
        self._width = 0

    @property
    def _text(self) -> Static:
        return self.query_one("#text", Static)

    def compose(self) -> ComposeResult:
        yield Static(Content(""), id="text")

    def show(self, build: Build, *, from_top: bool = False) -> None:
        """Show what `build` makes of a width in cells."""
        self._build = build
        self._put()
        if from_top:
            self.scroll_home(animate=False)

    def on_resize(self) -> None:
        if self._wide() != self._width:
            self._put()

    def _wide(self) -> int:
        return max(8, self.size.width - 2)

    def _put(self) -> None:
        self._width = self._wide()
        self._text.update(Content("\n").join(self._build(self._width)))


def status_line(state: ItemState, blocked_by: Sequence[str] = ()) -> Content:
    """Return status, verdict, effect, fairness and flags in one line."""
    parts = [toned(fmt.status_mark(state, blocked=bool(blocked_by)))]
    if blocked_by and state.status == "pending":
        parts.append(content(f"needs {', '.join(blocked_by)}", "$quiet"))
    verdict = fmt.verdict_mark(state.judgement)
    judged = state.judgement
    if verdict is not None and judged is not None:
        parts.append(toned(verdict))
        if judged.effect:
            parts.append(Content(fmt.effect(judged.effect)))
        if judged.verdict != "failed":
            parts.append(toned(fmt.COMPARISON[judged.comparison]))
    parts += [toned(flag) for flag in fmt.flags(state)]
    return Content("   ").join(parts)


def facts(state: ItemState, width: int, blocked_by: Sequence[str] = (), reason: str = "") -> list[Content]:
    """Return all that is known of the item but its recipe and runs, in lines of at most `width` cells."""
    item = state.item
    title = Content.assemble((plain(item.id), "bold $live"), "  ", (plain(item.title), "bold $strong"))
    lines = [*paragraph(title, width), *field("Status", status_line(state, blocked_by), width)]
    if reason and state.status == "pending" and not blocked_by:
        lines += field("Turn", reason, width)
    if item.hypothesis:
        lines += field("Hypothesis", item.hypothesis, width)
    pairs = (
        ("Expected", item.gain.text if item.gain else None),
        ("Effort", item.effort.text if item.effort else None),
        ("Risk", item.risk),
        ("Needs", ", ".join(item.needs) or None),
        ("Skip if", item.skip_if),
    )
    for name, value in pairs:
        lines += field(name, value, width) if value else []
    if state.judgement:
        for i, text in enumerate(state.judgement.reasons):
            lines += field("Why" if i == 0 else "", text, width)
        lines += attribution(state.judgement, width)
    return lines


def attribution(judged: Judgement, width: int) -> list[Content]:
    """Return which factors the treatment has and whether one can be credited."""
    if not judged.attribution.factors:
        return []
    factors = ", ".join(judged.attribution.factors)
    if judged.attribution.status == "single":
        return field("Factor", factors, width)
    return field("Factors", f"! confounded: none of {factors} can be credited alone", width, "$warn")


def value_text(value: Any) -> str:
    """Return a recipe's value as it would be written; None is `unset`."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {value_text(v)}" for k, v in value.items()) + "}"
    return str(value)


def recipe_lines(recipe: ItemRecipe, width: int) -> list[Content]:
    """Return the recipe's leaves, a line each; factors come first, marked, with the baseline's value."""
    if recipe.problem:
        return paragraph(recipe.problem, width, "$bad")
    mine = leaves(recipe.data)
    names = sorted(
        mine.keys() | recipe.factors.keys(),
        key=lambda n: (n not in recipe.factors, n.split(".")[0] not in _FIRST, n),
    )
    if not names:
        return paragraph("No recipe: this item is marked by hand.", width, "$quiet")
    wide = min(max(12, width // 2 - 4), max(len(name) for name in names))
    lines: list[Content] = []
    for name in names:
        label = plain(name).ljust(wide)
        if name not in recipe.factors:
            value = Content(plain(value_text(mine[name])))
            lines += hanging(Content.styled(f"  {label}  ", "$quiet"), value, width)
            continue
        before, after = recipe.factors[name]
        sign = "+" if before is None else "-" if after is None else "~"
        told = (f"  baseline: {plain(value_text(before))}", "$quiet")
        value = Content.assemble((plain(value_text(after)), "bold $warn"), told)
        lines += hanging(Content.styled(f"{sign} {label}  ", "bold $warn"), value, width)
    return lines


def treatment(recipe: ItemRecipe, width: int) -> list[Content]:
    """Return what the item changes against the baseline, a line each."""
    if recipe.problem:
        return field("Recipe", recipe.problem, width, "$bad")
    lines: list[Content] = []
    for name, (before, after) in recipe.factors.items():
        told = Content.assemble(
            (f"~ {plain(name)} = {plain(value_text(after))}", "$warn"),
            (f"   baseline: {plain(value_text(before))}", "$quiet"),
        )
        lines += field("" if lines else "Treatment", told, width)
    return lines


def notes(state: ItemState, transitions: Sequence[Transition], width: int) -> list[Content]:
    """Return the item's notes and the changes of its status, oldest first."""
    lines: list[Content] = []
    if state.notes:
        lines += heading("Notes")
        for note in state.notes:
            lines += field(fmt.clock(note.at), f"{note.who}: {note.text}", width)
    if transitions:
        lines += heading("History")
        for one in transitions:
            moved = f"{one.before or 'new'} -> {one.after}, {one.who}"
            lines += field(fmt.clock(one.at), f"{moved}: {one.why}" if one.why else moved, width)
    return lines
