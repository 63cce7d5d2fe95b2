"""Commands of telling: exports in every format, reports, replays, notes, imports."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.test_schemas import RESULT


def test_a_markdown_file_has_its_chart_beside_it(folder: Path, call: Call) -> None:
    assert call("export", "-o", "out/my log.md").code == 0
    assert "](my%20log.svg)" in (folder / "out" / "my log.md").read_text()
    assert (folder / "out" / "my log.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("notes.md", ("export",)),
        ("notes.html", ("export",)),
        ("notes.json", ("export",)),
        ("notes.csv", ("export",)),
        ("notes.svg", ("export",)),
        ("notes.md", ("report", "1B")),
        ("notes.sh", ("replay", "0020")),
    ],
)
def test_a_file_is_replaced_only_where_optrack_wrote_it(
    folder: Path, call: Call, name: str, command: tuple[str, ...]
) -> None:
    target = folder / name
    target.write_text("item,mine\n" if name.endswith("csv") else '{"mine": 1}\n', encoding="utf-8")
    before = target.read_bytes()
    called = call(*command, "-o", name, "--json")
    assert (called.code, target.read_bytes()) == (2, before)
    assert "optrack didn't write it" in called.json["error"]["message"]
    target.unlink()
    assert [call(*command, "-o", name).code for _ in range(2)] == [0, 0]
    assert {path.name for path in folder.glob("notes*")} <= {name, "notes.svg"}


def test_a_picture_of_somebody_elses_keeps_its_name(folder: Path, call: Call) -> None:
    mine = folder / "log.svg"
    mine.write_text("<svg/>", encoding="utf-8")
    assert call("export", "-o", "log.md").code == 0
    assert mine.read_text(encoding="utf-8") == "<svg/>"
    assert "](log-chart.svg)" in (folder / "log.md").read_text(encoding="utf-8")
    assert (folder / "log-chart.svg").is_file()


def test_a_short_log_has_the_story_and_the_table_and_no_evidence(folder: Path, call: Call) -> None:
    out = call("export", "--short").out
    assert "**Gained**: **1B**" in out and "\n| ↳ 1B |" in out
    assert "<details>" not in out


def test_the_name_of_the_file_chooses_the_format(folder: Path, call: Call) -> None:
    for name, begin in (
        ("a.html", "<!doctype html>"),
        ("a.json", "{"),
        ("a.csv", "item,"),
        ("a.svg", "<svg"),
    ):
        assert call("export", "-o", name).code == 0
        assert (folder / name).read_text().startswith(begin)


def test_every_sample_is_a_row(folder: Path, call: Call) -> None:
    rows = list(csv.DictReader(io.StringIO(call("export", "--format", "csv").out)))
    measured = [row for row in rows if row["metric"] == "output_throughput"]
    assert len(measured) == 24
    assert {row["verdict"] for row in rows if row["item"] == "1B"} == {"improvement"}
    assert [row["item"] for row in rows if row["by_hand"] == "yes"] == ["3"]


def test_update_rewrites_only_its_own_section(folder: Path, call: Call) -> None:
    document = folder / "README.md"
    document.write_bytes(b"# Mine\n\nkept\n")
    assert call("export", "--update", "README.md").code == 0
    first = document.read_bytes()
    assert first.startswith(b"# Mine\n\nkept\n\n<!-- optrack:begin tuning -->\n## Progress: ")
    assert call("export", "--update", "README.md").code == 0
    assert document.read_bytes() == first
    call("note", "1B", "one more")
    call("export", "--update", "README.md")
    assert b"one more" in document.read_bytes()
    assert document.read_bytes().count(b"optrack:begin") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--since", "soon"),
        ("--items", "9Z"),
        ("--update", "x.md", "-o", "y.md"),
        ("--format", "mlflow"),
        ("-o", "plans/tuning.md/x.md"),
        ("--format", "pdf"),
    ],
)
def test_a_bad_export_is_one_clear_error(folder: Path, call: Call, arguments: tuple[str, ...]) -> None:
    called = call("export", *arguments, "--json")
    assert called.code == 2
    assert called.json["error"]["message"]


def test_since_and_items_narrow_it(folder: Path, call: Call) -> None:
    assert "### 1A" not in call("export", "--items", "1b").out
    assert "### 1A" in call("export", "--since", "2026-11-01").out


def test_a_report_is_of_an_item_or_a_run(folder: Path, call: Call) -> None:
    assert call("report", "1A").out.startswith("# 1A: Tree algorithm")
    assert call("report", "0020").out.startswith("# Run `")
    assert call("report", "nothing").code == 2


def test_a_replay_is_a_script_that_bash_accepts(folder: Path, call: Call) -> None:
    script = call("replay", "0020").out
    assert 'python server.py --port "$PORT"' in script or "--port $PORT" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert call("replay", "0020", "-o", "r.sh").code == 0
    assert (folder / "r.sh").stat().st_mode & 0o111


def test_a_note_is_shown_with_its_author(folder: Path, call: Call) -> None:
    call("note", "1b", "two\nlines")
    assert "two" in call("show", "1B").out
    noted = call("show", "1B", "--json").json["item"]["notes"][-1]
    assert (noted["who"], noted["text"]) == ("ada", "two\nlines")
    assert call("note", "1B", "  ").code == 2


def test_failures_are_found_by_fingerprint(folder: Path, call: Call) -> None:
    found = call("failures", "--json").json["failures"]
    assert [failure["items"] for failure in found] == [["1A"]]
    assert call("failures", found[0]["fingerprint"][:6]).code == 0
    assert call("failures", "zzz").code == 2


def test_an_imported_result_is_labelled_and_credits_nothing(folder: Path, call: Call) -> None:
    for number in range(3):
        value = RESULT | {"output_throughput": 150.0 + number}
        (folder / f"r{number}.json").write_text(json.dumps(value))
    called = call("import", "r0.json", "r1.json", "r2.json", "--item", "2", "--launch-each", "--json")
    assert "results" in called.json, called.json
    judgement = called.json["results"][0]["judgement"]
    assert judgement["verdict"] != "improvement"
    assert judgement["comparison"] != "fair"
    assert "(imported)" in call("report", "2").out
    rows = csv.DictReader(io.StringIO(call("export", "--format", "csv").out))
    assert {row["imported"] for row in rows if row["item"] == "2"} == {"yes"}


def test_a_sweep_is_imported_with_its_failures(folder: Path, call: Call) -> None:
    sweep = folder / "sweep" / "20260101_000000"
    for seqs, value in ((32, 100.0), (64, 130.0)):
        own = sweep / f"SERVE--max_num_seqs={seqs}"
        own.mkdir(parents=True)
        for run in range(2):
            data = RESULT | {"max_num_seqs": seqs, "run_number": run, "output_throughput": value + run}
            (own / f"run={run}.json").write_text(json.dumps(data))
        (own / "summary.json").write_text("[]")
    failure = {"error_type": "RuntimeError", "error": "out of memory"}
    (sweep / "SERVE-max_num_seqs=512-failure.json").write_text(json.dumps(failure))
    results = call("import", "sweep", "--json").json["results"]
    assert {r["run"]["item"]: r["run"]["outcome"] for r in results} == {
        "sweep-max_num_seqs=32": "succeeded",
        "sweep-max_num_seqs=64": "succeeded",
        "sweep-max_num_seqs=512": "failed",
    }
    assert results[0]["run"]["recipe"]["server"] == {"max_num_seqs": 32}
    assert call("import", "sweep", "--baseline", "nonsense").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("none.json", "--item", "2"),
        ("nofolder",),
        ("plans",),
        ("toml", "--item", "9Z"),
        ("toml", "--item", "2"),
        ("toml",),
    ],
)
def test_what_cannot_be_imported_is_one_clear_error(
    folder: Path, call: Call, arguments: tuple[str, ...]
) -> None:
    (folder / "toml").write_text("nothing here")
    called = call("import", *arguments)
    assert called.code == 2
    assert called.err.startswith("optrack: ")


def test_parsing_says_what_would_be_recorded(folder: Path, call: Call) -> None:
    (folder / "r.json").write_text(json.dumps(RESULT))
    assert call("parse", "r.json", "--json").json["metrics"]["output_throughput"]["value"] == 88.8
    (folder / "r.txt").write_text("nothing")
    assert call("parse", "r.txt").code == 2
    assert call("parse", "r.json", "--tool", "vlm").code == 2
