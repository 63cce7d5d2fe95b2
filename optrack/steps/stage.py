"""How a step tells the flow that a stage of the run ended without success."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from optrack.core.failures.classify import classify, plain_failure, shortened
from optrack.core.run import Failure, Stage
from optrack.steps.process import logs
from optrack.steps.process.command import Exit
from optrack.steps.process.logs import START, Breach, Mark

FailedOutcome = Literal["failed", "timed_out", "interrupted"]
TAIL_BYTES = 8192


class StageFailed(Exception):  # noqa: N818
    """A stage failed, ran out of time or was interrupted: which, how, and what is known of the cause."""

    def __init__(self, stage: Stage, outcome: FailedOutcome, failure: Failure) -> None:
        super().__init__(f"{stage} {outcome.replace('_', ' ')}: {failure.message}")
        self.stage: Stage = stage
        self.outcome: FailedOutcome = outcome
        self.failure = failure


def command_failed(stage: Stage, exit_: Exit, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a command that ended by itself, its cause read from its log."""
    text = logs.tail(log, start=start).decode(errors="replace")
    return StageFailed(
        stage, "failed", classify(text, stage=stage, exit_code=exit_.code, signal=exit_.signal)
    )


def server_ended(stage: Stage, exit_: Exit, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a stage in which the server ended by itself; `stage` is `ready` or `bench`."""
    when = "during the benchmark" if stage == "bench" else "before it was ready"
    ended = f"the server ended {when} ({exit_})"
    text = logs.tail(log, start=start).decode(errors="replace")
    failure = classify(text, stage=stage, exit_code=exit_.code, signal=exit_.signal, ended=ended)
    if stage == "bench" and not failure.message.startswith(ended):
        failure = failure.model_copy(update={"message": shortened(f"{ended}: {failure.message}")})
    return StageFailed(stage, "failed", failure)


def stage_failed(
    stage: Stage,
    kind: str,
    message: str,
    log: Path,
    *,
    start: Mark = START,
    outcome: FailedOutcome = "failed",
) -> StageFailed:
    """Return a failure whose cause is known without reading a log; the log's end goes with it."""
    text = logs.tail(log, start=start, limit=TAIL_BYTES).decode(errors="replace")
    return StageFailed(stage, outcome, plain_failure(kind, message, text))


def not_started(error: OSError | ValueError) -> str:
    """Say why a command couldn't be started: what is missing, and where."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the command'}: {error.strerror.lower()}"
    return str(error)


def breached(stage: Stage, breach: Breach, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a stage whose log passed a limit: silence is a time-out, the rest a failure."""
    outcome: FailedOutcome = "timed_out" if breach.kind == "silent" else "failed"
    return stage_failed(stage, breach.kind, breach.message, log, start=start, outcome=outcome)


def interrupted(stage: Stage, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the end of a stage that somebody asked to stop."""
    return stage_failed(stage, "interrupted", "stopped on request", log, start=start, outcome="interrupted")
