"""The commands that report results: export, report, replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.render.log import Log

_output = click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), help="write to a file, not stdout"
)
_FORMATS = ("md", "json", "csv", "html", "svg", "mlflow")


@click.command("export")
@_output
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default=None, help="default: by FILE's name, or md"
)
@click.option("--items", default=None, help="only these items, separated by commas")
@click.option("--since", default=None, help="in detail only what happened since: a date, a time, 24h, 7d")
@click.option(
    "--update", type=click.Path(path_type=Path), help="rewrite the log's own section of an existing document"
)
@click.option("--short", is_flag=True, help="the story, the table and the chart alone, without the evidence")
@click.option("--to", "uri", default=None, help="with mlflow: the address of the tracking server")
@standard
def export(
    call: Call,
    target: Path | None,
    form: str | None,
    items: str | None,
    since: str | None,
    update: Path | None,
    short: bool,
    uri: str | None,
) -> None:
    """Write the progress log of the plan: what was tried, what it showed, and on what evidence.

    Beside a markdown file lies its chart, as SVG. A file that optrack didn't write isn't replaced. --update writes
    between the lines `<!-- optrack:begin NAME -->` and `<!-- optrack:end NAME -->` of a document, which are added
    at its end if they aren't there.
    """
    from optrack.app.report_data import selected_log

    form = form or _form(call, target)
    if call.as_json and target is None and update is None and form not in ("json", "mlflow"):
        raise UsageError(
            f"--json can't answer in {form}", hint="leave out --json, or write to a file with -o"
        )
    log = selected_log(call.campaign, items, since)
    if update is not None:
        if target is not None or form not in ("md", "json"):
            raise UsageError("--update writes markdown into a document", hint="leave out -o and --format")
        _update(call, log, update, short=short)
    elif form == "mlflow":
        _mlflow(call, log, uri)
    elif target is None:
        output.file(_text(log, form, short=short), form)
    else:
        _require_free(target)
        written = [target]
        chart = _write_chart(log, target, written) if form == "md" else None
        _save(target, _text(log, form, chart, short=short))
        _say(call, form, written)


def _form(call: Call, target: Path | None) -> str:
    if target is not None:
        suffix = target.suffix.lstrip(".").lower()
        return {"htm": "html"}.get(suffix, suffix) if suffix in (*_FORMATS, "htm") else "md"
    return "json" if call.as_json else "md"


def _text(log: Log, form: str, chart: str | None = None, *, short: bool = False) -> str:
    from optrack.render.chart import chart_of, chart_svg
    from optrack.render.data import csv_log
    from optrack.render.document import markdown_log
    from optrack.render.html import CHART_ADDRESS, html_page

    match form:
        case "json":
            from optrack.app.answers.logs import json_log

            return json_log(log)
        case "csv":
            return csv_log(log)
        case "svg":
            return chart_svg(chart_of(log))
        case "html":
            text = markdown_log(log, chart=CHART_ADDRESS, short=short)
            return html_page(f"Progress: {log.plan.title}", text, chart=chart_svg(chart_of(log)))
    return markdown_log(log, chart=chart, short=short)


def _is_free(target: Path) -> bool:
    """Whether nothing of somebody else's is lost by writing there: no file, one of optrack's, a pipe."""
    from optrack.app.files import read_bytes
    from optrack.render.section import is_ours

    return not target.is_file() or is_ours(read_bytes(str(target)))


def _require_free(target: Path) -> None:
    if not _is_free(target):
        raise UsageError(
            f"{target} is there already, and optrack didn't write it",
            hint="name another file; `optrack export --update FILE` writes a section into a document of yours",
        )


def _save(target: Path, text: str) -> None:
    from optrack.app.files import write_text

    _require_free(target)
    write_text(target, text, output.gate())


def _write_chart(log: Log, beside: Path, written: list[Path]) -> str | None:
    """Write the chart beside a markdown file and return its address there; None where nothing was judged yet.

    It has the file's name, or a longer one where a picture of somebody else's has that already.
    """
    from urllib.parse import quote

    from optrack.render.chart import chart_of, chart_svg

    chart = chart_of(log)
    if not chart.bars or (beside.exists() and not beside.is_file()):
        return None
    picture = beside.with_suffix(".svg")
    if not _is_free(picture):
        picture = beside.with_name(f"{beside.stem}-chart.svg")
    _save(picture, chart_svg(chart))
    written.append(picture)
    return quote(picture.name)


def _update(call: Call, log: Log, document: Path, *, short: bool) -> None:
    from optrack.app.files import read_bytes, write_bytes
    from optrack.render.document import markdown_log
    from optrack.render.section import with_section

    before = read_bytes(str(document)) if document.exists() else b""
    written = [document]
    chart = _write_chart(log, document, written)
    text = markdown_log(log, chart=chart, level=2, short=short)
    after = with_section(before, log.plan.name, text, where=str(document))
    if after != before:
        write_bytes(document, after)
    _say(call, "md", written)


def _mlflow(call: Call, log: Log, uri: str | None) -> None:
    from optrack.app.answers.logs import MlflowAnswer
    from optrack.render.mlflow import export_to_mlflow

    if uri is None:
        raise UsageError(
            "mlflow needs an address", hint="--to http://HOST:5000, or --to file:/path/to/mlruns"
        )
    names = export_to_mlflow(log, uri, call.settings.runs)
    answer = MlflowAnswer(output=uri, format="mlflow", runs=tuple(names))
    emit(call, answer, lambda: output.say(f"wrote {len(names)} runs to {uri}"))


def _say(call: Call, form: str, written: list[Path]) -> None:
    from optrack.app.answers.logs import WrittenAnswer

    files = tuple(str(path) for path in written)
    emit(
        call,
        WrittenAnswer(output=files[0], format=form, files=files),
        lambda: output.say(f"wrote {' and '.join(files)}"),
    )


@click.command("report")
@click.argument("what", metavar="ITEM|RUN")
@_output
@click.option("--format", "form", type=click.Choice(["md", "html", "json"]), default=None, help="default: md")
@standard
def report(call: Call, what: str, target: Path | None, form: str | None) -> None:
    """Write the report of one item with all its runs, or of one run: for an issue, a mail, a review."""
    from optrack.app.answers.logs import json_log
    from optrack.app.report_data import report_of
    from optrack.render.html import html_page

    found = report_of(call.campaign, what)
    html = form is None and target is not None and target.suffix in (".html", ".htm")
    form = form or ("html" if html else "json" if call.as_json and target is None else "md")
    text = found.text
    if form == "html":
        text = html_page(found.title, text)
    elif form == "json":
        text = json_log(found.log)
    if target is None:
        output.file(text, form)
        return
    _save(target, text)
    _say(call, form, [target])


@click.command("replay")
@click.argument("run")
@_output
@standard
def replay(call: Call, run: str, target: Path | None) -> None:
    """Print a bash script that makes a run's code again in new worktrees and runs its commands as they ran."""
    from optrack.app.answers.runs import ReplayAnswer
    from optrack.app.replaying import script_of

    found, settings = call.project.reader.run(run), call.settings
    name = target.name if target else "replay.sh"
    script = script_of(found, settings.project, python=settings.python, name=name)
    if target is None:
        emit(call, ReplayAnswer(run=found.id, script=script), lambda: output.exact(script))
        return
    _save(target, script)
    target.chmod(0o755)
    answer = ReplayAnswer(run=found.id, output=str(target))
    emit(call, answer, lambda: output.say(f"wrote {target}"))
