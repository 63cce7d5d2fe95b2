"""What every command gets: the project it works on, and how it answers, in words or in JSON."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from optrack.cli import output
from optrack.errors import StoreError

if TYPE_CHECKING:
    from optrack.app.answers import Answer
    from optrack.app.campaign import Campaign
    from optrack.app.project import Project
    from optrack.settings import Settings

P = ParamSpec("P")

_CHANGING = frozenset("next run attach stop mark note accept adopt ablate audit use add import demo".split())

_FILES = frozenset(("file", "source", "recipe"))
"""The arguments that may name a file, whose bytes are taken as they are."""

json_option = click.option("--json", "as_json", is_flag=True, help="answer with one JSON document on stdout")
plan_option = click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="the plan to use"
)


@dataclass(frozen=True)
class Call:
    """The options that all commands share."""

    plan_file: Path | None
    as_json: bool

    @functools.cached_property
    def settings(self) -> Settings:
        """The settings of the project that the current folder belongs to."""
        from optrack.settings import load_settings

        return load_settings(Path.cwd())

    @functools.cached_property
    def project(self) -> Project:
        """The project that the current folder belongs to."""
        from optrack.app.project import Project

        project = Project(self.settings, self.plan_file)
        output.guard(project.gate)
        return project

    @functools.cached_property
    def campaign(self) -> Campaign:
        """The plan and where its items stood when this was first asked for."""
        return self.project.campaign()

    def recover(self) -> None:
        """Close the runs whose runner has died, and say so, a line each."""
        from optrack.app.running import recover

        self.project.campaign()
        for line in recover(self.project):
            output.say(line)

    def recovered(self) -> Campaign:
        """Return the campaign, the runs whose runner has died closed; where the record can't be written, as it is."""
        from optrack.app.running import recover

        campaign, project = self.campaign, self.project
        if project.scratch is not None:
            output.say(f"no records yet, and none can be made: {project.settings.project} is read-only")
            return campaign
        try:
            lines = recover(project)
        except StoreError as error:
            output.say(f"a run has died, which can't be recorded now: {error.message}")
            return campaign
        for line in lines:
            output.say(line)
        return project.campaign() if lines else campaign


def emit(
    call: Call, answer: Answer, as_text: Callable[[], str | Iterable[str] | None], *, indent: int | None = 2
) -> None:
    """Print an answer: as one JSON document, or what `as_text` makes of it (None: nothing on stdout)."""
    if call.as_json:
        output.answer(answer, indent=indent)
        return
    text = as_text()
    if text is not None:
        output.text(text)


def _changes(name: str | None, options: Mapping[str, Any]) -> bool:
    """Whether a command does more than answer: its exit code says what it did, even if nobody can read the answer."""
    only_looks = options.get("dry_run") or options.get("explain")
    return not only_looks and not _CHANGING.isdisjoint((name, options.get("action")))


def _typed(value: Any) -> Any:
    """Return text as it was typed in UTF-8, though the locale has no such characters; other values as they are."""
    if isinstance(value, tuple):
        return tuple(map(_typed, value))
    if not isinstance(value, str) or value.isascii():
        return value
    return os.fsencode(value).decode(errors="replace")


def _with_call(function: Callable[Concatenate[Call, P], int | None], *, has_plan: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, as_json: bool, plan_file: Path | None = None, **kwargs: Any) -> int | None:
        kwargs = {name: value if name in _FILES else _typed(value) for name, value in kwargs.items()}
        output.streams.must_answer = not _changes(click.get_current_context().info_name, kwargs)
        return function(Call(plan_file=plan_file, as_json=as_json), *args, **kwargs)

    with_json = json_option(wrapped)
    return plan_option(with_json) if has_plan else with_json


def standard(function: Callable[Concatenate[Call, P], int | None]) -> Callable[..., Any]:
    """Give a command `--plan` and `--json`, and its function a `Call` in their place."""
    return _with_call(function, has_plan=True)


def without_plan(function: Callable[Concatenate[Call, P], int | None]) -> Callable[..., Any]:
    """Give a command `--json`, and its function a `Call` in its place."""
    return _with_call(function, has_plan=False)
