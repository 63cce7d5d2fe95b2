"""Everything that a user can ask for: a command is its key, footer text and tooltip in one.

A screen or the application does it in the method `do_NAME`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider


@dataclass(frozen=True, slots=True)
class Command:
    """Something to ask for; `text` is its sentence in tooltip, help and palette, `shown` whether the footer has it.

    `acts`: it changes something, and so is missing where one may only look. `asks`: what is typed next is meant for
    what it opens.
    """

    key: str
    footer: str
    text: str
    shown: bool = True
    acts: bool = False
    asks: bool = False


COMMANDS: dict[str, Command] = {
    "quit": Command("q", "Quit", "Leave; a run in progress goes on without this window."),
    "help": Command("question_mark", "Help", "Show the keys of the part that has the focus."),
    "back": Command("escape", "Back", "Go back to where you came from; in a search or filter, end it."),
    "plan": Command("1", "Plan", "Show the plan: every item and where it stands.", shown=False),
    "item": Command("2", "Item", "Show the selected item: hypothesis, recipe, runs and notes.", shown=False),
    "live": Command(
        "3", "Live", "Follow the run in progress: stages, metric so far, load and logs.", shown=False
    ),
    "compare": Command("4", "Compare", "Compare the selected item with its baseline.", shown=False),
    "history": Command("5", "History", "Show the progress of the metric over the campaign.", shown=False),
    "failures": Command(
        "6", "Failures", "Show the failures, grouped by what they have in common.", shown=False
    ),
    "theme": Command("T", "Theme", "Change between dark and light.", shown=False),
    "next": Command("n", "Next", "Run the next item of the plan.", acts=True),
    "run": Command("r", "Run", "Run the selected item, whatever its rank.", acts=True, asks=True),
    "stop": Command(
        "S", "Stop", "Stop the run: it is torn down and recorded as interrupted.", acts=True, asks=True
    ),
    "mark": Command(
        "m", "Mark", "Set the selected item's status by hand, with a reason.", acts=True, asks=True
    ),
    "skip": Command("x", "Skip", "Cancel the selected item, so that it is not chosen.", acts=True, asks=True),
    "adopt": Command("a", "Adopt", "Make the selected item the new baseline.", acts=True, asks=True),
    "accept": Command(
        "A",
        "Accept",
        "Accept an undeclared difference as harmless, with a reason, and judge again.",
        shown=False,
        acts=True,
        asks=True,
    ),
    "ablate": Command(
        "b", "Ablate", "Plan runs of the selected item's factors one by one.", shown=False, acts=True
    ),
    "note": Command("N", "Note", "Attach a note to the selected item.", shown=False, acts=True, asks=True),
    "edit": Command(
        "e",
        "Edit",
        "Open the plan at the selected item in $EDITOR; the plan is read again when it is saved.",
        acts=True,
        asks=True,
    ),
    "comparison": Command("c", "Compare", "Compare the selection with its baseline.", asks=True),
    "find": Command("slash", "Find", "Show only what contains these words.", asks=True),
    "only": Command(
        "f", "Only", "Show only the items of one status or verdict; again for the next one.", shown=False
    ),
    "sort": Command("s", "Sort", "Sort by rank, by value, or by result."),
    "fold": Command("space", "Fold", "Fold or unfold the items under the selected one.", shown=False),
    "other_log": Command("l", "Log", "Change between the server's log and the benchmark's output."),
    "pause": Command("p", "Pause", "Stop following the end of the log, or follow it again."),
    "swap": Command("w", "Swap", "Change candidate and baseline."),
}
EVERYWHERE = ("plan", "item", "live", "compare", "history", "failures", "theme", "help", "quit")
ON_ITEM = ("run", "comparison", "mark", "skip", "adopt", "accept", "ablate", "note", "edit")


def binding(name: str, *, shown: bool = True) -> Binding:
    """Return the key that issues the command, in the footer if both it and the caller say so."""
    command = COMMANDS[name]
    return Binding(
        command.key, f"issue('{name}')", command.footer, show=shown and command.shown, tooltip=command.text
    )


def bindings(names: Iterable[str], *, shown: bool = True) -> list[Binding]:
    """Return the keys of these commands."""
    return [binding(name, shown=shown) for name in names]


class Palette(Provider):
    """The command palette's entries: every command that the screen offers now."""

    def _offered(self) -> list[tuple[Command, str]]:
        actions = dict.fromkeys(
            active.binding.action
            for active in self.screen.active_bindings.values()
            if active.enabled and active.binding.action.startswith("issue('")
        )
        return [(COMMANDS[action.split("'")[1]], action) for action in actions]

    async def discover(self) -> Hits:
        for command, action in self._offered():
            yield DiscoveryHit(command.footer, self._running(action), help=command.text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command, action in self._offered():
            score = max(matcher.match(command.footer), matcher.match(command.text))
            if score > 0:
                shown = matcher.highlight(command.footer)
                yield Hit(score, shown, self._running(action), help=command.text)

    def _running(self, action: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await self.app.run_action(action, default_namespace=self.screen)

        return run
