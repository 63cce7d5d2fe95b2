"""What commands print: documents and text on stdout, narration and errors on stderr, all of it through one gate
that masks the secrets in it."""

from __future__ import annotations

import json
import os
import sys
from secrets import token_bytes
from collections.abc import Iterable, Mapping
from typing import Any

from optrack.core.report.envelope import document, finite
from optrack.core.secrets.gate import Gate, known_secrets
from optrack.errors import OptrackError, PlanError

_gate: Gate | None = None


def guard(gate: Gate | None) -> None:
    """Let what is printed from now on go through this gate; None: one that knows the environment alone."""
    global _gate  # noqa: PLW0603 (a process has one standard output)
    _gate = gate


def gate() -> Gate:
    """Return what masks the secrets in all that leaves the process."""
    if _gate is None:
        guard(Gate(_salt, lambda: known_secrets(os.environ)))
    assert _gate is not None
    return _gate


def _salt() -> bytes:
    """Return the project's salt where there is one, else a key that nobody knows."""
    from pathlib import Path

    from optrack.settings import load_settings

    try:
        return (load_settings(Path.cwd()).state / "salt").read_bytes()
    except (OptrackError, OSError):
        return token_bytes(32)


def data(fields: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout; numbers that JSON lacks become null."""
    masked = gate().data(finite(document(**fields)))
    sys.stdout.write(json.dumps(masked, ensure_ascii=False, indent=2, default=str) + "\n")


def line(fields: Mapping[str, Any]) -> None:
    """Print one JSON document on one line of stdout, at once."""
    masked = gate().data(finite(document(**fields)))
    sys.stdout.write(json.dumps(masked, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def text(lines: str | Iterable[str]) -> None:
    """Print text on stdout."""
    whole = lines if isinstance(lines, str) else "\n".join(lines)
    sys.stdout.write(gate().text(whole).rstrip("\n") + "\n")


def one_line(text: str) -> str:
    """Return outside text on one line, without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def say(line: str) -> None:
    """Print one line of narration on stderr."""
    sys.stderr.write(gate().text(line) + "\n")
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
