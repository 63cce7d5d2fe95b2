"""A log of any size is read by offset: a page costs a few small reads, wherever it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optrack.tui import follow


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def texts(page: follow.Page) -> list[str]:
    return [line.text for line in page.lines]


def test_the_end_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"".join(b"line %d\n" % i for i in range(1000)))
    assert texts(follow.page(log, None, -3, 3)) == ["line 997", "line 998", "line 999"]


def test_a_last_line_without_its_end_is_shown(tmp_path: Path) -> None:
    assert texts(follow.page(write(tmp_path / "log", b"one\ntwo"), None, -5, 5)) == ["one", "two"]


def test_moving_up_and_down_again_comes_back(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"".join(b"line %d\n" % i for i in range(5000)))
    end = follow.page(log, None, -10, 10)
    above = follow.page(log, end.top, -2500, 10)
    assert texts(above)[0] == "line 2490"
    assert follow.page(log, above.top, 2500, 10) == end


def test_moving_beyond_the_end_stops_at_the_last_page(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"a\nb\nc\nd\n")
    page = follow.page(log, 0, 99, 2)
    assert texts(page) == ["c", "d"]
    assert page.at_end


@given(data=st.binary(max_size=400), lines=st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_the_end_of_any_bytes_is_what_splitting_gives(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, lines: int
) -> None:
    log = write(tmp_path_factory.mktemp("any") / "log", data)
    whole = [part.decode("utf-8", errors="replace").rstrip("\r\n") for part in data.split(b"\n")]
    if data.endswith(b"\n") or not data:
        whole.pop()
    assert texts(follow.page(log, None, -lines, lines)) == whole[-lines:]


def test_a_file_of_two_gigabytes_costs_a_few_small_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(2 * 10**9)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"".join(b"line %d\n" % i for i in range(2000)))
    read = 0
    pread = os.pread

    def counting(fd: int, length: int, offset: int) -> bytes:
        nonlocal read
        data = pread(fd, length, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counting)
    assert texts(follow.page(log, None, -50, 50))[-1] == "line 1999"
    assert texts(follow.page(log, 10**9, 0, 50)) != []
    assert texts(follow.page(log, 10**9, -100, 50)) != []
    assert read < 8_000_000


def test_a_log_that_became_shorter_is_shown_from_its_end(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"new\n")
    assert texts(follow.page(log, 10_000, 0, 5)) == ["new"]


def test_a_missing_log_is_an_empty_page(tmp_path: Path) -> None:
    assert follow.page(tmp_path / "none", None, -5, 5).lines == ()
    assert follow.search(tmp_path / "none", "x", 0, backward=False) is None


@pytest.mark.parametrize("backward", [False, True])
def test_a_search_finds_the_line_across_blocks(tmp_path: Path, backward: bool) -> None:
    filler = b"x" * 99 + b"\n"
    before = filler * (follow.BLOCK // 100) + b"y" * (follow.BLOCK % 100 - 10)
    log = write(tmp_path / "log", before + b"\nhere is the NEEDLE\n" + filler * 20_000)
    start = log.stat().st_size if backward else 0
    found = follow.search(log, "needle", start, backward=backward)
    assert found == len(before) + 1


def test_a_search_that_is_stopped_finds_nothing(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"needle\n")
    assert follow.search(log, "needle", 0, backward=False, stopped=lambda: True) is None


def test_a_bar_of_many_states_is_one_line_with_the_lines_before_it(tmp_path: Path) -> None:
    bar = b"".join(b"\r%6d of 999999 |%-30s|" % (n, b"#" * (n // 5000)) for n in range(150_000))
    log = write(tmp_path / "log", b"".join(b"line %d\n" % n for n in range(100)) + bar)
    end = follow.page(log, None, -3, 3)
    assert texts(end)[:2] == ["line 98", "line 99"] and texts(end)[2].startswith("149999 of 999999")
    assert end.at_end
    with log.open("ab") as file:
        file.write(b"\r100%\r\nafter\n")
    assert texts(follow.page(log, None, -3, 3)) == ["line 99", "100%", "after"]
    assert texts(follow.page(log, end.top, 1, 3)) == ["line 99", "100%", "after"]


def test_a_log_truncated_while_it_is_followed_is_shown_as_it_is_now(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"old\n" * 1000)
    assert texts(follow.page(log, None, -2, 2)) == ["old", "old"]
    os.truncate(log, 0)
    write(log, b"new\n")
    assert texts(follow.page(log, None, -2, 2)) == ["new"]
