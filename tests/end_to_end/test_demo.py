"""The demo's plan, run for real with few launches: what must be true of it on any machine, however noisy."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from optrack.app.answers import answer_schema
from optrack.demo import make_project, quickstart
from tests.end_to_end.project import ROOT, Answer, called

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("demo")]

FEWER = {"launches: 12": "launches: 8", "launches: 4": "launches: 2", "--num-prompts 6": "--num-prompts 4"}


class Demo:
    """The demo's project after `next --all`, with an installed copy of the package, as users have it."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        shutil.copytree(ROOT / "optrack", self.site / "optrack", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "locks").mkdir()
        self.locks = folder / "locks"
        self.project = make_project(folder / "project")
        (self.project / "plans" / "quickstart.md").write_text(shortened(quickstart()), encoding="utf-8")
        self.campaign = self("next", "--all", "--wait", "--json")

    def __call__(self, *arguments: str) -> Answer:
        answer = called(self.project, *arguments, locks=self.locks, env={"PYTHONPATH": str(self.site)})
        assert "Traceback" not in answer.err, answer.err
        return answer

    def item(self, name: str) -> Any:
        return self("show", name, "--json").document

    def state(self, name: str) -> Any:
        return next(s for s in self("status", "--json").document["items"] if s["id"] == name)


def shortened(plan: str) -> str:
    """Return the quick start's plan with so few launches that a test can wait for it."""
    for many, few in FEWER.items():
        assert plan.count(many) == 1, many
        plan = plan.replace(many, few)
    return plan


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, run once for all that is asked of it."""
    return Demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def decided(demo: Demo) -> Demo:
    """The demo, where the machine was quiet enough to see a gain of two thirds at all."""
    if demo.state("1B")["verdict"] == "inconclusive":
        pytest.skip("too much else runs on this machine to see a gain of two thirds")
    return demo


def valid(document: Mapping[str, Any], name: str) -> None:
    jsonschema.validate(document, answer_schema(name))


def test_every_item_was_run_and_the_failed_one_tells_by_the_exit_code(decided: Demo) -> None:
    assert decided.campaign.code == 1, decided.campaign.err
    valid(decided.campaign.document, "next-all")
    results = decided.campaign.document["results"]
    assert [result["run"]["item"] for result in results] == ["baseline", "1A", "1B", "1C", "2"]
    assert [result["run"]["outcome"] for result in results].count("failed") == 1
    assert decided("next").code == 3


def test_the_baseline_is_recorded_with_every_repetition(demo: Demo) -> None:
    run = demo.item("baseline")["runs"][0]
    assert run["outcome"] == "succeeded"
    values = run["metrics"]["median_step_ms"]["values"]
    assert [len(launch) for launch in values] == [2, 2]
    assert all(value > 0 for launch in values for value in launch)
    assert run["snapshot"]["env"]["server"]["NCCL_ALGO"] == "Ring"


def test_the_tree_really_fails_while_graphs_are_captured(demo: Demo) -> None:
    run = demo.item("1A")["runs"][0]
    assert (run["outcome"], run["stage"]) == ("failed", "ready")
    assert run["failure"]["kind"] == "nccl"
    assert "Capture graph failed: NCCL error" in run["failure"]["message"]
    assert demo.item("1A")["judgement"]["verdict"] == "failed"
    listed = demo("failures", "--json").document["failures"]
    assert [failure["fingerprint"] for failure in listed] == [run["failure"]["fingerprint"]]


def test_fewer_channels_make_steps_shorter_and_the_gain_is_credited_to_them(decided: Demo) -> None:
    judgement = decided.item("1B")["judgement"]
    assert judgement["comparison"] == "fair", judgement["differences"]
    assert judgement["verdict"] == "improvement", judgement["reasons"]
    assert judgement["effect"]["relative"] < -0.3
    assert judgement["attribution"] == {"status": "single", "factors": ["env.NCCL_MAX_NCHANNELS"]}


def test_the_combination_of_a_failure_and_a_gain_is_the_gain_alone(decided: Demo) -> None:
    item = decided.item("1C")
    assert item["judgement"]["attribution"]["factors"] == ["env.NCCL_MAX_NCHANNELS"]
    assert item["runs"][0]["recipe"]["env"]["NCCL_MAX_NCHANNELS"] == "2"
    assert item["runs"][0]["recipe"]["env"]["NCCL_ALGO"] == "Ring"


def test_a_change_without_effect_is_measured_fairly_and_is_not_the_best(decided: Demo) -> None:
    judgement = decided.item("2")["judgement"]
    assert judgement["comparison"] == "fair", judgement["differences"]
    assert judgement["effect"]["relative"] > decided.item("1B")["judgement"]["effect"]["high"]


def test_status_keeps_the_contract(decided: Demo) -> None:
    document = decided("status", "--json").document
    valid(document, "status")
    assert document["schema_version"] == 1
    assert {item["status"] for item in document["items"]} == {"completed"}
    promised = {"id", "title", "parent", "rank", "status", "blocked_by", "verdict", "comparison", "runs"}
    assert all(promised | {"effect"} <= set(item) for item in document["items"])
    assert decided.state("1A")["verdict"] == "failed"


def test_shown_items_and_runs_keep_the_contract(decided: Demo) -> None:
    for name in ("baseline", "1A", "1B", "1C", "2"):
        item = decided.item(name)
        valid(item, "show-item")
        valid(decided("show", item["runs"][0]["id"], "--json").document, "show-run")


def test_the_log_tells_the_story(decided: Demo) -> None:
    log = decided.project / "progress.md"
    assert decided("export", "-o", str(log)).code == 0
    text = log.read_text(encoding="utf-8")
    assert re.search(r"\*\*1B\*\* Fewer channels: −\d+", text)
    assert re.search(r"\*\*1A\*\* Tree algorithm: failed in stage ready \(nccl\)", text)
    assert (decided.project / "progress.svg").is_file()
    assert decided("export", "-o", str(log)).code == 0
    assert log.read_text(encoding="utf-8") == text


def test_the_plan_is_left_as_it_was(demo: Demo) -> None:
    plan = demo.project / "plans" / "quickstart.md"
    assert plan.read_text(encoding="utf-8") == shortened(quickstart())


def test_nothing_of_the_runs_is_left(decided: Demo) -> None:
    runs = [run["id"] for run in decided("runs", "--json").document["runs"]]
    assert len(runs) == len(set(runs)) == 8
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = environ.read_bytes()
        except OSError:
            continue
        assert not any(f"OPTRACK_RUN={run}".encode() in content for run in runs)


def test_the_audit_confirms_what_noise_can_not_change(demo: Demo) -> None:
    def standing() -> dict[str, tuple[str | None, str | None]]:
        items = demo("status", "--json").document["items"]
        return {item["id"]: (item["verdict"], item["comparison"]) for item in items}

    before = standing()
    assert demo("audit").code == 0
    after = standing()
    assert [comparison for _, comparison in after.values()] == [
        comparison for _, comparison in before.values()
    ]
    assert after["1A"] == before["1A"]
    assert after["1B"] == before["1B"]
