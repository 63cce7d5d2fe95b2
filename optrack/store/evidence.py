"""Writes what a run measured, captured and told."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from sqlalchemy import delete, insert
from sqlmodel import Session, col, select

from optrack.model.metrics import Sample
from optrack.model.run import ProcessId, Stage
from optrack.model.snapshot import Snapshot
from optrack.model.value import canonical, digest
from optrack.store.contents import put_contents, split
from optrack.store.rows import stored
from optrack.store.tables import ArtifactRow, PartRow, ProcessRow, RunNoteRow, SampleRow, StageRow


def add_samples(session: Session, run: str, samples: Sequence[Sample]) -> None:
    """Add the samples; NaN and the infinities are kept as what they are, apart from the numbers."""
    if samples:
        session.execute(insert(SampleRow), [_sample_columns(run, sample) for sample in samples])


def _sample_columns(run: str, sample: Sample) -> dict[str, object]:
    finite = math.isfinite(sample.value)
    return {
        "run": run,
        "launch": sample.launch,
        "repetition": sample.repetition,
        "metric": stored(sample.metric.name),
        "unit": stored(sample.metric.unit),
        "better": sample.metric.better,
        "value": sample.value if finite else None,
        "special": None if finite else str(sample.value),
        "invalid": sample.invalid,
    }


def add_stage(session: Session, run: str, stage: Stage, seconds: float, launch: int) -> None:
    """Add how long a stage of a launch took."""
    session.add(StageRow(run=run, launch=launch, stage=stage, seconds=seconds))


def parts_of(snapshot: Snapshot) -> dict[str, str]:
    """Return the captured parts of the snapshot as canonical JSON."""
    parts = snapshot.model_dump()
    return {part: canonical(data) for part, data in parts.items() if data is not None}


def put_parts(session: Session, run: str, parts: Mapping[str, str]) -> None:
    """Set parts of the run's snapshot, given as JSON; what other runs have too is stored once."""
    texts: dict[str, str] = {}

    def put(text: str) -> str:
        name = digest(text)
        texts[name] = text
        return name

    rows = [
        {"run": run, "part": part, "digest": put(split(json.loads(text), put))}
        for part, text in parts.items()
    ]
    if not rows:
        return
    put_contents(session, texts)
    session.execute(delete(PartRow).where(col(PartRow.run) == run, col(PartRow.part).in_(list(parts))))
    session.execute(insert(PartRow), rows)


def add_process(session: Session, run: str, process: ProcessId, role: str) -> None:
    """Add a process that the run started."""
    session.merge(
        ProcessRow(
            run=run,
            pid=process.pid,
            start_ticks=process.start_ticks,
            boot_id=process.boot_id,
            role=stored(role),
        )
    )


def add_artifact(session: Session, run: str, path: str) -> None:
    """Add a file of the run; adding it again changes nothing."""
    name = stored(path)
    known = select(ArtifactRow.seq).where(ArtifactRow.run == run, ArtifactRow.path == name)
    if session.exec(known).first() is None:
        session.add(ArtifactRow(run=run, path=name))


def add_run_note(session: Session, run: str, text: str) -> None:
    """Add a sentence to the run."""
    session.add(RunNoteRow(run=run, text=stored(text)))
