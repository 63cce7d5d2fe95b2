"""`optrack show`: an item or a run, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.cli.names import neither
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign
    from optrack.model.run import Run


@click.command("show")
@click.argument("what", metavar="ITEM|RUN")
@click.option("--snapshot", is_flag=True, help="print what was captured of the run")
@click.option("--full", is_flag=True, help="print everything that was captured, packages and patches too")
@standard
def command(call: Call, what: str, snapshot: bool, full: bool) -> None:
    """Show an item with its runs and judgement, or one run with its measurements and snapshot."""
    from optrack.cli.recovering import say_recovered_if_possible
    from optrack.render.documents import run_document

    campaign = call.campaign
    say_recovered_if_possible(campaign)
    states = campaign.states()
    planned = campaign.plan.item(what)
    known = {state.item.id for state in states}
    if planned is not None or what in known:
        _show_item(call, campaign, planned.id if planned else what)
        return
    called = campaign.reader.called_now(campaign.plan.name, what)
    if called is not None:
        output.say(f"{what} is called {called} now")
        _show_item(call, campaign, called)
        return
    try:
        run = campaign.reader.run(what)
    except UsageError as error:
        raise neither(what, campaign.plan.name, known, error) from error
    if call.as_json:
        output.data({"run": run_document(run)})
    else:
        from optrack.model.snapshot import Snapshot
        from optrack.render.provenance import snapshot_lines
        from optrack.render.text import run_lines

        captured = ["", *snapshot_lines(run.snapshot or Snapshot(), full=full)] if snapshot or full else []
        output.text([*run_lines(run), *captured])


def _show_item(call: Call, campaign: Campaign, item_id: str) -> None:
    from optrack.app.evaluator import primary_metric
    from optrack.app.telling import registry_of_plan
    from optrack.judge.calibration import expectation_of
    from optrack.render.documents import item_document, judgement_document, registry_document, run_document
    from optrack.store.parts import WHOLE

    state, reader = campaign.state(item_id), campaign.reader
    runs: tuple[Run, ...] = tuple(reversed(reader.runs(campaign.plan.name, item_id, with_=WHOLE)))
    resolved = campaign.resolved_or_none(state.item)
    judgement = state.judgement
    original = campaign.against_original(judgement, item_id)
    baseline = reader.run(judgement.baseline) if judgement and judgement.baseline else None
    metric = primary_metric(campaign.plan, runs)
    expected = expectation_of(state, baseline, metric)
    registry = registry_of_plan(campaign) if item_id == campaign.plan.baseline else None
    if call.as_json:
        answer = {
            "item": item_document(state, resolved.data if resolved else None),
            "runs": [run_document(run) for run in runs],
            "judgement": judgement_document(judgement),
            "against_original": judgement_document(original),
            "expected": expected.model_dump() | {"standing": expected.standing} if expected else None,
        }
        output.data(answer | ({"registry": registry_document(registry)} if registry else {}))
        return
    from optrack.render.text import finding_lines, item_lines, registry_lines

    ran = next((run for run in runs if judgement and run.id == judgement.candidate), None)
    found = finding_lines(judgement, original, expected, ran)
    beside = {run.id: reader.run(other) for run in runs if (other := reader.beside(run.id))}
    bases = registry_lines(registry, metric.unit) if registry else []
    output.text(
        [*item_lines(state, resolved, runs, campaign.plan.metric.name, found, baselines=beside), *bases]
    )
