"""Everything that a user can ask for: a command is its message, key, footer text and tooltip in one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.message import Message


class Command(Message):
    """Something to ask for; the docstring's first line is its text in tooltip, help and palette."""

    KEY: ClassVar[str] = ""
    FOOTER: ClassVar[str] = ""
    SHOWN: ClassVar[bool] = True
    ACTS: ClassVar[bool] = False
    """Whether it changes something, and so is missing where one may only look."""
    ASKS: ClassVar[bool] = False
    """Whether what is typed next is meant for what it opens."""

    @classmethod
    def tooltip(cls) -> str:
        """Return what the command does, in a sentence."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    @classmethod
    def binding(cls, *, shown: bool = True) -> Binding:
        """Return the key that issues the command, in the footer if both it and the caller say so."""
        action = f"issue('{cls.__name__}')"
        return Binding(cls.KEY, action, cls.FOOTER, show=shown and cls.SHOWN, tooltip=cls.tooltip())


class Quit(Command):
    """Leave; a run in progress goes on without this window."""

    KEY, FOOTER = "q", "Quit"


class Help(Command):
    """Show the keys of the part that has the focus."""

    KEY, FOOTER = "question_mark", "Help"


class Back(Command):
    """Go back to where you came from; in a search or filter, end it."""

    KEY, FOOTER = "escape", "Back"


class ToPlan(Command):
    """Show the plan: every item and where it stands."""

    KEY, FOOTER, SHOWN = "1", "Plan", False


class ToItem(Command):
    """Show the selected item: hypothesis, recipe, runs and notes."""

    KEY, FOOTER, SHOWN = "2", "Item", False


class ToLive(Command):
    """Follow the run in progress: stages, metric so far, load and logs."""

    KEY, FOOTER, SHOWN = "3", "Live", False


class ToCompare(Command):
    """Compare the selected item with its baseline."""

    KEY, FOOTER, SHOWN = "4", "Compare", False


class ToHistory(Command):
    """Show the progress of the metric over the campaign."""

    KEY, FOOTER, SHOWN = "5", "History", False


class ToFailures(Command):
    """Show the failures, grouped by what they have in common."""

    KEY, FOOTER, SHOWN = "6", "Failures", False


class SwitchTheme(Command):
    """Change between dark and light."""

    KEY, FOOTER, SHOWN = "T", "Theme", False


class RunNext(Command):
    """Run the next item of the plan."""

    KEY, FOOTER, ACTS = "n", "Next", True


class RunItem(Command):
    """Run the selected item, whatever its rank."""

    KEY, FOOTER, ACTS = "r", "Run", True
    ASKS = True


class StopRun(Command):
    """Stop the run: it is torn down and recorded as interrupted."""

    KEY, FOOTER, ACTS = "S", "Stop", True
    ASKS = True


class Mark(Command):
    """Set the selected item's status by hand, with a reason."""

    KEY, FOOTER, ACTS = "m", "Mark", True
    ASKS = True


class Skip(Command):
    """Cancel the selected item, so that it is not chosen."""

    KEY, FOOTER, ACTS = "x", "Skip", True
    ASKS = True


class Adopt(Command):
    """Make the selected item the new baseline."""

    KEY, FOOTER, ACTS = "a", "Adopt", True
    ASKS = True


class Accept(Command):
    """Accept an undeclared difference as harmless, with a reason, and judge again."""

    KEY, FOOTER, ACTS, SHOWN = "A", "Accept", True, False
    ASKS = True


class Ablate(Command):
    """Plan runs of the selected item's factors one by one."""

    KEY, FOOTER, ACTS, SHOWN = "b", "Ablate", True, False


class AddNote(Command):
    """Attach a note to the selected item."""

    KEY, FOOTER, ACTS, SHOWN = "N", "Note", True, False
    ASKS = True


class Edit(Command):
    """Open the plan at the selected item in $EDITOR; the plan is read again when it is saved."""

    KEY, FOOTER, ACTS = "e", "Edit", True
    ASKS = True


class Compare(Command):
    """Compare the selection with its baseline."""

    KEY, FOOTER = "c", "Compare"
    ASKS = True


class Filter(Command):
    """Show only what contains these words."""

    KEY, FOOTER = "slash", "Find"
    ASKS = True


class NextShown(Command):
    """Show only the items of one standing; again for the next one."""

    KEY, FOOTER, SHOWN = "f", "Only", False


class Sort(Command):
    """Sort by rank, by value, or by result."""

    KEY, FOOTER = "s", "Sort"


class Fold(Command):
    """Fold or unfold the items under the selected one."""

    KEY, FOOTER, SHOWN = "space", "Fold", False


class OtherLog(Command):
    """Change between the server's log and the benchmark's output."""

    KEY, FOOTER = "l", "Log"


class Pause(Command):
    """Stop following the end of the log, or follow it again."""

    KEY, FOOTER = "p", "Pause"


class Swap(Command):
    """Change candidate and baseline."""

    KEY, FOOTER = "w", "Swap"


COMMANDS: dict[str, type[Command]] = {cls.__name__: cls for cls in Command.__subclasses__()}
EVERYWHERE: tuple[type[Command], ...] = (
    ToPlan,
    ToItem,
    ToLive,
    ToCompare,
    ToHistory,
    ToFailures,
    SwitchTheme,
    Help,
    Quit,
)
ON_ITEM: tuple[type[Command], ...] = (RunItem, Compare, Mark, Skip, Adopt, Accept, Ablate, AddNote, Edit)


def bindings(commands: Iterable[type[Command]], *, shown: bool = True) -> list[Binding]:
    """Return the keys of these commands."""
    return [command.binding(shown=shown) for command in commands]


class Palette(Provider):
    """The command palette's entries: every command that the screen offers now."""

    def _offered(self) -> list[tuple[str, str, str]]:
        found = {}
        for active in self.screen.active_bindings.values():
            action = active.binding.action
            if active.enabled and action.startswith("issue('"):
                command = COMMANDS[action.removeprefix("issue('").removesuffix("')")]
                found[command.__name__] = (command.FOOTER, command.tooltip(), action)
        return list(found.values())

    async def discover(self) -> Hits:
        for name, tooltip, action in self._offered():
            yield DiscoveryHit(name, self._running(action), help=tooltip)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, tooltip, action in self._offered():
            score = max(matcher.match(name), matcher.match(tooltip))
            if score > 0:
                yield Hit(score, matcher.highlight(name), self._running(action), help=tooltip)

    def _running(self, action: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await self.app.run_action(action, default_namespace=self.screen)

        return run
