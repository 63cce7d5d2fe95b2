"""Files count by what ran: what commands, scripts, modules and processes use is compared whatever git calls it, and
what nobody uses, or a run wrote, stands in no verdict's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.campaigns import BASE, SERVER, Campaign, Make, item
from tests.end_to_end.test_fairness import git, judged

START = "exec python3 -S -E server.py --config ../cfg.yaml\n"
OPENING = f"""\
import os, sys, mmap, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tuning
held = open("data/" + "held.bin", "rb")
{SERVER}"""
CLIENT = """\
import random, os, json, socket, uuid
with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as server:
    server.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    server.recv(99)
for name in ("results.jsonl", "out-%s.json" % uuid.uuid4()):
    with open(name, "a") as file:
        file.write(json.dumps({"at": random.random()}))
print("score = %.3f" % (float(os.environ.get("SPEED", 100)) + random.random()))
"""
PLAN = (
    BASE.replace("exec python3 -S -E server.py", "bash start.sh")
    .replace(
        "bash bench.sh",
        "mybench && python3 -S ../client.py --data=prompts.jsonl --model model | tee last.txt",
    )
    .replace("launches: 3", "launches: 2\norder: block")
)
TREATED = "".join(item(str(n), f"Faster {n}", 'env: {SPEED: "140"}') for n in range(1, 5))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """A project in a repository, with files in and outside it that its commands use, and a measured baseline."""
    top = tmp_path_factory.mktemp("used")
    project = Campaign(top / "project", TREATED, base=PLAN)
    texts = {
        "start.sh": START,
        "server.py": OPENING,
        ".gitignore": ".optrack\n*.bin\ntuning.py\nmodel/\nprompts.jsonl\n",
        "tuning.py": "LEVEL = 1\n",
        "prompts.jsonl": "{}\n",
        "data/held.bin": "0" * 100,
        "model/config.json": "{}",
        "tests/test_server.py": "def test(): pass\n",
        "../cfg.yaml": "chunk: 1\n",
        "../client.py": CLIENT,
        "../bin/mybench": "#!/bin/sh\nexit 0\n",
    }
    for name, text in texts.items():
        file = project.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (top / "bin" / "mybench").chmod(0o755)
    for words in (("init",), ("add", "-A"), ("commit", "-m", "before")):
        git(project, *words)
    assert call(project, "run", "baseline") == 0
    return project


def call(project: Campaign, *words: str) -> int:
    """Call a command with the folder of `mybench` on its PATH, and return its status."""
    path = f"{project.folder.parent / 'bin'}:{project.environment()['PATH']}"
    return project.call(*words, env={"PATH": path}).code


def test_what_nobody_uses_and_what_a_run_writes_leaves_a_comparison_fair(campaign: Campaign) -> None:
    for name in ("analysis/plot.py", "a.ipynb", ".claude/settings.local.json", "notes.yaml"):
        (campaign.folder / name).parent.mkdir(exist_ok=True)
        (campaign.folder / name).write_text("x = 1\n", encoding="utf-8")
    (campaign.folder / "tests" / "test_server.py").write_text("def test(): assert 1\n", encoding="utf-8")
    (campaign.folder / "tuning.py").touch()
    assert call(campaign, "run", "1") == 0
    found = judged(campaign, "1")
    assert [d["field"] for d in found["differences"] if d["severity"] == "blocking"] == []
    assert found["comparison"] == "fair"


def test_each_file_that_something_which_ran_uses_is_named_where_it_differs(campaign: Campaign) -> None:
    planted = {
        "../cfg.yaml": "chunk: 2\n",
        "../client.py": CLIENT + "# more\n",
        "../bin/mybench": "#!/bin/sh\nexit 0 # other\n",
        "tuning.py": "LEVEL = 2\n",
        "prompts.jsonl": '{"prompt": 1}\n',
        "data/held.bin": "1" * 100,
        "model/config.json": '{"layers": 1}',
    }
    before = {name: (campaign.folder / name).read_text(encoding="utf-8") for name in planted}
    for name, text in planted.items():
        (campaign.folder / name).write_text(text, encoding="utf-8")
    assert call(campaign, "run", "2") == 0
    found = judged(campaign, "2")
    assert found["comparison"] == "unfair"
    fields = [d["field"] for d in found["differences"] if d["severity"] == "blocking"]
    for name in planted:
        assert [f for f in fields if Path(name).name in f], (name, fields)
    assert len(fields) == len(planted)
    assert campaign.call("accept", "tuning.py", "--why", "it is a comment").code == 0
    assert (
        len([d for d in judged(campaign, "2")["differences"] if d["severity"] == "blocking"])
        == len(planted) - 1
    )
    for name, text in before.items():
        (campaign.folder / name).write_text(text, encoding="utf-8")


def test_changed_tracked_code_is_told_by_the_names_of_its_files(campaign: Campaign) -> None:
    file = campaign.folder / "server.py"
    file.write_text(file.read_text(encoding="utf-8") + "# faster\n", encoding="utf-8")
    assert call(campaign, "run", "3") == 0
    found = judged(campaign, "3")
    assert (found["verdict"], found["comparison"]) == (None, "unfair")
    assert "server.py" in found["said"]
    assert len([d for d in found["differences"] if d["severity"] == "blocking"]) == 1


def test_a_file_that_only_the_candidates_launches_find_otherwise_is_named(make: Make) -> None:
    hook = 'echo "chunk: ${SPEED:-1}" > cfg.yaml\nexec python3 -S -E server.py --config cfg.yaml\n'
    base = BASE.replace("exec python3 -S -E server.py", "bash start.sh").replace("launches: 3", "launches: 2")
    project = make(item("1", "Faster", 'env: {SPEED: "140"}'), base=base)
    (project.folder / "start.sh").write_text(hook, encoding="utf-8")
    (project.folder / "cfg.yaml").write_text("chunk: 0\n", encoding="utf-8")
    (project.folder / ".gitignore").write_text(".optrack\ncfg.yaml\n", encoding="utf-8")
    for words in (("init",), ("add", "-A"), ("commit", "-m", "before")):
        git(project, *words)
    assert project.call("run", "1").code == 0
    found = judged(project)
    assert found["comparison"] == "unfair"
    assert "cfg.yaml" in found["said"]
