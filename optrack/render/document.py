"""The documents of a campaign in markdown: progress log, briefing, and the section of an item or a run."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.model.item import ItemState
from optrack.model.run import Run
from optrack.plan.schedule import blocked_by
from optrack.render import format as fmt
from optrack.render.briefing import COMMANDS, EXIT_CODES, RULES
from optrack.render.chart import chart_of, chart_text
from optrack.render.log import Log
from optrack.render.template import markdown_document


def markdown_log(log: Log, *, chart: str | None = None, level: int = 1, short: bool = False) -> str:
    """Return the progress log as markdown whose title is a heading at `level`.

    `chart` is the address of the chart's picture, for a log that lies beside it; `short` leaves out all that is folded.
    """
    drawn = chart_of(log)
    lines, marks = "\n".join(chart_text(drawn)), (*fmt.VERDICT.values(), fmt.NO_VERDICT)
    return markdown_document(
        "log.md.j2",
        log=log,
        level=level,
        short=short,
        chart=drawn,
        chart_lines=lines,
        address=chart,
        marks=marks,
    )


def briefing(log: Log, running: Sequence[Run]) -> str:
    """Return one page that tells an agent the plan, what stands where, what it may do next and how."""
    known = {state.item.id: state for state in log.states}
    notes = sorted(
        ((state.item.id, note) for state in log.states for note in state.notes), key=lambda n: n[1].at
    )
    return markdown_document(
        "briefing.md.j2",
        log=log,
        running=running,
        blocked_by=lambda state: blocked_by(state.item, known),
        notes=notes[-10:],
        commands=COMMANDS,
        exit_codes=EXIT_CODES,
        rules=RULES,
    )


def item_section(log: Log, state: ItemState, *, level: int = 3) -> str:
    """Return an item's section of the log, its heading at `level`: treatment, findings, every launch, notes."""
    return markdown_document("section.md.j2", log=log, run=None, state=state, level=level)


def run_section(log: Log, run_id: str, *, level: int = 1) -> str:
    """Return the section of one run: how it ended, its judgement, every launch, and where it was measured."""
    return markdown_document("section.md.j2", log=log, run=log.run(run_id), level=level)
