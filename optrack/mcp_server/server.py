"""The server itself: the desk's tools under the official SDK, each with the description that an agent reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from optrack import __version__
from optrack.errors import OptrackError
from optrack.mcp_server.desk import Desk
from optrack.render.briefing import RULES
from optrack.render.documents import document
from optrack.settings import Settings

T = TypeVar("T")

_ITEM = Field(description="an item's id, such as 1A")
_RUN = Field(description="a run's id, or the part of it that no other run has")
_WHAT = Field(description="an item's id or a run's")
_INSTRUCTIONS = "\n".join(
    (
        "optrack runs a ranked optimisation plan against an inference server and judges each item from evidence.",
        "Begin with `context`. `run` returns at once; call `poll` with the run's id until it has an outcome.",
        *RULES,
    )
)


def make_server(settings: Settings, plan_file: Path | None = None) -> MCPServer[Any]:
    """Return the server of one project, ready to be run on a transport."""
    desk = Desk(settings, plan_file)
    server: MCPServer[Any] = MCPServer(
        "optrack", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    _add_reading(server, desk)
    _add_acting(server, desk)
    return server


def _told(desk: Desk, work: Callable[[], T]) -> T:
    """Do the work and mask its answer; an expected error becomes the tool's answer, as the command line's document."""
    try:
        return desk.masked(work())
    except OptrackError as error:
        fields = {"code": error.code, "message": error.message, "hint": error.hint, "where": error.where}
        body = desk.masked(document(error=fields | {"exit_code": error.exit_code}))
        raise ToolError(json.dumps(body, ensure_ascii=False)) from error


def _add_reading(server: MCPServer[Any], desk: Desk) -> None:
    @server.tool(description="One page: the plan, where every item stands, what is next, what you may do.")
    def context() -> dict[str, Any]:
        return _told(desk, desk.context)

    @server.tool(
        description="What was understood of the plan: items in order, expectations, resolved recipes."
    )
    def plan() -> dict[str, Any]:
        return _told(desk, desk.plan)

    @server.tool(
        description="Where every item stands: status, verdict, effect with interval, what blocks it."
    )
    def status() -> dict[str, Any]:
        return _told(desk, desk.status)

    @server.tool(name="next", description="Which item would run next, and why no other. Runs nothing.")
    def next_item() -> dict[str, Any]:
        return _told(desk, desk.next)

    @server.tool(description="How far a run has come; waits up to wait_s seconds (55 at most) for its end.")
    def poll(run: Annotated[str, _RUN], wait_s: float = 30) -> dict[str, Any]:
        return _told(desk, lambda: desk.poll(run, wait_s))

    @server.tool(description="An item with its runs and judgement, or one run with all that was captured.")
    def results(what: Annotated[str, _WHAT]) -> dict[str, Any]:
        return _told(desk, lambda: desk.show(what))

    @server.tool(
        description="Compare two items or runs, the second in the baseline's place. Records nothing."
    )
    def compare(candidate: Annotated[str, _WHAT], baseline: Annotated[str, _WHAT]) -> dict[str, Any]:
        return _told(desk, lambda: desk.compare(candidate, baseline))

    @server.tool(description="The failures met so far by fingerprint, with the line that matters.")
    def failures() -> dict[str, Any]:
        return _told(desk, desk.failures)

    @server.tool(description="The progress log as text; since narrows its details: a date, 24h, 7d.")
    def export(format: Literal["md", "json", "csv"] = "md", since: str | None = None) -> str:  # noqa: A002
        return _told(desk, lambda: desk.export(format, since))


def _add_acting(server: MCPServer[Any], desk: Desk) -> None:
    @server.tool(
        description="Start the next item, or the named one. Returns the run's id at once; then poll it."
    )
    def run(item: Annotated[str | None, _ITEM] = None, wait_for_host: bool = False) -> dict[str, Any]:
        return _told(desk, lambda: desk.run(item, wait_for_host=wait_for_host))

    @server.tool(description="Ask a run to stop, with its teardown; poll it until it has ended.")
    def stop(run: Annotated[str, _RUN]) -> dict[str, Any]:
        return _told(desk, lambda: desk.stop(run))

    @server.tool(
        description="Set an item's status by hand, with a reason. It is labelled as made by hand in every "
        "export, and gives no verdict: only measured runs do."
    )
    def mark(
        item: Annotated[str, _ITEM],
        status: Literal["pending", "in_progress", "completed", "cancelled"],
        why: str,
    ) -> dict[str, Any]:
        return _told(desk, lambda: desk.mark(item, status, why))

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
        return _told(desk, lambda: desk.add(data, write=write_to_plan))

    @server.tool(description="Attach a remark to an item, for whoever comes next.")
    def note(item: Annotated[str, _ITEM], text: str) -> dict[str, Any]:
        return _told(desk, lambda: desk.note(item, text))
