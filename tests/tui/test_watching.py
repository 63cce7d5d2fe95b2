"""The screens follow what others do to the campaign, whatever happens to the reading."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from optrack.errors import StoreError
from optrack.tui.app import OptrackApp
from optrack.tui.board import NextItem
from tests.tui.driving import begun, quiet, text_of, until, write_logs
from tests.tui.enacted_plan import NOW
from tests.tui.fake_board import FakeBoard


class LockedBoard(FakeBoard):
    """A board whose database is locked while `locked` is set."""

    locked = False

    def version(self) -> int:
        if self.locked:
            raise StoreError("database is locked", hint="another program holds it")
        return super().version()


class BrokenBoard(FakeBoard):
    """A board with a defect that shows once."""

    broken = True

    def choice(self) -> NextItem:
        if self.broken:
            self.broken = False
            raise KeyError("[a defect]")
        return super().choice()


class SlowBoard(FakeBoard):
    """A board whose items can't be read before `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def launches(self) -> dict[str, int]:
        self.go.wait(20)
        return dict(super().launches())


async def test_a_change_by_another_process_is_shown() -> None:
    board = FakeBoard(live=False)
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        board.put("5", status="cancelled")
        await until(pilot, lambda: re.search(r"Torch symmetric memory +/ cancelled", text_of(app)))


async def test_the_cursor_stays_on_its_item_when_the_plan_changes() -> None:
    board = FakeBoard(live=False)
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "j")
        board._states = {k: v for k, v in board._states.items() if k != "1A"}
        board.put("1B", stale=True)
        await until(pilot, lambda: "NCCL_ALGO=Tree" not in text_of(app))
        assert app.selected == "1B"


async def test_a_locked_database_is_told_once_and_the_screen_recovers() -> None:
    board = LockedBoard(live=False)
    app = OptrackApp(board)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        board.locked = True
        await until(pilot, lambda: "database is locked" in text_of(app))
        board.locked = False
        board.put("5", status="cancelled")
        await until(pilot, lambda: "/ cancelled" in text_of(app).split("Torch symmetric memory")[1][:40])


async def test_a_defect_of_the_board_is_told_and_the_watch_begins_again() -> None:
    app = OptrackApp(BrokenBoard())
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await until(pilot, lambda: "[a defect]" in text_of(app))
        await begun(pilot)
        assert "MSCCL++" in text_of(app)


async def test_a_slow_board_does_not_hold_up_the_keys() -> None:
    board = SlowBoard()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: "Keys: Plan" in text_of(app))
        board.go.set()
        await pilot.press("escape")
        await begun(pilot)


async def test_a_log_that_is_scrolled_pauses_and_follows_again_at_its_end(tmp_path: Path) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)))
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "following" in text_of(app))
        await pilot.press("pageup")
        await until(pilot, lambda: "paused" in text_of(app))
        with (tmp_path / "server.log").open("a") as log:
            log.write("the newest line\n")
        await pilot.press("G")
        await until(pilot, lambda: "the newest line" in text_of(app) and "following" in text_of(app))


async def test_a_search_shows_the_line_and_goes_on_to_the_one_before(tmp_path: Path) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)))
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "following" in text_of(app))
        await pilot.press("slash", *"#TOKEN: 23", "enter")
        await until(pilot, lambda: "#token: 2378" in text_of(app) or "#token: 23" in text_of(app))
        first = text_of(app)
        await pilot.press("N")
        await until(pilot, lambda: text_of(app) != first)
        await pilot.press("n")
        await until(pilot, lambda: "#token: 23" in text_of(app))
        await pilot.press("l")
        await until(pilot, lambda: "benchmark output" in text_of(app) and "Mean ITL" in text_of(app))


async def test_the_clock_of_a_run_goes_on_without_entries() -> None:
    board = FakeBoard()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "16:05 so far" in text_of(app))
        board.clock = NOW.replace(minute=21)
        await until(pilot, lambda: "17:05 so far" in text_of(app))


async def test_filter_only_sort_and_fold_change_what_the_plan_shows() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("slash", *"unfair")
        await until(pilot, lambda: "MSCCL++" not in text_of(app) and "FlashInfer" in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: "MSCCL++" in text_of(app))
        await pilot.press("s", "s")
        await until(pilot, lambda: text_of(app).index("MSCCL++") < text_of(app).index("NCCL tuning"))
        assert "by result" in text_of(app)
        await pilot.press("f")
        await until(pilot, lambda: "by result, only pending" in text_of(app))
        await pilot.press("escape", "s", "g", "j", "space")
        await until(pilot, lambda: "by result" not in text_of(app))
        await until(pilot, lambda: "NCCL_ALGO=Tree" not in text_of(app) and "+ 1" in text_of(app))
        await quiet(pilot)
