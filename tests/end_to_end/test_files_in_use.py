"""Files count by use: what ran names, reads or imports blocks a verdict where it differs, what it wrote doesn't."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.campaigns import Campaign, Make, item

PLAN = """\
---
title: Files
metric: {name: score, unit: pt, better: higher}
---

```yaml recipe
env: {PYTHONPATH: ../library, PATH: "../tools:/usr/local/bin:/usr/bin:/bin"}
launch: bash start.sh
bench: bash bench.sh --data ../data.jsonl --prompt=prompt.md && client | grep . && python3 write.py
metrics: {score: {regex: 'score = ([\\d.]+)', unit: pt, better: higher}}
order: block
launches: 1
repetitions: 2
timeout: {grace: 2s}
```

## Baseline

"""
SERVER = """\
import os, sys, socket
import beside, shared
from engine import core
open(os.path.join(sys.argv[1], "config.json")).read()
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("127.0.0.1", int(os.environ["PORT"])))
listening.listen(50)
while True:
    client, _ = listening.accept()
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    client.close()
"""
WRITE = """\
import os, time, pathlib
now = time.time_ns()
for folder in ("results", "cache"):
    pathlib.Path(folder).mkdir(exist_ok=True)
pathlib.Path("results", f"{now}.json").write_text("{}")
pathlib.Path("cache", f"kernel{now}.py").write_text("kernel = 1")
with open("appended.jsonl", "a") as file:
    file.write(f"{now}\\n")
"""
FILES = {
    "start.sh": "exec python3 -S server.py ../model $(cat ../flags)\n",
    "server.py": SERVER,
    "beside.py": "x = 1\n",
    "engine/__init__.py": "",
    "engine/core.py": "x = 1\n",
    "../library/shared.py": "x = 1\n",
    "../flags": "--depth 1\n",
    "../model/config.json": "{}",
    "../model/weights.bin": "0" * 9_000_000,
    "../data.jsonl": "{}\n",
    "../tools/client": "#!/bin/sh\necho score = 10$(date +%N)\n",
    "bench.sh": "exec 3<>/dev/tcp/127.0.0.1/$PORT; echo hello >&3; read -r line <&3\n",
    "write.py": WRITE,
    "prompt.md": "Hello\n",
    "appended.jsonl": "",
    "tests/test_engine.py": "x = 1\n",
    "README.md": "Hello\n",
    ".gitignore": ".optrack\nbeside.py\nlocks\n",
}
USED = [
    "start.sh",
    "server.py",
    "beside.py",
    "engine/core.py",
    "library/shared.py",
    "flags",
    "model/config.json",
    "model/weights.bin",
    "data.jsonl",
    "tools/client",
    "prompt.md",
]


@pytest.fixture
def campaign(make: Make) -> Campaign:
    project = make(item("1", "Faster", 'env: {SPEED: "140"}'), base=PLAN)
    for name, text in FILES.items():
        path = (project.folder / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (project.folder.parent / "tools" / "client").chmod(0o755)
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run(["git", *who, *words], cwd=project.folder, check=True, capture_output=True)
    assert project.call("run", "baseline").code == 0
    return project


def blocking(project: Campaign) -> dict[str, Any]:
    """The blocking differences of the item's comparison."""
    judgement = project.show("1")["judgement"]
    return {d["field"]: d for d in judgement["differences"] if d["severity"] == "blocking"}


def edit(path: Path) -> None:
    """Change a file's last bytes."""
    path.write_bytes(path.read_bytes() + b"\n# edited\n")


def test_what_ran_read_or_imported_is_named_where_it_differs_whatever_git_calls_it(
    campaign: Campaign,
) -> None:
    for name in USED:
        edit(next(p for p in (campaign.folder / name, campaign.folder.parent / name) if p.exists()))
    assert campaign.call("run", "1").code == 0
    found = " ".join(f"{field} {d['meaning']}" for field, d in blocking(campaign).items())
    assert [name for name in USED if name not in found] == []
    assert campaign.show("1")["judgement"]["comparison"] == "unfair"


def test_what_nothing_uses_and_what_the_runs_write_is_held_against_nobody(campaign: Campaign) -> None:
    edit(campaign.folder / "README.md")
    edit(campaign.folder / "tests" / "test_engine.py")
    for name in ("plots/plot.py", "notes.ipynb", ".tool/settings.local.json"):
        path = campaign.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    assert campaign.call("run", "1").code == 0
    assert blocking(campaign) == {}
    assert campaign.show("1")["judgement"]["comparison"] == "fair"
