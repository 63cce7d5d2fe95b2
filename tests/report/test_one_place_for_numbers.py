"""What people read as a number is written by `render/format.py`, whatever shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import optrack

ROOT = Path(optrack.__file__).parent
PLACES = ("app", "cli", "tui", "mcp.py", "render")
EXCEPTIONS = {
    "render/format.py": "the one place",
    "render/mlflow.py": "tags that programs read",
}
_NUMBER = re.compile(r"[,_]|[eEfFgGn%]$")
_PERCENT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[eEfFgG]")


def files(place: Path) -> list[Path]:
    """Return the modules at a path."""
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def formatted(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that give a number digits: format specs of f-strings, `format` and `%`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(str(v.value) for v in node.format_spec.values if isinstance(v, ast.Constant))
            if _NUMBER.search(spec):
                yield node.lineno
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            left = node.left
            if isinstance(left, ast.Constant) and isinstance(left.value, str) and _PERCENT.search(left.value):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format":
            yield node.lineno


@pytest.mark.parametrize("place", [place for place in PLACES if (ROOT / place).exists()])
def test_no_other_module_gives_a_number_its_digits(place: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files(ROOT / place)
        if str(path.relative_to(ROOT)) not in EXCEPTIONS
        for line in formatted(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_digits_are_seen_in_every_way_to_write_them() -> None:
    for text in ('f"{x:.1f}"', 'f"{x:,}"', 'f"{x:>6.2f} s"', '"%.3g" % x', 'format(x, ".2e")', 'f"{x:.0%}"'):
        assert list(formatted(ast.parse(text))) == [1]
    for text in ('f"{x:>8}"', 'f"{x}"', "7 % x", 'f"{at:%H:%M}"'):
        assert list(formatted(ast.parse(text))) == []
