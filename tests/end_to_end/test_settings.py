"""Settings, as commands obey them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from optrack.settings import Settings, load_settings
from tests.end_to_end.plans import SMALL
from tests.end_to_end.project import ROOT, Project

SGLANG = """```yaml recipe
engine: sglang
server: {model-path: m/x}
bench: {tool: sglang.bench_serving, num-prompts: 4}
```

## Baseline
"""

QUICK = """---
metric: {name: score, unit: pt, better: higher}
---

```yaml recipe
bench: "echo score = 1.5"
metrics: {score: {regex: 'score = (.+)', unit: pt, better: higher}}
launches: 1
```

## Baseline
"""
"""A plan without a server: a run takes a moment."""


def settings(project: Project, text: str) -> None:
    (project.folder / "optrack.toml").write_text(f"cpu_share = 1.0\n{text}", encoding="utf-8")


def test_servers_are_started_with_the_interpreter_of_the_settings(project: Project) -> None:
    project.write_plan(SGLANG)
    settings(project, 'python = "/opt/sglang/bin/python"\n')
    document = project.optrack("next", "--dry-run", "--json").document
    assert document["server"].startswith("exec /opt/sglang/bin/python -m sglang.launch_server ")
    assert document["bench"]["bench"].startswith("/opt/sglang/bin/python -m ")


def test_vllm_is_the_one_beside_the_interpreter_of_the_settings(project: Project) -> None:
    project.write_plan(SGLANG.replace("sglang.bench_serving", "vllm.bench_serve").replace("sglang", "vllm"))
    settings(project, 'python = "/opt/vllm/bin/python"\n')
    assert "/opt/vllm/bin/vllm serve" in project.optrack("next", "--dry-run", "--json").document["server"]


@pytest.mark.parametrize("file", ["optrack.toml", "pyproject.toml"])
def test_plans_and_database_lie_where_the_settings_say(project: Project, file: str) -> None:
    head = "[tool.optrack]\n" if file == "pyproject.toml" else ""
    (project.folder / "optrack.toml").unlink()
    (project.folder / file).write_text(f'{head}plans = "ideas"\ndatabase = "records.db"\n', encoding="utf-8")
    shutil.move(project.write_plan(SMALL).parent, project.folder / "ideas")
    assert project.optrack("status").code == 0
    assert (project.folder / "records.db").is_file()


def test_a_variable_goes_before_the_file(project: Project) -> None:
    settings(project, 'database = "a.db"\n')
    project.write_plan(SMALL)
    project.write_plan(SMALL, name="other")
    env = {"OPTRACK_DB": "b.db", "OPTRACK_PLAN": "plans/other.md", "OPTRACK_ACTOR": "ada"}
    answer = project.optrack("mark", "1", "cancelled", "--why", "not now", "--json", env=env)
    assert answer.document["transition"]["who"] == "ada"
    assert project.optrack("status", "--json", env=env).document["plan"] == "other"
    assert (project.folder / "b.db").is_file()
    assert not (project.folder / "a.db").exists()


def test_the_share_of_busy_cpus_can_be_set_for_one_call(project: Project) -> None:
    settings(project, "")
    assert load_settings(project.folder, {}).cpu_share == 1.0
    assert load_settings(project.folder, {"OPTRACK_CPU_SHARE": "0.25"}).cpu_share == 0.25
    answer = project.optrack("status", "--json", env={"OPTRACK_CPU_SHARE": "plenty"})
    assert (answer.code, answer.error["code"]) == (2, "settings")
    assert "cpu_share must be a number" in answer.error["message"]


def a_run(project: Project, env: dict[str, str], plan: str = QUICK) -> dict[str, object]:
    """Run a baseline that has no server and return the run."""
    project.write_plan(plan)
    answer = project.optrack("run", "baseline", "--json", env=env)
    assert answer.code == 0, answer
    run: dict[str, object] = answer.document["run"]
    return run


def variables(run: dict[str, object], part: str) -> dict[str, str]:
    """Return the variables that a run's snapshot holds in a part of its environment."""
    snapshot = run["snapshot"]
    assert isinstance(snapshot, dict)
    found: dict[str, str] = snapshot["env"].get(part) or {}
    return found


def test_variables_with_a_prefix_of_the_settings_are_recorded_by_value(project: Project) -> None:
    settings(project, 'env_prefixes = ["MYAPP_"]\n')
    run = a_run(project, {"MYAPP_MODE": "fast", "OURS_MODE": "slow"})
    assert variables(run, "passed")["MYAPP_MODE"] == "fast"
    assert "OURS_MODE" not in variables(run, "passed")
    assert "MYAPP_MODE" not in variables(run, "other")
    assert "OURS_MODE" in variables(run, "other")


def test_without_prefixes_such_a_variable_stands_among_those_that_count_only_if_something_reads_them(
    project: Project,
) -> None:
    run = a_run(project, {"MYAPP_MODE": "fast", "MYAPP_TOKEN": "hunter2-hunter2-hunter2"})
    assert "MYAPP_MODE" not in variables(run, "passed")
    assert variables(run, "other")["MYAPP_MODE"] == "fast"
    assert "hunter2" not in json.dumps(run)


def test_a_prefix_without_an_underscore_names_what_begins_with_it_and_a_secret_stays_masked(
    project: Project,
) -> None:
    settings(project, 'env_prefixes = ["MYAPP"]\n')
    run = a_run(project, {"MYAPPMODE": "fast", "MYAPP_TOKEN": "hunter2-hunter2-hunter2"})
    assert variables(run, "passed")["MYAPPMODE"] == "fast"
    assert "hunter2" not in json.dumps(run)


def test_the_command_of_the_settings_hears_of_the_end_of_a_run(project: Project) -> None:
    settings(project, 'notify = "cat > heard.json; echo $OPTRACK_OUTCOME > outcome"\n')
    run = a_run(project, {})
    heard = json.loads((project.folder / "heard.json").read_text())
    assert (heard["event"], heard["run"]["id"]) == ("run_ended", run["id"])
    assert (project.folder / "outcome").read_text() == "succeeded\n"


def test_the_locks_lie_in_the_folder_of_the_variable(project: Project) -> None:
    locks = project.folder / "elsewhere"
    locks.mkdir()
    a_run(project, {"OPTRACK_LOCKS": str(locks)})
    assert list(locks.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plans = 3", "plans must be text, not 3"),
        ('env_prefixes = "A_"', "env_prefixes must be a list of texts, not 'A_'"),
        ("env_prefixes = [1]", "env_prefixes must be a list of texts, not [1]"),
        ("cpu_share = 1.5", "cpu_share must be a number above 0 and at most 1, not 1.5"),
        ("cpu_share = true", "cpu_share must be a number above 0 and at most 1, not True"),
    ],
)
def test_a_bad_setting_is_named_with_its_file(project: Project, text: str, message: str) -> None:
    (project.folder / "optrack.toml").write_text(f"{text}\n", encoding="utf-8")
    error = project.optrack("status", "--json").error
    assert (error["message"], error["where"]) == (message, str(project.folder / "optrack.toml"))


def test_each_setting_is_read_by_somebody() -> None:
    sources = [
        path for path in (ROOT / "optrack").rglob("*.py") if path != Path(ROOT / "optrack/settings.py")
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    read = set(re.findall(r"\bsettings\.(\w+)", text))
    assert set(Settings.model_fields) <= read
