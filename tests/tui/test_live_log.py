"""Which log the live run shows: one that is being read stays, and a run without a server begins with its output."""

from __future__ import annotations

from pathlib import Path

from optrack.tui.app import OptrackApp
from optrack.tui.board import LogKind
from tests.tui.driving import begun, text_of, until, write_logs
from tests.tui.fake_board import FakeBoard


class NextLaunch(FakeBoard):
    """A board whose run has a further launch, with a log of its own, once `launch` is set."""

    launch: Path | None = None

    def log_path(self, run: str, which: LogKind) -> Path | None:
        return self.launch or super().log_path(run, which)


async def test_a_paused_log_stays_when_the_next_launch_begins(tmp_path: Path) -> None:
    board = NextLaunch(write_logs(tmp_path))
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "following" in text_of(app))
        await pilot.press("p")
        await until(pilot, lambda: "paused" in text_of(app))
        later = tmp_path / "later.log"
        later.write_text("the next launch\n")
        board.launch = later
        board.put("5", status="cancelled")
        await pilot.pause(1.5)
        assert "paused" in text_of(app)
        assert "the next launch" not in text_of(app)
        await pilot.press("G")
        await until(pilot, lambda: "the next launch" in text_of(app) and "following" in text_of(app))


async def test_a_run_without_a_server_begins_with_the_output_of_its_benchmark(tmp_path: Path) -> None:
    (write_logs(tmp_path) / "server.log").unlink()
    app = OptrackApp(FakeBoard(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "benchmark output" in text_of(app) and "Mean ITL" in text_of(app))
        await pilot.press("l")
        await until(pilot, lambda: "server log" in text_of(app) and "Nothing has been" in text_of(app))
