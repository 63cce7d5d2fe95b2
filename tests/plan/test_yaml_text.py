"""Recipes keep what was written: only what prints back as a number is one."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.plan.yaml_text import YamlError, load_yaml


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("8", 8), ("0.88", 0.88), ("-3", -3), ("true", True), ("null", None), ("~", None), ("", None)),
        *(
            (w, w)
            for w in ("no", "on", "1e3", "0777", "1.10", "1_000", "2025-01-02", ".5", "0o17", "12:30", "y")
        ),
        *(("'8'", "8"), ('"true"', "true"), (".inf", ".inf"), ("9" * 40, "9" * 40)),
    ],
)
def test_a_scalar_is_a_number_only_if_it_prints_back(written: str, value: Any) -> None:
    found = load_yaml(f"key: {written}").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_anchors_aliases_and_merge_keys_work() -> None:
    data = load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\n").data
    assert data["b"] == {"x": 1, "y": 3}
    assert data["c"] == data["a"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3", 3, "twice, first on line 1"),
        ("a:\n\tb: 1", 2, "tab"),
        ("a: [1", 1, "YAML"),
        ("a: 1\n--- \nb: 2", 2, "one YAML document"),
        ("a: *nowhere", 1, "undefined alias"),
        ("a: &a [*a]", 1, "too deep"),
    ],
)
def test_what_is_wrong_has_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(YamlError) as caught:
        load_yaml(text)
    assert caught.value.line == line
    assert said in caught.value.message


def test_aliases_that_expand_without_end_are_refused() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 12)]
    with pytest.raises(YamlError):
        load_yaml("\n".join(lines))
