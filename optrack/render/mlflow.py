"""The campaign in MLflow: an experiment for the plan, a run for each run, so that dashboards show the results.

Written against MLflow's tracking client (mlflow.org, `mlflow.tracking.MlflowClient`). A run that was exported
before, known by its tag `optrack.run`, is brought up to date and not made twice.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.errors import OptrackError, UsageError
from optrack.judge.imported import is_imported
from optrack.model.markdown import plain
from optrack.model.metrics import series_of
from optrack.model.run import Run
from optrack.model.treatment import leaves
from optrack.render.chart import chart_of, chart_svg
from optrack.render.document import markdown_log
from optrack.render.log import Log
from optrack.render.provenance import facts_of

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_VALUE_CHARS = 5000
_PARAM_CHARS = 500
_MOST_IN_A_CALL = 900
_STATUS = {"succeeded": "FINISHED", "failed": "FAILED", "timed_out": "FAILED", "interrupted": "KILLED"}


def export_to_mlflow(log: Log, uri: str, runs_dir: Path) -> tuple[str, ...]:
    """Write the plan's runs to the tracking server at `uri` and return the names of the runs written.

    Runs that are going on are left out. Raises UsageError where mlflow isn't installed, OptrackError where the
    server can't be reached or refuses.
    """
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise UsageError(f"mlflow isn't installed ({error})", hint="pip install 'optrack[mlflow]'") from error
    ended = [run for run in log.runs if run.outcome is not None]
    try:
        client = MlflowClient(tracking_uri=uri)
        experiment = _experiment(client, log)
        known = _exported(client, experiment)
        for run in ended:
            _write_run(client, experiment, known.get(run.id), log, run, runs_dir)
        _write_log(client, experiment, known.get("log"), log)
    except MlflowException as error:
        raise OptrackError(f"MLflow refused: {plain(str(error))[:400]}", where=uri) from error
    return tuple(run.id for run in ended)


def _experiment(client: MlflowClient, log: Log) -> str:
    name = f"optrack/{log.plan.name}"
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    return str(client.create_experiment(name, tags={"optrack.plan": log.plan.name}))


def _exported(client: MlflowClient, experiment: str) -> dict[str, str]:
    found: dict[str, str] = {}
    token: str | None = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        for run in page:
            name = run.data.tags.get("optrack.run")
            if name:
                found[name] = run.info.run_id
        token = page.token
        if not token:
            return found


def _write_run(
    client: MlflowClient, experiment: str, known: str | None, log: Log, run: Run, runs_dir: Path
) -> None:
    assert run.outcome is not None
    begin = int(run.started_at.timestamp() * 1000)
    end = int(run.ended_at.timestamp() * 1000) if run.ended_at else begin
    if known is None:
        made = client.create_run(experiment, start_time=begin, run_name=f"{run.item} {run.id}")
        known = str(made.info.run_id)
        for metrics in _batches(_metrics(run, begin)):
            client.log_batch(known, metrics=metrics)
        for params in _batches(_params(run)):
            client.log_batch(known, params=params)
        folder = runs_dir / run.id
        if run.failure is not None:
            client.log_text(known, run.failure.log_tail, "failure.txt")
        client.set_tag(known, "optrack.folder", str(folder))
    for key, text in _tags(log, run).items():
        client.set_tag(known, key, text)
    client.set_terminated(known, status=_STATUS[run.outcome], end_time=end)


def _metrics(run: Run, begin: int) -> list[Any]:
    """Every valid sample under its metric's name with a step for each pass, and the median under `NAME.median`."""
    from mlflow.entities import Metric

    found = []
    for name in dict.fromkeys(sample.metric.name for sample in run.samples):
        series = series_of(run.samples, name)
        if series is None:
            continue
        key = _key(name)
        found += [Metric(key, value, begin, step) for step, value in enumerate(series.values)]
        found.append(Metric(f"{key}.median", statistics.median(series.values), begin, 0))
    return found


def _params(run: Run) -> list[Any]:
    from mlflow.entities import Param

    return [Param(_key(key), plain(str(value))[:_PARAM_CHARS]) for key, value in leaves(run.recipe).items()]


def _tags(log: Log, run: Run) -> Mapping[str, str]:
    state, judgement = log.state(run.item), log.judged(run)
    tags = {
        "optrack.run": run.id,
        "optrack.plan": run.plan,
        "optrack.item": run.item,
        "optrack.role": "baseline" if run.beside or run.item == log.plan.baseline else "candidate",
        "optrack.outcome": run.outcome or "running",
        "optrack.stage": run.stage,
        "optrack.actor": run.actor,
        "optrack.imported": "yes" if is_imported(run) else "no",
    }
    if state is not None:
        tags["optrack.title"] = plain(state.item.title)
        tags["optrack.item_status"] = state.status
        tags["optrack.marked_by_hand"] = "yes" if log.by_hand(state.item.id) else "no"
    if judgement is not None:
        tags["optrack.verdict"] = judgement.verdict or "none"
        tags["optrack.comparison"] = judgement.comparison
        tags["optrack.baseline"] = judgement.baseline or "none"
        tags["optrack.why"] = plain(" ".join(judgement.reasons))[:_VALUE_CHARS]
        if judgement.effect is not None:
            tags["optrack.effect"] = f"{judgement.effect.relative:.6g}"
            tags["optrack.effect_low"] = f"{judgement.effect.low:.6g}"
            tags["optrack.effect_high"] = f"{judgement.effect.high:.6g}"
    if run.failure is not None:
        tags["optrack.failure"] = plain(run.failure.message)[:_VALUE_CHARS]
        tags["optrack.fingerprint"] = run.failure.fingerprint
    facts = {f"optrack.{_key(name.lower())}": fact[:_VALUE_CHARS] for name, fact in facts_of(run).items()}
    return facts | tags


def _write_log(client: MlflowClient, experiment: str, known: str | None, log: Log) -> None:
    """Put the progress log and its chart into a run of their own, which is rewritten each time."""
    if known is None:
        made = client.create_run(experiment, run_name="progress log", tags={"optrack.run": "log"})
        known = str(made.info.run_id)
    chart = chart_of(log)
    client.log_text(known, markdown_log(log, chart="progress.svg"), "progress.md")
    client.log_text(known, chart_svg(chart), "progress.svg")
    client.set_terminated(known)


def _batches(entries: list[Any]) -> Iterator[list[Any]]:
    size = 100 if entries and type(entries[0]).__name__ == "Param" else _MOST_IN_A_CALL
    yield from (entries[start : start + size] for start in range(0, len(entries), size))


def _key(name: str) -> str:
    """Return a name with only what MLflow allows in keys: letters, digits, and `_-./ :`."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-./ :") else "_" for c in name)[:250] or "_"
