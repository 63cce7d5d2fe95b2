"""The commands that decide: mark, note, accept, adopt, ablate, audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli.call import Call, emit, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.model.plan import Status


@click.command("mark")
@click.argument("item")
@click.argument("status", type=click.Choice(["pending", "in_progress", "completed", "cancelled"]))
@click.option("--why", required=True, help="the reason, which is recorded with the transition")
@standard
def mark(call: Call, item: str, status: Status, why: str) -> None:
    """Set an item's status by hand; the transition is recorded with who did it and why."""
    from optrack.app.actions import mark as record
    from optrack.app.answers.decisions import MarkAnswer

    moved = record(call.project, item, status, why=why)
    answer = MarkAnswer(transition=moved)
    emit(call, answer, lambda: f"{moved.item}: {moved.before} -> {moved.after}")


@click.command("note")
@click.argument("item")
@click.argument("text")
@standard
def note(call: Call, item: str, text: str) -> None:
    """Attach a remark to an item, recorded with who made it and when; - reads it from standard input."""
    from optrack.app.actions import note as record
    from optrack.app.answers.decisions import NoteAnswer
    from optrack.app.files import read_bytes

    if text == "-":
        text = read_bytes("-").decode(errors="replace")
    noted, made = record(call.project, item, text)
    emit(call, NoteAnswer(item=noted, note=made), lambda: f"{noted}: {made.text}")


@click.command("accept")
@click.argument("field")
@click.option("--item", help="only for this item's comparisons; without it, for the whole plan")
@click.option("--why", required=True, help="the reason, recorded in the log")
@standard
def accept(call: Call, field: str, item: str | None, why: str) -> None:
    """Record that differences in FIELD (a name or a pattern, as `optrack diff` shows them) don't matter.

    What was judged is judged again.
    """
    from optrack.app.answers.decisions import AcceptAnswer
    from optrack.app.rejudging import accept as record

    done = record(call.project, field, item=item, why=why)
    emit(
        call, AcceptAnswer(acceptance=done), lambda: f"accepted {field} for {done.item or 'the plan'}: {why}"
    )


@click.command("adopt")
@click.argument("item", required=False)
@click.option("--why", default="", help="the reason, which is recorded")
@click.option("--anyway", is_flag=True, help="adopt it although its verdict isn't an improvement")
@click.option("--undo", is_flag=True, help="undo the latest adoption")
@standard
def adopt(call: Call, item: str | None, why: str, anyway: bool, undo: bool) -> None:
    """Make ITEM's configuration part of the base that everything after it is measured on."""
    from optrack.app.actions import adopt as record
    from optrack.app.actions import undo_adoption
    from optrack.app.answers.decisions import AdoptAnswer, UndoneAnswer

    if undo:
        undone = undo_adoption(call.project)
        emit(call, UndoneAnswer(undone=undone), lambda: f"{undone} is no longer adopted")
        return
    if item is None:
        raise UsageError("name the item to adopt", hint="`optrack status` lists the items")
    done = record(call.project, item, why=why, anyway=anyway)
    answer = AdoptAnswer(adoption=done)
    emit(call, answer, lambda: f"adopted {done.item}: what follows is measured on top of it")


@click.command("ablate")
@click.argument("item")
@standard
def ablate(call: Call, item: str) -> None:
    """Add the items that show which of ITEM's factors did what: each alone, and all but each."""
    from optrack.app.actions import ablate as take_apart
    from optrack.app.answers.decisions import AblateAnswer, AddedFactor

    answer = AblateAnswer(items=tuple(map(AddedFactor.of, take_apart(call.project, item))))
    emit(call, answer, lambda: [f"{part.id}  {part.title}" for part in answer.items])


@click.command("audit")
@click.option("--baseline", metavar="RUN", help="a run of the baseline that proved unfair to compare with")
@click.option("--why", help="what was wrong with that run, recorded in the log")
@standard
def audit(call: Call, baseline: str | None, why: str | None) -> None:
    """Judge every item again from what is recorded; relabel what doesn't stand and offer it again."""
    from optrack.app.rejudging import audit as judge_again
    from optrack.render.phrases import verdict_words

    if (baseline is None) != (why is None):
        raise UsageError(
            "a baseline is rejected with a reason", hint="`optrack audit --baseline RUN --why TEXT`"
        )
    answer = judge_again(call.project, baseline, why=why or "")
    lines = [f"{answer.rejected} is no longer compared with: {why}"] if answer.rejected else []
    lines += [
        f"{one.item}: {verdict_words(one.earlier)} -> {verdict_words(one.later)}: {one.why}"
        for one in answer.changed
    ]
    lines += [
        f"{item} is adopted, though its evidence doesn't stand: `optrack adopt --undo` takes back the latest"
        for item in answer.adopted_without_evidence
    ]
    emit(call, answer, lambda: lines or ["every verdict stands"])
