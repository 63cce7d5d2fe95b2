"""How the terminal's own means are used: calm colours for logs, and scroll bars of whole cells."""

from __future__ import annotations

from rich.terminal_theme import TerminalTheme
from textual.scrollbar import ScrollBarRender


class WholeCells(ScrollBarRender):
    """A scroll bar without eighths of cells, which not every terminal can draw."""

    VERTICAL_BARS = [" "] * 8
    HORIZONTAL_BARS = [" "] * 8


LOG_DARK = TerminalTheme(
    (25, 30, 36),
    (212, 217, 223),
    [
        (60, 68, 77),
        (224, 143, 134),
        (143, 197, 155),
        (220, 182, 113),
        (127, 162, 216),
        (190, 160, 210),
        (127, 179, 200),
        (212, 217, 223),
    ],
    [
        (138, 149, 161),
        (240, 165, 157),
        (168, 216, 178),
        (236, 205, 145),
        (155, 186, 232),
        (210, 184, 228),
        (155, 203, 222),
        (241, 244, 247),
    ],
)
LOG_LIGHT = TerminalTheme(
    (253, 252, 250),
    (37, 43, 49),
    [
        (37, 43, 49),
        (165, 53, 43),
        (43, 110, 60),
        (133, 86, 0),
        (38, 82, 150),
        (118, 62, 140),
        (31, 102, 128),
        (101, 109, 117),
    ],
    [
        (101, 109, 117),
        (140, 40, 32),
        (30, 92, 46),
        (110, 70, 0),
        (28, 66, 128),
        (98, 46, 120),
        (20, 84, 108),
        (13, 17, 20),
    ],
)
