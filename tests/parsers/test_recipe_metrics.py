"""Metrics that a recipe defines: where they are looked for, and what happens if they aren't there."""

from __future__ import annotations

from optrack.metrics.read import parse_output
from optrack.model.recipe_parts import MetricRule
from tests.parsers.samples import sglang_row


def test_the_last_match_of_an_expression_in_the_output_counts() -> None:
    rules = {"score": MetricRule(regex=r"score = ([\d.]+)", better="higher", unit="points")}
    parsed = parse_output("rules", b"score = 1.5\nscore = 2.5\n", rules=rules)
    assert (parsed.tool, parsed.invalid, parsed.value("score")) == ("rules", None, 2.5)
    assert (parsed.readings[0].metric.unit, parsed.readings[0].metric.better) == ("points", "higher")


def test_the_median_of_the_matches_in_the_servers_log_counts() -> None:
    rules = {"verify_ms": MetricRule(log=r"verify: ([\d.]+) ms")}
    log = b"verify: 30.0 ms\nverify: 28.0 ms\nverify: 99.0 ms\n"
    parsed = parse_output("auto", sglang_row(), rules=rules, log=log)
    assert (parsed.value("verify_ms"), parsed.value("output_throughput")) == (30.0, 142.2)


def test_a_path_reaches_into_the_last_json_document_that_has_it() -> None:
    data = b'{"runs": [{"name": "a", "tps": 17.5}, {"name": "b", "tps": 25.5}]}\n{"other": 1}\n'
    rules = {"tps": MetricRule(json_path="runs[?name=='b'].tps")}
    assert parse_output("rules", data, rules=rules).value("tps") == 25.5


def test_a_column_is_read_by_its_name() -> None:
    rules = {"speed": MetricRule(csv="speed")}
    assert parse_output("rules", b"size,speed\n1,10.5\n2,20.5\n", rules=rules).value("speed") == 20.5


def test_a_rule_may_name_another_file() -> None:
    rules = {"speed": MetricRule(regex=r"([\d.]+) GB/s", file="out.txt")}
    assert parse_output("rules", b"", rules=rules, files={"out.txt": b"9.5 GB/s"}).value("speed") == 9.5
    missing = parse_output("rules", b"x", rules=rules)
    assert missing.notes == ("metric speed: the file out.txt is missing",)


def test_what_a_rule_defines_replaces_what_the_tool_says() -> None:
    rules = {"output_throughput": MetricRule(json_path="total_output_tokens")}
    parsed = parse_output("auto", sglang_row(), rules=rules)
    assert [r.value for r in parsed.readings if r.metric.name == "output_throughput"] == [640.0]


def test_a_rule_that_finds_nothing_says_why() -> None:
    rules = {
        "a": MetricRule(regex="nothing like it"),
        "b": MetricRule.model_construct(regex="("),
        "c": MetricRule.model_construct(json_path="a["),
        "d": MetricRule(csv="speed"),
        "e": MetricRule(regex=r"value: (\w+)"),
        "f": MetricRule(),
    }
    parsed = parse_output("rules", b"value: high\n", rules=rules)
    assert parsed.invalid == "none of the recipe's metrics was found in the output"
    assert len(parsed.notes) == len(rules)
    assert "'high' is not a number" in parsed.notes[4]


def test_a_metric_is_found_although_bytes_around_it_are_not_text() -> None:
    data = b"\x96\xff 55%|\xe2\x96\r\xe2\x96\x88 done\nspeed: 12.5\n"
    assert (
        parse_output("rules", data, rules={"speed": MetricRule(regex=r"speed: ([\d.]+)")}).value("speed")
        == 12.5
    )
