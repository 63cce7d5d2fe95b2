"""Items, runs and judgements as lines of text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optrack.cli.table import table
from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample, series_of
from optrack.model.run import Run
from optrack.model.treatment import leaves
from optrack.model.wording import amount
from optrack.plan.resolve import Resolved
from optrack.render.documents import timestamp
from optrack.render.summary import effect_text, measured_text, quantity_text, state_verdict, verdict_text

_SHARED_CHARS = 100


def item_lines(
    state: ItemState,
    resolved: Resolved | None,
    runs: Sequence[Run],
    metric: str,
    found: Sequence[str] = (),
) -> list[str]:
    """Return an item: what it is, its recipe with the treatment marked, its judgement with what else was
    `found`, its runs."""
    item = state.item
    lines = [f"{item.id}  {item.title}", ""]
    facts = {
        "status": ", ".join([state.status.replace("_", " "), *_standing(state)]),
        "verdict": state_verdict(state),
        "expected": quantity_text(item.gain),
        "effort": quantity_text(item.effort),
        "risk": item.risk or "-",
        "needs": ", ".join(item.needs) or "-",
        "hypothesis": item.hypothesis or "-",
    }
    lines += [f"{name + ':':<12} {value}" for name, value in facts.items() if value != "-"]
    if resolved is not None:
        edited = "; edited since it was judged" if state.stale else ""
        lines += ["", f"recipe (* differs from the baseline's{edited})", *recipe_lines(resolved)]
    if state.judgement is not None:
        lines += ["", *judgement_lines(state.judgement), *found]
        if state.stale:
            lines.append("  ! stale: this was found with a recipe that was edited since; run it again")
    if runs:
        lines += ["", *runs_table(runs, metric)]
    for note in state.notes:
        lines.append(f"note  {timestamp(note.at)}  {note.who}: {note.text}")
    return lines


def _standing(state: ItemState) -> list[str]:
    return [word for word in ("archived", "adopted") if getattr(state, word)]


def recipe_lines(resolved: Resolved) -> list[str]:
    """Return the leaves of a resolved recipe, those that differ from the baseline's marked with a star."""
    return [
        f"  {'*' if key in resolved.factors else ' '} {key} = {plain(value)}"
        + (f"   (baseline: {plain(resolved.factors[key][0])})" if key in resolved.factors else "")
        for key, value in leaves(resolved.data).items()
    ] + [
        f"  * {key} is not set   (baseline: {plain(old)})"
        for key, (old, new) in resolved.factors.items()
        if new is None and key not in leaves(resolved.data)
    ]


def judgement_lines(judgement: Judgement) -> list[str]:
    """Return a judgement: verdict, effect, comparison, attribution, and its reasons."""
    factors = ", ".join(judgement.attribution.factors) or "none"
    lines = [
        f"verdict:     {verdict_text(judgement)}   {judgement.metric} {effect_text(judgement.effect)}",
        f"comparison:  {judgement.comparison} (baseline {judgement.baseline or '-'})",
        f"attribution: {judgement.attribution.status} (factors: {factors})",
    ]
    lines += [f"  - {reason}" for reason in judgement.reasons]
    shown = [d for d in judgement.differences if d.severity == "blocking"]
    lines += [f"  ! {d.field} ({d.cls}): {d.meaning}" for d in shown]
    return lines


def run_lines(run: Run) -> list[str]:
    """Return a run: how it ended, its times, every metric with every value."""
    lines = [f"{run.id}  {run.item}", ""]
    how = f"{run.outcome or 'running'} (stage {run.stage})"
    facts = {
        "outcome": how,
        "role": f"baseline beside {run.beside}" if run.beside else run.role,
        "started": timestamp(run.started_at) or "",
        "ended": timestamp(run.ended_at) or "-",
        "host": run.host,
        "by": run.actor,
        "stages": ", ".join(f"{name} {seconds:.1f} s" for name, seconds in run.stages.items()) or "-",
    }
    lines += [f"{name + ':':<10} {value}" for name, value in facts.items()]
    lines += [f"note:      {note}" for note in run.notes]
    if run.failure:
        lines += ["", f"failure: {run.failure.kind} [{run.failure.fingerprint}]", f"  {run.failure.message}"]
        tail = run.failure.log_tail.splitlines()[-12:]
        lines += ["", "log tail:", *(f"  | {line}" for line in tail)]
    if run.samples:
        lines += ["", *metrics_table(run.samples)]
    return lines


def metrics_table(samples: Sequence[Sample]) -> list[str]:
    """Return the table of a run's metrics: median, and every value launch by launch."""
    names = list(dict.fromkeys(sample.metric.name for sample in samples))
    rows = []
    for name in names:
        series = series_of(tuple(samples), name)
        unit = next(s.metric.unit for s in samples if s.metric.name == name)
        invalid = [s.invalid for s in samples if s.metric.name == name and s.invalid]
        values = " | ".join(
            " ".join(f"{v:.4g}" for v in launch) for launch in (series.launches if series else ())
        )
        middle = sorted(series.values)[len(series.values) // 2] if series else None
        rows.append(
            (
                name,
                amount(middle, unit) if middle is not None else "-",
                f"{values}  ({len(invalid)} invalid: {invalid[0]})".strip() if invalid else values,
            )
        )
    return table(("METRIC", "MEDIAN", "VALUES (launches are separated by |)"), rows)


def runs_table(runs: Iterable[Run], metric: str) -> list[str]:
    """Return a table of runs with their outcome and what they measured."""
    rows = [
        (
            run.id,
            run.item,
            run.outcome or "running",
            run.stage if run.outcome != "succeeded" else "",
            "baseline beside" if run.beside else "",
            measured_text(run, metric),
            shortened(run.failure.message) if run.failure else "",
        )
        for run in runs
    ]
    return table(("RUN", "ITEM", "OUTCOME", "STAGE", "ROLE", metric.upper(), "FAILURE"), rows)


def shortened(text: str) -> str:
    """Return text that has to share its line with others, cut with an ellipsis."""
    return text if len(text) <= _SHARED_CHARS else f"{text[: _SHARED_CHARS - 1]}…"


def plain(value: Any) -> str:
    """Return a recipe or snapshot value as text on one line."""
    if isinstance(value, str):
        return value if value.isprintable() and value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "unset" if value is None else json.dumps(value)


def outcome_lines(run: Run, judgement: Judgement | None, metric: str) -> list[str]:
    """Return what a run that has just ended came to."""
    lines = [f"{run.item}: {run.outcome}   {metric} {measured_text(run, metric)}   [{run.id}]"]
    if judgement is not None:
        lines += judgement_lines(judgement)
    elif run.failure is not None:
        lines.append(f"  {run.failure.kind} in stage {run.stage}: {run.failure.message}")
    return lines
