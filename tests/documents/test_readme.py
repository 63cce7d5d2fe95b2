"""What the README says exists: commands, options, keys, settings, files; and its commands are those of CI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import pytest

from optrack.cli import COMMANDS, cli
from optrack.model.judgement import Verdict
from optrack.model.recipe import Recipe
from optrack.model.written import keys_of
from optrack.plan.front_matter import FrontMatterKeys
from optrack.plan.read import parse_plan
from optrack.render.briefing import EXIT_CODES
from optrack.settings import FileSettings, load_settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SPAN = re.compile(r"`([^`\n]+)`")


def fenced(info: str) -> list[str]:
    """The contents of the README's fenced blocks with this info string, the outermost ones."""
    blocks = re.findall(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", README, flags=re.MULTILINE | re.DOTALL)
    return [content for _, name, content in blocks if name == info]


def prose() -> str:
    """The README without its fenced blocks."""
    return re.sub(r"^(`{3,})[^\n`]*\n.*?^\1$", "", README, flags=re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    """The prose of one section of the README."""
    return prose().split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> list[list[str]]:
    """The cells of all tables in a section, heads left out."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = [number for number, row in enumerate(cells) if row[0] and set(row[0]) == {"-"}]
    return [row for number, row in enumerate(cells) if number not in rules and number + 1 not in rules]


def command_of(words: list[str]) -> click.Command:
    """The command that these words call."""
    found: click.Command = cli
    for word in words:
        if not isinstance(found, click.Group) or not re.fullmatch(r"[a-z]+", word):
            break
        called = found.get_command(click.Context(found), word)
        assert called is not None, f"there is no command {' '.join(words)!r}"
        found = called
    return found


def options_of(command: click.Command) -> set[str]:
    """The options of a command."""
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def calls() -> Iterator[str]:
    """Everything in the README that calls optrack."""
    yield from (span for span in SPAN.findall(prose()) if span.split()[0] == "optrack")
    for block in fenced("sh"):
        yield from re.findall(r"(?:^|/)(optrack .*)$", block, flags=re.MULTILINE)


@pytest.mark.parametrize("call", sorted(set(calls())))
def test_what_the_readme_calls_exists(call: str) -> None:
    words = call.split("'")[0].split()[1:]
    command = command_of(words)
    named = {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}
    assert named <= options_of(command) | {"--help"}, call


def test_every_command_is_in_the_table() -> None:
    first = " ".join(row[0] for row in rows("Commands"))
    for name in (name for names in COMMANDS.values() for name in names):
        assert re.search(rf"`optrack {name}\b", first), name


def test_options_in_the_table_belong_to_a_command_of_their_row() -> None:
    for row in rows("Commands"):
        spans = SPAN.findall(row[0])
        known = set().union(*(options_of(command_of(span.split()[1:])) for span in spans))
        named = {word for span in SPAN.findall(row[1]) for word in span.split() if word.startswith("-")}
        assert named <= known, row


def test_the_second_command_is_what_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.split('cd "$(dirname "$0")/.."\n\n', 1)[1] == fenced("sh")[1]
    assert fenced("sh")[0].splitlines()[:3] == fenced("sh")[1].splitlines()[:3]


def test_the_plan_in_the_readme_has_no_errors() -> None:
    (text,) = fenced("markdown")
    plan = parse_plan(text.encode(), name="readme", path="README.md")
    assert [problem.message for problem in plan.problems if problem.severity == "error"] == []
    assert [item.id for item in plan.items] == ["baseline", "1", "1A", "1B", "1C", "2"]
    assert plan.item("1C").needs == ("1A", "1B")  # type: ignore[union-attr]


def test_every_key_of_recipes_and_front_matter_is_told() -> None:
    told = {span for row in rows("The plan") for span in SPAN.findall(row[0])}
    assert told == set(keys_of(Recipe))
    (line,) = re.findall(r"\*\*Front matter\*\*: ([^.]*)\.", README)
    assert set(keys_of(FrontMatterKeys)) <= set(SPAN.findall(line))


def test_every_verdict_and_every_exit_code_is_told() -> None:
    assert {span for row in rows("Verdicts") for span in SPAN.findall(row[0])} == set(get_args(Verdict))
    assert [int(row[0]) for row in rows("Agents and scripts")] == [number for number, _ in EXIT_CODES]


def test_every_setting_is_told_with_its_default(tmp_path: Path) -> None:
    source = (ROOT / "optrack" / "settings.py").read_text(encoding="utf-8")
    table = [row for row in rows("Files and settings") if len(row) == 4]
    told = {span for row in table for span in SPAN.findall(row[0])}
    assert told == set(FileSettings.model_fields)
    variables = {span for row in table for span in SPAN.findall(row[1])}
    assert variables == set(re.findall(r"OPTRACK_[A-Z_]+", source.replace("OPTRACK_*", "")))
    settings = load_settings(tmp_path, {})
    assert f"| {settings.cpu_share}" in section("Files and settings").replace("`", "")
    assert f"| `{settings.python}` |" in section("Files and settings")
    assert f"| `{settings.locks}` |" in section("Files and settings")


def test_every_file_that_is_linked_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    heads = {
        re.sub(r"[^a-z -]", "", head.lower()).replace(" ", "-")
        for head in re.findall("^## (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= heads
