"""A comparison counts where both sides did the same work, and an imported number never replaces a measured one."""

from __future__ import annotations

import re

from tests.end_to_end.campaigns import QUICK, Make, item

BENCH = """\
awk -v r=$RANDOM 'BEGIN {
  print "Namespace(num_prompts=64, seed=1)"
  printf "Total generated tokens: %d\\n", ENVIRON["CUT"] ? 1024 : 8192
  if (ENVIRON["BREAK"]) print "Fehlgeschlagene Anfragen: 3"
  printf "score = %.3f\\n", (ENVIRON["SPEED"] ? ENVIRON["SPEED"] : 100) + r / 32768
}'
"""
BASE = QUICK.replace(
    "score: {regex", "total_generated_tokens: {regex: 'tokens: (.*)'}, score: {regex"
).replace("launches: 3", "launches: 2")


def test_work_that_differs_and_requests_that_fail_give_no_improvement_and_the_same_work_does(
    make: Make,
) -> None:
    items = {
        "1": 'env: {SPEED: "140"}',
        "3": 'env: {SPEED: "140", CUT: "1"}\nfactor: cut',
        "4": 'env: {SPEED: "140", BREAK: "1"}\nfactor: broken',
    }
    project = make("".join(item(label, f"Try {label}", recipe) for label, recipe in items.items()), base=BASE)
    (project.folder / "bench.sh").write_text(BENCH, encoding="utf-8")
    assert project.call("run", *items).code == 1
    found = {label: project.show(label)["judgement"] for label in items}
    verdicts = {label: judgement["verdict"] for label, judgement in found.items()}
    assert verdicts == {"1": "improvement", "3": None, "4": "failed"}
    reasons = {label: " ".join(judgement["reasons"]) for label, judgement in found.items()}
    assert found["1"]["comparison"] == "fair"
    assert "8,192 generated tokens a pass in the baseline and 1,024 in the candidate" in reasons["3"]
    assert "Fehlgeschlagene Anfragen: 3" in reasons["4"]

    (project.folder / "elsewhere.txt").write_text("score = 500\n", encoding="utf-8")
    assert project.call("import", "elsewhere.txt", "--item", "1").code == 0
    shown = project.call("show", "1").out
    assert project.items()["1"]["verdict"] == "improvement"
    assert re.search(r"\+3\d\.", shown)
