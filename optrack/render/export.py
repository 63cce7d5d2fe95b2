"""The progress log of a campaign in each of its formats: what exporting offers to the rest."""

from optrack.render.chart import Chart, chart_of, chart_svg, chart_text
from optrack.render.data import csv_log, json_log, log_document
from optrack.render.html import CHART_ADDRESS, html_page
from optrack.render.item import item_section, run_section
from optrack.render.log import Log, selected
from optrack.render.markdown_log import markdown_log
from optrack.render.section import with_section

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
