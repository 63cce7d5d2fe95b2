"""The progress log of a campaign, as markdown for people, and as JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optrack.core.documents import (
    document,
    item_document,
    judgement_document,
    run_document,
    timestamp,
    transition_document,
)
from optrack.core.frozen import Frozen
from optrack.core.judge.wording import amount
from optrack.core.judgement import Judgement
from optrack.core.markdown import code, fenced, prose, table
from optrack.core.metrics import series_of
from optrack.core.plan import Plan
from optrack.core.run import Run
from optrack.core.state import ItemState, Transition
from optrack.core.summary import effect_text, measured_text, quantity_text, state_verdict


class Log(Frozen):
    """All that a progress log is made of: the plan, where its items stand, and their whole runs, oldest first.

    `factors` has each item's treatment: leaf -> (baseline's value, item's).
    """

    plan: Plan
    states: tuple[ItemState, ...]
    runs: tuple[Run, ...]
    transitions: tuple[Transition, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = {}
    factors: Mapping[str, Mapping[str, tuple[Any, Any]]] = {}

    def runs_of(self, item: str) -> tuple[Run, ...]:
        """Return the runs that were made for an item itself, not those measured beside another."""
        return tuple(run for run in self.runs if run.item == item and run.beside is None)

    def run(self, run_id: str | None) -> Run | None:
        """Return the run with this id, or None."""
        return next((run for run in self.runs if run.id == run_id), None)


def markdown_log(log: Log) -> str:
    """Return the log as markdown, the same for the same records."""
    parts = [f"# Progress: {prose(log.plan.title)}", _goal(log), "## Items", _overview(log)]
    for state in log.states:
        runs = log.runs_of(state.item.id)
        if runs or state.judgement or state.notes or state.status != "pending":
            parts.append(_item(log, state, runs))
    parts += _provenance(log)
    return "\n\n".join(part for part in parts if part) + "\n"


def _goal(log: Log) -> str:
    metric = log.plan.metric
    lines = [f"- **Metric**: {code(metric.name)}{f', {metric.better} is better' if metric.better else ''}"]
    if log.plan.target:
        lines.append(f"- **Target**: {prose(log.plan.target.text)}")
    lines.append(f"- **Minimum effect**: {log.plan.min_effect:.3g} ({log.plan.min_effect:.1%})")
    baseline = [run for run in log.runs if run.item == log.plan.baseline and run.outcome == "succeeded"]
    if baseline:
        lines.append(f"- **Baseline**: {measured_text(baseline[0], metric.name)}, run {code(baseline[0].id)}")
    done = sum(state.status in ("completed", "cancelled") for state in log.states)
    lines.append(f"- **Done**: {done} of {len(log.states)} items, {len(log.runs)} runs")
    return "\n".join(lines)


def _overview(log: Log) -> str:
    rows = [
        (
            ("↳ " if state.item.parent else "") + prose(state.item.id),
            prose(state.item.title),
            state.status.replace("_", " "),
            prose(quantity_text(state.item.gain)),
            effect_text(state.judgement.effect if state.judgement else None),
            state_verdict(state),
        )
        for state in log.states
    ]
    return table(("Item", "Title", "Status", "Expected", "Measured", "Verdict"), rows)


def _item(log: Log, state: ItemState, runs: Sequence[Run]) -> str:
    item = state.item
    lines = [f"## {prose(item.id)}: {prose(item.title)}"]
    facts = [f"**Status**: {state.status.replace('_', ' ')}"]
    if state.judgement:
        facts.append(f"**Verdict**: {state_verdict(state)}")
        facts.append(f"**Comparison**: {state.judgement.comparison}")
    lines.append(" · ".join(facts))
    by_hand = [t for t in log.transitions if t.item == item.id and t.run is None and t.who != "optrack"]
    if item.hypothesis:
        lines.append(f"*Hypothesis*: {prose(item.hypothesis)}")
    factors = log.factors.get(item.id, {})
    if factors:
        changes = [f"- {code(key)}: {_value(old)} → {_value(new)}" for key, (old, new) in factors.items()]
        lines.append("\n".join(["Treatment:", "", *changes]))
    if state.judgement:
        lines.append("\n".join(f"- {prose(reason)}" for reason in state.judgement.reasons))
        lines.append(_differences(state.judgement))
    for run in runs:
        lines.append(_run(log, run, state.judgement))
    lines += [
        f"- Marked {code(t.after)} by hand, {timestamp(t.at)}, {prose(t.who)}: {prose(t.why)}"
        for t in by_hand
    ]
    lines += [f"> {prose(note.text)} ({prose(note.who)}, {timestamp(note.at)})" for note in state.notes]
    return "\n\n".join(line for line in lines if line)


def _differences(judgement: Judgement) -> str:
    shown = [d for d in judgement.differences if d.cls != "declared" and d.severity == "blocking"]
    if not shown:
        return ""
    rows = [(code(d.field), _value(d.baseline), _value(d.candidate), d.cls, prose(d.meaning)) for d in shown]
    return table(("Difference", "Baseline", "Candidate", "Class", "Meaning"), rows)


def _run(log: Log, run: Run, judgement: Judgement | None) -> str:
    metric = log.plan.metric.name
    how = run.outcome or "running"
    head = f"Run {code(run.id)}: {how}, {timestamp(run.started_at)}, on {prose(run.host)}"
    parts = [head]
    if run.failure:
        parts.append(f"Failed in stage {run.stage} ({prose(run.failure.kind)}): {code(run.failure.message)}")
        parts.append(fenced("\n".join(run.failure.log_tail.splitlines()[-12:])))
    sides = [("candidate", run)]
    beside = next((other for other in log.runs if other.beside == run.id), None)
    if beside is not None:
        sides.insert(0, ("baseline", beside))
    rows = [row for side, one in sides for row in _evidence(side, one, metric)]
    if rows:
        parts.append(table(("Side", "Launch", f"{metric} of each repetition"), rows))
    return "\n\n".join(parts)


def _evidence(side: str, run: Run, metric: str) -> list[tuple[str, str, str]]:
    series = series_of(run.samples, metric)
    if series is None:
        return []
    unit = series.metric.unit
    return [
        (side, str(number), ", ".join(amount(value, unit) for value in launch))
        for number, launch in enumerate(series.launches, 1)
    ]


def _provenance(log: Log) -> list[str]:
    seen: dict[str, set[str]] = {}
    for run in log.runs:
        git = (run.snapshot.git if run.snapshot else None) or {}
        hardware = (run.snapshot.hardware if run.snapshot else None) or {}
        for name, value in (
            ("Hosts", run.host),
            ("Commits", git.get("commit")),
            ("CPUs", _at(hardware, "cpu", "model")),
        ):
            if value:
                seen.setdefault(name, set()).add(str(value))
    lines = [f"- {name}: {', '.join(code(v) for v in sorted(values))}" for name, values in seen.items()]
    return ["## Provenance", "\n".join(lines)] if lines else []


def _at(data: Mapping[str, Any], *keys: str) -> Any:
    value: Any = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _value(value: Any) -> str:
    return (
        "not set"
        if value is None
        else code(value if isinstance(value, str) else json.dumps(value, default=str))
    )


def json_log(log: Log) -> str:
    """Return the log as one JSON document: plan, items with recipe and judgement, runs, transitions."""
    items = [
        item_document(state, log.recipes.get(state.item.id))
        | {"judgement": judgement_document(state.judgement)}
        for state in log.states
    ]
    whole = document(
        plan={"name": log.plan.name, "title": log.plan.title, "metric": log.plan.metric.model_dump()},
        items=items,
        runs=[run_document(run) for run in log.runs],
        transitions=[transition_document(transition) for transition in log.transitions],
    )
    return json.dumps(whole, ensure_ascii=False, indent=2, default=str) + "\n"


def csv_log(log: Log) -> str:
    """Return every sample of every run as CSV, a row each; an invalid one says why."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("item", "run", "role", "outcome", "metric", "unit", "launch", "repetition", "value", "invalid")
    )
    writer.writerows(_csv_rows(log.runs))
    return out.getvalue()


def _csv_rows(runs: Iterable[Run]) -> Iterable[tuple[Any, ...]]:
    for run in runs:
        role = "baseline" if run.beside else "candidate"
        for s in run.samples:
            yield (
                run.item,
                run.id,
                role,
                run.outcome or "running",
                s.metric.name,
                s.metric.unit,
                s.launch + 1,
                s.repetition + 1,
                repr(s.value),
                s.invalid or "",
            )
