"""What every command gets: the campaign it works on, and whether it is to answer in JSON."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from optrack.cli import output

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign

P = ParamSpec("P")

_CHANGING = frozenset(
    (
        "next",
        "run",
        "attach",
        "stop",
        "mark",
        "note",
        "accept",
        "adopt",
        "ablate",
        "audit",
        "use",
        "add",
        "import",
    )
)


@dataclass(frozen=True)
class Call:
    """The options that all commands share."""

    plan_file: Path | None
    as_json: bool

    @functools.cached_property
    def campaign(self) -> Campaign:
        """The campaign of the project that the current folder belongs to."""
        from optrack.app.campaign import Campaign
        from optrack.settings import load_settings

        campaign = Campaign(load_settings(Path.cwd()), self.plan_file)
        output.guard(campaign.gate)
        return campaign


_PROSE = frozenset(("text", "why", "title"))
"""The names of the arguments in which people write."""


def _changes(name: str | None, options: Mapping[str, Any]) -> bool:
    """Whether a command does more than answer: its exit code says what it did, even if nobody can read the answer."""
    only_looks = options.get("dry_run") or options.get("explain")
    return not only_looks and not _CHANGING.isdisjoint((name, options.get("action")))


def _typed(text: str | None) -> str | None:
    """Return prose as it was typed in UTF-8, though the locale has no such characters."""
    return text if text is None or text.isascii() else os.fsencode(text).decode(errors="replace")


def standard(function: Callable[Concatenate[Call, P], int | None]) -> Callable[..., int | None]:
    """Give a command `--plan` and `--json`, and its function a `Call` in their place."""

    @click.option(
        "--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="the plan to use"
    )
    @click.option("--json", "as_json", is_flag=True, help="answer with one JSON document on stdout")
    @functools.wraps(function)
    def wrapped(*args: Any, plan_file: Path | None, as_json: bool, **kwargs: Any) -> int | None:
        kwargs.update({name: _typed(kwargs[name]) for name in _PROSE.intersection(kwargs)})
        output.streams.must_answer = not _changes(click.get_current_context().info_name, kwargs)
        return function(Call(plan_file=plan_file, as_json=as_json), *args, **kwargs)

    return wrapped
