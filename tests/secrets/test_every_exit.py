"""A secret planted in every place from which one can come is in the clear at no exit, nor in the record."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.campaigns import BENCH, QUICK, SERVER, Campaign
from tests.secrets.forms import made

PLACES = (
    "env",
    "argument",
    "launch",
    "bench",
    "check",
    "setup",
    "header",
    "address",
    "title",
    "note",
    "why",
    "accepted",
    "added",
    "risk",
    "hypothesis",
    "front_matter",
    "edited",
    "untracked",
    "prod_env",
    "caller",
    "caller_token",
    "echoed",
)
PLANTED = {place: made(place, 22) for place in PLACES}
TOKEN = "hf" + "_"
PLANTED |= {place: TOKEN + made(place, 34) for place in ("title", "note", "front_matter", "caller_token")}

PLAN = f"""\
---
title: Campaign {PLANTED["front_matter"]}
metric: {{name: score, unit: pt, better: higher}}
---

```yaml recipe
env: {{PLAN_SECRET: "{PLANTED["env"]}", ECHOED_PASSWORD: "{PLANTED["echoed"]}"}}
setup: export API_KEY={PLANTED["setup"]}; true
bench: "bash bench.sh; : curl -u me:{PLANTED["bench"]} -H 'Authorization: Bearer {PLANTED["header"]}'"
metrics: {{score: {{regex: 'score = ([\\d.]+)', unit: pt, better: higher}}}}
check: {{right: {{command: "echo 1; : mysql -p{PLANTED["check"]} shop", min: 0}}}}
launches: 1
timeout: {{grace: 2s}}
```

## Baseline

## 1: Faster with {PLANTED["title"]}

- **Risk**: the database, api_key={PLANTED["risk"]}
- **Hypothesis**: it logs in with password: {PLANTED["hypothesis"]}

```yaml recipe
env: {{SPEED: "140", DATABASE_URL: "postgres://u:{PLANTED["address"]}@h/d"}}
```

## 2: A server that fails

```yaml recipe
launch: "echo $ECHOED_PASSWORD $CALLER_PASSWORD $HF_TOKEN; : serve --api-key {PLANTED["launch"]}; exit 3"
```

## 3: An engine with arguments

```yaml recipe
engine: sglang
server: {{model-path: m, api-key: "{PLANTED["argument"]}"}}
```
"""
CALLER = {"CALLER_PASSWORD": PLANTED["caller"], "HF_TOKEN": PLANTED["caller_token"]}
EXITS = (
    ("status",),
    ("status", "--json"),
    ("show", "1"),
    ("show", "1", "--json"),
    ("show", "2"),
    ("show", "2", "--json"),
    ("show", "3", "--json"),
    ("runs", "--json"),
    ("plan", "show", "plans/plan.md"),
    ("plan", "show", "plans/plan.md", "--json"),
    ("run", "1", "2", "3", "--dry-run"),
    ("run", "1", "2", "3", "--dry-run", "--json"),
    ("next", "--dry-run", "--json"),
    ("todo",),
    ("todo", "--json"),
    ("failures",),
    ("failures", "--json"),
    ("context",),
    ("context", "--json"),
    ("export",),
    ("export", "--format", "json"),
    ("export", "--format", "csv"),
    ("export", "--format", "html", "-o", "out.html"),
    ("export", "--format", "md", "-o", "out.md"),
    ("report", "1"),
    ("report", "2"),
    ("replay", "1"),
    ("replay", "2"),
    ("replay", "1", "-o", "replay.sh"),
    ("compare", "1", "baseline", "--json"),
    ("diff", "1", "baseline", "--json"),
    ("log", "2", "--json"),
    ("watch", "--after", "0", "--for", "0.1", "--json"),
    ("audit", "--json"),
)


def leaks(text: str) -> list[str]:
    """Return the places whose secrets are in a text."""
    return [place for place, secret in PLANTED.items() if secret in text]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """A campaign with all of its secrets planted, whose items have run, one of them in vain."""
    project = Campaign(tmp_path_factory.mktemp("secrets") / "project", base=PLAN)
    folder = project.folder
    (folder / "optrack.toml").write_text("cpu_share = 1\nnotify = 'cat >> notified.txt'\n", encoding="utf-8")
    (folder / ".gitignore").write_text(".optrack\nnotified.txt\n", encoding="utf-8")
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    for words in (("init",), ("add", "server.py", "bench.sh", ".gitignore"), ("commit", "-m", "before")):
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    edited = f'\nimport os\nos.environ["X_SECRET"] = "{PLANTED["edited"]}"\n'
    (folder / "server.py").write_text(SERVER + edited, encoding="utf-8")
    (folder / "client.py").write_text(f'login(auth=("me", "{PLANTED["untracked"]}"))\n', encoding="utf-8")
    (folder / "prod.env").write_text(f"{PLANTED['prod_env']}\nPW={PLANTED['prod_env']}\n", encoding="utf-8")
    (folder / "bench.sh").write_text(f"{BENCH}\necho $CALLER_PASSWORD\n", encoding="utf-8")
    for item in ("baseline", "1", "2"):
        assert project.call("run", item, env=CALLER).code == (1 if item == "2" else 0)
    project.call("note", "1", f"it needs {PLANTED['note']}")
    project.call("mark", "3", "cancelled", "--why", f"api_key={PLANTED['why']}")
    project.call("accept", "load", "--why", f"password: {PLANTED['accepted']}")
    project.call("add", f"Another with token={PLANTED['added']}", "--id", "9")
    yield project


@pytest.mark.parametrize("arguments", EXITS, ids=" ".join)
def test_no_exit_shows_a_planted_secret(campaign: Campaign, arguments: tuple[str, ...]) -> None:
    runs = {run["item"]: run["id"] for run in reversed(campaign.runs())}
    words = [runs[word] if arguments[0] in ("log", "replay") and word in runs else word for word in arguments]
    called = campaign.call(*words, env=CALLER)
    assert called.code in (0, 1, 3), called.err
    assert called.out or called.err
    assert leaks(called.out + called.err) == []
    if "-o" in arguments:
        assert leaks((campaign.folder / arguments[-1]).read_text(encoding="utf-8")) == []


def test_the_record_holds_no_planted_secret(campaign: Campaign) -> None:
    state = campaign.folder / ".optrack"
    with closing(sqlite3.connect(state / "optrack.db")) as database:
        dump = "\n".join(database.iterdump())
    assert "CALLER_PASSWORD" in dump
    assert leaks(dump) == []
    for file in state.rglob("*"):
        if file.is_file() and file.suffix != ".log":
            assert leaks(file.read_bytes().decode(errors="replace")) == [], file


def test_the_raw_logs_hold_what_the_processes_printed(campaign: Campaign) -> None:
    logs = campaign.folder.glob(".optrack/runs/*/launch-*/*.log")
    assert PLANTED["caller"] in "".join(log.read_text(encoding="utf-8") for log in logs)


def test_who_is_notified_gets_no_planted_secret(campaign: Campaign) -> None:
    told = (campaign.folder / "notified.txt").read_text(encoding="utf-8")
    assert "run_ended" in told
    assert leaks(told) == []


def test_no_tool_of_an_agent_answers_with_a_planted_secret(
    campaign: Campaign,
) -> None:
    pytest.importorskip("mcp")
    requests = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}
        for number, (tool, given) in enumerate(
            (
                ("context", {}),
                ("plan", {}),
                ("status", {}),
                ("next", {}),
                ("results", {"what": "1"}),
                ("results", {"what": "2"}),
                ("failures", {}),
                ("compare", {"candidate": "1", "baseline": "baseline"}),
                ("export", {"format": "json"}),
                ("export", {"format": "md"}),
            ),
            start=2,
        )
    ]
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *requests,
    ]
    answers = answered(campaign, lines, len(requests) + 1)
    assert len(answers) == len(requests) + 1
    assert not any(json.loads(answer).get("result", {}).get("isError") for answer in answers)
    assert leaks("\n".join(answers)) == []


def answered(campaign: Campaign, lines: Sequence[Mapping[str, object]], count: int) -> list[str]:
    """Return the answers of a server on standard input and output to these messages."""
    from tests.end_to_end.campaigns import command

    with subprocess.Popen(
        command(("mcp", "--project", str(campaign.folder))),
        cwd=campaign.folder,
        env=campaign.environment(CALLER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        found = []
        for line in lines:
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            if "id" in line:
                found.append(server.stdout.readline())
        server.stdin.close()
        server.wait(timeout=60)
    return [line for line in found if line][:count]


def test_a_short_word_under_a_telling_name_is_not_looked_for(tmp_path: Path) -> None:
    project = Campaign(tmp_path / "project", "## 1: The default admin speed\n", base=QUICK)
    shown = project.call("status", env={"API_PASSWORD": "admin", "X_SECRET": "speed", "Y_SECRET": "default"})
    assert "The default admin speed" in shown.out
