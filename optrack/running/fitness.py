"""Whether the host may be measured on now: the lock that one run holds at a time, and the state of the host."""

from __future__ import annotations

import time
from collections.abc import Callable

from optrack.errors import HostUnfitError, InterruptedRunError
from optrack.running.session import Session, Side
from optrack.steps.hostlock import HostLock, lock_host
from optrack.steps.preflight import check_host, unfit

_LOOK_EVERY_S = 1.0


def take_host(session: Session, *, wait: bool, should_stop: Callable[[], bool]) -> HostLock:
    """Return the right to measure on this host.

    Raises HostUnfitError, naming the culprit, if the host can't be had or isn't fit; with `wait` only
    where waiting can't help.
    """
    while True:
        try:
            lock = lock_host(
                session.candidate.run.id,
                project=session.settings.project,
                folder=session.settings.locks,
            )
            try:
                _require_fit(session, lock)
            except HostUnfitError:
                lock.release()
                raise
            return lock
        except HostUnfitError:
            if not wait:
                raise
        if should_stop():
            raise InterruptedRunError("stopped while waiting for the host")
        time.sleep(_LOOK_EVERY_S)


def _require_fit(session: Session, lock: HostLock) -> None:
    folder = session.settings.state
    folder.mkdir(parents=True, exist_ok=True)
    for side in (session.candidate, session.baseline):
        if side is None:
            continue
        problems = check_host(
            port=side.recipe.port,
            folders=[folder],
            cpu_share=_cpu_share(session, side),
            earlier_runs=lock.earlier_runs,
        )
        if problems:
            raise unfit(problems)


def _cpu_share(session: Session, side: Side) -> float | None:
    """Return how busy the CPUs may be; None to leave that out, as it is seen once for all sides."""
    share = session.settings.cpu_share
    return share if side is session.candidate and share < 1 else None
