"""A writer that is killed at any moment leaves a sound database with everything it was told is recorded."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from optrack.model.events import Noted, PartsCaptured, RunEnded, SamplesAdded
from optrack.model.snapshot import Snapshot
from optrack.store.write import Store
from tests.record.making import NOON, a_plan, a_run, a_sample, an_item, later

KILLS = 25


def write_until_killed(database: Path, out: int, generation: int) -> None:
    """Run 1A over and over, saying on `out` what the store has acknowledged."""

    def acknowledged(*words: object) -> None:
        os.write(out, (" ".join(map(str, words)) + "\n").encode())

    with Store.open(database) as store:
        for number in range(1_000_000):
            run = a_run("1A", number, id=f"{generation:03}-{number:06}")
            if not store.claim(run, from_statuses=("pending", "completed")):
                raise AssertionError("the item was left claimed by nobody")
            acknowledged("claimed", run.id)
            store.record(run.id, Noted(text="x" * 200), later(number))
            store.record(
                run.id, SamplesAdded(samples=tuple([a_sample(float(n), repetition=n) for n in range(3)]))
            )
            acknowledged("sampled", run.id)
            store.record(run.id, PartsCaptured.of(Snapshot(git={"patch": f"{number}" * 2_000})))
            store.record(
                run.id,
                RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"),
                later(number),
            )
            acknowledged("finished", run.id)


def acknowledgements(said: bytes) -> Iterator[tuple[str, str]]:
    """Yield what was acknowledged; a line that the kill cut short isn't one."""
    for line in said.split(b"\n")[:-1]:
        word, run = line.decode().split()
        yield word, run


def read_lines(pipe: int, lines: int | None) -> bytes:
    """Read that many lines from the pipe, or all there is."""
    said = b""
    while lines is None or said.count(b"\n") < lines:
        more = os.read(pipe, 65536 if lines is None else 1)
        if not more:
            assert lines is None, "the writer ended by itself"
            break
        said += more
    return said


def start_writer(database: Path, generation: int) -> tuple[int, int]:
    """Start a writer and return its pid and the pipe on which it acknowledges."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        try:
            write_until_killed(database, write_end, generation)
        except BaseException:  # noqa: BLE001 - the child must not go on with the parent's tests
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(write_end)
    return pid, read_end


def close_what_the_dead_left(database: Path) -> int:
    """Do what the next command does; returns how many runs were open."""
    with Store.open(database) as store:
        left = store.reader.open_runs()
        for run in left:
            store.record(
                run.id,
                RunEnded(outcome="interrupted", stage=run.stage, item_after="pending", why="runner died"),
                NOON,
            )
        return len(left)


def test_kill_at_random_moments_loses_nothing_that_was_acknowledged(database: Path) -> None:
    chance = random.Random(20261129)
    with Store.open(database) as store:
        store.sync(a_plan(an_item("1A")), who="ann", at=NOON)
    told: list[tuple[str, str]] = []
    for generation in range(KILLS):
        pid, pipe = start_writer(database, generation)
        said = read_lines(pipe, chance.randint(1, 12))
        _spin(chance.randrange(20_000))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        told += acknowledgements(said + read_lines(pipe, None))
        os.close(pipe)
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert close_what_the_dead_left(database) <= 1
    with Store.open(database) as store:
        _check(store, told)


def _spin(turns: int) -> None:
    """Let a little time pass, a different amount each time."""
    for _ in range(turns):
        os.getpid()


def _check(store: Store, told: list[tuple[str, str]]) -> None:
    outcomes = {run.id: run.outcome for run in store.reader.runs()}
    finished = {run for word, run in told if word == "finished"}
    assert finished and {outcomes[run] for run in finished} == {"succeeded"}
    assert {run for _, run in told} <= outcomes.keys()
    for run in {run for word, run in told if word == "sampled"}:
        assert len(store.reader.run(run).samples) == 3
    moves = store.reader.transitions("fast", "1A")
    assert all(a.after == b.before for a, b in itertools.pairwise(moves))
    assert len({(move.run, move.after) for move in moves}) == len(moves) == 2 * len(outcomes)
