"""The process that runs items: its signals, its work, and telling that a run has ended."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread

from optrack.app.actions import adopt_automatically, roll_up
from optrack.app.project import Project
from optrack.app.rejudging import bracket_again, credit_again
from optrack.errors import HostUnfitError, OptrackError
from optrack.host.command import become_subreaper, go_below_supervisor
from optrack.judge.failures import plain_failure
from optrack.model.events import ProcessStarted, RunEnded
from optrack.model.plan import Status
from optrack.model.run import SUPERVISOR
from optrack.runner.assembly import session_of
from optrack.runner.context import RunContext, StopSignal
from optrack.runner.fitness import take_host
from optrack.runner.flow import finish, run_session
from optrack.runner.notify import notify
from optrack.runner.session import Session
from optrack.settings import load_settings

_FROM_NEXT: tuple[Status, ...] = ("pending",)
_FROM_RUN: tuple[Status, ...] = ("pending", "completed", "cancelled")


def main(arguments: list[str] | None = None) -> int:
    """Run one item; return 0 if a run was recorded. What prevents that is told through the pipe.

    The record's write side, slow to import, is imported while the host is looked at, which mostly waits.
    """
    options = _parse(arguments)
    try:
        supervisor = go_below_supervisor()
        stop = StopSignal()
        become_subreaper()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        what = f"this host doesn't let the runner watch over what it starts: {reason}"
        return _refuse(options.tell, HostUnfitError(what, hint="prctl(2) and fork(2) must be allowed"))
    try:
        project = Project(load_settings(options.project), options.plan)
        session = session_of(
            project.campaign(), options.item, sequential=options.sequential, resume=options.resume
        )
        Thread(target=import_module, args=("optrack.store.write",)).start()
        lock, gpus = take_host(
            session,
            supervisor=supervisor,
            wait=options.wait,
            should_stop=stop.is_requested,
            say=lambda text: _tell(options.tell, {"waiting": text}),
        )
        session = replace(session, gpus=gpus)
        claimed = project.store.claim(
            session.candidate.run, from_statuses=_FROM_RUN if options.again else _FROM_NEXT
        )
    except OptrackError as error:
        return _refuse(options.tell, error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        what = f"{error.filename}: {reason}" if error.filename else reason
        hint = "the runner writes in the project's folder: check its owner and permissions"
        return _refuse(options.tell, OptrackError(f"the runner can't start: {what}", hint=hint))
    except Exception:  # noqa: BLE001 (nobody else could tell what happened here)
        return _refuse(options.tell, OptrackError(f"the runner failed\n{traceback.format_exc()}"))
    run = session.candidate.run.id
    if not claimed:
        _answer(options.tell, {"run": None})
        return 3
    others = (arm for arm in session.others if project.store.claim(arm.run, from_statuses=_FROM_NEXT))
    session = replace(session, others=tuple(others))
    for arm in session.candidates:
        project.store.record(arm.run.id, ProcessStarted(process=supervisor, role=SUPERVISOR))
    session.candidate.folder.mkdir(parents=True, exist_ok=True)
    _redirect_output(session.candidate.folder / "runner.log")
    _answer(options.tell, {"run": run})
    with lock:
        code = _run(project, session, stop)
    for arm in session.candidates:
        _notify(project, arm.run.id)
    return code


def _run(project: Project, session: Session, stop: StopSignal) -> int:
    context = RunContext(session, project.store, stop)
    try:
        run_session(context)
        if not project.store.holds(session.candidate.run.id):
            sys.stderr.write(
                "the database doesn't hold the run: it is in the side journal, beside this file\n"
            )
            return 2
        roll_up(project)
        credit_again(project)
        if session.candidate.run.item == session.plan.baseline:
            bracket_again(project)
        for arm in session.candidates:
            adopt_automatically(project, arm.run.id)
    except Exception as error:  # noqa: BLE001 (whatever happens, the run must be closed)
        traceback.print_exc()
        message = f"optrack itself failed: {error!r}; see runner.log in the run's folder"
        failure = plain_failure("runner_error", message, traceback.format_exc())
        for arm in session.candidates:
            arm.result = RunEnded(outcome="interrupted", stage="teardown", failure=failure)
        finish(context)
        return 1
    finally:
        project.store.close()
    return 0


def _notify(project: Project, run_id: str) -> None:
    """Tell whoever the settings name that the run has ended; what goes wrong there is only logged."""
    settings = project.settings
    if settings.notify is None:
        return
    campaign = Project(settings, Path(project.written.path)).campaign()
    run = campaign.reader.run(run_id)
    judgement = campaign.judgement_of(run)
    problem = notify(settings.notify, run, judgement, project=settings.project, gate=campaign.gate)
    if problem is not None:
        sys.stderr.write(f"{problem}\n")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="optrack.runner.main", description=__doc__)
    parser.add_argument("--project", type=Path, required=True, help="the project folder")
    parser.add_argument("--plan", type=Path, required=True, help="the plan's file")
    parser.add_argument("--item", required=True, help="the item to run")
    parser.add_argument("--tell", type=int, default=1, help="the descriptor to answer through")
    parser.add_argument("--wait", action="store_true", help="wait until the host is fit")
    parser.add_argument("--again", action="store_true", help="run the item whatever its status")
    parser.add_argument("--sequential", action="store_true", help="stop when the verdict is settled")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run measured")
    return parser.parse_args(arguments)


def _tell(descriptor: int, line: object) -> None:
    """Write a line to whoever started this; one who has gone misses it, and the run goes on."""
    with suppress(BrokenPipeError):
        os.write(descriptor, json.dumps(line).encode() + b"\n")


def _answer(descriptor: int, answer: object) -> None:
    """Write the last line."""
    _tell(descriptor, answer)
    os.close(descriptor)


def _refuse(descriptor: int, error: OptrackError) -> int:
    refusal = {
        "type": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "where": error.where,
    }
    _answer(descriptor, {"error": refusal})
    return error.exit_code


def _redirect_output(log: Path) -> None:
    """Send what this process prints, a traceback of its own say, to a file: no terminal listens."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
