"""Whether the host may be measured on now: the lock that one run holds at a time, and the state of the host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import combinations

from optrack.errors import HostUnfitError, InterruptedRunError
from optrack.host.fitness import check_host, unfit
from optrack.host.gpus import gpu_use
from optrack.host.locks import HostLock, lock_host
from optrack.model.run import ProcessId
from optrack.runner.session import Session
from optrack.settings import private_state

_LOOK_EVERY_S = 1.0

Gpus = tuple[int, ...] | None


def take_host(
    session: Session,
    *,
    supervisor: ProcessId | None = None,
    wait: bool,
    should_stop: Callable[[], bool],
    say: Callable[[str], object] = lambda text: None,
) -> tuple[HostLock, Gpus]:
    """Return the right to measure on this host, or on the GPUs that the recipes ask for, with these GPUs.

    Raises HostUnfitError, naming the culprit, if the host can't be had or isn't fit; with `wait` it is
    waited for instead, until `should_stop` says so (InterruptedRunError). `say` hears what is waited for,
    once and when it changes.
    """
    cause = None
    while True:
        try:
            return _take(session, supervisor)
        except HostUnfitError as error:
            if not wait:
                raise
            if error.cause != cause:
                cause = error.cause
                say(error.message)
        if should_stop():
            raise InterruptedRunError("stopped while waiting for the host")
        time.sleep(_LOOK_EVERY_S)


def _take(session: Session, supervisor: ProcessId | None) -> tuple[HostLock, Gpus]:
    """Take the first set of GPUs that is free and fit; raises what stood in the way of the last one."""
    refusal: HostUnfitError | None = None
    for gpus in _choices(session):
        try:
            lock = lock_host(
                session.candidate.run.id,
                project=session.settings.project,
                gpus=gpus,
                folder=session.settings.locks,
                supervisor=supervisor,
            )
        except HostUnfitError as error:
            refusal = error
            continue
        try:
            _require_fit(session, lock, gpus)
        except HostUnfitError as error:
            lock.release()
            refusal = error
            continue
        return lock, gpus
    assert refusal is not None
    raise refusal


def _choices(session: Session) -> Iterable[Gpus]:
    """The sets of GPUs that would do, best first: the listed ones, any so many, or None for the whole host."""
    asked = [arm.recipe.gpus for arm in session.arms]
    if any(gpus is None or gpus == "all" for gpus in asked):
        return [None]
    listed = sorted({gpu for gpus in asked if isinstance(gpus, tuple) for gpu in gpus})
    if listed:
        return [tuple(listed)]
    count = max(int(gpus) for gpus in asked if isinstance(gpus, int | str))
    there = [gpu.index for gpu in gpu_use()]
    if len(there) < count:
        raise HostUnfitError(
            f"the recipe asks for {count} GPUs and this host has {len(there)}",
            hint="ask for fewer with `gpus:`, or run it on another host",
        )
    return combinations(there, count)


def _require_fit(session: Session, lock: HostLock, gpus: Gpus) -> None:
    folder = session.settings.state
    private_state(folder)
    share = session.settings.cpu_share if session.settings.cpu_share < 1 else None
    for number, arm in enumerate(session.arms):
        problems = check_host(
            port=arm.recipe.port,
            gpus=gpus,
            folders=[folder],
            cpu_share=share if number == 0 and gpus is None else None,
            earlier_runs=lock.earlier_runs,
        )
        if problems:
            raise unfit(problems)
