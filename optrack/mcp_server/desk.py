"""What each tool does: a campaign asked anew for every call, answering with the documents of the command line."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal, TypeVar

from optrack.app.campaign import Campaign
from optrack.app.project import now
from optrack.errors import UsageError
from optrack.model.events import Noted, RepetitionMeasured, StageStarted
from optrack.model.plan import Status
from optrack.plan.schedule import blocked_by
from optrack.render.documents import (
    document,
    failure_document,
    finite,
    item_document,
    judgement_document,
    note_document,
    plan_document,
    run_document,
    state_document,
    transition_document,
)
from optrack.render.format import number
from optrack.settings import Settings
from optrack.store.parts import WHOLE

T = TypeVar("T")

_POLL_S = 0.2
_LONGEST_WAIT_S = 55.0


class Desk:
    """The tools of one project; every transition that they make is recorded under the actor in `settings`."""

    def __init__(self, settings: Settings, plan_file: Path | None = None) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._gate = Campaign(settings, plan_file).gate

    def _campaign(self) -> Campaign:
        campaign = Campaign(self._settings, self._plan_file)
        self._gate = campaign.gate
        return campaign

    def masked(self, answer: T) -> T:
        """Return a tool's answer, text or plain data, with the secrets in it masked."""
        masked: T = self._gate.data(answer)
        return masked

    def context(self) -> dict[str, Any]:
        """Return the page for agents: plan, items, what is next, what may be done, rules."""
        from optrack.render.briefing import briefing_document

        campaign = self._campaign()
        going = [run for run in campaign.reader.open_runs() if not run.beside]
        return _answer(**briefing_document(campaign.log(), going))

    def plan(self) -> dict[str, Any]:
        """Return what was understood of the plan, with resolved recipes."""
        campaign = self._campaign()
        recipes = {item: found.data for item, found in campaign.resolutions(campaign.plan.items).items()}
        return _answer(plan=plan_document(campaign.plan, recipes))

    def status(self) -> dict[str, Any]:
        """Return where every item stands."""
        campaign = self._campaign()
        states = campaign.states()
        known = {state.item.id: state for state in states}
        items = [state_document(state, blocked_by(state.item, known)) for state in states]
        return _answer(plan=campaign.plan.name, title=campaign.plan.title, items=items)

    def next(self) -> dict[str, Any]:
        """Return the item that would run next, and why every other one wouldn't."""
        choice = self._campaign().choice()
        reasons = [reason.model_dump(mode="json") for reason in choice.reasons]
        return _answer(next=choice.item, summary=choice.summary, reasons=reasons)

    def run(self, item: str | None, *, wait_for_host: bool) -> dict[str, Any]:
        """Start the next item, or the named one, and return the run's id at once."""
        campaign = self._campaign()
        campaign.sync()
        campaign.recover()
        run = campaign.start(item, wait=wait_for_host) if item else campaign.start_next(wait=wait_for_host)
        return _answer(run=run, item=campaign.reader.run(run).item, outcome=None)

    def poll(self, run: str, wait_s: float) -> dict[str, Any]:
        """Return how far a run has come, waiting up to `wait_s` seconds for its end; its result once it has one."""
        campaign = self._campaign()
        name = campaign.reader.run(run).id
        deadline = time.monotonic() + min(max(wait_s, 0.0), _LONGEST_WAIT_S)
        while True:
            found = campaign.reader.run(name)
            if found.outcome is not None or time.monotonic() >= deadline:
                break
            campaign.recover()
            time.sleep(_POLL_S)
        if found.outcome is None:
            return _answer(run=found.id, item=found.item, outcome=None, progress=_progress(campaign, name))
        judgement = judgement_document(campaign.judgement_of(found))
        brief = _brief(run_document(found))
        return _answer(
            run=found.id, item=found.item, outcome=found.outcome, result=brief, judgement=judgement
        )

    def stop(self, run: str) -> dict[str, Any]:
        """Ask a run to stop; its teardown goes on for a while, which `poll` waits for."""
        campaign = self._campaign()
        found = campaign.reader.run(run)
        campaign.stop(found.id)
        return _answer(run=found.id, stopping=True)

    def show(self, what: str) -> dict[str, Any]:
        """Return an item with its runs and judgement, or one run with its metrics."""
        campaign = self._campaign()
        states = campaign.states()
        planned = campaign.plan.item(what)
        if planned is not None or any(state.item.id == what for state in states):
            state = campaign.state(what)
            resolved = campaign.resolved_or_none(state.item)
            runs = reversed(campaign.reader.runs(campaign.plan.name, state.item.id, with_=WHOLE))
            return _answer(
                item=item_document(state, resolved.data if resolved else None),
                runs=[_brief(run_document(run)) for run in runs],
                judgement=judgement_document(state.judgement),
            )
        found = campaign.reader.run(what)
        judgement = judgement_document(campaign.judgement_of(found))
        return _answer(run=run_document(found), judgement=judgement)

    def compare(self, candidate: str, baseline: str) -> dict[str, Any]:
        """Return the judgement of one item or run against another; nothing is recorded of it."""
        from optrack.app.finding import compared

        _, _, judged = compared(self._campaign(), candidate, baseline)
        return _answer(**(judgement_document(judged) or {}))

    def mark(self, item: str, status: Status, why: str) -> dict[str, Any]:
        """Set an item's status by hand, which every export says; a verdict can't be set."""
        if not why.strip():
            raise UsageError("a reason is needed", hint="say in `why` what the status rests on")
        return _answer(transition=transition_document(self._campaign().mark(item, status, why=why)))

    def add(self, data: dict[str, Any], *, write: bool) -> dict[str, Any]:
        """Add an item beside the plan's text, or with `write` to its file."""
        from optrack.app.adding import add_item
        from optrack.plan.added import new_item

        campaign = self._campaign()
        item = add_item(campaign, new_item(data), write=write)
        resolved = campaign.resolved_or_none(item)
        document = item_document(campaign.state(item.id), resolved.data if resolved else None)
        return _answer(item=document, written_to=campaign.plan.path if write else "the database")

    def note(self, item: str, text: str) -> dict[str, Any]:
        """Attach a remark to an item."""
        found, note = self._campaign().note(item, text)
        return _answer(item=found, note=note_document(note))

    def failures(self) -> dict[str, Any]:
        """Return the failures that runs of this plan met, the latest first."""
        campaign = self._campaign()
        campaign.sync()
        found = campaign.reader.failures(campaign.plan.name)
        return _answer(failures=[failure_document(failure) for failure in found])

    def export(self, form: Literal["md", "json", "csv"], since: str | None) -> str:
        """Return the progress log."""
        from optrack.render.data import csv_log, json_log
        from optrack.render.document import markdown_log
        from optrack.render.log import selected
        from optrack.render.section import moment

        log = selected(self._campaign().log(), since=moment(since, now()) if since else None)
        return {"md": markdown_log, "json": json_log, "csv": csv_log}[form](log)


def _answer(**fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = finite(document(**fields))
    return found


def _brief(run: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a run's document what is long: everything captured, and its recipe."""
    return {key: value for key, value in run.items() if key not in ("snapshot", "recipe")}


def _progress(campaign: Campaign, run: str) -> list[str]:
    said = []
    for entry in campaign.reader.entries(run)[-30:]:
        event = entry.event
        if isinstance(event, StageStarted):
            said.append(f"{event.side} launch {event.launch + 1}: {event.stage}")
        elif isinstance(event, RepetitionMeasured):
            name = campaign.plan.metric.name
            values = [s.value for s in event.samples if s.metric.name == name]
            shown = f": {name} {number(values[0])}" if values else ""
            said.append(f"{event.side} launch {event.launch + 1}, repetition {event.repetition + 1}{shown}")
        elif isinstance(event, Noted):
            said.append(event.text)
    return said[-10:]
