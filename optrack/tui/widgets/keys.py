"""The line of keys at the bottom of a screen."""

from __future__ import annotations

from textual.widgets import Footer


class Keys(Footer):
    """A footer that lets go of the keys that it no longer shows.

    Every key is bound to the footer's `compact`, and a footer that never changes it would keep those of each
    change of focus for as long as the screens are open.
    """

    async def recompose(self) -> None:
        await super().recompose()
        self.mutate_reactive(Footer.compact)
