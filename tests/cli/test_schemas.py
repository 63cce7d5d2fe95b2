"""Every command's answer with --json fits the schema that the package gives for it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from optrack.app.answers import ANSWERS, answer_schema
from optrack.cli import COMMANDS
from tests.cli.conftest import Call

UNTESTED = {
    "next-all": "runs the whole plan; its parts are those of `import`",
    "attach": "needs a run that is going on; answers as `next` does",
    "stop": "needs a run that is going on; answers as `next` does",
    "demo": "runs for minutes; answers as `import` does",
    "watch": "tested line by line",
}
ANSWERED: dict[str, tuple[tuple[str, ...], int]] = {
    "error": (("show", "nothing"), 2),
    "status": (("status",), 0),
    "show-item": (("show", "1B"), 0),
    "show-run": (("show", "0020"), 0),
    "next-explain": (("next", "--explain"), 0),
    "runs": (("runs",), 0),
    "compare": (("compare", "1B", "baseline"), 0),
    "diff": (("diff", "1C", "baseline"), 0),
    "failures": (("failures",), 0),
    "mark": (("mark", "2", "cancelled", "--why", "no time"), 0),
    "note": (("note", "1B", "good"), 0),
    "accept": (("accept", "env.server.LD_PRELOAD", "--why", "harmless"), 0),
    "adopt": (("adopt", "1B", "--why", "it is faster"), 0),
    "audit": (("audit",), 0),
    "plan-check": (("plan", "check"), 0),
    "plan-show": (("plan", "show"), 0),
    "plan-convert": (("plan", "convert", "plans/tuning.md"), 0),
    "plan-new": (("plan", "new", "plans/other.md"), 0),
    "plan-schema": (("plan", "schema"), 0),
    "use": (("use", "tuning"), 0),
    "todo": (("todo",), 0),
    "todo-import": (("todo", "import", "todos.json"), 0),
    "add": (("add", "Try LL128", "--gain", "5-10 %", "--recipe", "env: {NCCL_PROTO: LL128}"), 0),
    "export": (("export",), 0),
    "export-file": (("export", "-o", "log.md"), 0),
    "report": (("report", "1B"), 0),
    "report-file": (("report", "1B", "-o", "1B.html"), 0),
    "replay": (("replay", "0020"), 0),
    "parse": (("parse", "result.json"), 0),
    "import": (("import", "result.json", "--item", "2"), 0),
    "context": (("context",), 0),
    "schema": (("schema",), 0),
}
RESULT = {
    "backend": "vllm", "model_id": "m", "num_prompts": 8, "completed": 8, "failed": 0, "duration": 2.0,
    "request_throughput": 4.0, "output_throughput": 88.8, "mean_ttft_ms": 12.5,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    (folder / "todos.json").write_text('[{"content": "2: Fusion patch", "status": "in_progress"}]')
    (folder / "result.json").write_text(json.dumps(RESULT))


@pytest.mark.parametrize("name", ANSWERED)
def test_the_answer_fits_its_schema(name: str, call: Call) -> None:
    arguments, code = ANSWERED[name]
    called = call(*arguments, "--json")
    assert called.code == code, called
    jsonschema.validate(called.json, answer_schema(name), cls=jsonschema.Draft202012Validator)


def test_every_answer_has_a_test_or_a_reason() -> None:
    elsewhere = {"next", "run", "log", "ablate", "doctor"}
    assert set(ANSWERS) == set(ANSWERED) | set(UNTESTED) | elsewhere


def test_every_command_has_a_schema() -> None:
    own = {"serve", "tui", "mcp"}
    commands = {name for names in COMMANDS.values() for name in names} - own
    described = {name.split("-")[0] for name in ANSWERS}
    assert commands <= described


@pytest.mark.parametrize("name", ANSWERS)
def test_every_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(answer_schema(name))


def test_a_schema_refuses_what_it_does_not_name(call: Call) -> None:
    answer = call("status", "--json").json | {"more": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, answer_schema("status"))


def test_an_unknown_schema_names_those_there_are(call: Call) -> None:
    called = call("schema", "nonsense")
    assert called.code == 2
    assert "status" in called.err


def test_each_line_of_watch_fits_its_schema(call: Call) -> None:
    called = call("watch", "--after", "0", "--for", "0.1", "--json")
    lines = [json.loads(line) for line in called.out.splitlines()]
    assert len(lines) > 3
    for line in lines:
        jsonschema.validate(line, answer_schema("watch"))


def test_the_registry_of_an_adopted_base_fits_the_schema(call: Call) -> None:
    call("adopt", "1B", "--why", "it is faster")
    answer = call("show", "baseline", "--json").json
    assert answer["registry"]["adoptions"][0]["stands"] is True
    jsonschema.validate(answer, answer_schema("show-item"), cls=jsonschema.Draft202012Validator)
    expected = call("show", "1B", "--json").json["expected"]
    assert (expected["low"], expected["high"], expected["standing"]) == (0.1, 0.2, "within")
    assert "expected:    +10.0% to +20.0%; measured +" in call("show", "1B").out
