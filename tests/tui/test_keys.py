"""Every key asks for what its footer says, after a question where something would be lost."""

from __future__ import annotations

import gc

import pytest
from textual.events import Key
from textual.widgets._footer import FooterKey

from optrack.errors import HostUnfitError
from optrack.tui.app import OptrackApp
from optrack.tui.screens.compare import CompareScreen
from optrack.tui.screens.help import HelpScreen
from optrack.tui.screens.history import HistoryScreen
from optrack.tui.screens.item import OneItemScreen
from optrack.tui.screens.live import LiveScreen
from optrack.tui.screens.plan import PlanScreen
from tests.tui.driving import begun, quiet, text_of, until
from tests.tui.fake_board import FakeBoard


def idle_board() -> FakeBoard:
    return FakeBoard(live=False)


async def test_n_starts_the_next_item_and_the_plan_shows_it_running() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("n")
        await until(pilot, lambda: "> 1B running" in text_of(app))
        assert board.asked == [("start_next",)]


async def test_a_refusal_is_shown_with_its_hint_and_nothing_else_happens() -> None:
    board = idle_board()
    board.refuse = HostUnfitError("GPU 3 is busy [pid 71]", hint="wait for it")
    app = OptrackApp(board)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("n")
        await until(pilot, lambda: "GPU 3 is busy [pid 71]" in text_of(app).replace("\n", ""))
        assert "wait for it" in text_of(app)


async def test_a_completed_item_is_run_again_only_after_yes() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        for key in ("j", "j", "r", "n"):
            await pilot.press(key)
        await quiet(pilot)
        assert board.asked == []
        await pilot.press("r", "y")
        await until(pilot, lambda: board.asked == [("run_item", "1A")])


async def test_mark_asks_for_a_status_and_a_reason() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("G", "m", "enter", "enter", *"done", "enter")
        await until(pilot, lambda: board.asked == [("mark", "7", "completed", "done")])
        await until(pilot, lambda: isinstance(app.screen, PlanScreen))


async def test_skip_note_adopt_and_ablate_reach_the_board() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "j", "x", *"no", "enter")
        await until(pilot, lambda: ("skip", "1B", "no") in board.asked)
        await pilot.press("N", *"hm", "enter")
        await until(pilot, lambda: ("note", "1B", "hm") in board.asked)
        await pilot.press("a", "y")
        await until(pilot, lambda: ("adopt", "1B") in board.asked)
        await pilot.press("b")
        await until(pilot, lambda: ("ablate", "1B") in board.asked)


async def test_accept_offers_the_undeclared_differences_alone() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "j", "j", "j", "A")
        await until(pilot, lambda: "libraries.libnccl" in text_of(app))
        assert "gpu_temperature" not in text_of(app)
        await pilot.press("enter", *"same", "enter")
        await until(pilot, lambda: board.asked == [("accept", "2", "env.NCCL_MAX_NCHANNELS", "same")])


async def test_a_question_is_not_covered_by_what_was_told_before() -> None:
    board = idle_board()
    board.refuse = HostUnfitError("GPU 3 is busy")
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("n")
        await until(pilot, lambda: "GPU 3 is busy" in text_of(app))
        await pilot.press("a")
        await until(pilot, lambda: "Adopt" in text_of(app) and "GPU 3 is busy" not in text_of(app))


async def test_stop_asks_first_and_the_run_is_then_shown_as_interrupted() -> None:
    board = FakeBoard()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(pilot, lambda: "launch 2 of 3" in text_of(app))
        await pilot.press("S", "enter")
        assert board.asked == []
        await pilot.press("S", "y")
        await until(pilot, lambda: "/ interrupted" in text_of(app))
        assert board.asked == [("stop", "20260302-150500-h8", False)]


async def test_number_keys_and_escape_move_between_the_screens() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        for key, kind in (
            ("3", LiveScreen),
            ("5", HistoryScreen),
            ("2", OneItemScreen),
            ("4", CompareScreen),
        ):
            await pilot.press(key)
            assert isinstance(app.screen, kind)
        await pilot.press("3")
        assert isinstance(app.screen, LiveScreen)
        await pilot.press("escape", "escape", "escape")
        assert isinstance(app.screen, PlanScreen)


async def test_a_click_on_a_tab_and_a_double_click_on_a_row_open_them() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.click("#items", offset=(20, 3), times=2)
        await until(pilot, lambda: isinstance(app.screen, OneItemScreen))
        assert app.selected == "1A"
        await pilot.click(app.screen.query("Tab").nodes[4])
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))


async def test_help_shows_the_keys_of_the_focused_part() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: "down j" in text_of(app))
        assert "Run the next item of the plan." in text_of(app)
        await pilot.press("escape")
        await pilot.press("3", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and "Next match" in text_of(app))


async def test_the_palette_offers_every_command_of_the_screen() -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("ctrl+p", *"ablate")
        await until(pilot, lambda: "factors one by one" in text_of(app))
        await pilot.press("enter")
        await until(pilot, lambda: board.asked == [("ablate", "baseline")])


async def test_read_only_leaves_out_every_command_that_acts() -> None:
    board = idle_board()
    app = OptrackApp(board, read_only=True)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await quiet(pilot)
        footer = text_of(app).splitlines()[-1]
        assert "Next" not in footer and "Compare" in footer
        await pilot.press("n", "r", "x", "m", "a", "b")
        await quiet(pilot)
        assert board.asked == []
        assert isinstance(app.screen, PlanScreen)


async def test_edit_where_no_editor_can_be_opened_says_where_the_item_is() -> None:
    app = OptrackApp(idle_board())
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "e")
        await until(pilot, lambda: "plans/eagle-fast-verify.md:34" in text_of(app))


async def test_q_leaves_while_a_run_goes_on() -> None:
    board = FakeBoard()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0
    assert board.asked == []


async def test_the_footer_of_a_search_shows_how_to_leave_it_and_no_key_that_is_typed() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        for key in ("1", "3"):
            await pilot.press(key, "slash")
            await until(pilot, lambda: text_of(app).splitlines()[-1].split() == ["esc", "Back"])
            await pilot.press("slash", "escape")
            await until(pilot, lambda: "/ Find" in text_of(app).splitlines()[-1])


@pytest.mark.parametrize("opener", ["x", "N", "m", "slash"])
async def test_what_is_typed_ahead_into_a_question_is_no_command(opener: str) -> None:
    board = idle_board()
    app = OptrackApp(board)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("G")
        await quiet(pilot)
        for key in (opener, *"nbncnb"):
            app.post_message(Key(key, key if len(key) == 1 else "/"))
        await quiet(pilot)
        assert board.asked == []
        assert not isinstance(app.screen, CompareScreen)


async def test_a_day_of_keys_leaves_no_keys_behind() -> None:
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(140, 45)) as pilot:
        await begun(pilot)

        async def leftover() -> int:
            await quiet(pilot)
            gc.collect()
            return sum(isinstance(one, FooterKey) and not one.is_attached for one in gc.get_objects())

        for key in "31" * 3:
            await pilot.press(key)
            await quiet(pilot)
        before = await leftover()
        for key in "31" * 5:
            await pilot.press(key)
            await quiet(pilot)
        assert await leftover() <= before + 15
