"""A Model Context Protocol server: each tool is a query or an action, and answers as the command line does."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from optrack.app.answers.runs import ResultAnswer, StartedAnswer, StatusChange, StoppingAnswer
from optrack.app.project import Project
from optrack.errors import OptrackError
from optrack.render.briefing import RULES
from optrack.render.data import csv_log
from optrack.render.document import markdown_log
from optrack.settings import Settings

Format = Literal["md", "json", "csv"]
Item = Annotated[str, Field(description="an item's id, such as 1A")]
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


class Tools:
    """The tools of one project, each of whose transitions is recorded under the actor in `settings`."""

    def __init__(self, settings: Settings, plan_file: Path | None = None) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._project = Project(settings, plan_file)

    def answer(self, work: Callable[[Project], Answer], exclude: Any = None) -> dict[str, Any]:
        """Do the work on the project as it is now and return its masked answer, without the parts in `exclude`."""
        found: dict[str, Any] = self._masked(lambda project: document(work(project), exclude=exclude))
        return found

    def text(self, work: Callable[[Project], str]) -> str:
        """Do the work on the project as it is now and return its masked text."""
        found: str = self._masked(work)
        return found

    def _masked(self, work: Callable[[Project], Any]) -> Any:
        """Return the masked result; an expected error becomes the tool's answer, as the command line's document."""
        self._project = Project(self._settings, self._plan_file)
        try:
            return self._project.gate.data(work(self._project))
        except OptrackError as error:
            body = document(ErrorAnswer(error=error_body(error, with_exit_code=True)))
            raise ToolError(json.dumps(self._project.gate.data(body), ensure_ascii=False)) from error


def make_server(settings: Settings, plan_file: Path | None = None) -> MCPServer[Any]:
    """Return the server of one project, ready to be run on a transport."""
    tools = Tools(settings, plan_file)
    server: MCPServer[Any] = MCPServer(
        "optrack", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    _add_reading(server, tools)
    _add_acting(server, tools)
    return server


def _add_reading(server: MCPServer[Any], tools: Tools) -> None:
    @server.tool(description="One page: the plan, where every item stands, what is next, what you may do.")
    def context() -> dict[str, Any]:
        return tools.answer(lambda project: report_data.context(project.campaign()))

    @server.tool(
        description="What was understood of the plan: items in order, expectations, resolved recipes."
    )
    def plan() -> dict[str, Any]:
        return tools.answer(lambda project: plan_queries.campaign_plan(project.campaign()))

    @server.tool(
        description="Where every item stands: status, verdict, effect with interval, what blocks it."
    )
    def status() -> dict[str, Any]:
        return tools.answer(lambda project: queries.status(project.campaign()))

    @server.tool(name="next", description="Which item would run next, and why no other. Runs nothing.")
    def next_item() -> dict[str, Any]:
        return tools.answer(lambda project: queries.explain(project.campaign()), {"warnings"})

    @server.tool(description="How far a run has come; waits up to wait_s seconds (55 at most) for its end.")
    def poll(run: Run, wait_s: float = 30) -> dict[str, Any]:
        return tools.answer(lambda project: running.poll(project, run, wait_s), {"result": _LONG})

    @server.tool(description="An item with its runs and judgement, or one run with all that was captured.")
    def results(what: What) -> dict[str, Any]:
        def shown(project: Project) -> Answer:
            found = queries.show(project.campaign(), what)
            if isinstance(found, ShowItemAnswer):
                return found
            return ResultAnswer(run=found.run, judgement=found.judgement)

        extra = dict.fromkeys(("against_original", "expected", "registry"), True)
        return tools.answer(shown, {"runs": {"__all__": _LONG}, **extra})

    @server.tool(
        description="Compare two items or runs, the second in the baseline's place. Records nothing."
    )
    def compare(candidate: What, baseline: What) -> dict[str, Any]:
        return tools.answer(lambda project: queries.compare(project.campaign(), candidate, baseline))

    @server.tool(description="The failures met so far by fingerprint, with the line that matters.")
    def failures() -> dict[str, Any]:
        return tools.answer(lambda project: queries.failures(project.campaign()))

    @server.tool(description="The progress log as text; since narrows its details: a date, 24h, 7d.")
    def export(format: Format = "md", since: str | None = None) -> str:  # noqa: A002
        form = {"md": markdown_log, "json": json_log, "csv": csv_log}[format]
        return tools.text(lambda project: form(report_data.selected_log(project.campaign(), since=since)))


def _add_acting(server: MCPServer[Any], tools: Tools) -> None:
    @server.tool(
        description="Start the next item, or the named one. Returns the run's id at once; then poll it."
    )
    def run(
        item: Annotated[str | None, Field(description="an item's id, such as 1A")] = None,
        wait_for_host: bool = False,
    ) -> dict[str, Any]:
        def started(project: Project) -> StartedAnswer:
            project.campaign()
            running.recover(project)
            if item:
                made = running.start(project, item, wait=wait_for_host)
            else:
                made = running.start_next(project, wait=wait_for_host)
            return StartedAnswer(run=made, item=project.reader.run(made).item)

        return tools.answer(started)

    @server.tool(description="Ask a run to stop, with its teardown; poll it until it has ended.")
    def stop(run: Run) -> dict[str, Any]:
        return tools.answer(lambda project: StoppingAnswer(run=running.stop(project, run).id))

    @server.tool(
        description="Set an item's status by hand, with a reason. It is labelled as made by hand in every "
        "export, and gives no verdict: only measured runs do."
    )
    def mark(
        item: Item, status: Literal["pending", "in_progress", "completed", "cancelled"], why: str
    ) -> dict[str, Any]:
        return tools.answer(
            lambda project: MarkAnswer(
                transition=StatusChange.of(actions.mark(project, item, status, why=why))
            )
        )

    @server.tool(
        description="Add an item to the plan, beside its text; only with write_to_plan is the plan's file changed. "
        "recipe is a recipe block as YAML text, laid over the base recipe."
    )
    def add_item(
        title: str,
        id: str | None = None,  # noqa: A002
        parent: str | None = None,
        hypothesis: str | None = None,
        gain: str | None = None,
        effort: str | None = None,
        needs: list[str] | None = None,
        recipe: str | None = None,
        write_to_plan: bool = False,
    ) -> dict[str, Any]:
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
        return tools.answer(lambda project: actions.add_item(project, data, write=write_to_plan))

    @server.tool(description="Attach a remark to an item, for whoever comes next.")
    def note(item: Item, text: str) -> dict[str, Any]:
        def noted(project: Project) -> NoteAnswer:
            found, made = actions.note(project, item, text)
            return NoteAnswer(item=found, note=made)

        return tools.answer(noted)
