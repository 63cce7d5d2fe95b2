"""`optrack export`: the progress log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.render.log import Log

_FORMATS = ("md", "json", "csv", "html", "svg", "mlflow")


@click.command("export")
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="write to a file, not stdout")
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default=None, help="default: by FILE's name, or md"
)
@click.option("--items", default=None, help="only these items, separated by commas")
@click.option("--since", default=None, help="in detail only what happened since: a date, a time, 24h, 7d")
@click.option(
    "--update", type=click.Path(path_type=Path), help="rewrite the log's own section of an existing document"
)
@click.option("--to", "uri", default=None, help="with mlflow: the address of the tracking server")
@standard
def command(
    call: Call,
    target: Path | None,
    form: str | None,
    items: str | None,
    since: str | None,
    update: Path | None,
    uri: str | None,
) -> None:
    """Write the progress log of the plan: what was tried, what it showed, and on what evidence.

    Beside a markdown file lies its chart, as SVG. --update writes between the lines `<!-- optrack:begin NAME -->`
    and `<!-- optrack:end NAME -->` of a document, which are added at its end if they aren't there.
    """
    form = form or _form(call, target)
    if call.as_json and target is None and update is None and form not in ("json", "mlflow"):
        raise UsageError(
            f"--json can't answer in {form}", hint="leave out --json, or write to a file with -o"
        )
    log = _log(call, items, since)
    if update is not None:
        if target is not None or form not in ("md", "json"):
            raise UsageError("--update writes markdown into a document", hint="leave out -o and --format")
        _update(call, log, update)
    elif form == "mlflow":
        _mlflow(call, log, uri)
    elif target is None:
        output.file(_text(log, form), form)
    else:
        _write(call, log, form, target)


def _log(call: Call, items: str | None, since: str | None) -> Log:
    from optrack.app.project import now
    from optrack.render.log import selected
    from optrack.render.section import moment

    campaign = call.campaign
    begin = moment(since, now()) if since else None
    ids = [campaign.state(item.strip()).item.id for item in (items or "").split(",") if item.strip()]
    return selected(campaign.log(), items=ids, since=begin)


def _form(call: Call, target: Path | None) -> str:
    if target is not None:
        suffix = target.suffix.lstrip(".").lower()
        return {"htm": "html"}.get(suffix, suffix) if suffix in (*_FORMATS, "htm") else "md"
    return "json" if call.as_json else "md"


def _text(log: Log, form: str, chart: str | None = None) -> str:
    from optrack.render import chart as charts
    from optrack.render import data, document, html

    match form:
        case "json":
            return data.json_log(log)
        case "csv":
            return data.csv_log(log)
        case "svg":
            return charts.chart_svg(charts.chart_of(log))
        case "html":
            picture = charts.chart_svg(charts.chart_of(log))
            markdown = document.markdown_log(log, chart=html.CHART_ADDRESS)
            return html.html_page(f"Progress: {log.plan.title}", markdown, chart=picture)
    return document.markdown_log(log, chart=chart)


def _write(call: Call, log: Log, form: str, target: Path) -> None:
    from optrack.cli.files import write_text

    written = [target]
    chart = None
    if form == "md":
        chart = _write_chart(log, target, written)
    write_text(target, _text(log, form, chart))
    _say(call, form, written)


def _write_chart(log: Log, beside: Path, written: list[Path]) -> str | None:
    """Write the chart beside a markdown file and return its address there; None where nothing was judged yet."""
    from urllib.parse import quote

    from optrack.cli.files import write_text
    from optrack.render.chart import chart_of, chart_svg

    chart = chart_of(log)
    if not chart.bars or (beside.exists() and not beside.is_file()):
        return None
    picture = beside.with_suffix(".svg")
    write_text(picture, chart_svg(chart))
    written.append(picture)
    return quote(picture.name)


def _update(call: Call, log: Log, document: Path) -> None:
    from optrack.cli.files import read_bytes, write_bytes
    from optrack.render.document import markdown_log
    from optrack.render.section import with_section

    before = read_bytes(str(document)) if document.exists() else b""
    written = [document]
    chart = _write_chart(log, document, written)
    text = markdown_log(log, chart=chart, level=2)
    after = with_section(before, log.plan.name, text, where=str(document))
    if after != before:
        write_bytes(document, after)
    _say(call, "md", written)


def _mlflow(call: Call, log: Log, uri: str | None) -> None:
    from optrack.render.mlflow import export_to_mlflow

    if uri is None:
        raise UsageError(
            "mlflow needs an address", hint="--to http://HOST:5000, or --to file:/path/to/mlruns"
        )
    names = export_to_mlflow(log, uri, call.campaign.settings.runs)
    if call.as_json:
        output.data({"output": uri, "format": "mlflow", "runs": names})
    else:
        output.say(f"wrote {len(names)} runs to {uri}")


def _say(call: Call, form: str, written: list[Path]) -> None:
    if call.as_json:
        output.data({"output": str(written[0]), "format": form, "files": [str(path) for path in written]})
    else:
        output.say(f"wrote {' and '.join(str(path) for path in written)}")
