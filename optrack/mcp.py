"""A Model Context Protocol server: each tool is a query or an action, and answers as the command line does."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from optrack import __version__
from optrack.app.answers import Answer, ErrorAnswer, document, error_body
from optrack.app.project import Project
from optrack.errors import OptrackError, UsageError
from optrack.mcp_tools import TOOLS
from optrack.model.text import did_you_mean
from optrack.render.briefing import RULES
from optrack.settings import Settings

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
    "import": {"results": {"__all__": {"run": _LONG}}},
    "results": {"runs": {"__all__": _LONG}, "against_original": True, "expected": True, "registry": True},
}
"""The parts of an answer that a tool leaves out."""


class _Server(MCPServer[Any]):
    """The server, which refuses arguments that a tool doesn't take with the command line's document of an error."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by its name; raises ToolError for arguments that it doesn't take."""
        tool = next((tool for tool in TOOLS if _name(tool) == name), None)
        if tool is not None and (error := _argument_error(tool, arguments)) is not None:
            raise ToolError(_error_document(error))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}" for e in error.__cause__.errors()]
            refused = UsageError(f"{name}: {'; '.join(wrong)}", hint="the tool's schema says what it takes")
            raise ToolError(_error_document(refused)) from error


def _argument_error(tool: Callable[..., Any], arguments: dict[str, Any]) -> UsageError | None:
    """Return the error for the first argument that the tool doesn't have or for those that it lacks, or None."""
    own = list(signature(tool).parameters.values())[1:]
    names = [parameter.name for parameter in own]
    unknown = [name for name in arguments if name not in names]
    if unknown:
        hint = did_you_mean(unknown[0], names, "parameters") if names else "it takes none"
        return UsageError(f"{_name(tool)} has no parameter {unknown[0]!r}", hint=hint)
    missing = [p.name for p in own if p.default is Signature.empty and p.name not in arguments]
    if missing:
        return UsageError(f"{_name(tool)} needs {', '.join(missing)}", hint=f"it takes {', '.join(names)}")
    return None


def _name(tool: Callable[..., Any]) -> str:
    return tool.__name__.rstrip("_")


def _error_document(error: OptrackError) -> str:
    return json.dumps(document(ErrorAnswer(error=error_body(error, with_exit_code=True))), ensure_ascii=False)


def make_server(settings: Settings, plan_file: Path | None = None) -> MCPServer[Any]:
    """Return the server of one project, ready to be run on a transport; the actor is the one in `settings`."""
    server = _Server("optrack", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    for tool in TOOLS:
        name = _name(tool)
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
