"""The spool of a run: all facts that are recorded of it, as JSON lines beside its logs, until the database has them.

Every line is written here first and then, under the same id, to the database. The file goes with the end of a run
that the database then holds. Where it doesn't, locked, full, deleted, replaced or damaged as it may be, the next
command takes in what is missing, and leaves the file under another name.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from optrack.model.events import Event, RunClaimed
from optrack.model.run import Run
from optrack.model.value import Frozen, value_text

SPOOL_NAME = "journal.jsonl"
IMPORTED_NAME = "journal.imported.jsonl"


class PendingWrite(Frozen):
    """One fact of a run, as a line of its spool; its id makes sure that it is recorded once."""

    id: str
    run: str
    at: datetime
    event: Event


def pending(run: str, event: Event, at: datetime | None = None) -> PendingWrite:
    """Return a fact as it is to be written, with an id of its own; it happened now, unless `at` says otherwise."""
    return PendingWrite(id=secrets.token_urlsafe(9), run=run, at=at or datetime.now(UTC), event=event)


def append(run_dir: Path, write: PendingWrite, *, durable: bool = False) -> None:
    """Append to the run's spool; a `durable` line is on the disk when this returns. Raises OSError."""
    run_dir.mkdir(parents=True, exist_ok=True)
    torn = _torn(run_dir / SPOOL_NAME)
    text = f"{chr(10) if torn else ''}{value_text(write)}\n"
    descriptor = os.open(run_dir / SPOOL_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        view = memoryview(text.encode("ascii"))
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync(run_dir: Path) -> None:
    """Have the run's spool on the disk. Raises OSError."""
    descriptor = os.open(run_dir / SPOOL_NAME, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(run_dir: Path) -> None:
    """Remove the spool of a run that the database holds."""
    with suppress(OSError):
        (run_dir / SPOOL_NAME).unlink(missing_ok=True)


def put_away(run_dir: Path) -> None:
    """Keep a spool that was taken in under a name that nobody looks for."""
    with suppress(OSError):
        (run_dir / SPOOL_NAME).rename(run_dir / IMPORTED_NAME)


def spooled_runs(runs: Path) -> list[str]:
    """Return the ids of the runs that have a spool, oldest first."""
    try:
        with os.scandir(runs) as folders:
            return sorted(f.name for f in folders if (runs / f.name / SPOOL_NAME).is_file())
    except OSError:
        return []


def claim_in(run_dir: Path) -> Run | None:
    """Return the run as its spool has it; None where that doesn't begin with it."""
    first = next(pending_writes(run_dir), None)
    return first.event.run if first is not None and isinstance(first.event, RunClaimed) else None


def _torn(path: Path) -> bool:
    """Whether the file ends within a line, as a writer that was killed leaves it."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def pending_writes(run_dir: Path) -> Iterator[PendingWrite]:
    """Yield the whole lines of the run's spool, oldest first; a line that was cut short isn't one."""
    path = run_dir / SPOOL_NAME
    if not path.is_file():
        return
    with path.open("rb") as file:
        for raw in file:
            try:
                yield PendingWrite.model_validate(json.loads(raw))
            except (ValueError, ValidationError):
                continue
