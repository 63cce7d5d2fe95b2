"""The progress log as markdown that GitHub renders well: the same text for the same records."""

from __future__ import annotations

from optrack.core.markdown import fenced, prose
from optrack.core.report.ahead import ahead
from optrack.core.report.bases import bases
from optrack.core.report.calibrated import calibration
from optrack.core.report.chart import chart_of
from optrack.core.report.chart_text import chart_text
from optrack.core.report.decisions import decisions
from optrack.core.report.differences import accepted
from optrack.core.report.failures import failures
from optrack.core.report.item import item_section
from optrack.core.report.log import Log
from optrack.core.report.overview import overview
from optrack.core.report.provenance import provenance
from optrack.core.report.standing import goal, results

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
