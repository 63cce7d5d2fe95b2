"""What is followed and what failed is told as it is: logs begun anew, and what a failed set-up was to change."""

from __future__ import annotations

import json
import signal

from tests.end_to_end.campaigns import QUICK, Make, ended, item, wait_for

ONCE = QUICK.replace("launches: 3", "launches: 1")
ANEW = """\
import os, time
print("\\n".join(f"A{n:02}" for n in range(20)), flush=True)
while not os.path.exists("followed"):
    time.sleep(0.05)
os.ftruncate(1, 0)
print("\\n".join(f"B{n:02}" for n in range(20)), flush=True)
print("score = 5", flush=True)
"""


def test_a_log_that_is_truncated_while_it_is_followed_is_shown_whole(make: Make) -> None:
    project = make(item("1", "Anew", "bench: python3 -S anew.py"), base=ONCE)
    (project.folder / "anew.py").write_text(ANEW)
    run = json.loads(project.call("run", "1", "--detach", "--json").out)["run"]["id"]
    logs = project.folder / ".optrack" / "runs" / run
    wait_for(lambda: any("A19" in log.read_text() for log in logs.glob("*/bench.log")), "the first half")
    following = project.start("log", run, "--which", "bench", "-f")
    assert following.stdout is not None
    first = [following.stdout.readline() for _ in range(20)]
    (project.folder / "followed").touch()
    out = "".join(first) + ended(following).out
    assert project.call("attach", run).code == 0
    assert out.split() == [*(f"{half}{n:02}" for half in "AB" for n in range(20)), "score", "=", "5"]


def test_a_failed_set_up_is_credited_with_what_the_item_changes(make: Make) -> None:
    project = make(
        item("1", "No build", "setup: 'echo \"error: no rule\" >&2; exit 2'\nenv: {EXTRA: 1}"), base=ONCE
    )
    project.call("next")
    assert project.call("run", "1").code == 1
    shown = project.show("1")
    assert shown["runs"][-1]["stage"] == "setup" and "no rule" in shown["runs"][-1]["failure"]["message"]
    assert "env.EXTRA" in shown["judgement"]["attribution"]["factors"]


def test_the_same_results_are_imported_once(make: Make) -> None:
    project = make(item("1", "Elsewhere", "env: {EXTRA: 1}"), base=ONCE)
    (project.folder / "out.txt").write_text("score = 5.25\n")
    assert project.call("import", "out.txt", "--item", "1").code == 0
    again = project.call("import", "out.txt", "--item", "1")
    assert again.code == 2 and "already" in again.err
    (project.folder / "out.txt").write_text("score = 5.5\n")
    assert project.call("import", "out.txt", "--item", "1").code == 0


def test_looking_ends_nothing_and_needs_no_id(make: Make) -> None:
    bench = "bench: 'echo begun; while [ ! -e looked ]; do sleep 0.05; done; bash bench.sh'"
    project = make(item("1", "Watched", bench), base=ONCE)
    assert project.call("log").code == 2
    assert project.call("stop").code == 2
    run = json.loads(project.call("run", "1", "--detach", "--json").out)["run"]["id"]
    logs = project.folder / ".optrack" / "runs" / run
    wait_for(lambda: any("begun" in log.read_text() for log in logs.glob("*/bench.log")), "the pass")
    following = project.start("log", "1", "--which", "bench", "-f")
    assert following.stdout is not None and following.stdout.readline() == "begun\n"
    attached = project.start("attach", "1", "--json")
    assert attached.stderr is not None and "launch" in attached.stderr.readline()
    for looking in (following, attached):
        looking.send_signal(signal.SIGINT)
    assert ended(following).code == 130
    left = ended(attached)
    assert left.code == 130 and json.loads(left.out)["run"] == {"id": run, "outcome": None}
    assert json.loads(project.call("show", "--json").out)["run"]["id"] == run
    assert project.call("stop", "nothing").code == 2
    stopped = project.call("stop", "1", "--json")
    assert json.loads(stopped.out)["run"]["outcome"] == "interrupted"
    assert "begun" in project.call("log", "--which", "bench").out
