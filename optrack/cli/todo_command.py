"""`optrack todo`: the plan as a todo list, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optrack.plan.todo import TodoChange, TodoMatch


@click.command("todo")
@click.argument("action", type=click.Choice(["import"]), required=False)
@click.argument("file", required=False)
@click.option("--dry-run", is_flag=True, help="say what an import would change; change nothing")
@standard
def command(call: Call, action: str | None, file: str | None, dry_run: bool) -> int:
    """Print the plan as a todo list, or take the statuses of one over: `optrack todo import FILE`.

    Entries have `content`, `status`, `priority` and `id`. FILE is such a list, JSON lines, or a transcript
    that holds one; - or nothing reads it from standard input. Every move is recorded with who made it.
    """
    if action is None:
        _print(call)
        return 0
    return _import(call, file or "-", dry_run=dry_run)


def _print(call: Call) -> None:
    from optrack.plan.todo import todos

    entries = todos(call.campaign.plan, call.campaign.states())
    if call.as_json:
        output.data({"todos": entries})
        return
    marks = {"completed": "x", "in_progress": "~", "cancelled": "-", "pending": " "}
    output.text(
        [f"[{marks[entry['status']]}] {entry['content']}  ({entry['priority']})" for entry in entries]
    )


def _import(call: Call, file: str, *, dry_run: bool) -> int:
    from optrack.cli.files import read_bytes
    from optrack.plan.todo import match_todos
    from optrack.plan.todo_read import read_todos
    from optrack.render.documents import transition_document

    campaign = call.campaign
    read = read_todos(read_bytes(file).decode(errors="replace"))
    match = match_todos(campaign.plan, campaign.states(), read.todos)
    _require_matches(match, [item.id for item in campaign.plan.items])
    moved, refused = [], []
    for change in match.changes if not dry_run else ():
        try:
            why = f"as in the todo list {'on standard input' if file == '-' else file}"
            moved.append(campaign.mark(change.item, change.after, why=why))
        except UsageError as error:
            refused.append(f"{change.item}: {error.message}")
    if call.as_json:
        output.data(
            {
                "changes": [change.model_dump() for change in match.changes],
                "transitions": [transition_document(transition) for transition in moved],
                "same": list(match.same),
                "unmatched": list(match.unmatched),
                "refused": refused,
                "problems": list(read.problems),
            }
        )
    else:
        changes: tuple[TodoChange, ...] = match.changes
        output.text([f"{c.item}: {c.before} -> {c.after}" for c in changes] or ["nothing to change"])
        for line in (*match.unmatched, *refused, *read.problems):
            output.say(line)
    return 2 if not read.todos else 0


def _require_matches(match: TodoMatch, items: Sequence[str]) -> None:
    """Raise UsageError, before anything is changed, for a list that contradicts itself or is about other things."""
    if match.contradictions:
        raise UsageError(
            "the list contradicts itself, so nothing was changed: " + "; ".join(match.contradictions),
            hint="leave one entry of each",
        )
    if match.unmatched and not match.changes and not match.same:
        shown = "; ".join(match.unmatched[:8]) + ("; …" if len(match.unmatched) > 8 else "")
        ids = ", ".join(items[:12]) + (", …" if len(items) > 12 else "")
        raise UsageError(f"no entry is about an item of the plan: {shown}", hint=f"items: {ids}")
