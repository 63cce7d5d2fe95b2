"""The same plan reads alike in every encoding that is read; any other is refused with the byte."""

from __future__ import annotations

import pytest

from optrack.errors import PlanError
from optrack.plan.read import parse_plan
from tests.plan.plans import CAMPAIGN, outline, read


@pytest.mark.parametrize(
    "data",
    [
        CAMPAIGN.encode("utf-8-sig"),
        CAMPAIGN.replace("\n", "\r\n").encode(),
        CAMPAIGN.replace("\n", "\r\n").encode("utf-8-sig"),
        CAMPAIGN.encode("utf-16"),
        b"\xfe\xff" + CAMPAIGN.encode("utf-16-be"),
    ],
)
def test_encodings_and_line_ends_read_alike(data: bytes) -> None:
    plan = parse_plan(data, name="plan", path="plan.md")
    assert plan == read(CAMPAIGN)
    assert len(outline(plan)) == 6


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"# Plan\n\ncaf\xe9\n", "byte 0xe9 at offset 11"),
        (b"# Plan\n\0", "byte 0x00 at offset 7"),
        ("# Plan".encode("utf-16-le"), "UTF-16 without a byte order mark"),
        ("# Plan".encode("utf-32"), "UTF-32"),
        (b"\xff\xfe#", "UTF-16-LE"),
    ],
)
def test_another_encoding_is_an_error_that_names_the_byte(data: bytes, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(data, name="plan", path="plan.md")
    assert said in caught.value.message
    assert caught.value.where is not None and caught.value.where.startswith("plan.md:")
