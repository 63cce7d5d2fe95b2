"""Items, runs, judgements and plans as lines of text for a terminal or a pipe."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from optrack.judge.calibration import Expectation
from optrack.judge.derived import derived_text
from optrack.judge.lineage import Registry, both_effects
from optrack.model.item import ItemState, KnownFailure
from optrack.model.judgement import Judgement
from optrack.model.metrics import Reading, Sample, series_of
from optrack.model.plan import Plan
from optrack.model.recipe import leaves
from optrack.model.run import Run
from optrack.model.wording import amount, percent
from optrack.plan.resolve import Resolved
from optrack.plan.schedule import Choice
from optrack.render.bases import base_name, evidence, how, measured, standing
from optrack.render.calibrated import expected_range
from optrack.render.summary import effect_text, measured_text, quantity_text, state_verdict, verdict_text

_SHARED_CHARS = 100


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def status_lines(
    plan: Plan, standings: Sequence[tuple[ItemState, Sequence[str]]], choice: Choice
) -> list[str]:
    """Return where every item stands, each with the needs that are unmet, and what is next."""
    rows = [
        (
            ("  " if state.item.parent else "") + state.item.id,
            state.item.title,
            _status(state, blocked_by),
            quantity_text(state.item.gain),
            state_verdict(state),
            effect_text(state.judgement.effect if state.judgement else None),
            str(state.runs),
        )
        for state, blocked_by in standings
    ]
    heads = ("ITEM", "TITLE", "STATUS", "EXPECTED", "VERDICT", "EFFECT", "RUNS")
    lines = [f"{plan.title}  ({plan.path})", *table(heads, rows, right=(6,))]
    if choice.item or not standings:
        lines += ["", f"next: {choice.item}" if choice.item else choice.summary]
    return lines


def _status(state: ItemState, blocked_by: Sequence[str]) -> str:
    if state.archived:
        return f"{state.status} (archived)"
    if state.status == "pending" and blocked_by:
        return f"blocked by {', '.join(blocked_by)}"
    return state.status.replace("_", " ") + (", adopted" if state.adopted else "")


def plan_lines(plan: Plan) -> list[str]:
    """Return what was understood of a plan: its metric, and its items with their attributes."""
    direction = f", {plan.metric.better} is better" if plan.metric.better else ""
    rows = [
        (
            ("  " if item.parent else "") + item.id,
            item.title,
            item.status.replace("_", " "),
            quantity_text(item.gain),
            quantity_text(item.effort),
            item.risk or "-",
            ", ".join(item.needs) or "-",
            "yes" if item.recipe is not None else "-",
            str(item.line),
        )
        for item in plan.items
    ]
    heads = ("ITEM", "TITLE", "STATUS", "EXPECTED", "EFFORT", "RISK", "NEEDS", "RECIPE", "LINE")
    head = [f"{plan.title}  ({plan.path})", f"metric: {plan.metric.name}{direction}"]
    return [*head, *table(heads, rows, right=(8,))]


def failures_table(failures: Iterable[KnownFailure]) -> list[str]:
    """Return a table of failures with what met them."""
    rows = [
        (
            failure.fingerprint,
            failure.kind,
            str(len(failure.runs)),
            ", ".join(failure.items),
            _time(failure.last_at)[:19],
            failure.message,
        )
        for failure in failures
    ]
    return table(("FINGERPRINT", "KIND", "RUNS", "ITEMS", "LAST", "MESSAGE"), rows, right=(2,))


def readings_table(readings: Iterable[Reading]) -> list[str]:
    """Return a table of what was read of a benchmark's output; nothing where nothing was."""
    rows = [(r.metric.name, f"{r.value:.6g}", r.metric.unit or "-", r.metric.better or "-") for r in readings]
    return table(("METRIC", "VALUE", "UNIT", "BETTER"), rows, right=(1,)) if rows else []


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
        lines.append(f"note  {_time(note.at)}  {note.who}: {note.text}")
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
        "started": _time(run.started_at),
        "ended": _time(run.ended_at) if run.ended_at else "-",
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
        middle = median(series.values) if series else None
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


def found_lines(
    judgement: Judgement | None, original: Judgement | None, expected: Expectation | None, run: Run | None
) -> list[str]:
    """Return expected against measured, the standing against the original, guards and derived metrics."""
    lines = []
    if expected is not None:
        lines.append(
            f"expected:    {expected_range(expected)}; measured {percent(expected.measured)}, "
            f"{expected.standing} that"
        )
    if judgement is None:
        return lines
    if original is not None:
        both = both_effects(judgement, original)
        lines.append(f"original:    {verdict_text(original)}{f'   {both}' if both else ''}")
        lines += [f"  - {reason}" for reason in original.reasons]
    if judgement.guards:
        lines.append(f"guards:      {', '.join(f'{guard.name} {guard.state}' for guard in judgement.guards)}")
    derived = derived_text(judgement.derived, run.recipe if run else {})
    lines += [f"derived:     {name} = {text}" for name, text in derived.items()]
    return lines


def registry_lines(registry: Registry, unit: str) -> list[str]:
    """Return each base with its measurements over time and its drift, then what was adopted on what."""
    lines = []
    for base in registry.bases:
        rows = [(m.run, _time(m.at), measured(m, unit), how(m)) for m in base.measurements]
        lines += ["", f"base: {base_name(base)}", *table(("RUN", "MEASURED AT", "MEAN", "HOW"), rows)]
        lines += [base.drift] if base.drift else []
    adopted = [
        (rest.adoption.item, _time(rest.adoption.at), standing(rest), evidence(rest))
        for rest in registry.adoptions
    ]
    if adopted:
        lines += ["", *table(("ADOPTED", "AT", "STANDING", "ON WHICH EVIDENCE"), adopted)]
    return lines


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; columns whose index is in `right` are aligned to the right."""
    cells = [[_clean(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(heads))]
    lines = [_line(row, widths, right) for row in cells]
    return [lines[0], _line(["-" * width for width in widths], widths, ()), *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(cell))
        padded.append(space + cell if column in right else cell + space)
    return "  ".join(padded).rstrip()


def _clean(cell: str) -> str:
    return "".join(c if c.isprintable() else " " for c in cell)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )
