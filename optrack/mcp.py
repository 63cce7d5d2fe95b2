"""A Model Context Protocol server: each tool is a query or an action, and answers as the command line does."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from optrack import __version__
from optrack.app import actions, plan_queries, queries, report_data, running
from optrack.app.answers import Answer, ErrorAnswer, document, error_body
from optrack.app.answers.decisions import MarkAnswer, NoteAnswer
from optrack.app.answers.items import ShowItemAnswer
from optrack.app.answers.logs import json_log
from optrack.app.answers.runs import ResultAnswer, StartedAnswer, StoppingAnswer
from optrack.app.project import Project
from optrack.errors import OptrackError
from optrack.render.briefing import RULES
from optrack.render.data import csv_log
from optrack.render.document import markdown_log
from optrack.settings import Settings

Format = Literal["md", "json", "csv"]
_ITEM = Field(description="an item's id, such as 1A")
Item = Annotated[str, _ITEM]
Run = Annotated[str, Field(description="a run's id, or the part of it that no other run has")]
What = Annotated[str, Field(description="an item's id or a run's")]
_INSTRUCTIONS = "\n".join(
    (
        "optrack runs a ranked optimisation plan against an inference server and judges each item from evidence.",
        "Begin with `context`. `run` returns at once; call `poll` with the run's id until it has an outcome.",
        *RULES,
    )
)
_LONG = {"snapshot", "recipe"}
_UNTOLD: dict[str, Any] = {
    "next": {"warnings"},
    "poll": {"result": _LONG},
    "results": {"runs": {"__all__": _LONG}, "against_original": True, "expected": True, "registry": True},
}
"""The parts of an answer that a tool leaves out."""


def make_server(settings: Settings, plan_file: Path | None = None) -> MCPServer[Any]:
    """Return the server of one project, ready to be run on a transport; the actor is the one in `settings`."""
    server: MCPServer[Any] = MCPServer(
        "optrack", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    for tool in _TOOLS:
        name = tool.__name__.rstrip("_")
        server.tool(name=name, description=" ".join((tool.__doc__ or "").split()))(
            _on_project(tool, name, lambda: Project(settings, plan_file))
        )
    return server


def _on_project(
    tool: Callable[..., Answer | str], name: str, project_now: Callable[[], Project]
) -> Callable[..., Any]:
    """Return the tool as a function of its other parameters, on the project as it is at each call.

    The answer is masked; an expected error becomes the command line's document of it, with the exit code.
    """
    own = signature(tool, eval_str=True)
    returned = str if own.return_annotation is str else dict[str, Any]

    @wraps(tool)
    def called(**arguments: Any) -> Any:
        project = project_now()
        try:
            answer = tool(project, **arguments)
            plain = answer if isinstance(answer, str) else document(answer, exclude=_UNTOLD.get(name))
            return project.gate.data(plain)
        except OptrackError as error:
            body = document(ErrorAnswer(error=error_body(error, with_exit_code=True)))
            raise ToolError(json.dumps(project.gate.data(body), ensure_ascii=False)) from error

    parameters = list(own.parameters.values())[1:]
    called.__signature__ = Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": returned}
    del called.__wrapped__
    called.__name__ = name
    return called


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


def failures(project: Project) -> Answer:
    """The failures met so far by fingerprint, with the line that matters."""
    return queries.failures(project.campaign())


def export(project: Project, format: Format = "md", since: str | None = None) -> str:  # noqa: A002
    """The progress log as text; since narrows its details: a date, 24h, 7d."""
    form = {"md": markdown_log, "json": json_log, "csv": csv_log}[format]
    return form(report_data.selected_log(project.campaign(), since=since))


def run(project: Project, item: Annotated[str | None, _ITEM] = None, wait_for_host: bool = False) -> Answer:
    """Start the next item, or the named one. Returns the run's id at once; then poll it."""
    project.campaign()
    running.recover(project)
    wait = wait_for_host
    made = running.start(project, item, wait=wait) if item else running.start_next(project, wait=wait)
    return StartedAnswer(run=made, item=project.reader.run(made).item)


def stop(project: Project, run: Run) -> Answer:
    """Ask a run to stop, with its teardown; poll it until it has ended."""
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


_TOOLS: tuple[Callable[..., Answer | str], ...] = (
    context,
    plan,
    status,
    next_,
    poll,
    results,
    compare,
    failures,
    export,
    run,
    stop,
    mark,
    add_item,
    note,
)
