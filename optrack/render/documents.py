"""Values as JSON documents."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from optrack.model.item import Acceptance, Adoption, ItemState, KnownFailure, Note, Transition
from optrack.model.judgement import Difference, Judgement
from optrack.model.metrics import Sample
from optrack.model.plan import Item, Plan, Problem, Quantity
from optrack.model.run import Run

if TYPE_CHECKING:
    from optrack.judge.lineage import Registry
    from optrack.metrics.output import Parsed


def timestamp(at: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


def quantity(value: Quantity | None) -> dict[str, Any] | None:
    """Return a quantity's bounds, unit and words."""
    return None if value is None else value.model_dump()


def plan_document(plan: Plan, recipes: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Return what was understood of a plan; `recipes` has each item's resolved recipe, if it has one."""
    return {
        "name": plan.name,
        "path": plan.path,
        "title": plan.title,
        "metric": plan.metric.model_dump(),
        "target": quantity(plan.target),
        "min_effect": plan.min_effect,
        "baseline": plan.baseline,
        "items": [_item(item) | {"recipe": recipes.get(item.id)} for item in plan.items],
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "title": item.title,
        "parent": item.parent,
        "rank": item.rank,
        "priority": item.priority,
        "status": item.status,
        "gain": quantity(item.gain),
        "effort": quantity(item.effort),
        "risk": item.risk,
        "hypothesis": item.hypothesis,
        "needs": list(item.needs),
        "line": item.line,
    }


def state_document(state: ItemState, blocked_by: Sequence[str]) -> dict[str, Any]:
    """Return where one item stands."""
    judgement = state.judgement
    return {
        "id": state.item.id,
        "title": state.item.title,
        "parent": state.item.parent,
        "rank": state.item.rank,
        "status": state.status,
        "blocked_by": list(blocked_by),
        "verdict": judgement.verdict if judgement else None,
        "comparison": judgement.comparison if judgement else None,
        "runs": state.runs,
        "effect": judgement.effect.model_dump() if judgement and judgement.effect else None,
        "stale": state.stale,
        "archived": state.archived,
        "adopted": state.adopted,
    }


def item_document(state: ItemState, recipe: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an item with its standing, its resolved recipe and its notes."""
    return _item(state.item) | {
        "status": state.status,
        "archived": state.archived,
        "stale": state.stale,
        "adopted": state.adopted,
        "recipe": recipe,
        "notes": [note_document(note) for note in state.notes],
    }


def note_document(note: Note) -> dict[str, Any]:
    """Return a remark with who made it and when."""
    return {"at": timestamp(note.at), "who": note.who, "text": note.text}


def problem_document(problem: Problem) -> dict[str, Any]:
    """Return something that is wrong in a plan, with its place."""
    return problem.model_dump()


def failure_document(failure: KnownFailure) -> dict[str, Any]:
    """Return a failure with every run that met it."""
    return failure.model_dump(exclude={"first_at", "last_at"}) | {
        "items": list(failure.items),
        "runs": list(failure.runs),
        "first_at": timestamp(failure.first_at),
        "last_at": timestamp(failure.last_at),
    }


def parsed_document(parsed: Parsed) -> dict[str, Any]:
    """Return what was read of one benchmark pass; a value that is no number is null."""
    return {
        "tool": parsed.tool,
        "invalid": parsed.invalid,
        "metrics": {
            r.metric.name: {
                "value": r.value if r.is_number else None,
                "unit": r.metric.unit,
                "better": r.metric.better,
            }
            for r in parsed.readings
        },
        "notes": list(parsed.notes),
        "earlier": len(parsed.earlier),
    }


def transition_document(transition: Transition) -> dict[str, Any]:
    """Return one change of status; `by_hand` tells one that somebody made from one that a run brought."""
    by_hand = transition.run is None and transition.who != "optrack"
    return transition.model_dump(exclude={"at", "seq"}) | {
        "at": timestamp(transition.at),
        "by_hand": by_hand,
    }


def acceptance_document(acceptance: Acceptance) -> dict[str, Any]:
    """Return a difference that somebody accepted, for one item or (None) the whole plan."""
    return acceptance.model_dump(exclude={"at", "seq", "plan"}) | {"at": timestamp(acceptance.at)}


def adoption_document(adoption: Adoption) -> dict[str, Any]:
    """Return an item whose configuration was made the new baseline; `undone_at` is null while it is in force."""
    times = {"at": timestamp(adoption.at), "undone_at": timestamp(adoption.undone_at)}
    return adoption.model_dump(exclude={"at", "seq", "plan", "undone_at"}) | times


def registry_document(registry: Registry) -> dict[str, Any]:
    """Return the bases with their measurements and drift, and every adoption with what it rests on."""
    bases = [
        {
            "adopted": list(base.adopted),
            "drift": base.drift,
            "measurements": [
                m.model_dump(exclude={"at"}) | {"at": timestamp(m.at)} for m in base.measurements
            ],
        }
        for base in registry.bases
    ]
    adoptions = [
        adoption_document(rest.adoption)
        | {"stands": rest.stands, "verdict": rest.judgement.verdict if rest.judgement else None}
        for rest in registry.adoptions
    ]
    return {"bases": bases, "adoptions": adoptions}


def run_document(run: Run) -> dict[str, Any]:
    """Return a run with its metrics and snapshot."""
    return {
        "id": run.id,
        "item": run.item,
        "role": run.role,
        "beside": run.beside,
        "outcome": run.outcome,
        "stage": run.stage,
        "failure": run.failure.model_dump() if run.failure else None,
        "started_at": timestamp(run.started_at),
        "ended_at": timestamp(run.ended_at),
        "host": run.host,
        "actor": run.actor,
        "stages": {name: round(seconds, 3) for name, seconds in run.stages.items()},
        "metrics": metrics_document(run.samples),
        "recipe": dict(run.recipe),
        "snapshot": run.snapshot.model_dump() if run.snapshot else None,
        "artifacts": list(run.artifacts),
        "notes": list(run.notes),
    }


def metrics_document(samples: Iterable[Sample]) -> dict[str, Any]:
    """Return samples by metric: values per repetition per launch, and the median of the valid ones.

    A value that is no number is null; passes that are no measurement are listed under `invalid`.
    """
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.metric.name, []).append(sample)
    return {name: _metric(group) for name, group in by_name.items()}


def _metric(samples: Sequence[Sample]) -> dict[str, Any]:
    metric = samples[0].metric
    launches = sorted({s.launch for s in samples})
    ordered = sorted(samples, key=lambda s: (s.launch, s.repetition))
    valid = [s.value for s in ordered if s.invalid is None and s.value == s.value]
    invalid = [
        {"launch": s.launch, "repetition": s.repetition, "why": s.invalid or "not a number"}
        for s in ordered
        if s.invalid is not None or s.value != s.value
    ]
    values = [[s.value if s.value == s.value else None for s in ordered if s.launch == n] for n in launches]
    found: dict[str, Any] = {
        "unit": metric.unit,
        "better": metric.better,
        "values": values,
        "median": statistics.median(valid) if valid else None,
    }
    return found | ({"invalid": invalid} if invalid else {})


def judgement_document(judgement: Judgement | None) -> dict[str, Any] | None:
    """Return a judgement with its differences and reasons."""
    if judgement is None:
        return None
    return judgement.model_dump(mode="json", exclude={"differences"}) | {
        "differences": [difference_document(d) for d in judgement.differences]
    }


def difference_document(difference: Difference) -> dict[str, Any]:
    """Return one difference; its class is called `class`, as in the contract."""
    plain = difference.model_dump(mode="json")
    return {("class" if key == "cls" else key): value for key, value in plain.items()}


SCHEMA_VERSION = 1


def document(**fields: Any) -> dict[str, Any]:
    """Return a document with its schema version first."""
    return {"schema_version": SCHEMA_VERSION, **fields}


def finite(value: Any) -> Any:
    """Return plain data with every number that JSON lacks (NaN, infinities) replaced by None."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
