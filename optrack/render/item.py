"""One item's section: hypothesis, treatment, what was found, the evidence of every launch, and what people said."""

from __future__ import annotations

from optrack.judge.derived import derived_text
from optrack.judge.imported import is_imported
from optrack.judge.lineage import both_effects
from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.model.markdown import cell, cell_code, code, fenced, folded, lines, quoted, table
from optrack.model.run import Failure, Run
from optrack.model.wording import counted
from optrack.render.documents import timestamp
from optrack.render.evidence import differences, evidence
from optrack.render.log import Log
from optrack.render.provenance import facts_of
from optrack.render.summary import effect, measured_text, quantity_text, value, verdict, verdict_text

_TAIL_LINES = 20


def item_section(log: Log, state: ItemState, *, level: int = 3) -> str:
    """Return an item's section, its heading at `level`."""
    item = state.item
    parts = [f"{'#' * level} {cell(item.id)}: {cell(item.title)}", _facts(log, state)]
    if item.hypothesis:
        parts.append(f"**Hypothesis**: {cell(item.hypothesis)}")
    parts += [
        _treatment(log, state),
        _found(log, state),
        _runs(log, state),
        _by_hand(log, state),
        _notes(state),
    ]
    return "\n\n".join(part for part in parts if part)


def _facts(log: Log, state: ItemState) -> str:
    item, judgement = state.item, state.judgement
    facts = [f"**{cell(verdict(log, state))}**"] if judgement or log.by_hand(item.id) else []
    facts.append(state.status.replace("_", " "))
    if judgement is not None:
        facts += [f"comparison {judgement.comparison}", f"attribution {judgement.attribution.status}"]
    named = {
        "expected": quantity_text(item.gain),
        "effort": quantity_text(item.effort),
        "risk": item.risk or "-",
    }
    facts += [f"{name} {cell(text)}" for name, text in named.items() if text != "-"]
    if item.needs:
        facts.append(f"needs {cell(', '.join(item.needs))}")
    facts += [word for word in ("archived", "stale", "adopted") if getattr(state, word)]
    return " · ".join(facts)


def _treatment(log: Log, state: ItemState) -> str:
    factors = log.factors.get(state.item.id, {})
    if not factors:
        return ""
    rows = [(value(key), value(old), value(new)) for key, (old, new) in factors.items()]
    return table(("Treatment", "Baseline", "This item"), rows)


def _found(log: Log, state: ItemState) -> str:
    return _judged(log, state.judgement) if state.judgement else ""


def _judged(log: Log, judgement: Judgement) -> str:
    said = [f"- {cell(reason)}" for reason in judgement.reasons]
    head = (
        f"**Found**: {code(judgement.metric)} {effect(judgement.effect)}"
        if judgement.effect
        else "**Found**:"
    )
    found = "\n".join([head, "", *said]) if said or judgement.effect else ""
    parts = (found, _original(log, judgement), _derived(log, judgement), differences(judgement))
    return "\n\n".join(part for part in parts if part)


def _original(log: Log, judgement: Judgement) -> str:
    original = log.against_original(judgement)
    if original is None:
        return ""
    head = f"**Against the original**: {cell(verdict_text(original))}"
    both = both_effects(judgement, original)
    lines_ = [f"{head}, {cell(both)}" if both else head, "", *(f"- {cell(r)}" for r in original.reasons)]
    return "\n".join(lines_)


def _derived(log: Log, judgement: Judgement) -> str:
    run = log.run(judgement.candidate)
    found = derived_text(judgement.derived, run.recipe if run else {})
    rows = [(cell_code(name), cell(text)) for name, text in found.items()]
    return table(("Derived metric", "Value"), rows) if rows else ""


def _runs(log: Log, state: ItemState) -> str:
    runs = log.runs_of(state.item.id)
    if not runs:
        return ""
    judged = log.run(state.judgement.candidate) if state.judgement else None
    main = judged if judged is not None and judged.beside is None else runs[-1]
    others = [run for run in reversed(runs) if run.id != main.id]
    parts = [run_text(log, main)]
    if others:
        body = "\n\n".join(run_text(log, run) for run in others)
        parts.append(folded(f"{counted(len(others), 'other run')} of this item", body))
    return "\n\n".join(parts)


def run_section(log: Log, run_id: str, *, level: int = 1) -> str:
    """Return the section of one run: how it ended, its judgement, every launch, and where it was measured."""
    run = log.run(run_id)
    assert run is not None
    state = log.state(run.item)
    title = f" {cell(state.item.title)}" if state else ""
    parts = [f"{'#' * level} Run {code(run.id)}: {cell(run.item)}{title}"]
    if run.beside:
        parts.append(f"The baseline, measured beside run {code(run.beside)}.")
    judgement = log.judged(run)
    if judgement is not None:
        parts.append(_judged(log, judgement))
    parts.append(run_text(log, run))
    facts = [f"- **{cell(name)}**: {code(fact)}" for name, fact in facts_of(run).items()]
    parts.append("\n".join([f"{'#' * (level + 1)} Provenance", "", *facts]))
    return "\n\n".join(part for part in parts if part)


def run_text(log: Log, run: Run) -> str:
    """Return a run: how it ended, why if it failed, every launch, and its notes."""
    parts = [_head(log, run)]
    if run.failure:
        parts.append(failure_text(run.failure, run.stage, interrupted=run.outcome == "interrupted"))
    parts += [evidence(log, run), "\n".join(f"- Note of the run: {cell(note)}" for note in run.notes)]
    return "\n\n".join(part for part in parts if part)


def _head(log: Log, run: Run) -> str:
    took = f", {_minutes(run.seconds)}" if run.seconds is not None else ""
    by = f" by {cell(run.actor)}" if run.actor else ""
    label = " (imported)" if is_imported(run) else ""
    measured = measured_text(run, log.metric.name)
    shown = f": {cell(measured)}" if measured != "-" else ""
    outcome = (run.outcome or "running").replace("_", " ")
    where = f"{timestamp(run.started_at)}{took}, on {cell(run.host)}{by}"
    return f"Run {code(run.id)}{label}, **{outcome}**, {where}{shown}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def failure_text(failure: Failure, stage: str, *, interrupted: bool = False) -> str:
    """Return a failure: kind, stage, the line that matters, and the end of the log, folded."""
    how = "Interrupted" if interrupted else "Failed"
    head = f"{how} in stage {stage}, kind {code(failure.kind)}, fingerprint {code(failure.fingerprint)}:"
    tail = failure.log_tail.rstrip().splitlines()[-_TAIL_LINES:]
    parts = [head, quoted(code(failure.message))]
    if tail:
        parts.append(folded(f"The last {counted(len(tail), 'line')} of its log", fenced("\n".join(tail))))
    return "\n\n".join(parts)


def _by_hand(log: Log, state: ItemState) -> str:
    moves = log.by_hand(state.item.id)
    said = [
        f"- {timestamp(t.at)}: marked {t.after.replace('_', ' ')} **by hand**, by {cell(t.who)}: {cell(t.why)}"
        for t in moves
    ]
    return "\n".join(said)


def _notes(state: ItemState) -> str:
    said = [quoted(f"{lines(note.text)}\\\n— {cell(note.who)}, {timestamp(note.at)}") for note in state.notes]
    return "\n\n".join(said)
