"""What must still hold beside the speed: a faster server that answers wrongly or late is a regression."""

from __future__ import annotations

import re

from tests.end_to_end.campaigns import ASK, BASE, SERVER, Campaign, Make, item

CHECK = """\
import os, socket
with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as asked:
    asked.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    print("accuracy over 3 questions:", asked.recv(4096).split(b"\\r\\n\\r\\n")[1].decode())
"""
BENCH = (
    f"{ASK}\n"
    + """\
awk -v r=$RANDOM 'BEGIN {
  printf "score = %.3f\\n", (ENVIRON["SPEED"] ? ENVIRON["SPEED"] : 100) + r / 32768
  printf "latency = %.3f\\n", (ENVIRON["LATE"] ? ENVIRON["LATE"] : 10) + r / 327680
}'
"""
)
GUARDED = BASE.replace(
    "launches: 3",
    """\
launches: 3
check:
  accuracy: {command: python3 -S -E ask.py, min: 0.9}
  latency_ms: {metric: latency_ms, worse: 5%}
derived: {cycle_ms: 1000 / score, break_even: baseline.score * latency_ms / 1000, none: 1 / (score - score)}""",
).replace(
    "unit: pt, better: higher}}\n",
    "unit: pt, better: higher}, latency_ms: {regex: 'latency = ([\\d.]+)', unit: ms, better: lower}}\n",
)


def guarded(make: Make, *items: str) -> Campaign:
    """Return a project whose server answers with its accuracy and whose benchmark tells its latency."""
    project = make("".join(items), base=GUARDED)
    answer = 'body = b"0.41" if os.environ.get("WRONG") else b"0.95"\n    client.sendall('
    wrong = SERVER.replace("client.sendall(", answer).replace("Length: 2", "Length: 4")
    (project.folder / "server.py").write_text(wrong.replace('ok")', '" + body)'), encoding="utf-8")
    (project.folder / "ask.py").write_text(CHECK, encoding="utf-8")
    (project.folder / "bench.sh").write_text(BENCH, encoding="utf-8")
    return project


def test_a_faster_server_that_answers_wrongly_is_a_regression_and_derived_metrics_are_shown(
    make: Make,
) -> None:
    project = guarded(
        make,
        item("1", "Faster", 'env: {SPEED: "140"}'),
        item("2", "Faster and wrong", 'env: {SPEED: "140", WRONG: "1"}\nfactor: cut corners'),
    )
    assert project.call("run", "1", "2").code == 0
    right, wrong = project.show("1")["judgement"], project.show("2")["judgement"]
    assert right["verdict"] == "improvement"
    assert {g["name"]: g["state"] for g in right["guards"]} == {"accuracy": "kept", "latency_ms": "kept"}
    assert (wrong["verdict"], wrong["comparison"]) == ("regression", "fair")
    assert wrong["effect"]["low"] > 0.3
    assert {g["name"]: g["state"] for g in wrong["guards"]} == {"accuracy": "broken", "latency_ms": "kept"}
    assert "accuracy is broken, so this is a regression whatever the speed." in wrong["reasons"]
    assert "guards:      accuracy broken, latency_ms kept" in project.call("show", "2").out
    assert "accuracy is 0.41, below the 0.9 that it must keep" in project.call("export").out
    shown = project.call("show", "1").out
    assert re.search(r"^derived:     cycle_ms = 7\.\d+ ms$", shown, re.MULTILINE)
    assert "derived:     break_even = 1.0" in shown
    assert "derived:     none = can't be computed" in shown
    log = project.call("export").out
    assert "| `cycle_ms` | 7." in log
    assert "none can't be computed" in log


def test_a_faster_server_whose_latency_grows_too_much_is_a_regression(make: Make) -> None:
    project = guarded(make, item("1", "Batched", 'env: {SPEED: "140", LATE: "12"}\nfactor: batching'))
    assert project.call("run", "1").code == 0
    judgement = project.show("1")["judgement"]
    assert judgement["verdict"] == "regression"
    assert {g["name"]: g["state"] for g in judgement["guards"]}["latency_ms"] == "broken"
