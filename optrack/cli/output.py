"""What commands print: documents and text on stdout, narration and errors on stderr, all of it through one gate
that masks the secrets in it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from secrets import token_bytes
from typing import TYPE_CHECKING

from optrack.cli.streams import Streams, in_json, in_markup, is_terminal, visible
from optrack.errors import OptrackError, PlanError

if TYPE_CHECKING:
    from optrack.app.answers import Answer
    from optrack.model.secrets.gate import Gate

streams = Streams()
"""Where this command's output goes; the command line prepares them anew for each call."""
_gate: Gate | None = None


def guard(gate: Gate | None) -> None:
    """Let what is printed from now on go through this gate; None: one that knows the environment alone."""
    global _gate
    _gate = gate


def gate() -> Gate:
    """Return what masks the secrets in all that leaves the process."""
    if _gate is None:
        from optrack.model.secrets.gate import Gate, known_secrets

        guard(Gate(_salt, lambda: known_secrets(os.environ)))
    assert _gate is not None
    return _gate


def _salt() -> bytes:
    """Return the project's salt where there is one, else a key that nobody knows."""
    from pathlib import Path

    from optrack.settings import load_settings, salt_file

    try:
        return salt_file(load_settings(Path.cwd())).read_bytes()
    except (OptrackError, OSError):
        return token_bytes(32)


def prepare() -> None:
    """Take over the process's standard streams as they are now."""
    global streams
    streams = Streams.prepared()


def answer(answer: Answer, *, indent: int | None = 2) -> None:
    """Print an answer as one JSON document on stdout, on one line without `indent`."""
    from optrack.app.answers import document

    masked = gate().data(document(answer))
    json_text(json.dumps(masked, ensure_ascii=False, indent=indent, default=str))


def json_text(text: str) -> None:
    """Print a document that is JSON, its secrets masked, already."""
    streams.write(in_json(text).rstrip("\n") + "\n")


def text(lines: str | Iterable[str]) -> None:
    """Print text on stdout."""
    whole = lines if isinstance(lines, str) else "\n".join(lines)
    streams.write(visible(gate().text(whole)).rstrip("\n") + "\n")


def file(content: str, form: str) -> None:
    """Print on stdout what would be a file's content, of the format `form`: json, html, svg, md, csv."""
    if form == "json":
        json_text(content)
    elif form in ("html", "svg"):
        streams.write(in_markup(visible(content)).rstrip("\n") + "\n")
    else:
        text(content)


def exact(text: str) -> None:
    """Print a file's content on stdout: in UTF-8, every character as it is, unless a terminal would obey it."""
    text = gate().text(text)
    if is_terminal(sys.stdout):
        streams.write(visible(text))
    else:
        streams.write_bytes(text.encode(errors="replace"))


def one_line(text: str) -> str:
    """Return outside text on one line, without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def say(line: str) -> None:
    """Print one line of narration on stderr."""
    streams.narrate(visible(gate().text(line)))


def report(error: OptrackError, *, as_json: bool) -> int:
    """Print an error (as a document on stdout with `as_json`) and return its exit code."""
    problems = error.problems if isinstance(error, PlanError) else ()
    if as_json and not streams.lost:
        from optrack.app.answers import ErrorAnswer, error_body

        answer(ErrorAnswer(error=error_body(error)))
        return error.exit_code
    where = f"{error.where}: " if error.where else ""
    say(f"optrack: {where}{error.message}")
    for problem in problems:
        say(f"  {problem}")
    if error.hint:
        say(f"  hint: {error.hint}")
    return error.exit_code
