"""A client of the Model Context Protocol takes a plan from load to exported log."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from optrack.app.answers import answer_schema
from tests.cli.quick import quick

mcp = pytest.importorskip("mcp")

ROOT = Path(__file__).parents[2]


def parameters(folder: Path, locks: Path) -> Any:
    """Return how the server of a project is started."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPTRACK_")}
    env |= {"PYTHONPATH": str(ROOT), "OPTRACK_LOCKS": str(locks), "OPTRACK_CPU_SHARE": "1"}
    arguments = ["-P", "-m", "optrack", "mcp", "--project", str(folder), "--actor", "agent-7"]
    return mcp.StdioServerParameters(command=sys.executable, args=arguments, env=env)


async def told(session: Any, tool: str, **arguments: Any) -> Any:
    """Call a tool and return its answer as data."""
    result = await session.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, text
    return json.loads(text)


async def refused(session: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that is to refuse, and return the error."""
    result = await session.call_tool(tool, arguments)
    assert result.is_error
    text = result.content[0].text
    found: dict[str, Any] = json.loads(text[text.index("{") :])["error"]
    return found


async def run_to_its_end(session: Any, **arguments: Any) -> Any:
    """Start a run and poll it until it has an outcome."""
    started = await told(session, "run", **arguments)
    while True:
        polled = await told(session, "poll", run=started["run"], wait_s=20)
        if polled["outcome"] is not None:
            return polled


@pytest.mark.slow
async def test_a_plan_goes_from_load_to_exported_log(tmp_path: Path) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import stdio_client

    folder = quick(tmp_path / "project")
    async with (
        stdio_client(parameters(folder, tmp_path)) as (read, write),
        ClientSession(read, write) as session,
    ):
        greeting = await session.initialize()
        assert "context" in (greeting.instructions or "")
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"plan", "next", "run", "poll", "results", "compare", "mark", "add_item", "note"} <= names

        context = await told(session, "context")
        jsonschema.validate(context, answer_schema("context"))
        assert context["next"]["item"] == "baseline"
        assert (await told(session, "plan"))["plan"]["items"][1]["recipe"]["env"] == {"SPEED": "200"}

        assert (await run_to_its_end(session))["outcome"] == "succeeded"
        gained = await run_to_its_end(session)
        assert (gained["item"], gained["judgement"]["verdict"]) == ("1", "improvement")
        failed = await run_to_its_end(session)
        assert (failed["outcome"], failed["judgement"]["verdict"]) == ("failed", "failed")
        assert "out of luck" in failed["result"]["failure"]["message"]
        assert (await refused(session, "run"))["exit_code"] == 3

        compared = await told(session, "compare", candidate="1", baseline="baseline")
        jsonschema.validate(compared, answer_schema("compare"))
        assert (await refused(session, "results", what="1Z"))["exit_code"] == 2
        assert (await told(session, "failures"))["failures"][0]["items"] == ["2"]

        added = await told(session, "add_item", title="Thrice", id="3", recipe="env: {SPEED: 300}")
        assert added["written_to"] == "the database"
        assert "Thrice" not in (folder / "plans" / "quick.md").read_text()
        assert (await told(session, "next"))["next"] == "3"
        await told(session, "note", item="2", text="no luck\ntoday")
        assert "why" in (await refused(session, "mark", item="3", status="completed", why=" "))["hint"]
        marked = await told(session, "mark", item="3", status="completed", why="not needed")
        assert marked["transition"]["by_hand"] and marked["transition"]["who"] == "agent-7"
        shown = await told(session, "results", what="3")
        assert shown["item"]["status"] == "completed" and shown["judgement"] is None

        exported: Any = (await session.call_tool("export", {})).content[0]
        log = exported.text
    for said in ("▲ improvement", "out of luck", "none (marked by hand)", "agent-7", "no luck"):
        assert said in log
    with sqlite3.connect(folder / ".optrack" / "optrack.db") as database:
        actors = {who for (who,) in database.execute("SELECT who FROM transition_record")}
    assert actors <= {"agent-7", "optrack"} and "agent-7" in actors


async def test_the_tools_do_what_the_commands_do(folder: Path, tmp_path: Path) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import stdio_client

    (folder / "output.txt").write_text("Output token throughput (tok/s):  88.80\n", encoding="utf-8")
    async with (
        stdio_client(parameters(folder, tmp_path)) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        for name, arguments in (
            ("diff", {"candidate": "1A", "baseline": "baseline"}),
            ("audit", {}),
        ):
            jsonschema.validate(await told(session, name, **arguments), answer_schema(name))
        checked = await told(session, "plan_check")
        jsonschema.validate(checked, answer_schema("plan-check"))
        assert checked["errors"] == 0
        planned = await told(session, "dry_run", item="1A")
        assert planned["item"] == "1A" and planned["bench"]
        accepted = await told(session, "accept", field="packages.*", why="the same wheels", item="1A")
        assert accepted["acceptance"]["who"] == "agent-7"
        adopted = await told(session, "adopt", item="1B", why="we keep it", anyway=True)
        assert adopted["adoption"]["item"] == "1B"
        assert await told(session, "undo_adoption") == {"schema_version": 1, "undone": "1B"}
        imported = await told(session, "import", item="2", files=["output.txt"])
        assert imported["results"][0]["run"]["item"] == "2"
        assert "elsewhere" in " ".join(imported["results"][0]["run"]["notes"]).lower()
        assert "log" in (await refused(session, "log", run="1A"))["message"]
        assert "factors" in (await refused(session, "ablate", item="1B"))["message"]
        assert "no run" in (await refused(session, "stop"))["message"]


async def test_a_parameter_that_a_tool_does_not_take_gets_the_error_of_the_contract(
    folder: Path, tmp_path: Path
) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import stdio_client

    async with (
        stdio_client(parameters(folder, tmp_path)) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        misspelt = await refused(session, "results", waht="1A")
        assert (misspelt["code"], misspelt["exit_code"]) == ("usage", 2)
        assert "what" in misspelt["hint"]
        assert "status" in (await refused(session, "mark", item="1A", why="x"))["message"]
        wrong = await refused(session, "mark", item="1A", status="done", why="x")
        assert "completed" in wrong["message"] and "http" not in wrong["message"]
        assert wrong["exit_code"] == 2
