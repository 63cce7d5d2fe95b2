"""A view into a log file of any size: it follows the end, pauses, scrolls by offset and searches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import get_current_worker

from optrack.render import format as fmt
from optrack.tui import follow
from optrack.tui.text import ansi_segments

EVERY_S = 0.25


class LogView(Widget, can_focus=True):
    """The lines in view of the file at `path`; reading happens in a thread, a page at a time."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"log--hit", "log--quiet", "log--bar"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("right", "shift(8)", "Right", show=False),
        Binding("left", "shift(-8)", "Left", show=False),
        Binding("home,g", "to_start", "Start", show=False),
        Binding("end,G", "follow", "End: follow", show=False),
        Binding("n,greater_than_sign", "next_match(1)", "Next match", show=False),
        Binding("N,less_than_sign", "next_match(-1)", "Previous match", show=False),
    ]

    class PageRead(Message):
        """A page was read for the request with this number."""

        def __init__(self, number: int, page: follow.Page) -> None:
            super().__init__()
            self.number, self.page = number, page

    class Searched(Message):
        """A search is over; `offset` is where the line begins, None if the words are nowhere."""

        def __init__(self, words: str, offset: int | None) -> None:
            super().__init__()
            self.words, self.offset = words, offset

    def __init__(self, *, empty: str = "No log yet.", id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.path: Path | None = None
        self.following = True
        self.words = ""
        self._empty = empty
        self._page = follow.Page((), 0, 0)
        self._top: int | None = None
        self._move = 0
        self._column = 0
        self._number = 0

    @property
    def page(self) -> follow.Page:
        return self._page

    def on_mount(self) -> None:
        self.set_interval(EVERY_S, self._tick)

    def open(self, path: Path | None) -> None:
        """Show this file from its end."""
        if path == self.path:
            return
        self.path, self.following, self._top, self._move, self._column = path, True, None, 0, 0
        self._page = follow.Page((), 0, 0)
        self._read()

    def _tick(self) -> None:
        if self.following and self.screen in self.app.screen_stack:
            self._read()

    def _read(self) -> None:
        if self.path is None or not self.size.height:
            self._subtitle()
            self.refresh()
            return
        self._number += 1
        lines = self.size.height
        top, move = (None, -lines) if self.following else (self._top, self._move)
        work = partial(follow.page, self.path, top, move, lines)
        self.run_worker(
            partial(self._reading, self._number, work),
            group="page",
            thread=True,
            exclusive=True,
            exit_on_error=False,
        )

    def _reading(self, number: int, work: Callable[[], follow.Page]) -> None:
        page = work()
        if not get_current_worker().is_cancelled and self.is_attached:
            self.post_message(self.PageRead(number, page))

    def on_log_view_page_read(self, message: PageRead) -> None:
        message.stop()
        if message.number != self._number:
            return
        changed = message.page != self._page
        self._page = message.page
        self._top, self._move = message.page.top, 0
        self._subtitle()
        if changed:
            self.refresh()

    def _subtitle(self) -> None:
        size, end = self._page.size, self._page.end
        place = "" if not size else f"{100 * end // size}% of {fmt.size(size)}"
        how = "following" if self.following else "paused, p or G follows"
        found = f"/{self.words}  " if self.words else ""
        told = f"{found}{place}  {how}".strip().replace("[", "(") if self.path else ""
        if told != self.border_subtitle:
            self.border_subtitle = told

    def on_resize(self) -> None:
        self._read()

    def action_move(self, lines: int) -> None:
        """Scroll by lines; downwards past the end follows again."""
        if lines > 0 and self._page.at_end and not self._move:
            self.following = True
        else:
            self._top = self._page.top if self._top is None else self._top
            self.following, self._move = False, self._move + lines
        self._read()

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height - 1))

    def action_shift(self, columns: int) -> None:
        self._column = max(0, self._column + columns)
        self.refresh()

    def action_to_start(self) -> None:
        self.go_to(0)

    def action_follow(self) -> None:
        self.following = True
        self._read()

    def action_pause(self) -> None:
        self.following = not self.following
        self._read()

    def go_to(self, offset: int) -> None:
        """Show the line at this offset on top."""
        self.following, self._top, self._move = False, offset, 0
        self._read()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-3)

    def search(self, words: str) -> None:
        """Show the last line up to the end of the view that holds these words; no words end the search."""
        self.words = words
        self.refresh()
        if words:
            self._search(self._page.end, backward=True)
        else:
            self._subtitle()

    def action_next_match(self, direction: int) -> None:
        if self.words and self._page.lines:
            after = self._page.lines[1].offset if len(self._page.lines) > 1 else self._page.end
            self._search(after if direction > 0 else self._page.top, backward=direction < 0)

    def _search(self, start: int, *, backward: bool) -> None:
        if self.path is None:
            return
        work = partial(self._searching, self.path, self.words, start, backward)
        self.run_worker(work, group="search", thread=True, exclusive=True, exit_on_error=False)

    def _searching(self, path: Path, words: str, start: int, backward: bool) -> None:
        worker = get_current_worker()
        offset = follow.search(path, words, start, backward=backward, stopped=lambda: worker.is_cancelled)
        if not worker.is_cancelled and self.is_attached:
            self.post_message(self.Searched(words, offset))

    def on_log_view_searched(self, message: Searched) -> None:
        message.stop()
        if message.offset is None:
            self.app.bell()
            self.notify(f"'{message.words}' not found there", markup=False)
        elif message.words == self.words:
            self.go_to(message.offset)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self._page.lines
        if not lines:
            quiet = base + self.get_component_rich_style("log--quiet", partial=True)
            return Strip([Segment(f" {self._empty}" if y == 0 else "", quiet)]).adjust_cell_length(
                width, base
            )
        if y >= len(lines):
            return Strip.blank(width, base)
        segments = [
            Segment(s.text, base + s.style if s.style else base) for s in ansi_segments(lines[y].text)
        ]
        if self.words:
            hit = self.get_component_rich_style("log--hit", partial=True)
            segments = _marked(segments, self.words, hit)
        strip = Strip(segments)
        return strip.crop(self._column, self._column + width).adjust_cell_length(width, base)


def _marked(segments: list[Segment], words: str, hit: Style) -> list[Segment]:
    """Return the segments with each occurrence of `words` in the style `hit`."""
    marked: list[Segment] = []
    wanted = words.casefold()
    for segment in segments:
        rest = segment.text
        folded = rest.casefold() if len(rest.casefold()) == len(rest) else rest
        at = 0
        while (found := folded.find(wanted, at)) >= 0:
            marked.append(Segment(rest[at:found], segment.style))
            end = found + len(wanted)
            marked.append(Segment(rest[found:end], (segment.style or Style()) + hit))
            at = end
        marked.append(Segment(rest[at:], segment.style))
    return marked
