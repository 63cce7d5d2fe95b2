"""Settings, as commands obey them."""

from __future__ import annotations

import shutil

import pytest

from optrack.settings import load_settings
from tests.end_to_end.plans import SMALL
from tests.end_to_end.project import Project

SGLANG = """```yaml recipe
engine: sglang
server: {model-path: m/x}
bench: {tool: sglang.bench_serving, num-prompts: 4}
```

## Baseline
"""


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
