"""The evidence of an item in tables: metrics, launches, differences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from optrack.model.judgement import Difference, Judgement
from optrack.model.markdown import cell, cell_code, code, folded, table
from optrack.model.metrics import Metric, Sample, series_of
from optrack.model.run import Run
from optrack.model.wording import amount, counted, percent
from optrack.render.documents import timestamp
from optrack.render.log import Log
from optrack.render.summary import value


def evidence(log: Log, run: Run) -> str:
    """Return the launches of a run and of the baseline's run that it was judged against, then other metrics."""
    judgement = log.judged(run)
    other = log.run(judgement.baseline) if judgement else log.beside(run.id)
    parts = [_launches(log, run, other), _others(log, run, other), _invalid(run)]
    return "\n\n".join(part for part in parts if part)


def _launches(log: Log, run: Run, other: Run | None) -> str:
    metric = log.metric
    ours, theirs = _by_launch(run, metric.name), _by_launch(other, metric.name)
    if not ours:
        return ""
    interleaved = other is not None and other.beside == run.id
    numbers = sorted(ours.keys() | theirs.keys())
    unit = f" ({cell(metric.unit)})" if metric.unit else ""
    if other is None:
        alone = [(str(n + 1), _values(ours.get(n)), _mean(ours.get(n))) for n in numbers]
        return table(("Launch", f"{cell_code(metric.name)} of each repetition{unit}", "Mean"), alone)
    rows: list[tuple[str, ...]] = []
    for n in numbers:
        change = _change(ours.get(n), theirs.get(n)) if interleaved else ""
        rows.append((str(n + 1), _values(theirs.get(n)), _values(ours.get(n)), change))
    heads = ("Launch", f"Baseline{unit}", f"This item{unit}", "Change")
    body = table(heads, rows) if interleaved else table(heads[:3], [row[:3] for row in rows])
    how = (
        "interleaved launch by launch with it" if interleaved else "another session, so drift isn't cancelled"
    )
    return f"{cell_code(metric.name)} of each repetition; baseline run {code(other.id)}, {how}:\n\n{body}"


def _by_launch(run: Run | None, metric: str) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = {}
    for sample in run.samples if run else ():
        if sample.metric.name == metric:
            found.setdefault(sample.launch, []).append(sample)
    return found


def _values(samples: Sequence[Sample] | None) -> str:
    if not samples:
        return "-"
    ordered = sorted(samples, key=lambda s: s.repetition)
    return ", ".join(f"{s.value:.4g}" + (" (invalid)" if not _valid(s) else "") for s in ordered)


def _valid(sample: Sample) -> bool:
    return sample.invalid is None and abs(sample.value) != float("inf") and sample.value == sample.value


def _mean_of(samples: Sequence[Sample] | None) -> float | None:
    valid = [s.value for s in samples or () if _valid(s)]
    return statistics.fmean(valid) if valid else None


def _mean(samples: Sequence[Sample] | None) -> str:
    mean = _mean_of(samples)
    return "-" if mean is None else f"{mean:.4g}"


def _change(ours: Sequence[Sample] | None, theirs: Sequence[Sample] | None) -> str:
    a, b = _mean_of(ours), _mean_of(theirs)
    return percent(a / b - 1) if a is not None and b else "-"


def _others(log: Log, run: Run, other: Run | None) -> str:
    metrics: dict[str, Metric] = {s.metric.name: s.metric for s in run.samples}
    metrics.pop(log.metric.name, None)
    rows = []
    for name, metric in metrics.items():
        ours, theirs = _median(run, name), _median(other, name)
        change = percent(ours / theirs - 1) if ours is not None and theirs and ours / theirs > 0 else "-"
        rows.append((cell_code(name), _amount(theirs, metric), _amount(ours, metric), change))
    if not rows:
        return ""
    body = table(("Metric", "Baseline's median", "This item's median", "Change (no verdict)"), rows)
    return folded(f"{counted(len(rows), 'other metric')}", body)


def _median(run: Run | None, name: str) -> float | None:
    series = series_of(run.samples, name) if run else None
    return statistics.median(series.values) if series else None


def _amount(found: float | None, metric: Metric) -> str:
    return "-" if found is None else cell(amount(found, metric.unit))


def _invalid(run: Run) -> str:
    seen = {(s.launch, s.repetition): s.invalid for s in run.samples if s.invalid}
    lines = [
        f"- Launch {n + 1}, repetition {r + 1} is no measurement: {cell(w)}" for (n, r), w in seen.items()
    ]
    return "\n".join(lines)


def differences(judgement: Judgement) -> str:
    """Return the undeclared differences: those that stand against the comparison open, the others folded."""
    others = [d for d in judgement.differences if d.cls != "declared"]
    blocking = [d for d in others if d.severity == "blocking"]
    notes = [d for d in others if d.severity != "blocking"]
    parts = []
    if blocking:
        parts.append(f"**Also different, and not explained**:\n\n{_table(blocking)}")
    if notes:
        parts.append(
            folded(f"{counted(len(notes), 'difference')} that {_count(notes)} no matter", _table(notes))
        )
    return "\n\n".join(parts)


def _count(notes: Sequence[Difference]) -> str:
    return "was found or accepted to be of" if len(notes) == 1 else "were found or accepted to be of"


def _table(found: Sequence[Difference]) -> str:
    rows = [
        (cell_code(d.field), value(d.baseline), value(d.candidate), d.cls, cell(d.meaning)) for d in found
    ]
    return table(("Field", "Baseline", "This item", "Class", "Meaning"), rows)


def accepted(log: Log) -> str:
    """Return what somebody said doesn't matter: field, for which item, who, when and why."""
    rows = [
        (
            cell_code(a.field),
            cell(a.item) if a.item else "the whole plan",
            cell(a.who),
            timestamp(a.at) or "",
            cell(a.why),
        )
        for a in log.acceptances
    ]
    return table(("Field", "For", "Accepted by", "When", "Why"), rows) if rows else ""
