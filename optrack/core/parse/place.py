"""Which recipe block belongs to what: the plan's base recipe, or the item that it stands in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from optrack.core.parse.document import Block, Fence, Listing, Quote, Section
from optrack.core.parse.draft import Draft
from optrack.core.parse.recipes import is_recipe, looks_like_recipe, read_recipe, unclosed
from optrack.core.plan import Problem, RecipeLayer


def recipe_fences(root: Section, problems: list[Problem]) -> list[Fence]:
    """Return the document's recipe blocks; fences that don't end or seem meant as one become problems."""
    found = []
    for fence in _fences(root):
        if is_recipe(fence):
            found.append(fence)
            continue
        if not fence.closed:
            problems.append(unclosed(fence))
        if looks_like_recipe(fence):
            problems.append(
                Problem(
                    severity="warning",
                    message="this block looks like a recipe but isn't marked as one",
                    line=fence.line,
                    column=fence.indent + 1,
                    hint="write ```yaml recipe",
                )
            )
    return found


def place_recipes(drafts: list[Draft], fences: list[Fence], problems: list[Problem]) -> RecipeLayer | None:
    """Give each item the recipe that stands in it; return the base recipe, the one before the first item.

    `drafts` are in document order, as are `fences`.
    """
    starts = [draft.line for draft in drafts]
    base: RecipeLayer | None = None
    for fence in fences:
        layer, faults = read_recipe(fence)
        problems += faults
        at = bisect_right(starts, fence.line) - 1
        owner = _holding(drafts[at] if at >= 0 else None, fence.line)
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


def _holding(draft: Draft | None, line: int) -> Draft | None:
    """The innermost item, from the last one that starts before the line, that reaches to it."""
    while draft is not None and line > _end(draft):
        draft = draft.parent
    return draft


def _end(draft: Draft) -> int:
    if draft.section is not None:
        return draft.section.end
    return max([draft.line, *(_last(block) for block in draft.blocks)])


def _last(block: Block) -> int:
    if isinstance(block, Fence):
        return block.line + block.content.count("\n") + 1
    if isinstance(block, Listing):
        return max((max([e.line, *(_last(b) for b in e.blocks)]) for e in block.entries), default=block.line)
    return block.line


def _second(fence: Fence, title: str, first: RecipeLayer) -> Problem:
    return Problem(
        severity="error",
        message=f"a second recipe in `{title}`; the first is on line {first.line}",
        line=fence.line,
        column=fence.indent + 1,
        hint="write both as one block",
    )


def _stray(fence: Fence, base: RecipeLayer | None, *, after_items: bool) -> Problem:
    if base is not None and not after_items:
        message = f"a second base recipe; the first is on line {base.line}"
        hint = "write both as one block, or put this one under an item"
    else:
        message = "this recipe stands outside any item"
        hint = "put it under a labelled heading, or before the first item as the base recipe"
    return Problem(severity="error", message=message, line=fence.line, column=fence.indent + 1, hint=hint)


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
