"""Masks whatever secret is left in a log before any of it is written: recipes, failures, log tails, notes."""

from __future__ import annotations

from typing import Any

from optrack.core.canonical import recipe_digest
from optrack.core.judgement import Difference, Judgement
from optrack.core.report.log import Log
from optrack.core.run import Run
from optrack.core.secrets.masking import mask_data, mask_text
from optrack.core.state import ItemState


def masked_log(log: Log, salt: bytes) -> Log:
    """Return the log with every secret that can be recognised masked by the project's salt."""
    recipes: dict[str, dict[str, object]] = {}
    return log.changed(
        runs=tuple(_run(run, salt, recipes) for run in log.runs),
        recipes={item: mask_data(data, salt) for item, data in log.recipes.items()},
        factors={
            item: {leaf: (_value(leaf, a, salt), _value(leaf, b, salt)) for leaf, (a, b) in factors.items()}
            for item, factors in log.factors.items()
        },
        states=tuple(_state(state, salt) for state in log.states),
        transitions=tuple(
            t.model_copy(update={"why": mask_text(t.why, salt)}) if t.why else t for t in log.transitions
        ),
        adoptions=tuple(a.model_copy(update={"why": mask_text(a.why, salt)}) for a in log.adoptions),
        rejections={run: mask_text(why, salt) for run, why in log.rejections.items()},
        judgements=tuple(
            j.model_copy(update={"judgement": masked_judgement(j.judgement, salt)}) for j in log.judgements
        ),
    )


def masked_judgement(judgement: Judgement, salt: bytes) -> Judgement:
    """Return a judgement with every secret masked that its reasons and differences quote."""
    return judgement.model_copy(
        update={
            "reasons": tuple(mask_text(reason, salt) for reason in judgement.reasons),
            "differences": tuple(_difference(found, salt) for found in judgement.differences),
        }
    )


def _difference(found: Difference, salt: bytes) -> Difference:
    before, after = _value(found.field, found.baseline, salt), _value(found.field, found.candidate, salt)
    if (before, after) == (found.baseline, found.candidate):
        return found
    meaning = found.meaning
    for plain, masked in ((found.baseline, before), (found.candidate, after)):
        if isinstance(plain, str) and plain != masked:
            meaning = meaning.replace(plain, masked)
    return found.model_copy(update={"baseline": before, "candidate": after, "meaning": meaning})


def _value(leaf: str, value: Any, salt: bytes) -> Any:
    return mask_data(value, salt, leaf.rsplit(".", 1)[-1])


def _state(state: ItemState, salt: bytes) -> ItemState:
    judgement = masked_judgement(state.judgement, salt) if state.judgement else None
    notes = tuple(n.model_copy(update={"text": mask_text(n.text, salt)}) for n in state.notes)
    return state.model_copy(update={"notes": notes, "judgement": judgement})


def masked_run(run: Run, salt: bytes) -> Run:
    """Return a run with every secret that can be recognised in its recipe, failure and notes masked."""
    return _run(run, salt, {})


def _run(run: Run, salt: bytes, recipes: dict[str, dict[str, object]]) -> Run:
    key = recipe_digest(run.recipe)
    if key not in recipes:
        recipes[key] = mask_data(run.recipe, salt)
    update: dict[str, object] = {"recipe": recipes[key]}
    if run.failure is not None:
        update["failure"] = run.failure.model_copy(
            update={
                "message": mask_text(run.failure.message, salt),
                "log_tail": mask_text(run.failure.log_tail, salt),
            }
        )
    if run.notes:
        update["notes"] = tuple(mask_text(note, salt) for note in run.notes)
    return run.model_copy(update=update)
