"""What a run measured and captured comes back as it was, and is stored once."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

from optrack.model.events import (
    ArtifactWritten,
    Noted,
    PartsCaptured,
    Remarked,
    RepetitionMeasured,
    RunEnded,
    SamplesAdded,
    StageEnded,
    StageStarted,
)
from optrack.model.metrics import series_of
from optrack.model.run import Failure
from optrack.model.snapshot import Snapshot
from optrack.store.write import Store
from tests.record.making import NOON, a_run, a_sample, fill, later


def claimed(store: Store, item: str = "1A") -> str:
    run = a_run(item)
    assert store.claim(run)
    return run.id


def test_nan_and_infinity_are_neither_zero_nor_absent_nor_ever_the_best(
    synced: Store, database: Path
) -> None:
    run = claimed(synced)
    values = (90.5, math.nan, math.inf, -math.inf, 0.0, 1e-300)
    samples = tuple(a_sample(value, repetition=n) for n, value in enumerate(values))
    synced.record(run, SamplesAdded(samples=samples))
    kept = synced.reader.run(run).samples
    assert [str(s.value) for s in kept] == [str(value) for value in values]
    series = series_of(kept, "output_throughput")
    assert series is not None and series.values == (90.5, 0.0, 1e-300)
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT value, special FROM sample ORDER BY seq").fetchall()
        assert rows[:3] == [(90.5, None), (None, "nan"), (None, "inf")]
        assert connection.execute("SELECT count(*) FROM sample WHERE value < 0.1").fetchone() == (2,)


def test_an_invalid_sample_keeps_its_reason(synced: Store) -> None:
    run = claimed(synced)
    synced.record(
        run,
        SamplesAdded(samples=(a_sample(0.0, launch=2, repetition=1, invalid="all 64 requests failed"),)),
    )
    assert synced.reader.run(run).samples == (
        a_sample(0.0, launch=2, repetition=1, invalid="all 64 requests failed"),
    )


def test_nan_passes_through_the_journal(synced: Store) -> None:
    run = claimed(synced)
    synced.record(run, RepetitionMeasured(launch=0, repetition=0, samples=(a_sample(math.nan),)), NOON)
    (entry,) = synced.reader.entries(run)
    assert isinstance(entry.event, RepetitionMeasured) and math.isnan(entry.event.samples[0].value)


def test_stages_add_up_over_launches_in_the_order_they_came(synced: Store) -> None:
    run = claimed(synced)
    for launch in range(2):
        synced.record(run, StageEnded(stage="launch", seconds=1.5, launch=launch))
        synced.record(run, StageEnded(stage="bench", seconds=10.0, launch=launch))
    assert dict(synced.reader.run(run).stages) == {"launch": 3.0, "bench": 20.0}
    assert list(synced.reader.run(run).stages) == ["launch", "bench"]


def test_the_run_shows_the_stage_it_is_in(synced: Store) -> None:
    run = claimed(synced)
    beside = a_run("baseline", 1, role="baseline", beside=run)
    assert synced.claim(beside)
    synced.record(run, StageStarted(stage="ready"), NOON)
    synced.record(beside.id, StageStarted(stage="bench", side="baseline"), NOON)
    assert [run.stage for run in synced.reader.open_runs()] == ["ready", "bench"]


def test_journal_numbers_grow_and_followers_get_what_is_new(synced: Store) -> None:
    run = claimed(synced)
    numbers = [synced.record(run, Noted(text=f"line {n}"), later(n)) for n in range(3)]
    assert numbers == sorted(set(numbers))
    assert [e.seq for e in synced.reader.entries(run, after=numbers[0])] == numbers[1:]


def test_artifacts_and_notes_come_back_once_and_in_order(synced: Store) -> None:
    run = claimed(synced)
    for path in ("server.log", "bench.jsonl", "server.log", "odd-\udcff.txt"):
        synced.record(run, ArtifactWritten(path=path))
    synced.record(run, Remarked(text="the working tree changed while it ran"))
    kept = synced.reader.run(run)
    assert kept.artifacts == ("server.log", "bench.jsonl", "odd-?.txt")
    assert kept.notes == ("the working tree changed while it ran",)


def test_failures_are_listed_by_fingerprint(synced: Store) -> None:
    nccl = Failure(kind="nccl", message="unhandled cuda error", fingerprint="f1", log_tail="…\nboom")
    for number, (item, failure) in enumerate(
        [("1A", nccl), ("1B", nccl), ("1A", nccl.model_copy(update={"fingerprint": "f2"}))]
    ):
        run = a_run(item, number)
        synced.claim(run)
        synced.record(
            run.id,
            RunEnded(outcome="failed", stage="launch", failure=failure, item_after="pending", why="x"),
            later(number),
        )
        assert synced.reader.run(run.id).failure == failure
    known = synced.reader.failures()
    assert [(f.fingerprint, f.items, len(f.runs)) for f in known] == [
        ("f2", ("1A",), 1),
        ("f1", ("1A", "1B"), 2),
    ]
    assert known[1].first_at == NOON and known[1].last_at == later(1)


SNAPSHOT = Snapshot(
    git={"commit": "c0ffee", "patch": "diff --git\n" * 5_000},
    env={"server": {f"NCCL_{n}": "x" * 40 for n in range(200)}, "odd": "caf\udce9", "multi": "a\nb"},
    packages={f"package-{n}": f"{n}.0" for n in range(400)},
    hardware={"gpus": {"devices": {str(n): {"name": "H200", "new": 1980.0, "mig": None} for n in range(8)}}},
)


def test_a_snapshot_comes_back_as_it_was_and_what_was_not_captured_stays_none(synced: Store) -> None:
    run = claimed(synced)
    synced.record(run, PartsCaptured.of(SNAPSHOT))
    assert synced.reader.run(run).snapshot == SNAPSHOT
    other = claimed(synced, "1B")
    assert synced.reader.run(other).snapshot is None


def test_a_part_taken_later_joins_those_taken_before(synced: Store) -> None:
    run = claimed(synced)
    synced.record(run, PartsCaptured.of(Snapshot(git={"commit": "a"}, env={"A": "1"})))
    synced.record(run, PartsCaptured.of(Snapshot(env={"A": "2"}, files={"f": "digest"})))
    assert synced.reader.run(run).snapshot == Snapshot(
        git={"commit": "a"}, env={"A": "2"}, files={"f": "digest"}
    )


def stored_chars(database: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(database)) as connection:
        row = connection.execute("SELECT count(*), sum(length(data)) FROM content").fetchone()
    return int(row[0]), int(row[1])


def test_a_thousand_runs_of_one_environment_store_it_once(synced: Store, database: Path) -> None:
    runs = fill(database, 1000)
    synced.record(runs[0], PartsCaptured.of(SNAPSHOT))
    first = stored_chars(database)
    for run in runs[1:]:
        synced.record(run, PartsCaptured.of(SNAPSHOT))
    assert stored_chars(database) == first
    assert synced.reader.run(runs[-1]).snapshot == SNAPSHOT


def test_what_changes_with_each_run_is_stored_without_what_does_not(synced: Store, database: Path) -> None:
    def snapshot(number: int) -> Snapshot:
        state = {"temperature_c": 40 + number, "processes": []}
        device = {"name": "H200", "vbios": "v" * 400, "state": state}
        return Snapshot.model_validate(
            {
                "packages": {"distributions": {f"package{n}": "1.0" for n in range(100)}},
                "hardware": {
                    "boot": {"id": "b", "uptime_s": 100.5 + number},
                    "cpu": {"model": "EPYC", "frequency_mhz": None},
                    "memory": {"total_bytes": 2**40, "available_bytes": 2**39 + number},
                    "gpus": {"devices": {str(n): device for n in range(8)}},
                },
            }
        )

    runs = [claimed(synced, item) for item in ("1A", "1B")]
    synced.record(runs[0], PartsCaptured.of(snapshot(1)))
    before = stored_chars(database)[1]
    synced.record(runs[1], PartsCaptured.of(snapshot(2)))
    assert stored_chars(database)[1] - before < 700 < before
    assert [synced.reader.run(run).snapshot for run in runs] == [snapshot(1), snapshot(2)]


def test_parts_that_are_as_they_were_are_not_captured_again() -> None:
    before = Snapshot.model_validate({"env": {"passed": {"A": "1"}}, "hardware": {"boot": {"uptime_s": 1.0}}})
    after = Snapshot.model_validate({"env": {"passed": {"A": "1"}}, "hardware": {"boot": {"uptime_s": 2.0}}})
    assert list(PartsCaptured.of(after, before).parts) == ["hardware.state"]


def test_whoever_follows_a_run_is_told_what_the_baseline_beside_it_measures(
    synced: Store, database: Path
) -> None:
    run = claimed(synced)
    beside = a_run("baseline", 1, role="baseline", beside=run)
    assert synced.claim(beside)
    for name, side, value in ((run, "candidate", 88.875), (beside.id, "baseline", 62.125)):
        measured = RepetitionMeasured(launch=0, repetition=0, side=side, samples=(a_sample(value),))
        synced.record(name, measured)
        synced.record(name, Remarked(text="for readers"))
    synced.record(beside.id, RunEnded(outcome="succeeded", stage="teardown"))
    told = [entry.event for entry in synced.reader.entries(run)]
    assert [e.samples[0].value for e in told if isinstance(e, RepetitionMeasured)] == [88.875, 62.125]
    assert {event.kind for event in told} == {"repetition_measured"}
    assert [entry.event.kind for entry in synced.reader.entries(beside.id)][-1] == "run_ended"
    with closing(sqlite3.connect(database)) as connection:
        once = connection.execute("SELECT count(*) FROM event WHERE data LIKE '%88.875%'").fetchone()
    assert once == (0,)
