"""A list of rows in aligned columns that draws only what is in view, so that 10,000 rows open like ten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from optrack.render.format import Tone
from optrack.tui.text import plain, shortened

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell and its tone."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column: its title, its width in cells (the least one if it is elastic), a row's cell, how early it yields.

    Columns of `yields` 0 stay; the highest go first when the list is narrow. From 5 on they go already
    when the elastic column has less than its `wish`.
    """

    title: str
    width: int
    cell: Callable[[T], Cell]
    yields: int = 0
    right: bool = False
    elastic: bool = False
    wish: int = 0


def fitted(columns: Sequence[Column[T]], width: int, gap: int = 2) -> list[tuple[int, int]]:
    """Return which columns fit into `width` cells, each as (index, width); the elastic one takes the rest."""
    kept = list(range(len(columns)))

    def needed(luxury: bool = False) -> int:
        widths = (max(columns[i].width, columns[i].wish if luxury else 0) for i in kept)
        return sum(widths) + gap * (len(kept) - 1)

    while kept:
        going = max(kept, key=lambda i: (columns[i].yields, i))
        yields = columns[going].yields
        if yields == 0 or needed(luxury=yields >= 5) <= width:
            break
        kept.remove(going)
    spare = max(0, width - needed())
    return [(i, columns[i].width + (spare if columns[i].elastic else 0)) for i in kept]


class RowList(ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """Rows of `T` under a fixed line of titles, with a cursor; `cells` is asked only for rows in view."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--title",
        "rows--cursor",
        *(f"rows--{tone}" for tone in ("plain", "strong", "good", "bad", "warn", "live", "quiet")),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    class Highlighted(Message, Generic[R]):
        """The cursor has moved to another row; `row` is None when the list is empty."""

        def __init__(self, rows: RowList[R], row: R | None) -> None:
            super().__init__()
            self.rows, self.row = rows, row

    class Chosen(Message, Generic[R]):
        """A row was opened, by enter or a second click."""

        def __init__(self, rows: RowList[R], row: R) -> None:
            super().__init__()
            self.rows, self.row = rows, row

    def __init__(
        self,
        columns: Sequence[Column[T]],
        key: Callable[[T], str],
        *,
        empty: str = "",
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.columns, self._key = columns, key
        self._rows: Sequence[T] = ()
        self._empty = empty

    @property
    def row(self) -> T | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    @property
    def rows(self) -> Sequence[T]:
        """All rows, in the order shown."""
        return self._rows

    def show(self, rows: Sequence[T], *, empty: str | None = None) -> None:
        """Show these rows; the cursor stays on the row with the same key, else on the same line."""
        before = self._key(self.row) if self.row is not None else None
        self._rows = rows
        self._empty = self._empty if empty is None else empty
        at = self._index_of(before) if before is not None else None
        self._resized()
        self.set_reactive(RowList.cursor, min(self.cursor, max(0, len(rows) - 1)) if at is None else at)
        self._reveal()
        self.refresh()
        self.post_message(self.Highlighted(self, self.row))

    def _index_of(self, key: str) -> int | None:
        if self.row is not None and self._key(self.row) == key:
            return self.cursor
        return next((i for i, row in enumerate(self._rows) if self._key(row) == key), None)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._rows) - 1))

    def watch_cursor(self, before: int, now: int) -> None:
        if before != now:
            self._reveal()
            self.refresh()
            self.post_message(self.Highlighted(self, self.row))

    def on_resize(self) -> None:
        self._resized()

    def _resized(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows) + 1)

    def _reveal(self) -> None:
        height = max(1, self.scrollable_content_region.height - 1)
        top = int(self.scroll_offset.y)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def action_move(self, lines: int) -> None:
        self.cursor += lines

    def action_page(self, pages: int) -> None:
        self.cursor += pages * max(1, self.scrollable_content_region.height - 2)

    def action_edge(self, last: int) -> None:
        self.cursor = len(self._rows) - 1 if last else 0

    def action_choose(self) -> None:
        if self.row is not None:
            self.post_message(self.Chosen(self, self.row))

    def on_click(self, event: events.Click) -> None:
        line = event.y - 1 + int(self.scroll_offset.y)
        if event.y < 1 or not 0 <= line < len(self._rows):
            return
        self.cursor = line
        if event.chain > 1:
            self.action_choose()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        if y == 0:
            titles = [Cell(column.title) for column in self.columns]
            return self._strip(titles, base + self._style("title"), width, cursor=True)
        line = y - 1 + int(self.scroll_offset.y)
        if not self._rows:
            return self._empty_line(y, width, base)
        if line >= len(self._rows):
            return Strip.blank(width, base)
        here = line == self.cursor
        style = base + self._style("cursor") if here else base
        cells = [column.cell(self._rows[line]) for column in self.columns]
        return self._strip(cells, style, width, cursor=here)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"rows--{name}", partial=True)

    def _empty_line(self, y: int, width: int, base: Style) -> Strip:
        lines = self._empty.split("\n")
        text = lines[y - 2] if 0 <= y - 2 < len(lines) else ""
        return Strip([Segment(set_cell_size(f"  {text}", width), base + self._style("quiet"))], width)

    def _strip(self, cells: Sequence[Cell], base: Style, width: int, *, cursor: bool) -> Strip:
        segments = [Segment(" ", base)]
        for index, wide in fitted(self.columns, width - 2):
            text = shortened(plain(cells[index].text), wide)
            pad = " " * (wide - cell_len(text))
            style = base if cursor else base + self._style(cells[index].tone)
            body = pad + text if self.columns[index].right else text + pad
            segments += [Segment(body, style), Segment("  ", base)]
        return Strip(segments).adjust_cell_length(width, base)
