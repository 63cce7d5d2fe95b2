"""The progress log of a campaign in each of its formats: what exporting offers to the rest."""

from optrack.core.report.chart import Chart, chart_of
from optrack.core.report.chart_svg import chart_svg
from optrack.core.report.chart_text import chart_text
from optrack.core.report.data import csv_log, json_log, log_document
from optrack.core.report.html import CHART_ADDRESS, html_page
from optrack.core.report.item import item_section, run_section
from optrack.core.report.log import Log, selected
from optrack.core.report.markdown_log import markdown_log
from optrack.core.report.section import with_section

__all__ = [
    "CHART_ADDRESS",
    "Chart",
    "Log",
    "chart_of",
    "chart_svg",
    "chart_text",
    "csv_log",
    "html_page",
    "item_section",
    "json_log",
    "log_document",
    "markdown_log",
    "run_section",
    "selected",
    "with_section",
]
