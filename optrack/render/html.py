"""The log as one HTML page that needs nothing else: the markdown rendered, the chart within."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from optrack.render.template import html_document

CHART_ADDRESS = "optrack-chart.svg"
"""The address that markdown gives the chart where it is to be put into the page."""
_OWN = re.compile(
    r"\s*(?:</?details>|</?summary>|<summary>[^<>]*</summary>|<br>|<!-- optrack:written -->)\s*"
)
_PICTURE = re.compile(rf"<p><img [^>]*{re.escape(CHART_ADDRESS)}[^>]*></p>")


def html_page(title: str, markdown: str, *, chart: str | None = None) -> str:
    """Return a page with the rendered markdown; `chart` is SVG shown where the markdown has `CHART_ADDRESS`.

    Only the few tags that reports write themselves pass as HTML; all others are shown as text.
    """
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    renderer.add_render_rule("html_block", _own_tags)
    renderer.add_render_rule("html_inline", _own_tags)
    body = renderer.render(markdown)
    if chart is not None:
        body = _PICTURE.sub(lambda _: f"<figure>{chart}</figure>", body)
    return html_document("page.html.j2", title=title, body=body)


def _own_tags(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    content = tokens[index].content
    if all(_OWN.fullmatch(line) for line in content.splitlines() if line.strip()):
        return content
    return escape(content)
