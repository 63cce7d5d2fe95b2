"""The registry of baselines in a log: what each base consists of, its measurements and its drift, and what was
adopted on which evidence."""

from __future__ import annotations

from optrack.judge.lineage import Base, Measured, Rest
from optrack.model.markdown import cell, cell_code, table
from optrack.model.wording import amount, percent
from optrack.render.documents import timestamp
from optrack.render.log import Log
from optrack.render.summary import verdict_text


def bases(log: Log) -> str:
    """Return the measurements of each base in the order in which they were made, and every adoption."""
    registry = log.registry
    parts = [_base(base, log.metric.unit) for base in registry.bases]
    rows = [
        (
            cell(rest.adoption.item),
            timestamp(rest.adoption.at) or "",
            cell(standing(rest)),
            cell(evidence(rest)),
        )
        for rest in registry.adoptions
    ]
    if rows:
        parts.append(table(("Adopted", "When", "Standing", "On which evidence"), rows))
    return "\n\n".join(parts)


def _base(base: Base, unit: str) -> str:
    rows = [
        (cell_code(m.run), timestamp(m.at) or "", cell(measured(m, unit)), cell(how(m)))
        for m in base.measurements
    ]
    heads = ("Run", "When", "Mean", "How")
    drift = f"\n\n{cell(base.drift)}" if base.drift else ""
    return f"**{cell(base_name(base))}**\n\n{table(heads, rows)}{drift}"


def base_name(base: Base) -> str:
    """Return what a base is called: the original, or what it was made of by adoptions."""
    return f"with {', '.join(base.adopted)} adopted" if base.adopted else "the original"


def measured(found: Measured, unit: str) -> str:
    """Return what a measurement of a base came to."""
    return "-" if found.mean is None else amount(found.mean, unit)


def how(found: Measured) -> str:
    """Return whether a measurement was made alone or beside a candidate, and why it counts no more."""
    way = f"beside {found.beside}" if found.beside else "alone"
    return f"{way}; rejected: {found.rejected}" if found.rejected else way


def standing(rest: Rest) -> str:
    """Return whether an adoption is in force, and whether its evidence still stands."""
    undone = rest.adoption.undone_at
    if undone is not None:
        return f"undone {timestamp(undone)} by {rest.adoption.undone_by}"
    return "in force" if rest.stands else "in force, though its evidence doesn't stand"


def evidence(rest: Rest) -> str:
    """Return the judgement that an adoption rests on, by whom it was made and why."""
    found, run = rest.judgement, rest.adoption.run
    what = f"{verdict_text(found)}{_size(rest)}, run {run}" if found else "no judgement"
    return f"{what}; adopted by {rest.adoption.who}: {rest.adoption.why}"


def _size(rest: Rest) -> str:
    found = rest.judgement.effect if rest.judgement else None
    return f" {percent(found.relative)}" if found else ""
