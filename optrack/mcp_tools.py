"""The tools of the Model Context Protocol server: each is a query or an action, by the command's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from optrack.app import actions, importing, ongoing, plan_queries, queries, rejudging, report_data, running
from optrack.app.answers import Answer
from optrack.app.answers.decisions import (
    AblateAnswer,
    AcceptAnswer,
    AddedFactor,
    AdoptAnswer,
    MarkAnswer,
    NoteAnswer,
    UndoneAnswer,
)
from optrack.app.answers.decisions import StartedAnswer as CampaignStartedAnswer
from optrack.app.answers.items import CampaignAnswer, ShowItemAnswer
from optrack.app.answers.logs import json_log
from optrack.app.answers.runs import (
    Result,
    ResultAnswer,
    ResultsAnswer,
    RunView,
    StartedAnswer,
    StoppingAnswer,
)
from optrack.app.project import Project, find_plan, read_plan
from optrack.errors import NothingToRunError, UsageError
from optrack.model.item import judgement_of
from optrack.render.data import csv_log
from optrack.render.document import markdown_log

Format = Literal["md", "json", "csv"]
_ITEM = Field(description="an item's id, such as 1A")
Item = Annotated[str, _ITEM]
Run = Annotated[
    str, Field(description="a run's id, or the part of it that no other run has; or an item's id")
]
Why = Annotated[str, Field(description="the reason, which is recorded")]
What = Annotated[str, Field(description="an item's id or a run's")]


def context(project: Project) -> Answer:
    """One page: the plan, where every item stands, what is next, what you may do."""
    return report_data.context(project.campaign())


def plan(project: Project) -> Answer:
    """What was understood of the plan: items in order, expectations, resolved recipes."""
    return plan_queries.campaign_plan(project.campaign())


def status(project: Project) -> Answer:
    """Where every item stands: status, verdict, effect with interval, what blocks it."""
    return queries.status(project.campaign())


def next_(project: Project) -> Answer:
    """Which item would run next, and why no other. Runs nothing."""
    return queries.explain(project.campaign())


def poll(project: Project, run: Run, wait_s: float = 30) -> Answer:
    """How far a run has come; waits up to wait_s seconds (55 at most) for its end."""
    return running.poll(project, run, wait_s)


def results(project: Project, what: What) -> Answer:
    """An item with its runs and judgement, or one run with all that was captured."""
    found = queries.show(project.campaign(), what)
    if isinstance(found, ShowItemAnswer):
        return found
    return ResultAnswer(run=found.run, judgement=found.judgement)


def compare(project: Project, candidate: What, baseline: What) -> Answer:
    """Compare two items or runs, the second in the baseline's place. Records nothing."""
    return queries.compare(project.campaign(), candidate, baseline)


def diff(project: Project, candidate: What, baseline: What) -> Answer:
    """Every field in which what was captured of one run differs from what was captured of the other."""
    return queries.diff(project.campaign(), candidate, baseline)


def log(
    project: Project,
    run: Annotated[
        str | None, Field(description="a run's or an item's id; by default the latest run")
    ] = None,
    which: Literal["server", "bench", "setup", "warmup", "runner"] = "server",
    launch: int | None = None,
    lines: int = 200,
) -> Answer:
    """The last lines of a run's log: a server that failed says there why. launch counts from 1."""
    run_id = running.find_run(project, run).id
    answer = queries.log_answer(run_id, queries.log_path(project.settings, run_id, which, launch))
    return answer.model_copy(
        update={"text": "".join(answer.text.splitlines(keepends=True)[-max(lines, 1) :])}
    )


def plan_check(project: Project) -> Answer:
    """What is wrong in the plan's file, line by line, and what is probably not meant."""
    settings = project.settings
    return plan_queries.check_plan(read_plan(find_plan(settings, project.plan_file)), settings)


def dry_run(project: Project, item: Annotated[str | None, _ITEM] = None) -> Answer:
    """The exact environment and commands of an item, by default of the next one. Runs nothing."""
    campaign = project.campaign()
    wanted = item or queries.explain(campaign).next
    if wanted is None:
        raise NothingToRunError("nothing is left to run", hint="`next` says why")
    return plan_queries.dry_run(campaign, [campaign.item(wanted)])


def failures(project: Project) -> Answer:
    """The failures met so far by fingerprint, with the line that matters."""
    return queries.failures(project.campaign())


def export(project: Project, format: Format = "md", since: str | None = None) -> str:  # noqa: A002
    """The progress log as text; since narrows its details: a date, 24h, 7d."""
    form = {"md": markdown_log, "json": json_log, "csv": csv_log}[format]
    return form(report_data.selected_log(project.campaign(), since=since))


def run(
    project: Project,
    item: Annotated[str | None, _ITEM] = None,
    wait_for_host: bool = False,
    resume: bool = False,
) -> Answer:
    """Start the next item, or the named one. Returns the run's id at once; then poll it. With resume, the complete
    launches of an interrupted run are kept."""
    project.campaign()
    running.recover(project)
    made = (
        running.start(project, item, wait=wait_for_host, resume=resume)
        if item
        else running.start_next(project, wait=wait_for_host, resume=resume)
    )
    return StartedAnswer(run=made, item=project.reader.run(made).item)


def run_all(project: Project, by: Literal["rank", "value"] = "rank", resume: bool = False) -> Answer:
    """Start a campaign: every item in turn, in a process of its own that waits for the host. `status` tells how it
    goes; `stop` without a run ends it."""
    first, narration = running.start_all(project, by=by, wait=True, resume=resume)
    return CampaignStartedAnswer(log=str(narration), first=first)


def stop(project: Project, run: Run | None = None) -> Answer:
    """Ask a run to stop (by default the one that goes on, and its campaign), with its teardown; poll it until it
    has ended."""
    if run is None and (ended := ongoing.end_waiting(project.settings, project.written.name)) is not None:
        return CampaignAnswer(campaign=ended)
    return StoppingAnswer(run=running.stop(project, run).id)


def mark(
    project: Project,
    item: Item,
    status: Literal["pending", "in_progress", "completed", "cancelled"],
    why: str,
) -> Answer:
    """Set an item's status by hand, with a reason. It is labelled as made by hand in every export, and gives no
    verdict: only measured runs do."""
    return MarkAnswer(transition=actions.mark(project, item, status, why=why))


def add_item(
    project: Project,
    title: str,
    id: str | None = None,  # noqa: A002
    parent: str | None = None,
    hypothesis: str | None = None,
    gain: str | None = None,
    effort: str | None = None,
    needs: list[str] | None = None,
    recipe: str | None = None,
    write_to_plan: bool = False,
) -> Answer:
    """Add an item to the plan, beside its text; only with write_to_plan is the plan's file changed. recipe is a
    recipe block as YAML text, laid over the base recipe."""
    given = {
        "title": title,
        "id": id,
        "parent": parent,
        "hypothesis": hypothesis,
        "gain": gain,
        "effort": effort,
        "needs": needs,
        "recipe": recipe,
    }
    data = {key: value for key, value in given.items() if value is not None}
    return actions.add_item(project, data, write=write_to_plan)


def note(project: Project, item: Item, text: str) -> Answer:
    """Attach a remark to an item, for whoever comes next."""
    noted, made = actions.note(project, item, text)
    return NoteAnswer(item=noted, note=made)


def accept(project: Project, field: str, why: Why, item: Annotated[str | None, _ITEM] = None) -> Answer:
    """Record that differences in a field (a name or a pattern, as `diff` shows them) don't matter, for the plan or
    one item; what was judged is judged again."""
    return AcceptAnswer(acceptance=rejudging.accept(project, field, item=item, why=why))


def adopt(project: Project, item: Item, why: str = "", anyway: bool = False) -> Answer:
    """Make an item's configuration part of the base that everything after it is measured on; anyway: although its
    verdict isn't a fair improvement."""
    return AdoptAnswer(adoption=actions.adopt(project, item, why=why, anyway=anyway))


def undo_adoption(project: Project) -> Answer:
    """Undo the latest adoption."""
    return UndoneAnswer(undone=actions.undo_adoption(project))


def ablate(project: Project, item: Item) -> Answer:
    """Add the items that show which factor of a confounded item did what: each alone, and all but each."""
    return AblateAnswer(items=tuple(map(AddedFactor.of, actions.ablate(project, item))))


def audit(project: Project, baseline: str | None = None, why: str = "") -> Answer:
    """Judge every item again from what is recorded; baseline names a run of the baseline that proved unfair to
    compare with, and why says what was wrong with it."""
    if baseline is not None:
        actions.require_reason(why)
    return rejudging.audit(project, baseline, why=why)


def import_(
    project: Project, item: Item, files: list[str], tool: str = "auto", launch_each: bool = False
) -> Answer:
    """Record benchmark outputs (files, relative to the project) as a run of an item, labelled as measured
    elsewhere; launch_each: each file is from a launch of its own, else all are repetitions of one."""
    if not files:
        raise UsageError("import needs a file", hint="name a benchmark's output")
    paths = [project.settings.project / file for file in files]
    made, _ = importing.import_files(project, item, paths, parser=tool, launch_each=launch_each)
    judgement = judgement_of(project.reader.judgements(made.plan, made.item), made.id)
    return ResultsAnswer(results=(Result(run=RunView.of(made), judgement=judgement),))


TOOLS: tuple[Callable[..., Answer | str], ...] = (
    context,
    plan,
    status,
    next_,
    poll,
    results,
    compare,
    diff,
    log,
    failures,
    plan_check,
    dry_run,
    export,
    run,
    run_all,
    stop,
    mark,
    add_item,
    note,
    accept,
    adopt,
    undo_adoption,
    ablate,
    audit,
    import_,
)
