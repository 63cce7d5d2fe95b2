"""How the screens look: the two colour themes, the colours of logs, and drawing in ASCII alone."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from optrack.model.text import NEAREST, without_accents


def _theme(
    name: str,
    *,
    dark: bool,
    grounds: str,
    texts: str,
    tones: str,
    lines: str,
    cursor: str,
    selection: str,
    footer: str,
) -> Theme:
    """Return a theme; `grounds` are background, surface and panel, `texts` foreground, secondary, quiet and strong,
    `tones` good, bad, warn and live, `lines` the colour of lines and the one under the mouse."""
    background, surface, panel = grounds.split()
    foreground, secondary, quiet, strong = texts.split()
    good, bad, warn, live = tones.split()
    line, hover = lines.split()
    bars = ("background", "background-hover", "background-active", "corner-color")
    return Theme(
        name=name,
        primary=live,
        secondary=secondary,
        accent=live,
        foreground=foreground,
        background=background,
        surface=surface,
        panel=panel,
        success=good,
        warning=warn,
        error=bad,
        dark=dark,
        variables={
            "good": good,
            "bad": bad,
            "warn": warn,
            "live": live,
            "quiet": quiet,
            "strong": strong,
            "line": line,
            "cursor-bg": cursor,
            "footer-key-foreground": live,
            "footer-background": footer,
            "input-selection-background": selection,
            "border": live,
            "border-blurred": line,
            "scrollbar": line,
            "scrollbar-hover": hover,
            "scrollbar-active": live,
            **{f"scrollbar-{part}": surface for part in bars},
        },
    )


DARK = _theme(
    "optrack-dark",
    dark=True,
    grounds="#14181d #191e24 #222931",
    texts="#d4d9df #8fa3b8 #8a95a1 #f1f4f7",
    tones="#8fc59b #e08f86 #dcb671 #7fb3c8",
    lines="#35404b #4a5866",
    cursor="#2c3a47",
    selection="#3b5566",
    footer="#191e24",
)
LIGHT = _theme(
    "optrack-light",
    dark=False,
    grounds="#f6f5f2 #fdfcfa #ebe9e4",
    texts="#252b31 #4d6072 #656d75 #0d1114",
    tones="#2b6e3c #a5352b #855600 #1f6680",
    lines="#c9c5bc #a9a59c",
    cursor="#d5e3e8",
    selection="#b5d3de",
    footer="#ebe9e4",
)


def _log_colours(ground: str, normal: str, bright: str) -> TerminalTheme:
    """Return the colours of a log: background and foreground, then the eight colours, calm and bright."""
    (back, front), colours, brights = (
        [Color.parse(one).rgb for one in part.split()] for part in (ground, normal, bright)
    )
    return TerminalTheme(back, front, colours, brights)


LOG_DARK = _log_colours(
    "#191e24 #d4d9df",
    "#3c444d #e08f86 #8fc59b #dcb671 #7fa2d8 #bea0d2 #7fb3c8 #d4d9df",
    "#8a95a1 #f0a59d #a8d8b2 #eccd91 #9bbae8 #d2b8e4 #9bcbde #f1f4f7",
)
LOG_LIGHT = _log_colours(
    "#fdfcfa #252b31",
    "#252b31 #a5352b #2b6e3c #855600 #265296 #763e8c #1f6680 #656d75",
    "#656d75 #8c2820 #1e5c2e #6e4600 #1c4280 #622e78 #14546c #0d1114",
)


@lru_cache(4096)
def in_ascii(text: str) -> str:
    """Return `text` in ASCII, as many cells wide as it was; what has no likeness becomes question marks."""
    return text if text.isascii() else "".join(_one(char) for char in text)


def _one(char: str) -> str:
    if char.isascii():
        return char
    width = cell_len(char)
    known = NEAREST.get(char)
    if known is None:
        bare = without_accents(char)
        known = bare if len(bare) == width else "?" * width
    return known.ljust(width)[:width]


class AsciiOnly(LineFilter):
    """Draws every line in ASCII, for terminals that have nothing else."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]
