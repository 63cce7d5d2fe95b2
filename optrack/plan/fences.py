"""What stands in fences: recipe blocks (`yaml recipe`), read to layers, each given to the item that it stands in;
and checklists in a fence without a language, read as the checklists that they look like."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from optrack.model.plan import Problem, RecipeLayer
from optrack.model.recipe import layer_faults, stays_text
from optrack.plan.blocks import Block, Fence, Listing, Paragraph, Quote, Section, error_at, warning_at
from optrack.plan.document import read_document
from optrack.plan.yaml_text import YamlError, load_yaml

if TYPE_CHECKING:
    from optrack.plan.candidate import Candidate


_LANGUAGES = ("", "markdown", "md", "text", "txt", "plain", "plaintext", "todo", "tasks")
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[ xX✓✔~\-/]\]\s+\S")
_LEAD = re.compile(r"[^\W_]|[*_#]|[^\x00-\x7f]")
_BELOW = re.compile(r"\s{2,}\S")


def is_recipe(fence: Fence) -> bool:
    """Whether the fence's info string is `yaml recipe`."""
    words = fence.info.lower().split()
    return len(words) >= 2 and words[0] in ("yaml", "yml") and words[1] == "recipe"


def recipe_fences(root: Section, problems: list[Problem]) -> list[Fence]:
    """Return the document's recipe blocks; fences that don't end or seem meant as one become problems."""
    found = []
    for fence in _fences(root):
        if is_recipe(fence):
            found.append(fence)
            continue
        if not fence.closed:
            problems.append(_unclosed(fence))
        if _looks_like_recipe(fence):
            problems.append(
                warning_at(
                    fence.line,
                    "this block looks like a recipe but isn't marked as one",
                    "write ```yaml recipe",
                    column=fence.indent + 1,
                )
            )
    return found


def place_recipes(items: list[Candidate], fences: list[Fence], problems: list[Problem]) -> RecipeLayer | None:
    """Give each item the recipe that stands in it; return the base recipe, the one before the first item.

    `items` are in document order, as are `fences`.
    """
    starts = [item.line for item in items]
    base: RecipeLayer | None = None
    for fence in fences:
        layer, faults = _read_recipe(fence)
        problems += faults
        at = bisect_right(starts, fence.line) - 1
        owner = _holding(items[at] if at >= 0 else None, fence.line)
        if owner is None:
            after_items = bool(starts) and fence.line > starts[0]
            if after_items or base is not None:
                problems.append(_stray(fence, base, after_items=after_items))
            else:
                base = layer
        elif owner.recipe is not None:
            problems.append(_second(fence, owner.title, owner.recipe))
        else:
            owner.recipe = layer
    return base


def _looks_like_recipe(fence: Fence) -> bool:
    """Whether a fence that isn't marked as one holds what only a recipe would: `bench:` and another key."""
    words = fence.info.lower().split()
    if words == ["recipe"]:
        return True
    if words not in (["yaml"], ["yml"]):
        return False
    keys = {line.split(":", 1)[0] for line in fence.content.split("\n") if ":" in line and line[:1].isalpha()}
    return "bench" in keys and bool(keys & {"env", "server", "launch", "engine", "repetitions", "launches"})


def _read_recipe(fence: Fence) -> tuple[RecipeLayer | None, list[Problem]]:
    """Return the layer in a recipe block and its problems; None where it can't be read at all."""
    problems: list[Problem] = []
    if not fence.closed:
        problems.append(_unclosed(fence))
    try:
        loaded = load_yaml(fence.content, as_text=stays_text)
    except YamlError as problem:
        problems.append(_problem(fence, problem.message, (problem.line, problem.column), problem.hint))
        return None, problems
    data: Any = {} if loaded.data is None else loaded.data
    for fault in layer_faults(data):
        path = fault.path
        while path and path not in loaded.places:
            path = path[:-1]
        problems.append(_problem(fence, fault.message, loaded.places.get(path, (1, 1)), fault.hint))
    if not isinstance(data, dict):
        return None, problems
    lines = {".".join(path): fence.line + line for path, (line, _) in loaded.places.items()}
    columns = {".".join(path): fence.indent + column for path, (_, column) in loaded.places.items()}
    layer = RecipeLayer(data=data, text=fence.content, line=fence.line, lines=lines, columns=columns)
    return layer, problems


def _unclosed(fence: Fence) -> Problem:
    """Return the warning that a fence runs on to the end of what holds it."""
    return warning_at(
        fence.line,
        "this code fence isn't closed, so all that follows belongs to it",
        "end it with a line of the same sign",
        column=fence.indent + 1,
    )


def _problem(fence: Fence, message: str, place: tuple[int, int], hint: str | None) -> Problem:
    line, column = place
    return error_at(fence.line + line, f"recipe: {message}", hint, column=fence.indent + column)


def _holding(item: Candidate | None, line: int) -> Candidate | None:
    """The innermost item, from the last one that starts before the line, that reaches to it."""
    while item is not None and line > item.end:
        item = item.parent
    return item


def _second(fence: Fence, title: str, first: RecipeLayer) -> Problem:
    return error_at(
        fence.line,
        f"a second recipe in `{title}`; the first is on line {first.line}",
        "write both as one block",
        column=fence.indent + 1,
    )


def _stray(fence: Fence, base: RecipeLayer | None, *, after_items: bool) -> Problem:
    if base is not None and not after_items:
        message = f"a second base recipe; the first is on line {base.line}"
        hint = "write both as one block, or put this one under an item"
    else:
        message = "this recipe stands outside any item"
        hint = "put it under a labelled heading, or before the first item as the base recipe"
    return error_at(fence.line, message, hint, column=fence.indent + 1)


def _fences(root: Section) -> Iterator[Fence]:
    for section in (root, *root.walk()):
        yield from _in_blocks(section.blocks)


def _in_blocks(blocks: list[Block]) -> Iterator[Fence]:
    for block in blocks:
        if isinstance(block, Fence):
            yield block
        elif isinstance(block, Quote):
            yield from _in_blocks(block.blocks)
        elif isinstance(block, Listing):
            for entry in block.entries:
                yield from _in_blocks(entry.blocks)


def checklist(fence: Fence) -> Iterator[tuple[Listing, str]]:
    """Yield the lists of a fence that holds a checklist and nothing else, each with the line above it."""
    if not fence.closed or not _is_checklist(fence):
        return
    inner = read_document(fence.content, first=fence.line + 1)
    for section in (inner, *inner.walk()):
        lead = section.heading.text
        for block in section.blocks:
            if isinstance(block, Listing):
                yield block, lead
            lead = block.lines[-1].text if isinstance(block, Paragraph) else section.heading.text


def _is_checklist(fence: Fence) -> bool:
    """Whether a fence has boxes, what stands below them, and lines above them, but nothing else."""
    if fence.info.split(" ")[0].casefold() not in _LANGUAGES:
        return False
    lines = fence.content.split("\n")
    boxes = [_BOX.match(line) is not None for line in lines]
    written = [index for index, line in enumerate(lines) if line.strip()]
    if sum(boxes) < 2:
        return False
    seen = False
    for place, index in enumerate(written):
        line, following = lines[index], written[place + 1] if place + 1 < len(written) else index
        starts = index == 0 or not lines[index - 1].strip() or not place
        leads = starts and boxes[following] and _LEAD.match(line)
        if not (boxes[index] or leads or (seen and _BELOW.match(line)) or line.startswith("#")):
            return False
        seen = seen or boxes[index]
    return sum(boxes) * 2 >= len(written)
