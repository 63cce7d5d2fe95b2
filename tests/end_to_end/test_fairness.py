"""No verdict is printed where something else than the treatment differs, and the words say what."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

from tests.end_to_end.campaigns import BASE, QUICK, Campaign, Make, ended, item, wait_for

FASTER = item("1", "Faster", 'env: {SPEED: "140"}')
BLOCK = BASE.replace("launches: 3", "launches: 3\norder: block")
CRASHING = """\
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(30)"])
time.sleep(1.0)
helper = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(30)"])
time.sleep(1.0)
worker.kill(); helper.kill()
sys.exit("RuntimeError: NCCL error: no such algorithm")
"""


def judged(project: Campaign, name: str = "1") -> Any:
    """Return the item's judgement, its reasons in one text."""
    judgement = project.show(name)["judgement"]
    return judgement | {"said": " ".join(judgement["reasons"])}


def git(project: Campaign, *arguments: str) -> None:
    """Call git in the project as somebody."""
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=project.folder, check=True, capture_output=True)


def test_variables_that_only_the_baselines_shell_had_leave_no_verdict(make: Make) -> None:
    project = make(FASTER, base=BLOCK)
    assert project.call("next", env={"NCCL_PROTO": "LL", "NCCL_ALGO": "Ring"}).code == 0
    assert project.call("next").code == 0
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == (None, "unfair")
    assert "NCCL_PROTO was LL in the baseline's processes and is not set in the candidate's." in found["said"]


def test_the_same_variables_do_no_harm_where_the_baseline_is_measured_beside(make: Make) -> None:
    project = make(FASTER)
    project.call("run", "baseline", env={"NCCL_PROTO": "LL"})
    project.call("next")
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == ("improvement", "fair")


def test_code_edited_while_a_run_goes_on_leaves_no_verdict(make: Make) -> None:
    project = make(FASTER)
    (project.folder / ".gitignore").write_text(".optrack\n", encoding="utf-8")
    for words in (("init",), ("add", "-A"), ("commit", "-m", "before")):
        git(project, *words)
    running = project.start("run", "1")
    wait_for(lambda: project.wrote("bench.log"), "the first pass")
    with (project.folder / "server.py").open("a", encoding="utf-8") as file:
        file.write("# faster\n")
    ended(running)
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == (None, "unfair")
    assert "server.py" in found["said"]


def test_without_a_repository_the_files_in_use_are_compared_and_that_is_told_in_each_order(
    make: Make,
) -> None:
    for order in ("block", "interleaved"):
        project = make(FASTER, base=QUICK.replace("launches: 3", f"launches: 2\norder: {order}"))
        project.call("run", "baseline", "1")
        found = judged(project)
        noted = [d["field"] for d in found["differences"] if d["severity"] == "note"]
        assert (found["comparison"], "git.project" in noted) == ("fair", True)
        if order == "block":
            with (project.folder / "bench.sh").open("a", encoding="utf-8") as script:
                script.write("# edited\n")
            project.call("run", "1")
            found = judged(project)
            blocking = [d["field"] for d in found["differences"] if d["severity"] == "blocking"]
            assert (found["comparison"], blocking) == ("unfair", ["files.bench.sh.sha256"])


def test_a_baseline_that_has_aged_is_measured_again_before_it_is_compared_with(make: Make) -> None:
    project = make(FASTER, base=QUICK.replace("launches: 3", "launches: 1\norder: block"))
    project.call("next")
    with closing(sqlite3.connect(project.folder / ".optrack" / "optrack.db")) as database:
        database.execute("DROP TRIGGER ended_run_is_not_changed")
        database.execute("UPDATE run SET started_at = '2001' || substr(started_at, 5)")
        database.commit()
    assert "> baseline is measured again before 1: The baseline was measured" in (
        project.call("next", "--explain").out
    )
    assert project.call("next").out.startswith("baseline: succeeded")
    assert project.call("next").out.startswith("1: succeeded")


def test_a_baseline_that_fails_when_it_is_measured_again_isnt_tried_for_ever(make: Make) -> None:
    base = QUICK.replace("launches: 3", "launches: 1\norder: block")
    project = make(FASTER, base=base)
    project.call("next")
    project.base = base.replace("bash bench.sh", "exit 3")
    project.write(item("1", "Faster", 'env: {SPEED: "140"}\nbench: bash bench.sh'))
    called = project.call("next", "--all")
    assert called.code == 1
    assert [run["item"] for run in project.runs()] == ["baseline", "baseline", "1"]


def test_attribution_is_resolved_as_soon_as_the_parts_of_a_treatment_are_measured(make: Make) -> None:
    project = make(item("1", "Both", 'env: {SPEED: "130", OTHER: "x"}'), base=QUICK)
    project.call("run", "baseline")
    project.call("next")
    assert judged(project)["attribution"]["status"] == "confounded"
    assert project.call("ablate", "1").code == 0
    assert project.call("next", "--all").code == 0
    found = judged(project)
    assert found["attribution"]["status"] == "single"
    assert "Each of env.OTHER and env.SPEED was judged by itself" in found["said"]
    assert "confounded" not in project.call("status").out


def test_a_baseline_with_a_secret_in_its_recipe_stays_fresh(make: Make) -> None:
    secret = "launches: 1\norder: block\nenv: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz0123456789}"
    project = make(FASTER, base=QUICK.replace("launches: 3", secret))
    project.call("next")
    assert "> 1 is the first in rank" in project.call("next", "--explain").out


def test_what_only_the_candidates_server_declines_is_told_beside_the_verdict(make: Make) -> None:
    launch = 'launch: echo "FastPath is disabled on this host"; exec python3 -S -E server.py'
    project = make(item("1", "Fast path", f'{launch}\nenv: {{SPEED: "100.1"}}\nfactor: the fast path'))
    assert project.call("run", "1").code == 0
    said = "The server said, and the baseline's didn't: FastPath is disabled on this host"
    assert said in judged(project)["said"]
    assert said in project.call("export").out


def test_a_start_that_fails_is_compared_by_what_its_processes_were_seen_to_have(make: Make) -> None:
    crash = "launch: exec python3 -S -E crash.py\nenv: {NCCL_ALGO: Tree}\nfactor: the tree"
    again = item("2", "Again", crash) + item("3", "With fewer files", crash)
    project = make(item("1", "Tree", crash) + again, base=BLOCK)
    (project.folder / "crash.py").write_text(CRASHING)
    for words in (("init",), ("add", "-A"), ("commit", "-m", "before")):
        git(project, *words)
    assert project.call("next").code == 0
    project.call("next")
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == ("failed", "fair"), found["differences"]
    project.call("next", env={"NCCL_PROTO": "LL"})
    found = judged(project, "2")
    assert (found["verdict"], found["comparison"]) == ("failed", "unfair")
    assert "NCCL_PROTO" in found["said"]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 100, hard))
    try:
        project.call("next")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    found = judged(project, "3")
    assert (found["verdict"], found["comparison"]) == ("failed", "fair")
    assert any("open_files" in d["field"] for d in found["differences"])


def test_what_a_start_script_ran_before_isnt_taken_for_the_server_that_failed(make: Make) -> None:
    start = "sleep 0.7\n. ./env.sh\nif [ $CRASH ]; then exit 3; else python3 -S -E server.py; fi\n"
    base = BLOCK.replace("exec python3 -S -E server.py", "bash start.sh").replace(
        "launches: 3", "launches: 1\nenv: {NCCL_PROTO: LL}"
    )
    project = make(item("1", "Crash", 'env: {CRASH: "1"}'), base=base)
    (project.folder / "start.sh").write_text(start)
    (project.folder / "env.sh").write_text("")
    assert project.call("next").code == 0
    (project.folder / "env.sh").write_text("unset NCCL_PROTO\n")
    project.call("next")
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == ("failed", "unknown")
    assert "env.server" in [d["field"] for d in found["differences"] if d["severity"] == "blocking"]


def test_a_variable_lost_in_a_later_launch_leaves_no_verdict(make: Make) -> None:
    lost = "[ -e $RUN_DIR/../launch-1 ] && [ $CRASH ] && unset NCCL_PROTO"
    start = f"{lost}\nexec python3 -S -E server.py\n"
    base = BLOCK.replace("exec python3 -S -E server.py", "exec bash start.sh").replace(
        "launches: 3", "launches: 2\nenv: {NCCL_PROTO: LL}"
    )
    project = make(item("1", "Twice", 'env: {CRASH: "1"}'), base=base)
    (project.folder / "start.sh").write_text(start)
    assert project.call("next").code == 0
    project.call("next")
    found = judged(project)
    assert (found["verdict"], found["comparison"]) == (None, "unfair")
    assert "NCCL_PROTO was set to LL and is not set or LL in the server's processes." in found["said"]
