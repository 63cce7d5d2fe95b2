"""One page that tells an agent the plan, what stands where, what it may do next and how."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.model.markdown import cell, cell_code, code, table
from optrack.model.run import Run
from optrack.plan.schedule import blocked_by
from optrack.render.log import Log
from optrack.render.standing import goal
from optrack.render.summary import quantity_text, short_effect, verdict, why

COMMANDS: tuple[tuple[str, str], ...] = (
    ("optrack next --json", "run the next item in the foreground and judge it; --detach returns at once"),
    (
        "optrack next --explain --json",
        "why this item is next and what every other one waits for; runs nothing",
    ),
    ("optrack next --dry-run --json", "the exact environment and commands; runs nothing"),
    ("optrack run ITEM --json", "run one item, whatever its rank"),
    ("optrack attach RUN --json", "wait for a detached run and get its result"),
    ("optrack stop RUN", "end a run with its teardown"),
    ("optrack status --json", "where every item stands"),
    ("optrack show ITEM|RUN --json", "an item with runs and judgement, or a run with everything captured"),
    ("optrack compare A B --json", "two items or runs: differences, statistics, verdict"),
    ("optrack failures --json", "failures by fingerprint: what was met before"),
    ("optrack log RUN", "the server's log of a run"),
    ("optrack note ITEM TEXT", "leave a remark for whoever comes next"),
    ("optrack add TITLE --recipe YAML", "add an item beside the plan's text; --write appends it to the file"),
    ("optrack mark ITEM STATUS --why TEXT", "set a status by hand; it is labelled as such everywhere"),
    ("optrack export -o FILE", "the progress log"),
    ("optrack watch --json", "transitions and ends of runs as they happen, a JSON line each"),
    ("optrack schema NAME", "the JSON Schema of a command's answer"),
)
EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done; a run was recorded and succeeded"),
    (1, "the run was recorded and its outcome isn't `succeeded`: a result, not a fault of the tool"),
    (2, "usage, plan or settings error; nothing ran"),
    (3, "nothing to run: all done, or all blocked"),
    (4, "the host isn't fit to measure on; nothing ran; try again later or with --wait"),
    (130, "interrupted; torn down and recorded"),
)
RULES: tuple[str, ...] = (
    "A verdict comes from measured runs alone: no command sets one. `mark` sets a status, and says by hand.",
    "A comparison that isn't fair gives no improvement; `show ITEM` names the differences in the way.",
    "`inconclusive` means that the evidence can't tell; `launches_needed` says how many launches would.",
    "A failed run is a result: its fingerprint, stage and the line that matters are recorded.",
    "One run at a time on a host. Don't kill processes by name or port: `optrack stop RUN` ends a run.",
    "optrack never changes the plan's file, except for `add --write`. Edit the plan and it is read again.",
    "Set OPTRACK_ACTOR to your name: every transition records who made it.",
)


def briefing(log: Log, going: Sequence[Run]) -> str:
    """Return the page as markdown."""
    parts = [f"# {cell(log.plan.title)}", goal(log), "## Items", _items(log), "## Now", _now(log, going)]
    notes = _notes(log)
    parts += ["## Notes", notes] if notes else []
    parts += [
        "## What you may do",
        table(("Command", "Does"), [(cell_code(c), cell(d)) for c, d in COMMANDS]),
    ]
    parts += [
        "## Exit codes",
        table(("Code", "Means"), [(str(number), cell(does)) for number, does in EXIT_CODES]),
    ]
    parts += ["## Rules", "\n".join(f"- {cell(rule)}" for rule in RULES)]
    return "\n\n".join(parts) + "\n"


def _items(log: Log) -> str:
    known = {state.item.id: state for state in log.states}
    rows = []
    for state in log.states:
        waits = blocked_by(state.item, known) if state.status == "pending" else ()
        status = f"blocked by {', '.join(waits)}" if waits else state.status.replace("_", " ")
        reason = why(log, state)
        rows.append(
            (
                cell(state.item.id),
                cell(state.item.title),
                cell(status),
                cell(quantity_text(state.item.gain)),
                short_effect(state.judgement.effect if state.judgement else None) or "-",
                cell(verdict(log, state)),
                cell(reason if len(reason) <= 160 else f"{reason[:159]}…"),
            )
        )
    return table(("Item", "Title", "Status", "Expected", "Effect", "Verdict", "Why"), rows)


def _now(log: Log, going: Sequence[Run]) -> str:
    said = [
        f"- Going on: run {code(run.id)} of {cell(run.item)}, started by {cell(run.actor)}" for run in going
    ]
    if log.choice is None or log.choice.item is None:
        said.append(f"- {cell(log.choice.summary) if log.choice else 'nothing to run'}")
    else:
        chosen = log.choice.chosen
        said.append(f"- Next: **{cell(log.choice.item)}**, {cell(chosen.text if chosen else '')}")
    return "\n".join(said)


def _notes(log: Log) -> str:
    said = [(note.at, state.item.id, note) for state in log.states for note in state.notes]
    latest = sorted(said, key=lambda entry: entry[0])[-10:]
    return "\n".join(f"- {cell(item)}, {cell(note.who)}: {cell(note.text)}" for _, item, note in latest)
