"""A section of an existing document is rewritten, and nothing else of it."""

from __future__ import annotations

import pytest

from optrack.errors import UsageError
from optrack.render.section import with_section

BEGIN, END = b"<!-- optrack:begin tuning -->", b"<!-- optrack:end tuning -->"


def put(document: bytes, text: str = "new") -> bytes:
    """Put a section into a document."""
    return with_section(document, "tuning", text, where="doc.md")


def test_a_document_without_marks_gets_the_section_at_its_end() -> None:
    assert put(b"# Mine\n") == b"# Mine\n\n" + BEGIN + b"\nnew\n" + END + b"\n"


def test_writing_twice_changes_nothing() -> None:
    once = put(b"# Mine\n")
    assert put(once) == once


def test_what_is_outside_stays_byte_for_byte() -> None:
    before, after = b"\xff odd \x00 bytes  \n\t\n", b"\r\n tail without a line end"
    document = before + BEGIN + b"\nold\n" + END + after
    assert put(document) == before + BEGIN + b"\nnew\n" + END + after


def test_line_ends_follow_the_document() -> None:
    document = b"a\r\nb\r\n" + BEGIN + b"\r\nold\r\n" + END + b"\r\n"
    assert put(document, "x\ny") == b"a\r\nb\r\n" + BEGIN + b"\r\nx\r\ny\r\n" + END + b"\r\n"


def test_marks_within_a_fence_are_text() -> None:
    document = b"```\n" + BEGIN + b"\n" + END + b"\n```\n"
    assert put(document).startswith(document)


@pytest.mark.parametrize(
    "document",
    [BEGIN, END, END + b"\n" + BEGIN, BEGIN + b"\n" + BEGIN + b"\n" + END, BEGIN + b"\n" + END + b"\n" + END],
)
def test_marks_that_do_not_pair_up_are_refused(document: bytes) -> None:
    with pytest.raises(UsageError, match="don't pair up"):
        put(document)


def test_sections_of_several_plans_live_in_one_document() -> None:
    both = with_section(put(b""), "other", "theirs", where="doc.md")
    assert put(both, "newer").count(b"theirs") == 1
    assert put(both, "newer").count(b"newer") == 1
