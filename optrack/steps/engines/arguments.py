"""Arguments by name as a recipe gives them, as the words of a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from optrack.core.recipes.recipe import Scalar

Arguments: TypeAlias = Mapping[str, "Scalar | list[Scalar]"]


def flag(name: str) -> str:
    """Return the option for an argument's name: `--mem-fraction-static` for `mem_fraction_static` too."""
    return "--" + name.lstrip("-").replace("_", "-")


def words(arguments: Arguments) -> list[str]:
    """Return the arguments as words for a shell.

    True is the option alone, False and None leave it out, a list is the option followed by each value.
    A value with a `$` is left to the shell to expand, so `$MODEL` works; everything else is literal.
    """
    found: list[str] = []
    for name, value in arguments.items():
        if value is None or value is False:
            continue
        found.append(flag(name))
        if value is not True:
            found += [quoted(v) for v in (value if isinstance(value, list) else [value]) if v is not None]
    return found


def quoted(value: Scalar) -> str:
    """Return one value as a shell word."""
    text = _text(value)
    if "$" not in text:
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return f'"{escaped}"'


def prompts(arguments: Arguments) -> int | None:
    """Return the number of prompts that a benchmark's arguments ask for, if they say it."""
    count = given(arguments, "num-prompts")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def without(arguments: Arguments, names: Iterable[str]) -> dict[str, Scalar | list[Scalar]]:
    """Return the arguments without those called any of `names`, with dashes or underscores."""
    left_out = {flag(name) for name in names}
    return {name: value for name, value in arguments.items() if flag(name) not in left_out}


def given(arguments: Arguments, *names: str) -> Scalar | list[Scalar]:
    """Return the value of the first of `names` that is among the arguments, or None."""
    by_flag = {flag(name): value for name, value in arguments.items()}
    return next((by_flag[flag(name)] for name in names if flag(name) in by_flag), None)
