"""What commands print: documents and text on stdout, narration and errors on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from optrack.core.report.envelope import document, finite
from optrack.errors import OptrackError, PlanError


def data(fields: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout; numbers that JSON lacks become null."""
    sys.stdout.write(json.dumps(finite(document(**fields)), ensure_ascii=False, indent=2, default=str) + "\n")


def text(lines: str | Iterable[str]) -> None:
    """Print text on stdout."""
    sys.stdout.write((lines if isinstance(lines, str) else "\n".join(lines)).rstrip("\n") + "\n")


def one_line(text: str) -> str:
    """Return outside text on one line, without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def say(line: str) -> None:
    """Print one line of narration on stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def error_fields(error: OptrackError) -> dict[str, Any]:
    """Return an error as plain data."""
    fields: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "where": error.where,
    }
    problems = error.problems if isinstance(error, PlanError) else ()
    return fields | ({"problems": list(problems)} if problems else {})


def report(error: OptrackError, *, as_json: bool) -> int:
    """Print an error (as a document on stdout with `as_json`) and return its exit code."""
    problems = error.problems if isinstance(error, PlanError) else ()
    if as_json:
        data({"error": error_fields(error)})
        return error.exit_code
    where = f"{error.where}: " if error.where else ""
    say(f"optrack: {where}{error.message}")
    for problem in problems:
        say(f"  {problem}")
    if error.hint:
        say(f"  hint: {error.hint}")
    return error.exit_code
