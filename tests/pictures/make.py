"""Makes the README's pictures from a demo that was run: `python -m tests.pictures.make FOLDER`.

FOLDER is the project of an `optrack demo FOLDER`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from optrack.app.watching import Watcher
from optrack.settings import load_settings
from tests.pictures.drawing import picture_of

HERE = Path(__file__).resolve().parent
PICTURES: dict[str, tuple[str, ...]] = {
    "plan": ("down", "down", "down"),
    "compare": ("down", "down", "down", "c"),
    "history": ("5",),
}
"""Each picture with the keys that lead to its screen."""

_FONT_FACE = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def self_contained(picture: str) -> str:
    """Return the SVG without the fonts that it would load from elsewhere: the reader's own are used."""
    return _FONT_FACE.sub("", picture).replace("Fira Code", "ui-monospace")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("project", type=Path)
    project = options.parse_args().project.resolve()
    for name, keys in PICTURES.items():
        watcher = Watcher(load_settings(project))
        text = self_contained(picture_of(watcher, keys, size=(120, 30)))
        (HERE / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
