"""What an agent gets from the Model Context Protocol server: the tools, and what each answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.outward.process import environment

READING: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("context", {}),
    ("plan", {}),
    ("status", {}),
    ("next", {}),
    ("results", {"what": "1"}),
    ("results", {"what": "1A"}),
    ("results", {"what": "nothing"}),
    ("compare", {"candidate": "1A", "baseline": "baseline"}),
    ("compare", {"candidate": "1", "baseline": "baseline"}),
    ("failures", {}),
    ("export", {}),
    ("export", {"format": "csv", "since": "2001-01-01"}),
    ("poll", {"run": "nothing", "wait_s": 0.1}),
    ("stop", {"run": "nothing"}),
    ("run", {"item": "nothing"}),
)
ACTING: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("mark", {"item": "1", "status": "completed", "why": " "}),
    ("mark", {"item": "1", "status": "cancelled", "why": "not worth it"}),
    ("note", {"item": "1", "text": "a remark"}),
    ("add_item", {"title": "Thrice", "id": "T3", "recipe": "env: {SPEED: 300}", "needs": ["1"]}),
    ("add_item", {"title": "Bad", "recipe": "lauch: x"}),
    ("results", {"what": "T3"}),
    ("status", {}),
)


def conversation(folder: Path) -> list[tuple[str, str]]:
    """Return each call's words and what came of it, in order; the last calls alter the project."""
    return asyncio.run(_conversation(folder))


async def _conversation(folder: Path) -> list[tuple[str, str]]:
    import mcp
    from mcp.client.session import ClientSession
    from mcp.client.stdio import stdio_client

    arguments = ["-P", "-m", "optrack", "mcp", "--project", str(folder), "--actor", "agent-7"]
    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=arguments, env=environment(folder, {}), cwd=str(folder)
    )
    answers = []
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        greeting = await session.initialize()
        answers.append(("initialize", greeting.instructions or ""))
        tools = (await session.list_tools()).tools
        described = [tool.model_dump(mode="json", exclude_none=True) for tool in tools]
        answers.append(("list_tools", json.dumps(described, ensure_ascii=False)))
        for tool, given in (*READING, *ACTING):
            result = await session.call_tool(tool, dict(given))
            text = "\n".join(getattr(part, "text", repr(part)) for part in result.content)
            words = f"{tool} {json.dumps(given)}"
            answers.append((words, f"(error) {text}" if result.is_error else text))
    return answers
