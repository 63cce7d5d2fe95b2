"""The log as one HTML page that needs nothing else: the markdown rendered, the chart within."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_CHART = "optrack-chart.svg"
_OWN = re.compile(r"\s*(?:</?details>|</?summary>|<summary>[^<>]*</summary>|<br>)\s*")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #8882; }
code, pre { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: #8882; padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: #8882; padding: .8rem; overflow-x: auto; border-radius: 6px; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
blockquote { border-left: 4px solid #8886; margin: 1rem 0; padding: 0 1rem; }
svg { max-width: 100%; height: auto; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
h1, h2 { border-bottom: 1px solid #8886; padding-bottom: .3rem; }
"""


def html_page(title: str, markdown: str, *, chart: str | None = None) -> str:
    """Return a page with the rendered markdown; `chart` is SVG shown where the markdown has `CHART_ADDRESS`.

    Only the few tags that reports write themselves pass as HTML; all others are shown as text.
    """
    body = _renderer().render(markdown)
    if chart is not None:
        body = re.sub(
            rf"<p><img [^>]*{re.escape(_CHART)}[^>]*></p>", lambda _: f"<figure>{chart}</figure>", body
        )
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


CHART_ADDRESS = _CHART
"""The address that markdown gives the chart where it is to be put into the page."""


def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    renderer.add_render_rule("html_block", _own_tags)
    renderer.add_render_rule("html_inline", _own_tags)
    return renderer


def _own_tags(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    content = tokens[index].content
    if all(_OWN.fullmatch(line) for line in content.splitlines() if line.strip()):
        return content
    return escape(content)
