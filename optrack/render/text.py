"""Items, runs and judgements as lines of text for a terminal: outside text is never markup."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from optrack.judge.derived import derived_text
from optrack.judge.lineage import Registry, both_effects
from optrack.model.treatment import leaves
from optrack.render.format import amount, effect, number, percent, quantity, timestamp, words
from optrack.render.phrases import (
    adoption_evidence,
    adoption_status,
    base_name,
    expected_range,
    how_measured,
    item_verdict,
    level,
    verdict_words,
)
from optrack.render.run_text import printable, runs_table, table

if TYPE_CHECKING:
    from optrack.judge.calibration import Expectation
    from optrack.model.item import ItemState, KnownFailure
    from optrack.model.judgement import Judgement
    from optrack.model.metrics import Reading
    from optrack.model.plan import Plan
    from optrack.model.run import Run
    from optrack.plan.resolve import Resolved
    from optrack.plan.schedule import Choice


def status_table(states: Sequence[ItemState], blocked: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the table of all items; `blocked` has the needs that each one waits for."""
    rows = [
        (
            ("  " if state.item.parent else "") + state.item.id,
            state.item.title,
            _status(state, blocked.get(state.item.id, ())),
            quantity(state.item.gain),
            item_verdict(state),
            effect(state.judgement.effect if state.judgement else None),
            str(state.runs),
        )
        for state in states
    ]
    return table(("ITEM", "TITLE", "STATUS", "EXPECTED", "VERDICT", "EFFECT", "RUNS"), rows, right=(6,))


def _status(state: ItemState, blocked: Sequence[str]) -> str:
    if state.archived:
        return f"{state.status} (archived)"
    if state.status == "pending" and blocked:
        return f"blocked by {', '.join(blocked)}"
    return words(state.status) + (", adopted" if state.adopted else "")


def choice_lines(choice: Choice, warnings: Sequence[str] = ()) -> list[str]:
    """Return why the next item is the next one and why no earlier one is, with warnings about it."""
    lines = [f"{'>' if r.kind == 'chosen' else ' '} {r.item} {r.text}" for r in choice.reasons]
    return [*lines, *(f"! {warning}" for warning in warnings), *([] if choice.item else [choice.summary])]


def item_lines(
    state: ItemState,
    resolved: Resolved | None,
    runs: Sequence[Run],
    metric: str,
    findings: Sequence[str] = (),
    *,
    baselines: Mapping[str, Run] | None = None,
) -> list[str]:
    """Return an item: what it is, its recipe with the treatment marked, its judgement with its `findings`, its runs.

    `baselines` has the baseline's run that was measured beside each run.
    """
    item = state.item
    lines = [f"{item.id}  {item.title}", ""]
    flags = [flag for flag in ("archived", "adopted") if getattr(state, flag)]
    facts = {
        "status": ", ".join([words(state.status), *flags]),
        "verdict": item_verdict(state),
        "expected": quantity(item.gain),
        "effort": quantity(item.effort),
        "risk": item.risk or "-",
        "needs": ", ".join(item.needs) or "-",
        "hypothesis": item.hypothesis or "-",
    }
    lines += [f"{name + ':':<12} {value}" for name, value in facts.items() if value != "-"]
    if resolved is not None:
        edited = "; edited since it was judged" if state.stale else ""
        lines += ["", f"recipe (* differs from the baseline's{edited})", *recipe_lines(resolved)]
    if state.judgement is not None:
        lines += ["", *judgement_lines(state.judgement), *findings]
        if state.stale:
            lines.append("  ! stale: this was found with a recipe that was edited since; run it again")
    if runs:
        lines += ["", *runs_table(runs, metric, baselines)]
    return lines + [f"note  {timestamp(note.at)}  {note.who}: {note.text}" for note in state.notes]


def recipe_lines(resolved: Resolved) -> list[str]:
    """Return the leaves of a resolved recipe, those that differ from the baseline's marked with a star."""
    return [
        f"  {'*' if key in resolved.factors else ' '} {key} = {value_text(value)}"
        + (f"   (baseline: {value_text(resolved.factors[key][0])})" if key in resolved.factors else "")
        for key, value in leaves(resolved.data).items()
    ] + [
        f"  * {key} is not set   (baseline: {value_text(old)})"
        for key, (old, new) in resolved.factors.items()
        if new is None and key not in leaves(resolved.data)
    ]


def judgement_lines(judgement: Judgement) -> list[str]:
    """Return a judgement: verdict, effect, comparison, attribution, and its reasons."""
    factors = ", ".join(judgement.attribution.factors) or "none"
    lines = [
        f"verdict:     {verdict_words(judgement)}   {judgement.metric} {effect(judgement.effect)}",
        f"comparison:  {judgement.comparison} (baseline {judgement.baseline or '-'})",
        f"attribution: {judgement.attribution.status} (factors: {factors})",
    ]
    lines += [f"  - {reason}" for reason in judgement.reasons]
    blocking = [d for d in judgement.differences if d.severity == "blocking"]
    return lines + [f"  ! {d.field} ({d.cls}): {d.meaning}" for d in blocking]


def finding_lines(
    judgement: Judgement | None, original: Judgement | None, expected: Expectation | None, run: Run | None
) -> list[str]:
    """Return expected against measured, the verdict against the original, guards and derived metrics."""
    lines = []
    if expected is not None:
        measured = f"measured {percent(expected.measured)}, {expected.standing} that"
        lines.append(f"expected:    {expected_range(expected)}; {measured}")
    if judgement is None:
        return lines
    if original is not None:
        both = both_effects(judgement, original)
        lines.append(f"original:    {verdict_words(original)}{f'   {both}' if both else ''}")
        lines += [f"  - {reason}" for reason in original.reasons]
    if judgement.guards:
        lines.append(f"guards:      {', '.join(f'{guard.name} {guard.state}' for guard in judgement.guards)}")
    derived = derived_text(judgement.derived, run.recipe if run else {})
    return lines + [f"derived:     {name} = {text}" for name, text in derived.items()]


def registry_lines(registry: Registry, unit: str) -> list[str]:
    """Return each base with its measurements over time and its drift, then what was adopted on what."""
    lines = []
    for base in registry.bases:
        rows = [
            (m.run, timestamp(m.at), "-" if m.mean is None else amount(m.mean, unit), how_measured(m))
            for m in base.measurements
        ]
        lines += ["", f"base: {base_name(base)}", *table(("RUN", "MEASURED AT", "MEAN", "HOW"), rows)]
        lines += [base.drift] if base.drift else []
    adopted = [
        (rest.adoption.item, timestamp(rest.adoption.at), adoption_status(rest), adoption_evidence(rest))
        for rest in registry.adoptions
    ]
    if adopted:
        lines += ["", *table(("ADOPTED", "AT", "STATUS", "ON WHICH EVIDENCE"), adopted)]
    return lines


def outcome_lines(run: Run, judgement: Judgement | None, metric: str) -> list[str]:
    """Return what a run that has just ended measured, with its judgement or failure."""
    head = f"{run.item}: {run.outcome}   {metric} {level(run, metric)}   [{run.id}]"
    if judgement is not None:
        return [head, *judgement_lines(judgement)]
    failure = run.failure
    return [head, f"  {failure.kind} in stage {run.stage}: {failure.message}"] if failure else [head]


def comparison_lines(candidate: Run, baseline: Run, judgement: Judgement, metric: str) -> list[str]:
    """Return two runs side by side: the levels that were compared, and the judgement."""
    return [
        f"candidate: {candidate.item} {level(candidate, metric, baseline)}   [{candidate.id}]",
        f"baseline:  {baseline.item} {level(baseline, metric, candidate)}   [{baseline.id}]",
        "",
        *judgement_lines(judgement),
    ]


def failures_table(failures: Sequence[KnownFailure]) -> list[str]:
    """Return a table of failures, each with how often and where it was met."""
    rows = [
        (f.fingerprint, f.kind, str(len(f.runs)), ", ".join(f.items), timestamp(f.last_at), f.message)
        for f in failures
    ]
    return table(("FINGERPRINT", "KIND", "RUNS", "ITEMS", "LAST", "MESSAGE"), rows, right=(2,))


def plan_lines(plan: Plan, *, left_out: bool = False) -> list[str]:
    """Return what was understood of a plan, and how much wasn't read as items, or with `left_out` what."""
    direction = f", {plan.metric.better} is better" if plan.metric.better else ""
    rows = [
        (
            ("  " if item.parent else "") + item.id,
            item.title,
            words(item.status),
            quantity(item.gain),
            quantity(item.effort),
            item.risk or "-",
            ", ".join(item.needs) or "-",
            "yes" if item.recipe is not None else "-",
            str(item.line),
        )
        for item in plan.items
    ]
    heads = ("ITEM", "TITLE", "STATUS", "EXPECTED", "EFFORT", "RISK", "NEEDS", "RECIPE", "LINE")
    head = [f"{plan.title}  ({plan.path})", f"metric: {plan.metric.name}{direction}"]
    return [*head, *table(heads, rows, right=(8,)), *_left_out_lines(plan, listed=left_out)]


def _left_out_lines(plan: Plan, *, listed: bool) -> list[str]:
    if listed or not plan.left_out:
        return [printable(f"{left.line}: {left.kind}: {left.text} ({left.reason})") for left in plan.left_out]
    plural = {"heading": "headings", "bold line": "bold lines", "entry": "entries", "row": "rows"}
    counts = Counter(left.kind for left in plan.left_out)
    kinds = ", ".join(f"{count} {plural[kind] if count > 1 else kind}" for kind, count in counts.items())
    return ["", f"not read as items: {kinds}; `--left-out` lists them"]


def readings_table(readings: Sequence[Reading]) -> list[str]:
    """Return a table of what was read of a benchmark's output; nothing where nothing was."""
    rows = [
        (r.metric.name, number(r.value, 6), r.metric.unit or "-", r.metric.better or "-") for r in readings
    ]
    return table(("METRIC", "VALUE", "UNIT", "BETTER"), rows, right=(1,)) if rows else []


def value_text(value: Any) -> str:
    """Return a recipe's or snapshot's value as text on one line."""
    if isinstance(value, str):
        return value if value.isprintable() and value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "unset" if value is None else json.dumps(value)
