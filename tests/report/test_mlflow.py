"""MLflow gets an experiment for the plan and a run for each run, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from optrack.render.mlflow import export_to_mlflow
from tests.report.filled import Filled

mlflow = pytest.importorskip("mlflow")


@pytest.fixture(scope="module")
def client(project: Filled, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tracking store to which the project was exported twice."""
    from mlflow.tracking import MlflowClient

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        uri = f"file://{tmp_path_factory.mktemp('mlflow') / 'mlruns'}"
        first = export_to_mlflow(project.log(), uri, Path("runs"))
        assert export_to_mlflow(project.log(), uri, Path("runs")) == first
        assert len(first) == 5
        yield MlflowClient(tracking_uri=uri)


def runs(client: Any) -> dict[str, Any]:
    """Return the exported runs by item; the baseline beside 1B is left out."""
    experiment = client.get_experiment_by_name("optrack/tuning")
    found = client.search_runs([experiment.experiment_id])
    return {run.data.tags.get("optrack.item", "log"): run for run in found}


@pytest.mark.filterwarnings("ignore")
def test_runs_carry_metrics_parameters_and_verdicts(client: Any) -> None:
    gained = runs(client)["1B"]
    assert gained.data.metrics["output_throughput.median"] == pytest.approx(96.15)
    assert gained.data.params["env.NCCL_MAX_NCHANNELS"] == "2"
    assert gained.data.tags["optrack.verdict"] == "improvement"
    assert gained.info.status == "FINISHED"
    assert runs(client)["1A"].info.status == "FAILED"
    assert runs(client)["1C"].data.tags["optrack.comparison"] == "unfair"


@pytest.mark.filterwarnings("ignore")
def test_exporting_again_makes_no_second_run(client: Any) -> None:
    experiment = client.get_experiment_by_name("optrack/tuning")
    assert len(client.search_runs([experiment.experiment_id])) == 6
    history = client.get_metric_history(runs(client)["1B"].info.run_id, "output_throughput")
    assert [m.step for m in history] == [0, 1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore")
def test_the_log_and_its_chart_are_artifacts(client: Any) -> None:
    log = runs(client)["log"]
    assert {artifact.path for artifact in client.list_artifacts(log.info.run_id)} == {
        "progress.md",
        "progress.svg",
    }
