"""What a reader sees: the same values as the store, at once, at any size."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from optrack.errors import UsageError
from optrack.model.events import RunEnded, SamplesAdded
from optrack.model.metrics import metric_named
from optrack.model.run import Failure
from optrack.model.value import digest
from optrack.store.read import Reader
from optrack.store.write import Store
from tests.record.making import NOON, a_plan, a_run, a_sample, an_item, fill, later

PLAN = a_plan(an_item("baseline"), an_item("1A"), an_item("1B"))


def test_a_reader_returns_the_values_that_were_stored(synced: Store, database: Path) -> None:
    failure = Failure(kind="cuda_graph", message="capture failed", fingerprint="f", log_tail="a\nb")
    run = a_run("1A", recipe_digest="r", plan_digest=digest(PLAN.text))
    synced.claim(run)
    samples = (a_sample(62.9), a_sample(88.8, repetition=1))
    synced.record(run.id, SamplesAdded(samples=samples))
    synced.record(
        run.id,
        RunEnded(outcome="failed", stage="launch", failure=failure, item_after="completed", why="x"),
        later(5),
    )
    expected = run.model_copy(
        update={
            "outcome": "failed",
            "stage": "launch",
            "failure": failure,
            "ended_at": later(5),
            "samples": samples,
        }
    )
    with Reader.open(database) as reader:
        assert reader.run(run.id) == expected
        assert reader.runs() == (expected.model_copy(update={"samples": ()}),)
        assert reader.items("fast") == synced.reader.items("fast")
        assert reader.items("fast")[1].last_outcome == "failed"


def test_a_reader_notices_what_others_write(synced: Store, database: Path) -> None:
    with Reader.open(database) as reader:
        version = reader.version()
        assert reader.version() == version
        synced.note("fast", "1A", "hello", who="ann", at=NOON)
        assert reader.version() != version


def test_runs_are_found_by_any_part_of_their_id_that_no_other_has(synced: Store) -> None:
    for item, name in (("1A", "20261129T120000-x7k2-1A"), ("1B", "20261129T120001-x7k9-1B")):
        synced.claim(a_run(item, id=name))
    find = synced.reader.run
    assert find("20261129T120000").item == "1A"
    assert find("x7k9").item == "1B"
    assert find("20261129T120001-x7k9-1B").item == "1B"
    with pytest.raises(UsageError, match="x7k could be 2 runs") as refused:
        find("x7k")
    assert refused.value.hint == "the latest are 20261129T120001-x7k9-1B, 20261129T120000-x7k2-1A"
    with pytest.raises(UsageError, match="there is no run") as refused:
        find("20261129T120001-x7k8-1B")
    assert refused.value.hint == "did you mean 20261129T120001-x7k9-1B?"


@pytest.mark.parametrize("name", ["", "nothing", "%", "_"])
def test_a_run_that_is_none_is_refused(synced: Store, name: str) -> None:
    with pytest.raises(UsageError, match="there is no run") as refused:
        synced.reader.run(name)
    assert refused.value.hint == "nothing ran yet"


def test_runs_are_listed_newest_first_for_a_plan_and_an_item_and_up_to_a_limit(store: Store) -> None:
    for plan in ("one", "two"):
        store.sync(a_plan(an_item("1A"), an_item("1B"), name=plan), who="ann", at=NOON)
    for number, (plan, item) in enumerate([("one", "1A"), ("two", "1A"), ("one", "1B")]):
        store.claim(a_run(item, number, plan=plan, id=f"r{number}"))
    assert [run.id for run in store.reader.runs()] == ["r2", "r1", "r0"]
    assert [run.id for run in store.reader.runs("one")] == ["r2", "r0"]
    assert [run.id for run in store.reader.runs("one", "1A")] == ["r0"]
    assert [run.id for run in store.reader.runs(limit=1)] == ["r2"]


def test_a_reader_serves_several_threads(synced: Store) -> None:
    wrong: list[BaseException] = []

    def look() -> None:
        try:
            for _ in range(30):
                assert len(synced.reader.items("fast")) == 3
                synced.note("fast", "1A", "seen", who="thread", at=NOON)
        except BaseException as error:  # noqa: BLE001 - reported by the test's own thread
            wrong.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert len(synced.reader.items("fast")[1].notes) == 120


def test_a_hundred_thousand_runs_are_listed_while_you_look(synced: Store, database: Path) -> None:
    fill(database, 100_000)
    with Reader.open(database) as reader:
        began = time.perf_counter()
        states = reader.items("fast")
        latest = reader.runs("fast", limit=50)
        one = reader.run("20261129T000007")
        seconds = time.perf_counter() - began
    assert states[1].runs == 100_000 and states[1].last_run == latest[0].id == "20261129T099999-aaaa-1A"
    assert one.id == "20261129T000007-aaaa-1A"
    assert seconds < 2


def test_a_plan_of_ten_thousand_items_is_synced_and_read_in_proportion(store: Store) -> None:
    plan = a_plan(*(an_item(f"i{n}", f"Try {n}") for n in range(10_000)))
    began = time.perf_counter()
    assert len(store.sync(plan, who="ann", at=NOON).added) == 10_000
    first = time.perf_counter() - began
    moved = a_plan(an_item("new"), *plan.items)
    assert store.sync(moved, who="ann", at=NOON).added == ("new",)
    assert len(store.reader.items("fast")) == 10_001
    assert first < 15 and time.perf_counter() - began < 40


def test_a_metric_keeps_its_unit_and_direction(synced: Store) -> None:
    run = a_run("1A")
    synced.claim(run)
    odd = a_sample(1.0).model_copy(update={"metric": metric_named("verify_ms", unit="µs", better="higher")})
    synced.record(run.id, SamplesAdded(samples=(odd,)))
    assert synced.reader.run(run.id).samples == (odd,)


def test_what_is_asked_for_while_you_look_scans_no_table_that_grows(synced: Store, database: Path) -> None:
    run = a_run("1A")
    synced.claim(run)
    asked: list[str] = []
    with Reader.open(database) as reader:
        with reader._source.reading() as connection:
            connection.set_trace_callback(asked.append)
        reader.paired([run.id])
        reader.rejections("fast")
        reader.entries(run.id)
        reader.processes(run.id)
        reader.runs_by_id([run.id])
        reader.samples([run.id], "output_throughput")
        reader.transitions("fast", "1A")
    questions = [text for text in asked if text.startswith("SELECT")]
    with closing(sqlite3.connect(database)) as connection:
        steps = [
            str(row[3]) for text in questions for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")
        ]
    assert len(questions) >= 7
    assert [step for step in steps if step.startswith("SCAN")] == []
