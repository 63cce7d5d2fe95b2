"""Failures: what kind one is, the line that matters, and a fingerprint that recurs."""

from __future__ import annotations

import hashlib
import re

from optrack.judge.failure_signs import CONSEQUENCES, kind_of, phase_of
from optrack.judge.log_text import Candidate, candidates, drawn, meaningful_lines
from optrack.judge.tracebacks import is_exception
from optrack.model.run import Failure, Stage

TAIL_CHARS = 4000
MESSAGE_CHARS = 500
EXPLAINS_LINES = 12
LASTING = frozenset({"out_of_memory", "cuda", "nccl"})
"""Kinds that count, if nothing else is found, even if other ranks went on for a while."""


def classify(
    text: str, *, stage: Stage, exit_code: int | None, signal: str | None, ended: str = ""
) -> Failure:
    """Return what a log tells about the failure of the command that wrote it; `ended` says how it ended.

    The message is the first cause rather than the last line: what a server announces as fatal, else the error
    the log ends with, else the first line with a known sign; all of them only after the last sign of health.
    What merely follows from another failure (a peer gone, an engine dead) counts if nothing else is found.
    """
    cause = _cause(candidates(text))
    if cause is not None:
        kind = "exception" if cause.kind == "unknown" else cause.kind
        return plain_failure(kind, cause.text.removeprefix("Exception: "), text)
    if signal is not None:
        phase = phase_of(text)
        message = f"ended by {signal}{f' while {phase}' if phase else ''}, with no error in the log"
        return plain_failure("killed", message, text)
    ended = ended or (f"{stage}: ended" if exit_code is None else f"{stage}: exit code {exit_code}")
    last = next(reversed(meaningful_lines(text)), None)
    if last and is_exception(last):
        return plain_failure("exception", last, text)
    rest = f"; the log ends with: {last}" if last else " with nothing in the log"
    return plain_failure("unknown", f"{ended}{rest}", text)


def plain_failure(kind: str, message: str, text: str = "") -> Failure:
    """Return a failure whose kind and message are known; `text` is the log that goes with it."""
    message = shortened(message)
    tail = drawn(text)[-TAIL_CHARS:]
    return Failure(kind=kind, message=message, fingerprint=fingerprint(kind, message), log_tail=tail)


def shortened(message: str) -> str:
    """Return a message of at most MESSAGE_CHARS characters."""
    return message if len(message) <= MESSAGE_CHARS else f"{message[: MESSAGE_CHARS - 1]}…"


def fingerprint(kind: str, message: str) -> str:
    """Return twelve hexadecimal digits that are the same for the same failure in another run."""
    return hashlib.sha256(f"{kind}|{normalised(message)}".encode()).hexdigest()[:12]


def normalised(message: str) -> str:
    """Return the message without what differs from run to run: numbers, addresses, ids, folders, ranks.

    Of a path the name of the file stays, if it has an extension.
    """
    text = _PATH.sub(_file_name, message)
    text = _ID.sub("#", text)
    text = re.sub(r"\d+(?:[.:]\d+)*", "#", text)
    return re.sub(r"\s+", " ", text).strip().lower()


_PATH = re.compile(r"(?:~|\b[a-zA-Z]+://)?(?:/[\w.+@%=~-]+){2,}/?")
_ID = re.compile(r"0x[0-9a-fA-F]+|\b(?=[0-9a-f-]*\d)[0-9a-f]{4,}(?:-?[0-9a-f]{4,})+\b")


def _file_name(match: re.Match[str]) -> str:
    name = match.group(0).rstrip("/").rsplit("/", 1)[-1]
    return name if "." in name.strip(".") else "PATH"


def _cause(found: list[Candidate]) -> Candidate | None:
    """Return the candidate to believe, or None if there is none."""
    recent = [candidate for candidate in found if not candidate.survived]
    causes = [candidate for candidate in recent if candidate.kind not in CONSEQUENCES]
    announced = [c for c in found if c.is_announced and c.kind not in CONSEQUENCES]
    fatal = [c for c in causes if c.severity == "fatal"]
    errors = [c for c in causes if c.severity == "error"]
    orders = (
        [c for c in announced if not c.survived] or announced,
        [c for c in causes if c.is_traceback and c.is_last],
        [c for c in fatal if c.kind != "unknown"],
        [c for c in causes if c.kind != "unknown" and fatal and 0 < fatal[0].at - c.at <= EXPLAINS_LINES],
        fatal,
        [c for c in causes if c.kind != "unknown"],
        [c for c in causes if c.is_traceback],
        [c for c in errors if c.is_last] or errors[-1:],
        causes,
        [c for c in recent if c.is_announced],
        [c for c in recent if c.severity == "fatal"],
        recent,
        [c for c in reversed(found) if c.kind in LASTING],
    )
    return next((order[0] for order in orders if order), None)


__all__ = ["classify", "fingerprint", "kind_of", "normalised", "plain_failure"]
