"""The side journal of a run: all that is recorded of it, as JSON lines beside its logs, until the database has it.

Every line is written here first and then, under the same id, to the database. The file goes with the end of a run
that the database then holds. Where it doesn't, locked, full, deleted, replaced or damaged as it may be, the next
command takes in what is missing, and leaves the file under another name.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from optrack.model.events import Event
from optrack.model.item import Against
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample
from optrack.model.plan import Status
from optrack.model.run import Failure, Outcome, ProcessId, Run, Stage
from optrack.model.value import Frozen, value_text

SIDE_NAME = "journal.jsonl"
IMPORTED_NAME = "journal.imported.jsonl"


class ClaimKept(Frozen):
    """The run itself, as it took its item up."""

    kind: Literal["claim"] = "claim"
    run: str
    claim: Run


class EventKept(Frozen):
    """An event for the journal."""

    kind: Literal["event"] = "event"
    run: str
    event: Event
    at: datetime


class SamplesKept(Frozen):
    """Samples of a repetition."""

    kind: Literal["samples"] = "samples"
    run: str
    samples: tuple[Sample, ...]


class StageKept(Frozen):
    """The duration of a stage."""

    kind: Literal["stage"] = "stage"
    run: str
    stage: Stage
    seconds: float
    launch: int


class PartsKept(Frozen):
    """Parts of the run's snapshot, each as canonical JSON."""

    kind: Literal["parts"] = "parts"
    run: str
    parts: Mapping[str, str]


class ProcessKept(Frozen):
    """A process that the run started."""

    kind: Literal["process"] = "process"
    run: str
    process: ProcessId
    role: str


class ArtifactKept(Frozen):
    """A file of the run."""

    kind: Literal["artifact"] = "artifact"
    run: str
    path: str


class NoteKept(Frozen):
    """A sentence about the run."""

    kind: Literal["note"] = "note"
    run: str
    text: str


class EndKept(Frozen):
    """How the run ended, and where that leaves its item."""

    kind: Literal["end"] = "end"
    run: str
    outcome: Outcome
    stage: Stage
    failure: Failure | None
    at: datetime
    item_after: Status | None
    why: str
    verdict: str | None
    seconds: float | None = None


class JudgementKept(Frozen):
    """The judgement of a run."""

    kind: Literal["judgement"] = "judgement"
    run: str
    judgement: Judgement
    plan: str
    item: str
    at: datetime
    against: Against


Kept = (
    ClaimKept
    | EventKept
    | SamplesKept
    | StageKept
    | PartsKept
    | ProcessKept
    | ArtifactKept
    | NoteKept
    | EndKept
    | JudgementKept
)


class Line(Frozen):
    """A line of a side journal; its id makes sure that it is imported once."""

    id: str
    what: Annotated[Kept, Field(discriminator="kind")]


def line_of(what: Kept) -> Line:
    """Return a line of its own for a record."""
    return Line(id=uuid.uuid4().hex, what=what)


def keep(run_dir: Path, line: Line, *, durable: bool = False) -> None:
    """Append to the run's side journal; a `durable` line is on the disk when this returns. Raises OSError."""
    run_dir.mkdir(parents=True, exist_ok=True)
    torn = _torn(run_dir / SIDE_NAME)
    text = f"{chr(10) if torn else ''}{value_text(line)}\n"
    descriptor = os.open(run_dir / SIDE_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        view = memoryview(text.encode("ascii"))
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync(run_dir: Path) -> None:
    """Have the run's side journal on the disk. Raises OSError."""
    descriptor = os.open(run_dir / SIDE_NAME, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(run_dir: Path) -> None:
    """Remove the side journal of a run that the database holds."""
    with suppress(OSError):
        (run_dir / SIDE_NAME).unlink(missing_ok=True)


def put_away(run_dir: Path) -> None:
    """Keep a side journal that was taken in under a name that nobody looks for."""
    with suppress(OSError):
        (run_dir / SIDE_NAME).rename(run_dir / IMPORTED_NAME)


def journals(runs: Path) -> list[str]:
    """Return the ids of the runs that have a side journal, oldest first."""
    try:
        with os.scandir(runs) as folders:
            return sorted(f.name for f in folders if (runs / f.name / SIDE_NAME).is_file())
    except OSError:
        return []


def claim_in(run_dir: Path) -> Run | None:
    """Return the run as its side journal has it; None where that doesn't begin with it."""
    first = next(kept_lines(run_dir), None)
    return first.what.claim if first is not None and isinstance(first.what, ClaimKept) else None


def _torn(path: Path) -> bool:
    """Whether the file ends within a line, as a writer that was killed leaves it."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def kept_lines(run_dir: Path) -> Iterator[Line]:
    """Yield the whole lines of the run's side journal, oldest first; a line that was cut short isn't one."""
    path = run_dir / SIDE_NAME
    if not path.is_file():
        return
    with path.open("rb") as file:
        for raw in file:
            try:
                yield Line.model_validate(json.loads(raw))
            except (ValueError, ValidationError):
                continue
