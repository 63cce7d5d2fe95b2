"""An item in words: what it supposes, what was expected, what the evidence shows and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from optrack.core.recipe import leaves
from optrack.core.state import ItemState
from optrack.tui import figures, marks
from optrack.tui.board import ResolvedItem
from optrack.tui.outside import content, plain


def field(name: str, value: Content | str, style: str = "") -> Content:
    """Return `name  value` with the names of all fields in one column."""
    text = content(value, style) if isinstance(value, str) else value
    return Content.assemble((f"{name:<11}", "$quiet"), text)


def headline(state: ItemState) -> Content:
    """Return the item's id and title."""
    return Content.assemble((plain(state.item.id), "bold $live"), "  ", (plain(state.item.title), "bold $strong"))


def standing(state: ItemState, blocked_by: Sequence[str] = ()) -> Content:
    """Return status, verdict, effect, fairness and flags in one line."""
    parts: list[Content] = []
    mark = marks.standing(state, blocked=bool(blocked_by))
    parts.append(Content.styled(str(mark), f"${mark.tone}" if mark.tone != "plain" else ""))
    if blocked_by:
        parts.append(content(f"by {', '.join(blocked_by)}", "$quiet"))
    verdict = marks.verdict(state)
    if verdict is not None and state.judgement is not None:
        tone = f"${verdict.tone}" if verdict.tone != "plain" else ""
        parts.append(Content.styled(str(verdict), tone))
        if state.judgement.effect:
            told = f"{figures.effect(state.judgement.effect)} {figures.interval(state.judgement.effect)}"
            parts.append(Content.styled(told, tone))
        if state.judgement.verdict != "failed":
            fair = marks.COMPARISON[state.judgement.comparison]
            parts.append(Content.styled(str(fair), f"${fair.tone}" if fair.tone != "plain" else ""))
    parts += [Content.styled(str(flag), f"${flag.tone}") for flag in marks.flags(state)]
    return Content("   ").join(parts)


def facts(state: ItemState, blocked_by: Sequence[str] = (), reason: str = "") -> list[Content]:
    """Return all that is known of the item but its recipe and runs, a line each."""
    item = state.item
    lines = [field("Status", standing(state, blocked_by))]
    if reason and state.status == "pending":
        lines.append(field("Turn", reason))
    if item.hypothesis:
        lines.append(field("Hypothesis", item.hypothesis))
    pairs = (
        ("Expected", item.gain.text if item.gain else None),
        ("Effort", item.effort.text if item.effort else None),
        ("Risk", item.risk),
        ("Needs", ", ".join(item.needs) or None),
        ("Skip if", item.skip_if),
    )
    lines += [field(name, value) for name, value in pairs if value]
    if state.judgement:
        lines += [field("Why" if i == 0 else "", text) for i, text in enumerate(state.judgement.reasons)]
        attributed = state.judgement.attribution
        if attributed.factors:
            how = "one factor" if attributed.status == "single" else "confounded: no one factor can be credited"
            lines.append(field("Attribution", how, "$warn" if attributed.status == "confounded" else ""))
    return lines


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


def recipe(resolved: ResolvedItem) -> list[Content]:
    """Return the recipe's leaves, a line each; a factor is marked and tells the baseline's value."""
    if resolved.problem:
        return [content(resolved.problem, "$bad")]
    mine = leaves(resolved.data)
    names = sorted(mine.keys() | resolved.factors.keys(), key=lambda n: (n.split(".")[0] not in _FIRST, n))
    if not names:
        return [Content.styled("No recipe: this item is marked by hand.", "$quiet")]
    wide = min(34, max(len(name) for name in names))
    lines = []
    for name in names:
        label = plain(name).ljust(wide)
        if name in resolved.factors:
            before, after = resolved.factors[name]
            sign = "+" if before is None else "-" if after is None else "~"
            lines.append(
                Content.assemble(
                    (f"{sign} {label}  ", "bold $warn"),
                    (plain(value_text(after)), "bold $warn"),
                    (f"   baseline: {plain(value_text(before))}", "$quiet"),
                )
            )
        else:
            lines.append(Content.assemble((f"  {label}  ", "$quiet"), plain(value_text(mine[name]))))
    return lines


_FIRST = ("env", "server", "launch", "patch")
