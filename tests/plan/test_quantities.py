"""Amounts are read as people write them, and nonsense stays text."""

from __future__ import annotations

import pytest

from optrack.plan.quantity import quantity


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("5-10 ms", 5, 10, "ms"),
        ("5–10ms", 5, 10, "ms"),
        ("~2x", 2, 2, "x"),
        ("2-5x on 85% of decode", 2, 5, "x"),
        ("+5-8%", 5, 8, "%"),
        ("up to 1.65x", None, 1.65, "x"),
        ("<5% (tiny ops)", None, 5, "%"),
        (">20%", 20, None, "%"),
        ("85%+", 85, None, "%"),
        ("30 minutes", 30, 30, "minutes"),
        ("1-2 hours", 1, 2, "hours"),
        ("2 to 4 ms", 2, 4, "ms"),
        ("2-3 horas", 2, 3, "hours"),
        ("two lines", 2, 2, "lines"),
        ("1,500 lines", 1500, 1500, "lines"),
        ("10x-100x for large batches", 10, 100, "x"),
        ("7.7× faster (64.77s → 8.46s)", 7.7, 7.7, "x"),
        ("2x capacity, ~1.8x throughput", 1.8, 1.8, "x"),
        ("Low effort (~20 lines)", 20, 20, "lines"),
        ("0–8ms", 0, 8, "ms"),
        ("-1GB", 1, 1, "GB"),
        ("5-10", 5, 10, ""),
    ],
)
def test_an_amount_is_read_to_bounds_and_unit(
    text: str, low: float | None, high: float | None, unit: str
) -> None:
    amount = quantity(text)
    assert (amount.low, amount.high, amount.unit, amount.text) == (low, high, unit, text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Hours-Days",
            "None (same TFLOPS)",
            "Better quality",
            "v1.2",
            "3/10",
            "2025-01-02",
            "nan",
            "1e400x",
        ),
        *(
            "4-bit KV",
            "window=1024 too short",
            "allocates D=512 for 30 layers",
            "Easy (once Phase 2 is done)",
            "",
        ),
        *("#1 bottleneck", "H100", "10-5 ms", "Hours to verify, days to fix"),
    ],
)
def test_what_is_no_amount_stays_text(text: str) -> None:
    amount = quantity(text)
    assert (amount.low, amount.high, amount.text) == (None, None, text)


@pytest.mark.parametrize("text", ["12KB → ~9KB", "hit rate from ~71% to potentially 85%+"])
def test_a_change_from_one_amount_to_another_is_no_amount(text: str) -> None:
    assert quantity(text).low is None
    assert quantity(text).unit


def test_a_unit_alone_is_a_unit_without_numbers() -> None:
    assert quantity("Days (upstream PR)").unit == "days"
    assert quantity("Minutes once the build finishes").unit == "minutes"


def test_a_bare_number_counts_what_its_column_counts() -> None:
    assert quantity("5-10", unit="ms").unit == "ms"
