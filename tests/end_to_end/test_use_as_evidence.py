"""What ran decides whether a comparison is fair: command lines, folders, processes and variables, by their use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.end_to_end.campaigns import SERVER, Campaign, item

BASE = """\
---
title: Use
metric: {name: score, unit: pt, better: higher}
---

```yaml recipe
launch: bash start.sh $EXTRA_ARGS
bench: bash bench.sh
metrics: {score: {regex: 'score = ([\\d.]+)', unit: pt, better: higher}}
launches: 1
repetitions: 2
order: block
timeout: {grace: 2s}
```

## Baseline

"""
START = "[ -e sidecar ] && python3 -S -E sidecar.py &\nexec python3 -S -E server.py $(cat flags) $@\n"
BENCH = "exec python3 -S -E client.py $(cat client-flags) --out $(mktemp -u)\n"
CLIENT = """\
import os, socket, time
with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as asked:
    asked.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    asked.recv(4096)
time.sleep(0.5)
print("score =", 100 + len(os.environ.get("NUM_PROMPTS", "")))
"""
UNREAD = {
    "UNREAD_BY_ANYBODY": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONSTARTUP": "/none",
    "DEBUG_COLORS": "1",
    "TF_CLI_CONFIG_FILE": "/none",
    "HF_TOKEN": "hf_" + "a" * 20,
    "MY_DEBUG": "1",
    "TMPDIR": "/var/tmp",
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Return a project with a measured baseline, whose start scripts read files that git doesn't see."""
    folder = tmp_path_factory.mktemp("use") / "campaign"
    folder.mkdir()
    project = Campaign(folder, item("1", "Faster", 'env: {NCCL_ALG: "Tree"}'), base=BASE)
    for name, text in {
        "server.py": SERVER + "# reads KV_CACHE_DTYPE\n",
        "start.sh": START,
        "bench.sh": BENCH,
        "client.py": CLIENT,
        "sidecar.py": "import time\ntime.sleep(60)\n",
        "flags": "",
        "client-flags": "",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert project.call("run", "baseline").code == 0
    return project


def judged(campaign: Campaign, env: Mapping[str, str | None]) -> Any:
    assert campaign.call("run", "1", env=env).code == 0
    return campaign.show("1")["judgement"]


def counting(judgement: Any) -> set[str]:
    """Return the differences that count, but those of files, which no repository holds here."""
    fields = {d["field"] for d in judgement["differences"] if d["severity"] == "blocking"}
    return {field for field in fields if field.startswith(("env", "processes", "bench"))}


PLANTED: tuple[tuple[str, Mapping[str, str], Mapping[str, str], str], ...] = (
    ("the server's flags", {"flags": "--chunk 2048"}, {}, "processes.server.py.command"),
    ("the client's flags", {"client-flags": "--prompts 9"}, {}, "bench.processes.client.py.command"),
    ("a sidecar", {"sidecar": ""}, {}, "processes.sidecar.py"),
    ("a variable in the recipe's text", {}, {"EXTRA_ARGS": "--x"}, "env.server.EXTRA_ARGS"),
    ("a variable of the server's code", {}, {"KV_CACHE_DTYPE": "fp8"}, "env.other.KV_CACHE_DTYPE"),
    ("a variable of the client's code", {}, {"NUM_PROMPTS": "32"}, "env.other.NUM_PROMPTS"),
)


@pytest.mark.parametrize(
    ("files", "env", "field"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED]
)
def test_what_ran_otherwise_on_one_side_makes_a_comparison_unfair(
    campaign: Campaign, files: Mapping[str, str], env: Mapping[str, str], field: str
) -> None:
    before = {name: (campaign.folder / name).exists() for name in files}
    for name, text in files.items():
        (campaign.folder / name).write_text(text, encoding="utf-8")
    try:
        judgement = judged(campaign, env)
    finally:
        for name, existed in before.items():
            (campaign.folder / name).write_text("") if existed else (campaign.folder / name).unlink()
    assert judgement["verdict"] is None and judgement["comparison"] == "unfair"
    assert field in counting(judgement)


def test_variables_that_nothing_reads_are_notes_and_an_unread_treatment_is_told(campaign: Campaign) -> None:
    judgement = judged(campaign, UNREAD)
    assert counting(judgement) == set()
    notes = {d["field"].rpartition(".")[2]: d["candidate"] for d in judgement["differences"]}
    assert notes["UNREAD_BY_ANYBODY"] == "1" and notes["HF_TOKEN"].startswith("<masked:")
    assert any("NCCL_ALG;" in reason and "NCCL_ALGO" in reason for reason in judgement["reasons"])
    assert "NCCL_ALGO" in campaign.call("plan", "check", "plans/plan.md").out


def test_a_variable_is_accepted_by_its_plain_name(campaign: Campaign) -> None:
    assert counting(judged(campaign, {"KV_CACHE_DTYPE": "fp8"})) == {"env.other.KV_CACHE_DTYPE"}
    assert campaign.call("accept", "KV_CACHE_DTYPE", "--why", "the same in this build").code == 0
    assert counting(campaign.show("1")["judgement"]) == set()
