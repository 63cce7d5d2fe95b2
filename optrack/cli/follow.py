"""Following runs to their ends: live progress, and the answers about what came of them."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.answers import Answer, error_body
from optrack.app.answers.runs import (
    Detached,
    DetachedAnswer,
    DetachedRun,
    Result,
    ResultAnswer,
    ResultsAnswer,
    RunView,
)
from optrack.app.running import follow, stop
from optrack.cli import output
from optrack.cli.call import Call
from optrack.cli.streams import is_terminal, visible
from optrack.errors import OptrackError, UsageError
from optrack.model.events import Event, Noted, RepetitionMeasured, RunEnded, RunStarted, StageStarted
from optrack.model.run import Run
from optrack.render.format import counted, duration, fixed, launches, number, span

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

    from optrack.app.project import Project

_TAIL_BYTES = 4096
_QUIET_S = 60.0


def follow_run(project: Project, run_id: str, metric: str, *, leaves: bool = False) -> Run:
    """Follow a run to its end and return it as recorded.

    Ctrl-C asks the runner to stop and waits for its teardown; a second one shortens the grace. With `leaves` it
    ends only the following: the run is returned as it is.
    """
    progress = MovingLine(run_id, metric) if is_terminal(sys.stderr) else PlainLines(run_id, metric)
    after, asked, ended = 0, 0, False
    try:
        while not ended:
            try:
                for entry in follow(project, run_id, after=after):
                    if entry is None:
                        progress.tick()
                        continue
                    progress.tell(entry.event)
                    after, ended = entry.seq, isinstance(entry.event, RunEnded)
            except KeyboardInterrupt:
                if leaves:
                    break
                asked += 1
                with contextlib.suppress(UsageError):  # it has just ended by itself
                    stop(project, run_id, force=asked > 1)
                    output.say("stopping: waiting for the teardown (Ctrl-C again shortens the grace)")
    finally:
        progress.close()
    return project.reader.run(run_id)


class PlainLines:
    """One line an event, for logs and pipes."""

    def __init__(self, run: str, metric: str) -> None:
        self._run = run
        self._metric = metric
        self._begun = self._printed = self._stage_begun = time.monotonic()
        self._stage: StageStarted | None = None

    def tell(self, event: Event) -> None:
        """Print the event, if it says something that a reader of a log wants."""
        if isinstance(event, StageStarted):
            self._stage, self._stage_begun = event, time.monotonic()
        line = describe(event, self._metric)
        if line:
            self._print(line)

    def tick(self) -> None:
        """Say, once a minute without other lines, what is waited for."""
        now = time.monotonic()
        if self._stage is not None and now - self._printed >= _QUIET_S:
            last = last_line(Path(self._stage.log)) if self._stage.log else ""
            words = f"the log ends with: {last}" if last else "nothing printed yet"
            self._print(f"  {self._stage.side} {self._stage.stage}: {span(now - self._stage_begun)}, {words}")

    def _print(self, line: str) -> None:
        self._printed = time.monotonic()
        output.say(f"[{fixed(self._printed - self._begun, 1):>6} s] {line}")

    def close(self) -> None:
        """Nothing to restore."""


class MovingLine:
    """The stage, the time and the last log line in place; what was measured scrolls above."""

    def __init__(self, run: str, metric: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console: Console = Console(stderr=True, highlight=False)
        self._metric = metric
        self._begun = time.monotonic()
        self._stage = "starting"
        self._stage_begun = self._begun
        self._log: Path | None = None
        self._live: Live = Live(console=self._console, transient=True, auto_refresh=False)
        self._live.start()

    def tell(self, event: Event) -> None:
        """Take in the event: stages move the line, the rest is printed above it."""
        if isinstance(event, StageStarted):
            self._stage = f"{event.side} launch {event.launch + 1}: {event.stage}"
            self._stage_begun = time.monotonic()
            self._log = Path(event.log) if event.log else self._log
        elif line := describe(event, self._metric):
            with contextlib.suppress(OSError):  # the terminal has gone: the run goes on
                self._console.print(visible(output.gate().text(line)), markup=False)
        self.tick()

    def tick(self) -> None:
        """Redraw with the time that has passed and the last line of the log."""
        from rich.text import Text

        now = time.monotonic()
        head = f"{duration(now - self._begun)}  {self._stage} {span(now - self._stage_begun)}"
        width = max(20, self._console.width - 1)
        text = Text(visible(head)[:width], style="bold")
        last = output.gate().text(last_line(self._log))
        if last:
            text.append("\n" + last[:width], style="dim")
        with contextlib.suppress(OSError):
            self._live.update(text, refresh=True)

    def close(self) -> None:
        """Take the moving line away."""
        with contextlib.suppress(OSError):
            self._live.stop()


def describe(event: Event, metric: str) -> str | None:
    """Return an event in one line, or None where it is no news by itself."""
    match event:
        case RunStarted():
            most = "at most " if event.at_most else ""
            made, passes = launches(event.launches), counted(event.repetitions, "repetition")
            return f"{event.item}: {most}{made} of {passes}"
        case StageStarted(stage="launch"):
            return f"{event.side} launch {event.launch + 1}"
        case RepetitionMeasured():
            return f"  {event.side} {event.launch + 1}.{event.repetition + 1}: {_measured(event, metric)}"
        case Noted():
            return f"  {event.text}"
        case RunEnded():
            why = f" in stage {event.stage}: {event.failure.message}" if event.failure else ""
            return f"{event.outcome}{why}"
        case _:
            return None


def _measured(event: RepetitionMeasured, metric: str) -> str:
    sample = next((s for s in event.samples if s.metric.name == metric), None)
    if sample is None:
        return f"{len(event.samples)} metrics, no {metric}"
    invalid = f" (no measurement: {sample.invalid})" if sample.invalid else ""
    return f"{metric} {number(sample.value, 6)} {sample.metric.unit}{invalid}"


def last_line(log: Path | None) -> str:
    """Return the last line of a log that has anything in it, without control characters; empty if none."""
    if log is None:
        return ""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            tail = file.read()
    except OSError:
        return ""
    lines = [line for line in tail.decode(errors="replace").replace("\r", "\n").split("\n") if line.strip()]
    return "".join(c for c in lines[-1] if c.isprintable()) if lines else ""


def say_waiting(text: str) -> None:
    """Say what a run waits for."""
    output.say(f"waiting: {text}")


def exit_code(run: Run) -> int:
    """Return the exit code that the outcome of a run means; 130 only if somebody asked it to stop."""
    if run.outcome == "succeeded":
        return 0
    asked = run.outcome == "interrupted" and run.failure is not None and run.failure.kind == "interrupted"
    return 130 if asked else 1


class Results:
    """The runs of one command: each printed as it ends, or all of them as one JSON document."""

    def __init__(self, call: Call, *, single: bool) -> None:
        self._call = call
        self._single = single
        self._metric = call.project.written.metric.name
        self._results: list[Result | Detached] = []
        self._code = 0

    def detach(self, run_id: str) -> None:
        """Name a run that isn't followed."""
        self._results.append(Detached(run=DetachedRun(id=run_id)))
        if not self._call.as_json:
            output.text(run_id)

    def follow(self, run_id: str, *, leaves: bool = False) -> int:
        """Follow a run to its end, or with `leaves` until Ctrl-C; return its exit code."""
        run = follow_run(self._call.project, run_id, self._metric, leaves=leaves)
        if run.outcome is not None:
            return self.add(run)
        output.say(f"run {run.id} goes on: `optrack attach` follows it again, `optrack stop` ends it")
        self._results.append(Detached(run=DetachedRun(id=run.id)))
        self._code = 130
        return self._code

    def add_companions(self, run_id: str) -> set[str]:
        """Take up the runs of the other items that were measured in the same rounds; return their items."""
        reader = self._call.project.reader
        runs = [reader.run(run) for run in reader.run(run_id).session.companions]
        for run in runs:
            self.add(run)
        return {run.item for run in runs}

    def add(self, run: Run) -> int:
        """Take up a run that has ended; return its exit code."""
        from optrack.model.item import judgement_of

        judged = self._call.project.reader.judgements(run.plan, run.item)
        judgement = judgement_of(judged, run.id)
        self._results.append(Result(run=RunView.of(run), judgement=judgement))
        if not self._call.as_json:
            from optrack.render.text import outcome_lines

            output.text(outcome_lines(run, judgement, self._metric))
        code = exit_code(run)
        self._code = 130 if code == 130 else max(self._code, code)
        return code

    def finish(self) -> int:
        """Print the JSON document, if that is wanted, and return the worst exit code."""
        if self._call.as_json:
            output.answer(self._answer())
        return self._code

    def _answer(self) -> Answer:
        if not self._single:
            return ResultsAnswer(results=tuple(self._results))
        only = self._results[0]
        return DetachedAnswer(run=only.run) if isinstance(only, Detached) else ResultAnswer(**dict(only))

    def abort(self, error: OptrackError) -> int:
        """Print what ended the command before all was run, with the results until then; return its exit code."""
        if not self._results:
            raise error
        if self._call.as_json:
            output.answer(ResultsAnswer(results=tuple(self._results), error=error_body(error)))
            return error.exit_code
        return output.report(error, as_json=False)
