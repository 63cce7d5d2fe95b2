"""The side journal of a run: what the database couldn't take now, as JSON lines beside the run's logs."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from optrack.core.canonical import value_text
from optrack.core.events import Event
from optrack.core.frozen import Frozen
from optrack.core.judgement import Judgement
from optrack.core.metrics import Sample
from optrack.core.run import Failure, Outcome, ProcessId, Stage
from optrack.core.state import Against
from optrack.core.status import Status

SIDE_NAME = "journal.jsonl"


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
    EventKept
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


def keep(run_dir: Path, what: Kept) -> None:
    """Append to the run's side journal and have it on the disk when this returns. Raises OSError."""
    run_dir.mkdir(parents=True, exist_ok=True)
    line = Line(id=uuid.uuid4().hex, what=what)
    torn = _torn(run_dir / SIDE_NAME)
    text = f"{chr(10) if torn else ''}{value_text(line)}\n"
    descriptor = os.open(run_dir / SIDE_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        view = memoryview(text.encode("ascii"))
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
