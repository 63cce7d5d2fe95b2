"""`optrack audit`: judges everything again from the stored evidence."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("audit")
@click.option("--baseline", metavar="RUN", help="a run of the baseline that proved unfair to compare with")
@click.option("--why", help="what was wrong with that run, which every log states")
@standard
def command(call: Call, baseline: str | None, why: str | None) -> None:
    """Judge every item again from what is recorded; relabel what doesn't stand and offer it again."""
    from optrack.app.decisions import audit_plan, reject
    from optrack.app.telling import registry_of_plan
    from optrack.render.phrases import verdict_words

    if (baseline is None) != (why is None):
        raise UsageError(
            "a baseline is rejected with a reason", hint="`optrack audit --baseline RUN --why TEXT`"
        )
    rejected = reject(call.campaign, baseline, why=why).id if baseline and why is not None else None
    changed = audit_plan(call.campaign)
    fallen = registry_of_plan(call.campaign).fallen
    if call.as_json:
        output.data(
            {
                "changed": [
                    {
                        "item": one.item,
                        "run": one.run,
                        "before": one.before.verdict,
                        "after": one.after.verdict,
                        "comparison": one.after.comparison,
                        "why": one.why,
                        "offered_again": one.offer_again,
                    }
                    for one in changed
                ],
                "rejected": rejected,
                "adopted_without_evidence": list(fallen),
            }
        )
        return
    lines = [f"{rejected} is no longer compared with: {why}"] if rejected else []
    lines += [
        f"{one.item}: {verdict_words(one.before)} -> {verdict_words(one.after)}: {one.why}" for one in changed
    ]
    lines += [
        f"{item} is adopted, though its evidence doesn't stand: `optrack adopt --undo` takes back the latest"
        for item in fallen
    ]
    output.text(lines or ["every verdict stands"])
