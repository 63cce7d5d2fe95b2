"""An item in words: what it supposes, what was expected, what the evidence shows and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from optrack.model.item import ItemState, Transition
from optrack.model.judgement import Judgement
from optrack.model.treatment import leaves
from optrack.tui import figures, marks
from optrack.tui.board import ResolvedItem
from optrack.tui.outside import content, plain
from optrack.tui.widgets.sheet import field, heading, paragraph

_FIRST = ("env", "server", "launch", "patch")


def toned(mark: marks.Mark) -> Content:
    """Return a mark in its tone."""
    return Content.styled(str(mark), f"${mark.tone}" if mark.tone != "plain" else "")


def headline(state: ItemState, width: int) -> list[Content]:
    """Return the item's id and title."""
    title = (plain(state.item.title), "bold $strong")
    return paragraph(Content.assemble((plain(state.item.id), "bold $live"), "  ", title), width)


def standing(state: ItemState, blocked_by: Sequence[str] = ()) -> Content:
    """Return status, verdict, effect, fairness and flags in one line."""
    parts = [toned(marks.standing(state, blocked=bool(blocked_by)))]
    if blocked_by and state.status == "pending":
        parts.append(content(f"needs {', '.join(blocked_by)}", "$quiet"))
    verdict = marks.verdict(state)
    judged = state.judgement
    if verdict is not None and judged is not None:
        parts.append(toned(verdict))
        if judged.effect:
            told = f"{figures.effect(judged.effect)} {figures.interval(judged.effect)}"
            parts.append(Content(told))
        if judged.verdict != "failed":
            parts.append(toned(marks.COMPARISON[judged.comparison]))
    parts += [toned(flag) for flag in marks.flags(state)]
    return Content("   ").join(parts)


def facts(state: ItemState, width: int, blocked_by: Sequence[str] = (), reason: str = "") -> list[Content]:
    """Return all that is known of the item but its recipe and runs, in lines of at most `width` cells."""
    item = state.item
    lines = [*headline(state, width), *field("Status", standing(state, blocked_by), width)]
    if reason and state.status == "pending" and not blocked_by:
        lines += field("Turn", reason, width)
    if item.hypothesis:
        lines += field("Hypothesis", item.hypothesis, width)
    pairs = (
        ("Expected", item.gain.text if item.gain else None),
        ("Effort", item.effort.text if item.effort else None),
        ("Risk", item.risk),
        ("Needs", ", ".join(item.needs) or None),
        ("Skip if", item.skip_if),
    )
    for name, value in pairs:
        lines += field(name, value, width) if value else []
    if state.judgement:
        for i, text in enumerate(state.judgement.reasons):
            lines += field("Why" if i == 0 else "", text, width)
        lines += attribution(state.judgement, width)
    return lines


def attribution(judged: Judgement, width: int) -> list[Content]:
    """Return which factors the treatment has and whether one can be credited."""
    if not judged.attribution.factors:
        return []
    factors = ", ".join(judged.attribution.factors)
    if judged.attribution.status == "single":
        return field("Factor", factors, width)
    return field("Factors", f"! confounded: none of {factors} can be credited alone", width, "$warn")


def value_text(value: Any) -> str:
    """Return a recipe's value as it would be written; None is `unset`."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {value_text(v)}" for k, v in value.items()) + "}"
    return str(value)


def recipe(resolved: ResolvedItem, width: int) -> list[Content]:
    """Return the recipe's leaves, a line each; factors come first, marked, with the baseline's value."""
    if resolved.problem:
        return paragraph(resolved.problem, width, "$bad")
    mine = leaves(resolved.data)
    names = sorted(
        mine.keys() | resolved.factors.keys(),
        key=lambda n: (n not in resolved.factors, n.split(".")[0] not in _FIRST, n),
    )
    if not names:
        return paragraph("No recipe: this item is marked by hand.", width, "$quiet")
    wide = min(max(12, width // 2 - 4), max(len(name) for name in names))
    lines: list[Content] = []
    for name in names:
        label = plain(name).ljust(wide)
        if name not in resolved.factors:
            lines += paragraph(
                Content.assemble((f"  {label}  ", "$quiet"), plain(value_text(mine[name]))), width
            )
            continue
        before, after = resolved.factors[name]
        sign = "+" if before is None else "-" if after is None else "~"
        told = (f"  baseline: {plain(value_text(before))}", "$quiet")
        line = Content.assemble(
            (f"{sign} {label}  ", "bold $warn"), (plain(value_text(after)), "bold $warn"), told
        )
        lines += paragraph(line, width)
    return lines


def treatment(resolved: ResolvedItem, width: int) -> list[Content]:
    """Return what the item changes against the baseline, a line each."""
    if resolved.problem:
        return field("Recipe", resolved.problem, width, "$bad")
    lines: list[Content] = []
    for name, (before, after) in resolved.factors.items():
        told = Content.assemble(
            (f"~ {plain(name)} = {plain(value_text(after))}", "$warn"),
            (f"   baseline: {plain(value_text(before))}", "$quiet"),
        )
        lines += field("" if lines else "Treatment", told, width)
    return lines


def notes(state: ItemState, transitions: Sequence[Transition], width: int) -> list[Content]:
    """Return the item's notes and the changes of its status, oldest first."""
    lines: list[Content] = []
    if state.notes:
        lines += heading("Notes")
        for note in state.notes:
            lines += field(figures.clock(note.at), f"{note.who}: {note.text}", width)
    if transitions:
        lines += heading("History")
        for one in transitions:
            moved = f"{one.before or 'new'} -> {one.after}, {one.who}"
            lines += field(figures.clock(one.at), f"{moved}: {one.why}" if one.why else moved, width)
    return lines
