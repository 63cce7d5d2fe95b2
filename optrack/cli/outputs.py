"""`parse` and `import`: benchmark outputs of elsewhere, read and recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.model.recipe_parts import MetricRule

_tool = click.option(
    "--tool", "parser", default="auto", help="a tool's name; by default the output is recognised"
)


@click.command("parse")
@click.argument("file")
@_tool
@click.option("--item", default=None, help="also read the metrics that this item's recipe defines")
@standard
def parse(call: Call, file: str, parser: str, item: str | None) -> int:
    """Show what would be recorded of a benchmark's output; FILE is its file, or - for standard input.

    Exit code 2 if nothing could be read.
    """
    from optrack.app.files import read_bytes, whole_file
    from optrack.app.importing import parse_output
    from optrack.render.text import readings_table

    rules: Mapping[str, MetricRule] = {}
    if item is not None:
        rules = call.campaign.resolved(call.campaign.item(item)).recipe.metrics
    answer = parse_output(read_bytes(file) if file == "-" else whole_file(file), parser=parser, rules=rules)

    def as_text() -> None:
        output.text(readings_table(answer.readings))
        output.say(f"parser: {answer.tool}")
        if answer.settings:
            output.say("settings: " + ", ".join(f"{k} {v}" for k, v in answer.settings.items()))
        for note in answer.notes:
            output.say(note)
        if answer.invalid:
            output.say(f"no measurement: {answer.invalid}")

    emit(call, answer, as_text)
    return 0 if answer.metrics else 2


@click.command("import")
@click.argument("files", metavar="FILE…|FOLDER", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--item", default=None, help="the item that the files are results of")
@_tool
@click.option(
    "--launch-each",
    is_flag=True,
    help="each file is from a launch of its own; else all are repetitions of one",
)
@click.option("--baseline", default=None, help="the sweep's combination that is the plan's baseline")
@standard
def import_(
    call: Call,
    files: tuple[Path, ...],
    item: str | None,
    parser: str,
    launch_each: bool,
    baseline: str | None,
) -> None:
    """Record benchmark outputs as a run of an item, or each combination of a `vllm bench sweep` FOLDER.

    Imported runs are labelled so wherever they are shown. Nothing was captured of them, so no improvement is
    credited from them.
    """
    from optrack.app.importing import import_files, import_sweep
    from optrack.cli.follow import Results

    if item is not None:
        done = [import_files(call.project, item, list(files), parser=parser, launch_each=launch_each)]
    elif len(files) == 1 and files[0].is_dir():
        done = import_sweep(call.project, files[0], baseline=baseline)
    else:
        raise UsageError(
            "which item are these results of?",
            hint="`optrack import FILE… --item ID`, or the folder of a sweep",
        )
    results = Results(call, single=False)
    for run, problems in done:
        results.add(run)
        for problem in problems if not call.as_json else ():
            output.say(f"not imported: {problem}")
    results.finish()
