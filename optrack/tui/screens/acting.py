"""Asking for something to be done to the selected item: what the plan's and the item's screen share."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import cast

from textual import on
from textual.app import SuspendNotSupported
from textual.message import Message

from optrack.model.item import ItemState
from optrack.model.plan import STATUSES, Status, may_move
from optrack.tui import commands
from optrack.tui.messages import Acted, BoardFailed
from optrack.tui.outside import plain
from optrack.tui.screens.base import BoardScreen
from optrack.tui.screens.dialogs import AskChoice, AskText, Confirm


class EditAt(Message):
    """Where the plan's file is to be opened."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line


class ItemScreen(BoardScreen):
    """A screen with a selected item, which its commands are about."""

    @property
    def current(self) -> str | None:
        """The id of the selected item."""
        return None

    @property
    def state(self) -> ItemState | None:
        """Where the selected item stands."""
        return self.picture.state(self.current) if self.picture and self.current else None

    def _act(self, work: Callable[[], str | None], text: str) -> None:
        """Do `work`, which may return a started run's id, and say `text` when it is done."""

        def acting() -> Message:
            return Acted(text, work())

        self.optrack.act(acting)

    @on(commands.RunItem)
    def run_it(self) -> None:
        """Run the item, after asking if it has been run already."""
        state = self.state
        if state is None:
            return
        name = state.item.id

        def run(answer: str | None = "yes") -> None:
            if answer:
                self._act(lambda: self.board.run_item(name), f"{name} has been started.")

        if state.status in ("completed", "cancelled"):
            text = f"{name} is {state.status}. A new run is recorded beside the {state.runs} there are."
            self.app.push_screen(Confirm(f"Run {name} again?", text, (("yes", "Run again"),)), run)
        else:
            run()

    @on(commands.Mark)
    def mark(self) -> None:
        """Ask for a status and a reason."""
        state = self.state
        if state is None:
            return
        name = state.item.id
        moves = [
            (s, s.replace("_", " ")) for s in STATUSES if may_move(state.status, s) and s != "in_progress"
        ]

        def marked(answer: tuple[str, str] | None) -> None:
            if answer:
                status, why = cast("tuple[Status, str]", answer)
                self._act(
                    lambda: self.board.mark(name, status, why), f"{name} is {status.replace('_', ' ')}."
                )

        text = f"It is {state.status.replace('_', ' ')} now."
        self.app.push_screen(AskChoice(f"Mark {name} as", text, moves), marked)

    def _ask(self, title: str, text: str, then: Callable[[str, str], tuple[Callable[[], None], str]]) -> None:
        name = self.current
        if name is None:
            return

        def answered(answer: str | None) -> None:
            if answer:
                work, told = then(name, answer)
                self._act(work, told)

        self.app.push_screen(AskText(title.format(name), text), answered)

    @on(commands.Skip)
    def skip(self) -> None:
        """Ask why the item is skipped."""
        text = "It will not be chosen. Why?"
        self._ask(
            "Skip {}", text, lambda name, why: (lambda: self.board.skip(name, why), f"{name} is cancelled.")
        )

    @on(commands.AddNote)
    def add_note(self) -> None:
        """Ask for a note."""
        self._ask("Note on {}", "", lambda name, text: (lambda: self.board.note(name, text), "Noted."))

    @on(commands.Adopt)
    def adopt(self) -> None:
        """Make the item the baseline, after asking."""
        name = self.current

        def adopted(answer: str | None) -> None:
            if answer and name:
                self._act(lambda: self.board.adopt(name), f"{name} is the new baseline.")

        if name:
            text = "Items that follow are compared with it."
            self.app.push_screen(
                Confirm(f"Adopt {name} as the new baseline?", text, (("yes", "Adopt"),)), adopted
            )

    @on(commands.Accept)
    def accept(self) -> None:
        """Ask for the difference to accept and the reason."""
        state = self.state
        found = state.judgement.differences if state and state.judgement else ()
        open_ = [d for d in found if d.severity == "blocking"]
        if state is None or not open_:
            self.notify("There is no undeclared difference to accept.", markup=False)
            return
        name = state.item.id
        options = [(d.field, f"{d.field}: {d.baseline} -> {d.candidate}") for d in open_]

        def accepted(answer: tuple[str, str] | None) -> None:
            if answer:
                field, why = answer
                self._act(lambda: self.board.accept(name, field, why), f"{field} is accepted.")

        text = "It no longer makes the comparison unfair, and the item is judged again."
        self.app.push_screen(AskChoice(f"Accept a difference of {name}", text, options), accepted)

    @on(commands.Ablate)
    def ablate(self) -> None:
        """Plan runs of the item's factors one by one."""
        name = self.current
        if name is None:
            return

        def acting() -> Message:
            made = self.board.ablate(name)
            return Acted(f"Planned {', '.join(made)}." if made else f"{name} has no factors to take apart.")

        self.optrack.act(acting)

    @on(commands.Compare)
    def compare(self) -> None:
        """Compare the item with its baseline."""
        if self.current:
            self.optrack.show_comparison(self.current)

    @on(commands.Edit)
    def edit(self) -> None:
        """Find where the item is written."""
        name = self.current or (self.picture.plan.baseline if self.picture else "")
        self.fetch("edit", lambda: EditAt(*self.board.edit_path(name)))

    def on_edit_at(self, message: EditAt) -> None:
        """Open the editor in place of the screens, and come back when it ends."""
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        try:
            with self.app.suspend():
                subprocess.run([*editor, f"+{message.line}", str(message.path)], check=False)
        except SuspendNotSupported:
            where = f"{plain(str(message.path))}:{message.line}"
            self.optrack.post_message(BoardFailed(f"No editor can be opened here; the item is at {where}."))
        except OSError as error:
            self.optrack.post_message(BoardFailed(f"{editor[0]}: {error.strerror}", "set $EDITOR"))
        self.app.refresh(layout=True)
