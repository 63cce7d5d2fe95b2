"""The progress log as markdown."""

from __future__ import annotations

from optrack.model.item import ItemState
from optrack.model.markdown import cell, cell_code, fenced, prose, table
from optrack.model.run import Run
from optrack.model.wording import launches
from optrack.render.bases import bases
from optrack.render.calibrated import calibration
from optrack.render.chart import chart_of, chart_text
from optrack.render.documents import timestamp
from optrack.render.evidence import accepted
from optrack.render.item import item_section
from optrack.render.log import Log, made_by_hand
from optrack.render.provenance import provenance
from optrack.render.standing import goal, results
from optrack.render.summary import measured_text, quantity_text, short_effect, verdict, why


def ahead(log: Log) -> str:
    """Return the next item and why, every other item that is left and why not yet, and what is undecided."""
    said = []
    if log.choice is not None:
        if log.choice.item is None:
            said.append(f"- {cell(log.choice.summary[:1].upper() + log.choice.summary[1:])}.")
        for reason in log.choice.reasons:
            if reason.kind in ("done", "group"):
                continue
            state = log.state(reason.item)
            title = f" {cell(state.item.title)}" if state else ""
            first = "**Next**: " if reason.kind == "chosen" else ""
            said.append(f"- {first}**{cell(reason.item)}**{title}: {cell(reason.text)}")
    for state in log.states:
        judgement = state.judgement
        if judgement is not None and judgement.verdict == "inconclusive" and judgement.launches_needed:
            needed = launches(judgement.launches_needed)
            said.append(f"- **{cell(state.item.id)}** is undecided: {needed} a side would probably decide it")
        if state.stale and not state.archived:
            said.append(f"- **{cell(state.item.id)}** is stale: a recipe was edited since, so run it again")
    return "\n".join(said)


def decisions(log: Log) -> str:
    """Return a table of the decisions in the order in which they were made."""
    found = [
        (
            transition.at,
            cell(transition.item),
            f"marked {transition.after.replace('_', ' ')} by hand",
            cell(transition.who),
            cell(transition.why),
        )
        for transition in log.transitions
        if made_by_hand(transition)
    ]
    found += [
        (
            adoption.at,
            cell(adoption.item),
            "adopted as the new baseline" + (f" on {cell_code(adoption.run)}" if adoption.run else ""),
            cell(adoption.who),
            cell(adoption.why),
        )
        for adoption in log.adoptions
    ]
    found += [
        (adoption.undone_at, cell(adoption.item), "adoption undone", cell(adoption.undone_by or ""), "")
        for adoption in log.adoptions
        if adoption.undone_at is not None
    ]
    rows = [(timestamp(at) or "", *rest) for at, *rest in sorted(found)]
    return table(("When", "Item", "Decision", "By", "Why"), rows) if rows else ""


def failures(log: Log) -> str:
    """Return a table of the failures: kind, stage, how often, in which items, and the line that matters."""
    groups: dict[str, list[Run]] = {}
    for run in log.runs:
        if run.failure is not None and run.outcome in ("failed", "timed_out"):
            groups.setdefault(run.failure.fingerprint, []).append(run)
    rows = []
    for fingerprint, runs in groups.items():
        failure = runs[-1].failure
        assert failure is not None
        items = ", ".join(dict.fromkeys(run.item for run in runs))
        rows.append(
            (
                cell(items),
                cell(failure.kind),
                runs[-1].stage,
                str(len(runs)),
                cell_code(failure.message),
                cell_code(fingerprint),
            )
        )
    return (
        table(("Items", "Kind", "Stage", "Runs", "The line that matters", "Fingerprint"), rows)
        if rows
        else ""
    )


_WHY_CHARS = 220


def overview(log: Log) -> str:
    """Return the table of all items, in plan order, archived ones last."""
    rows = [_row(log, state) for state in log.states]
    return table(("Item", "Title", "Status", "Expected", "Measured", "Effect", "Verdict", "Why"), rows)


def _row(log: Log, state: ItemState) -> tuple[str, ...]:
    reason = why(log, state)
    short = reason if len(reason) <= _WHY_CHARS else f"{reason[: _WHY_CHARS - 1]}…"
    return (
        ("↳ " if state.item.parent else "") + cell(state.item.id),
        cell(state.item.title),
        _status(state),
        cell(quantity_text(state.item.gain)),
        cell(_measured(log, state)),
        short_effect(state.judgement.effect if state.judgement else None) or "-",
        cell(verdict(log, state)),
        cell(short),
    )


def _status(state: ItemState) -> str:
    words = state.status.replace("_", " ")
    return f"{words}{', archived' if state.archived else ''}{', adopted' if state.adopted else ''}"


def _measured(log: Log, state: ItemState) -> str:
    judged = log.run(state.judgement.candidate) if state.judgement else None
    runs = log.runs_of(state.item.id)
    run = judged or (runs[-1] if runs else None)
    return measured_text(run, log.metric.name) if run else "-"


_FOOT = (
    "Effects are candidate / baseline − 1 of the metric, with their interval. ▲ improvement, ▼ regression, "
    "= no change, ? inconclusive, ✖ failed, ⚠ no verdict. Written from the records of optrack; the raw files of "
    "a run are in `.optrack/runs/` under its id."
)


def markdown_log(log: Log, *, chart: str | None = None, level: int = 1) -> str:
    """Return the log as markdown whose title is a heading at `level`.

    `chart` is the address of the chart's picture, for a log that lies beside it.
    """
    under = "#" * (level + 1)
    sections = {
        "Results": results(log),
        "Chart": _chart(log, chart),
        "Items": overview(log),
        "Details": "\n\n".join(
            item_section(log, state, level=level + 2) for state in log.states if log.is_detailed(state)
        ),
        "Failures": failures(log),
        "Accepted differences": accepted(log),
        "Decisions": decisions(log),
        "Baselines": bases(log),
        "Expected and measured": calibration(log),
        "Provenance": provenance(log),
        "What is next": ahead(log),
    }
    parts = [f"{'#' * level} Progress: {prose(log.plan.title)}", goal(log)]
    parts += [f"{under} {heading}\n\n{body}" for heading, body in sections.items() if body]
    parts.append(f"---\n\n{_FOOT}")
    return "\n\n".join(parts) + "\n"


def _chart(log: Log, address: str | None) -> str:
    chart = chart_of(log)
    if not chart.bars:
        return ""
    text = fenced("\n".join(chart_text(chart)))
    return (
        f"![Effect of each item on the metric, with its interval]({address})\n\n{text}" if address else text
    )
