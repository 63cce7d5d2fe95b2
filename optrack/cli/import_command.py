"""`optrack import`: records results that were measured elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.model.run import Run


@click.command("import")
@click.argument("files", metavar="FILE…|FOLDER", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--item", default=None, help="the item that the files are results of")
@click.option("--tool", "parser", default="auto", help="a tool's name; by default the output is recognised")
@click.option(
    "--launch-each",
    is_flag=True,
    help="each file is from a launch of its own; else all are repetitions of one",
)
@click.option("--baseline", default=None, help="the sweep's combination that is the plan's baseline")
@standard
def command(
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
    from optrack.render.documents import judgement_document, run_document

    campaign = call.campaign
    if item is not None:
        done = [import_files(campaign, item, list(files), parser=parser, launch_each=launch_each)]
    elif len(files) == 1 and files[0].is_dir():
        done = import_sweep(campaign, files[0], baseline=baseline)
    else:
        raise UsageError(
            "which item are these results of?",
            hint="`optrack import FILE… --item ID`, or the folder of a sweep",
        )
    if call.as_json:
        documents = [
            {"run": run_document(run), "judgement": judgement_document(campaign.judgement_of(run))}
            for run, _ in done
        ]
        output.data({"results": documents})
        return
    for run, problems in done:
        _print(call, run, problems)


def _print(call: Call, run: Run, problems: tuple[str, ...]) -> None:
    from optrack.render.text import outcome_lines

    campaign = call.campaign
    output.text(outcome_lines(run, campaign.judgement_of(run), campaign.plan.metric.name))
    for problem in problems:
        output.say(f"not imported: {problem}")
