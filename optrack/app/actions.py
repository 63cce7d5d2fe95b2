"""What is decided on a campaign and recorded: mark, note, add, adopt, ablate, and the import of a todo list."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.app.project import Project, now
from optrack.errors import UsageError
from optrack.model.item import Adoption, ItemState, Note, Transition
from optrack.model.plan import Item, RecipeLayer, Status
from optrack.model.secrets.gate import Gate
from optrack.model.treatment import leaves
from optrack.plan.schedule import reopened, rollup

if TYPE_CHECKING:
    from optrack.app.answers.items import AddAnswer
    from optrack.app.answers.plans import TodoImportAnswer
    from optrack.judge.attribution import Ablation
    from optrack.plan.todo import TodoMatch


def require_reason(why: str) -> None:
    """Raise UsageError for a reason that says nothing."""
    if not why.strip():
        raise UsageError("the reason is empty", hint="say why with --why: it is recorded in the log")


def mark(project: Project, item_id: str, after: Status, *, why: str) -> Transition:
    """Move an item to another status by hand, which is recorded as such."""
    campaign = project.campaign()
    item = campaign.state(item_id).item.id
    require_reason(why)
    moved = project.store.transition(
        campaign.plan.name, item, after, who=project.settings.actor, why=why, at=now()
    )
    roll_up(project)
    return moved


def note(project: Project, item_id: str, text: str) -> tuple[str, Note]:
    """Attach a remark to an item; return the item's id and the remark."""
    if not text.strip():
        raise UsageError("the note is empty", hint="say something in it")
    campaign = project.campaign()
    item = campaign.state(item_id).item.id
    made = project.store.note(campaign.plan.name, item, text.strip(), who=project.settings.actor, at=now())
    return item, made


def add_items(project: Project, items: Sequence[Item]) -> None:
    """Add items in the database only; raises UsageError for one with a secret."""
    _require_no_secrets(items, project.gate)
    for item in items:
        project.store.add_item(project.written.name, item, who=project.settings.actor, at=now())


def add_item(project: Project, data: Mapping[str, Any], *, write: bool) -> AddAnswer:
    """Add the item that plain data describes; with `write` it is appended to the plan's file, where nothing else
    ever writes."""
    from optrack.app.answers.items import AddAnswer, ItemView
    from optrack.plan.added import as_item, new_item, written

    new = new_item(data)
    campaign = project.campaign()
    item = as_item(campaign.plan, new, rank=len(campaign.plan.items))
    if write:
        text = written(campaign.written, new.model_copy(update={"id": item.id}))
        _write(Path(campaign.written.path), text)
        project = project.reread()
    else:
        add_items(project, [item])
    campaign = project.campaign()
    state = campaign.state(item.id)
    resolved = campaign.resolved_or_none(state.item)
    return AddAnswer(
        item=ItemView.of(state, resolved.data if resolved else None),
        written_to=campaign.plan.path if write else "the database",
    )


def _write(path: Path, text: str) -> None:
    before = path.read_bytes()
    if b"\r\n" in before:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text.encode())
        fresh.chmod(path.stat().st_mode & 0o777)
        if path.read_bytes() != before:
            raise UsageError(f"{path} is being edited", hint="save it and try again")
        fresh.replace(path.resolve())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the plan can't be written: {reason}", where=str(path)) from error
    finally:
        fresh.unlink(missing_ok=True)


def _require_no_secrets(items: Sequence[Item], gate: Gate) -> None:
    """Raise UsageError for items whose recipe holds a secret: in the database it would have to stand as it is."""
    for item in items:
        data = leaves(item.recipe.data) if item.recipe is not None else {}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}
        secret = [key for key, value in plain.items() if gate.data(value, key.rpartition(".")[2]) != value]
        if secret:
            raise UsageError(
                f"the recipe of {item.id} holds a secret ({', '.join(secret)}), which the database never keeps",
                hint="set it in the environment that optrack is called from, or write the item into the plan",
            )


def roll_up(project: Project) -> None:
    """Complete the items whose experiments are all done; open those again that were completed by this and
    have an open one since."""
    campaign = project.campaign()
    name = campaign.plan.name
    moves: list[tuple[str, Status, str]] = [
        (item, "pending", "an experiment under it is open again")
        for item in reopened(campaign.plan, campaign.states)
        if any(move.who == "optrack" for move in campaign.reader.transitions(name, item)[-1:])
    ]
    for item, after, why in moves:
        project.store.transition(name, item, after, who="optrack", why=why, at=now())
    campaign = project.campaign() if moves else campaign
    for item in rollup(campaign.plan, campaign.states):
        why = "every experiment under it is done"
        project.store.transition(name, item, "completed", who="optrack", why=why, at=now())


def adopt(project: Project, item_id: str, *, why: str, anyway: bool = False) -> Adoption:
    """Make the item's configuration part of the base of what follows.

    Raises UsageError unless its verdict in force is an improvement, or `anyway` is given.
    """
    campaign = project.campaign()
    state = campaign.state(item_id)
    require_adoptable(state, anyway=anyway)
    return project.store.adopt(
        campaign.plan.name,
        state.item.id,
        who=project.settings.actor,
        why=why,
        at=now(),
        run=state.judgement.candidate if state.judgement else None,
    )


def require_adoptable(state: ItemState, *, anyway: bool = False) -> None:
    """Raise UsageError for an item that is adopted already, or, unless `anyway`, isn't a fair improvement."""
    if state.adopted:
        raise UsageError(f"{state.item.id} is adopted already: nothing changes")
    verdict = state.judgement.verdict if state.judgement else None
    fair = state.judgement is not None and state.judgement.comparison == "fair"
    if (verdict != "improvement" or state.stale or not fair) and not anyway:
        unsure = "is of unknown fairness" if verdict == "improvement" else f"is {verdict or 'none'}"
        what = "is stale" if state.stale else unsure
        raise UsageError(
            f"the verdict on {state.item.id} {what}: only a fair improvement is adopted",
            hint="`--anyway` adopts it all the same, which is recorded",
        )


def undo_adoption(project: Project) -> str:
    """Undo the latest adoption and return its item; raises UsageError where there is none."""
    campaign = project.campaign()
    return project.store.undo_adopt(campaign.plan.name, who=project.settings.actor, at=now())


def adopt_automatically(project: Project, run_id: str) -> Adoption | None:
    """Adopt what a run has just shown to be a fair improvement, where the plan says `adopt: auto`."""
    campaign = project.campaign()
    run = campaign.reader.run(run_id)
    state = campaign.state(run.item)
    judgement = state.judgement
    if campaign.plan.adopt != "auto" or state.stale or state.adopted or judgement is None:
        return None
    if judgement.candidate != run.id or judgement.verdict != "improvement" or judgement.comparison != "fair":
        return None
    why = "the plan says `adopt: auto`, and it is an improvement"
    return project.store.adopt(campaign.plan.name, run.item, who="optrack", why=why, at=now(), run=run.id)


def ablate(project: Project, item_id: str) -> tuple[Ablation, ...]:
    """Add the items that resolve which factor of a confounded treatment did what, under the item itself."""
    from optrack.judge.attribution import ablation

    campaign = project.campaign()
    item = campaign.item(item_id)
    base = campaign.plan.item(campaign.plan.baseline)
    parts = ablation(item.id, campaign.resolved(item).data, campaign.resolved(base).data if base else {})
    if not parts:
        raise UsageError(
            f"the treatment of {item.id} has fewer than two factors, so there is nothing to take apart",
            hint=f"`optrack show {item.id}` lists its factors",
        )
    new = tuple(part for part in parts if part.id not in campaign.by_id)
    if not new:
        raise UsageError(
            f"{item.id} has been taken apart already: {', '.join(part.id for part in parts)}",
            hint="`optrack next` runs them",
        )
    add_items(project, [_ablated(item, part) for part in new])
    return new


def _ablated(parent: Item, part: Ablation) -> Item:
    return Item(
        id=part.id,
        title=part.title,
        line=parent.line,
        rank=parent.rank,
        parent=parent.id,
        recipe=RecipeLayer(data=part.layer, text="", line=parent.line, over="baseline"),
    )


def import_todos(project: Project, text: str, *, source: str, dry_run: bool = False) -> TodoImportAnswer:
    """Take the statuses of a todo list over; `source` says where it comes from. With `dry_run`, change nothing.

    Raises UsageError, before anything is changed, for a list that contradicts itself or is about other things.
    """
    from optrack.app.answers.plans import TodoImportAnswer
    from optrack.plan.todo import match_todos, read_todos

    campaign = project.campaign()
    read = read_todos(text)
    match = match_todos(campaign.plan, campaign.states, read.todos)
    _require_matches(match, [item.id for item in campaign.plan.items])
    moved, refused = [], []
    for change in match.changes if not dry_run else ():
        try:
            moved.append(mark(project, change.item, change.after, why=f"as in the todo list {source}"))
        except UsageError as error:
            refused.append(f"{change.item}: {error.message}")
    return TodoImportAnswer(
        changes=match.changes,
        transitions=tuple(moved),
        same=match.same,
        unmatched=match.unmatched,
        refused=tuple(refused),
        problems=tuple(read.problems),
        entries=len(read.todos),
    )


def _require_matches(match: TodoMatch, items: Sequence[str]) -> None:
    if match.contradictions:
        raise UsageError(
            "the list contradicts itself, so nothing was changed: " + "; ".join(match.contradictions),
            hint="leave one entry of each",
        )
    if match.unmatched and not match.changes and not match.same:
        shown = "; ".join(match.unmatched[:8]) + ("; …" if len(match.unmatched) > 8 else "")
        ids = ", ".join(items[:12]) + (", …" if len(items) > 12 else "")
        raise UsageError(f"no entry is about an item of the plan: {shown}", hint=f"items: {ids}")
