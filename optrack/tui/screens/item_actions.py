"""Asking for something to be done to the selected item: what the plan's and the item's screen share."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from typing import cast

from textual.app import SuspendNotSupported

from optrack.app import actions, rejudging, running
from optrack.app.project import Project
from optrack.errors import UsageError
from optrack.model.item import ItemState
from optrack.model.plan import STATUSES, Status, may_move
from optrack.render.format import words
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.screens.dialogs import AskChoice, AskText, Confirm
from optrack.tui.text import plain
from optrack.tui.watch import Failed

ADOPTED = "adopted on the screen"


class SelectionScreen(CampaignScreen):
    """A screen with a selected item, which its commands are about."""

    @property
    def current(self) -> str | None:
        """The id of the selected item."""
        return None

    @property
    def state(self) -> ItemState | None:
        """Where the selected item stands."""
        return self.view.state(self.current) if self.view and self.current else None

    def _act(self, work: Callable[[Project], object], text: str) -> None:
        """Do `work` and say `text` when it is done."""

        def acting(project: Project) -> str:
            work(project)
            return text

        self.navigator.act(acting)

    async def do_run(self) -> None:
        if (state := self.state) is None:
            return
        name = state.item.id
        if state.status in ("completed", "cancelled"):
            text = f"{name} is {state.status}. A new run is recorded beside the {state.runs} there are."
            if not await self.ask(Confirm(f"Run {name} again?", text, (("yes", "Run again"),))):
                return
        self._act(lambda project: running.start(project, name), f"{name} has been started.")

    async def do_mark(self) -> None:
        if (state := self.state) is None:
            return
        name, now = state.item.id, state.status
        moves = [(status, words(status)) for status in STATUSES if may_move(now, status)]
        moves = [move for move in moves if move[0] != "in_progress"]
        answer = await self.ask(AskChoice(f"Mark {name} as", f"It is {words(now)} now.", moves))
        if answer:
            status, why = cast("tuple[Status, str]", answer)
            self._act(
                lambda project: actions.mark(project, name, status, why=why), f"{name} is {words(status)}."
            )

    async def do_skip(self) -> None:
        name = self.current
        if name and (why := await self.ask(AskText(f"Skip {name}", "It will not be chosen. Why?"))):
            self._act(
                lambda project: actions.mark(project, name, "cancelled", why=why), f"{name} is cancelled."
            )

    async def do_note(self) -> None:
        name = self.current
        if name and (text := await self.ask(AskText(f"Note on {name}"))):
            self._act(lambda project: actions.note(project, name, text), "Noted.")

    async def do_adopt(self) -> None:
        """Make the item the baseline, after asking; what can't be adopted is refused before."""
        if (state := self.state) is None:
            return
        name = state.item.id
        try:
            actions.require_adoptable(state)
        except UsageError as error:
            self.app.post_message(Failed(error.message, error.hint))
            return
        text = "Items that follow are compared with it."
        if await self.ask(Confirm(f"Adopt {name} as the new baseline?", text, (("yes", "Adopt"),))):
            self._act(
                lambda project: actions.adopt(project, name, why=ADOPTED), f"{name} is the new baseline."
            )

    async def do_accept(self) -> None:
        """Ask for the difference to accept and the reason."""
        state = self.state
        differences = state.judgement.differences if state and state.judgement else ()
        blocking = [d for d in differences if d.severity == "blocking"]
        if state is None or not blocking:
            self.notify("There is no undeclared difference to accept.", markup=False)
            return
        name = state.item.id
        options = [(d.field, f"{d.field}: {d.baseline} -> {d.candidate}") for d in blocking]
        text = "It no longer makes the comparison unfair, and the item is judged again."
        if answer := await self.ask(AskChoice(f"Accept a difference of {name}", text, options)):
            field, why = answer
            self._act(
                lambda project: rejudging.accept(project, field, item=name, why=why), f"{field} is accepted."
            )

    def do_ablate(self) -> None:
        """Plan runs of the item's factors one by one."""
        name = self.current

        def ablated(project: Project) -> str:
            return f"Planned {', '.join(part.id for part in actions.ablate(project, name or ''))}."

        if name:
            self.navigator.act(ablated)

    def do_comparison(self) -> None:
        if self.current:
            self.navigator.show_comparison(self.current)

    def do_edit(self) -> None:
        """Open the editor at the item in place of the screens, and come back when it ends."""
        view = self.view
        if view is None:
            return
        item = view.plan.item(self.current or view.plan.baseline)
        path, line = view.plan.path, item.line if item else 1
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        try:
            with self.app.suspend():
                subprocess.run([*editor, f"+{line}", path], check=False)
        except SuspendNotSupported:
            where = f"{plain(path)}:{line}"
            self.app.post_message(Failed(f"No editor can be opened here; the item is at {where}."))
        except OSError as error:
            self.app.post_message(Failed(f"{editor[0]}: {error.strerror}", "set $EDITOR"))
        self.app.refresh(layout=True)
