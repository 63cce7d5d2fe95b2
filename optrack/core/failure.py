"""Failures as knowledge: what kind one is, the line that matters, and a fingerprint that recurs with it."""

from __future__ import annotations

import hashlib
import re

from optrack.core.run import Failure, Stage

TAIL_CHARS = 4000


def classify(text: str, *, stage: Stage, exit_code: int | None, signal: str | None) -> Failure:
    """Return what a log tells about the failure of the command that wrote it."""
    lines = [line for line in text.splitlines() if line.strip()]
    message = lines[-1].strip() if lines else f"{stage} failed"
    return plain_failure("unknown", message, text)


def plain_failure(kind: str, message: str, text: str = "") -> Failure:
    """Return a failure whose kind and message are known; `text` is the log that goes with it."""
    return Failure(
        kind=kind, message=message, fingerprint=fingerprint(kind, message), log_tail=text[-TAIL_CHARS:]
    )


def fingerprint(kind: str, message: str) -> str:
    """Return twelve hexadecimal digits that are the same for the same failure in another run."""
    return hashlib.sha256(f"{kind}|{normalised(message)}".encode()).hexdigest()[:12]


def normalised(message: str) -> str:
    """Return the message without what differs from run to run: numbers, addresses, paths, times, ranks."""
    text = re.sub(r"0x[0-9a-fA-F]+", "#", message)
    text = re.sub(r"(?:/[\w.+@-]+)+/?", "PATH", text)
    return re.sub(r"\d+(?:\.\d+)*", "#", text).lower()
