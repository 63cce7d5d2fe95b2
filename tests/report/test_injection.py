"""Outside text stays text: markdown, HTML, control characters, bars and line breaks in titles, notes and logs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from optrack.judge.failures import plain_failure
from optrack.model.markdown import cell, cell_code, code, fenced, lines, prose
from optrack.render.chart import chart_of, chart_svg, chart_text
from optrack.render.data import csv_log
from optrack.render.document import markdown_log
from optrack.render.html import html_page
from tests.report.filled import PLAN, STEADY, Filled, snapshot_of

EVIL = (
    "a|b **bold** <script>alert(1)</script> `code` [x](javascript:1) "
    "\x1b[31mred\x1b[0m # h ![i](u) $x$ &amp; ~~s~~ _u_"
)
NASTY = (
    EVIL,
    "- item",
    "1. one",
    "# heading",
    "> quote",
    "---",
    "===",
    "```",
    "~~~",
    "| a | b |",
    "<!-- comment -->",
    "</details>",
    "line\nbreak\r\nand\ttab",
    "\\",
    "trailing\\",
    "`",
    "``a`b``",
    "\u202eright to left",
    "a\\|b",
    "![](x)",
    "&lt;b&gt;",
    "<b>",
    "*",
    "+ plus",
    "[ref]: http://x",
    "\x00\x07",
)


def shown(markdown: str) -> str:
    """Return the text that a reader of the rendered markdown sees."""
    html = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(markdown)
    assert "<script" not in html
    text = re.sub(r"<[^>]+>", "", html)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(entity, char)
    return " ".join(text.split())


def visible(text: str) -> str:
    """Return what of a text can be seen, on one line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@pytest.mark.parametrize("text", NASTY)
def test_prose_reads_as_what_was_written(text: str) -> None:
    assert shown(prose(text)) == visible(text)


@pytest.mark.parametrize("text", NASTY)
def test_code_reads_as_what_was_written(text: str) -> None:
    assert shown(code(text)) == visible(text)


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("as_cell", [cell, cell_code])
def test_a_cell_reads_as_what_was_written_and_ends_nowhere_else(text: str, as_cell: object) -> None:
    assert callable(as_cell)
    row = f"| Head | Other |\n|---|---|\n| {as_cell(text) or ' '} | end |"
    html = MarkdownIt("commonmark").enable("table").render(row)
    assert html.count("<td>") == 2
    assert shown(row) == f"Head Other {visible(text)} end".replace("  ", " ")


@pytest.mark.parametrize("text", NASTY)
def test_nothing_closes_a_fenced_block(text: str) -> None:
    html = MarkdownIt("commonmark").render(fenced(f"before\n{text}\nafter") + "\n\nend")
    assert html.endswith("<p>end</p>\n")
    assert html.count("<pre>") == 1


def test_lines_of_a_note_stay_lines() -> None:
    html = MarkdownIt("commonmark").render(lines("one\n- two\n<b>three"))
    assert html == "<p>one<br />\n- two<br />\n&lt;b&gt;three</p>\n"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A project whose title, item titles, notes, failures and reasons are hostile."""
    plan = PLAN.replace("More threads", "x <script>alert(1)</script> | `y` [z](u)").replace(
        "title: Faster all-reduces", "title: 'T <img src=x onerror=alert(1)> | pipe'"
    )
    project = Filled(tmp_path_factory.mktemp("attacked") / "p", plan)
    project.run("baseline", STEADY)
    tail = f"{EVIL}\n```\n</details>\n<!-- optrack:end tuning -->\n~~~\n"
    project.run("1A", (), failure=plain_failure("nccl", EVIL, tail))
    project.run("1C", STEADY)
    project.note("1A", f"{EVIL}\n\n# not a heading\n| a | b |\n</details>")
    project.mark("3", "completed", why=EVIL)
    return project


def test_a_hostile_log_renders_without_markup_of_its_own(attacked: Filled) -> None:
    text = markdown_log(attacked.log())
    assert "\x1b" not in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    for tag in ("<script", "<img", "onerror=alert(1)>", 'href="javascript'):
        assert tag not in html
    assert html.count("<details>") == html.count("</details>")


def test_a_hostile_page_has_no_tags_but_ours(attacked: Filled) -> None:
    log = attacked.log()
    page = html_page(log.plan.title, markdown_log(log), chart=chart_svg(chart_of(log)))
    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;" in page


def test_tags_that_are_not_ours_are_shown_as_text() -> None:
    page = html_page(
        "t", "<details>\n<summary>s</summary>\n\nx\n\n</details>\n\n<iframe src=x></iframe>\n\na <b>c</b>"
    )
    assert "<details>" in page
    assert "<iframe" not in page and "<b>" not in page


def test_a_hostile_chart_is_well_formed(attacked: Filled) -> None:
    from xml.etree import ElementTree

    chart = chart_of(attacked.log())
    root = ElementTree.fromstring(chart_svg(chart))
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert len(chart_text(chart)) == len(chart.bars) + 1


def test_a_spreadsheet_reads_no_formula(tmp_path: Path) -> None:
    project = Filled(tmp_path / "p", PLAN.replace("### 1C: More threads", "### 1C: More threads {#=cmd}"))
    rows = csv_log(project.log()).splitlines()
    assert not [row for row in rows if row.startswith(("=", "+", "@"))]


def test_secrets_are_in_no_format(tmp_path: Path) -> None:
    secret = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    project = Filled(tmp_path / "p", PLAN.replace("NCCL_NTHREADS: 512", f"HF_TOKEN: {secret}"))
    project.run("baseline", STEADY)
    seen = snapshot_of({"NCCL_ALGO": "Ring", "NCCL_MAX_NCHANNELS": "16"})
    project.run(
        "1C",
        (),
        snapshot=seen,
        failure=plain_failure("unknown", f"401 for token {secret}", f"HF_TOKEN={secret}\n"),
    )
    project.note("1C", f"the token was {secret}")
    log = project.log()
    from optrack.app.answers.logs import json_log

    for text in (markdown_log(log), json_log(log), csv_log(log)):
        assert secret not in text
