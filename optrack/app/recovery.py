"""What a dead runner left: its run is closed as interrupted, its processes ended, its item put back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from optrack.host.proc import is_alive
from optrack.host.teardown import await_supervisors, end_leftovers
from optrack.judge.failures import plain_failure
from optrack.model.events import RunEnded
from optrack.model.plan import Status
from optrack.model.run import SUPERVISOR, Run
from optrack.store.spool import claim_in, spooled_runs

if TYPE_CHECKING:
    from optrack.store.write import Store

_GRACE_S = 5.0


def recover(store: Store, runs: Path, host: str) -> tuple[str, ...]:
    """Close every run of this host whose runner is dead; return what was done, one line each."""
    done = _take_in(store, runs, host)
    return done + tuple(
        _close(store, runs, run)
        for run in store.reader.open_runs()
        if run.host == host and (run.runner is None or not is_alive(run.runner))
    )


def _take_in(store: Store, runs: Path, host: str) -> tuple[str, ...]:
    """Take in the spools of runs whose runner has ended; return what was done, one line each."""
    found = []
    for name in spooled_runs(runs):
        claim = claim_in(runs / name)
        if claim is not None and (
            claim.host != host or (claim.runner is not None and is_alive(claim.runner))
        ):
            continue
        found.append((claim is not None and claim.beside is not None, name))
    done = []
    for _, name in sorted(found):
        if count := store.import_spool(runs / name):
            records = "1 record" if count == 1 else f"{count} records"
            done.append(f"run {name}: {records} that the database couldn't take in the run were taken in now")
    return tuple(done)


def _close(store: Store, runs: Path, run: Run) -> str:
    store.import_spool(runs / run.id)
    processes = store.reader.processes(run.id)
    supervisors = [process for process, role in processes if role == SUPERVISOR]
    recorded = [process for process, role in processes if role != SUPERVISOR]
    supervised = await_supervisors(run.id, recorded, supervisors)
    ended, left = end_leftovers(run.id, recorded, _GRACE_S)
    ended = tuple(dict.fromkeys((*supervised, *ended)))
    counted = "1 process" if len(ended) == 1 else f"{len(ended)} processes"
    if ended:
        said = f"{counted} it left {'was' if len(ended) == 1 else 'were'} ended"
    else:
        said = "what it left has been ended" if supervisors else "it left no process behind"
    if left:
        said += f"; still alive: {', '.join(str(process.pid) for process in left)}"
    failure = plain_failure("runner_died", f"the runner died; {said}")
    after: Status | None = None if run.beside else "pending"
    store.record(
        run.id,
        RunEnded(
            outcome="interrupted",
            stage=run.stage,
            failure=failure,
            item_after=after,
            why="the runner died",
        ),
    )
    return f"run {run.id} of {run.item} had died: closed as interrupted; {said}"
