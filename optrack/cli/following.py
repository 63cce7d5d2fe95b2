"""Following runs to their ends, and answering with what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optrack.cli import output
from optrack.cli.progress import follow_run
from optrack.errors import OptrackError
from optrack.model.run import Run
from optrack.render.documents import judgement_document, run_document

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


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
    """Collects the runs of one command; prints each as it ends, or all of them as one JSON document."""

    def __init__(self, campaign: Campaign, *, as_json: bool, single: bool) -> None:
        self._campaign = campaign
        self._as_json = as_json
        self._single = single
        self._documents: list[dict[str, Any]] = []
        self._code = 0

    def take(self, run_id: str, *, detach: bool = False) -> int:
        """Follow a run to its end, or with `detach` only name it; return its exit code."""
        if detach:
            self._documents.append({"run": {"id": run_id, "outcome": None}})
            if not self._as_json:
                output.text(run_id)
            return 0
        run = follow_run(self._campaign, run_id)
        judgement = self._campaign.judgement_of(run)
        self._documents.append({"run": run_document(run), "judgement": judgement_document(judgement)})
        if not self._as_json:
            from optrack.render.text import outcome_lines

            output.text(outcome_lines(run, judgement, self._campaign.plan.metric.name))
        code = exit_code(run)
        self._code = 130 if code == 130 else max(self._code, code)
        return code

    def finish(self) -> int:
        """Print the JSON document, if that is wanted, and return the worst exit code."""
        if self._as_json:
            output.data(self._documents[0] if self._single else {"results": self._documents})
        return self._code

    def break_off(self, error: OptrackError) -> int:
        """Print what ended the command before all was run, with the results until then; return its exit code."""
        if not self._documents:
            raise error
        if self._as_json:
            output.data({"results": self._documents, "error": output.error_fields(error)})
            return error.exit_code
        return output.report(error, as_json=False)
