"""Every key does what its footer says, after a question where something would be lost."""

from __future__ import annotations

import gc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets._footer import FooterKey

from optrack.app.project import Project
from optrack.settings import load_settings
from optrack.tui.screens.compare import CompareScreen
from optrack.tui.screens.dialogs import HelpScreen
from optrack.tui.screens.history import HistoryScreen
from optrack.tui.screens.item import ItemScreen
from optrack.tui.screens.live import LiveScreen
from optrack.tui.screens.plan import PlanScreen
from tests.cli.quick import quick
from tests.terminal.shells import shell
from tests.tui.driving import begun, quiet, recorded, recorded_runs, screens, shows, text_of, until
from tests.tui.project import begin_run

TO = {"1A": 2, "1B": 3, "1C": 4, "1D": 5, "2": 6}
"""How far below the first item some are."""


LEFT_RUNNING = "ignore:subprocess .* is still running:ResourceWarning"
"""A runner outlives the process that started it, and is meant to."""


@pytest.mark.filterwarnings(LEFT_RUNNING)
async def test_n_starts_the_next_item_and_its_run_is_followed_to_its_end(tmp_path: Path) -> None:
    project = quick(tmp_path / "project")
    async with screens(project).run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("n")
        await shows(pilot, "has been started")
        await pilot.press("3")
        await shows(pilot, "succeeded   in stage", "score")
        (run,) = recorded_runs(project, "baseline")
        assert run.id in text_of(pilot.app)


async def test_a_run_that_is_stopped_says_so_and_is_recorded_as_interrupted(tmp_path: Path) -> None:
    project = quick(tmp_path / "project")
    plan = project / "plans" / "quick.md"
    plan.write_text(
        plan.read_text().replace(
            "## 2: A failure", '## 3: Slow\n\n```yaml recipe\nbench: "sleep 600"\n```\n\n## 2: A failure'
        )
    )
    assert shell(project, "optrack run 3 --detach").code == 0
    (run,) = recorded_runs(project, "3")
    async with screens(project).run_test(size=(100, 30), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "launch 1 of 3")
        await pilot.press("S", "enter")
        await quiet(pilot)
        assert recorded_runs(project, "3")[0].outcome is None
        await pilot.press("S", "y")
        await shows(pilot, "/ interrupted")
    assert [(r.id, r.outcome) for r in recorded_runs(project, "3")] == [(run.id, "interrupted")]
    events = Project(load_settings(project)).reader.entries(run.id)
    assert [e.event.kind for e in events].count("stop_requested") == 1


async def test_a_stop_that_was_asked_for_is_shown_until_the_run_has_ended(project: Path) -> None:
    from optrack.model.events import StopRequested

    run, _ = begin_run(project, "2", datetime.now(UTC))
    Project(load_settings(project)).store.record(run, StopRequested(actor="ada"))
    async with screens(project).run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "stopping")


async def test_a_refusal_is_shown_with_its_hint_and_changes_nothing(project: Path) -> None:
    async with screens(project).run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["1A"], "a", "y")
        await until(pilot, lambda: "only a fair improvement" in " ".join(text_of(pilot.app).split()))
        assert "--anyway" in text_of(pilot.app)
    assert not recorded(project, "1A").adopted


async def test_a_completed_item_is_run_again_only_after_yes(project: Path) -> None:
    async with screens(project).run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "r")
        await shows(pilot, "Run 1A again?")
        await pilot.press("n")
        await quiet(pilot)
        assert len(recorded_runs(project, "1A")) == 2


async def test_mark_asks_for_a_status_and_a_reason(project: Path) -> None:
    async with screens(project).run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["2"], "m", "enter", "enter", *"done", "enter")
        await shows(pilot, "2 is completed.")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
    assert recorded(project, "2").status == "completed"


async def test_skip_note_adopt_and_ablate_are_recorded(project: Path) -> None:
    async with screens(project).run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["2"], "x", *"no", "enter")
        await until(pilot, lambda: recorded(project, "2").status == "cancelled")
        await pilot.press("N", *"hm", "enter")
        await until(pilot, lambda: [note.text for note in recorded(project, "2").notes] == ["hm"])
        await pilot.press("g", *"j" * TO["1B"], "a", "y")
        await until(pilot, lambda: recorded(project, "1B").adopted)
        await pilot.press("g", *"j" * TO["1D"], "b")
        await shows(pilot, "Planned 1D")


async def test_accept_offers_the_undeclared_differences_alone(project: Path) -> None:
    async with screens(project).run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["1C"], "A")
        await shows(pilot, "Accept a difference of 1C", "LD_PRELOAD")
        assert "NCCL_NTHREADS: " not in text_of(pilot.app)
        await pilot.press("enter", *"same", "enter")
        await shows(pilot, "is accepted.")
    accepted = Project(load_settings(project)).reader.acceptances("tuning", "1C")
    assert [(one.item, one.why) for one in accepted if one.item] == [("1C", "same")]


async def test_number_keys_and_escape_move_between_the_screens(project: Path) -> None:
    app = screens(project)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        for key, kind in (("3", LiveScreen), ("5", HistoryScreen), ("2", ItemScreen), ("4", CompareScreen)):
            await pilot.press(key)
            assert isinstance(app.screen, kind)
        await pilot.press("3")
        assert isinstance(app.screen, LiveScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, PlanScreen)


async def test_a_click_on_a_tab_and_a_double_click_on_a_row_open_them(project: Path) -> None:
    app = screens(project)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.click("#items", offset=(20, 3), times=2)
        await until(pilot, lambda: isinstance(app.screen, ItemScreen))
        assert app.selected == "1A"
        await pilot.click(app.screen.query("Tab").nodes[4])
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))


async def test_a_run_of_the_history_opens_with_its_failure_and_its_log(project: Path) -> None:
    async with screens(project).run_test(size=(120, 36)) as pilot:
        await begun(pilot)
        await pilot.press("6")
        await shows(pilot, "nccl", "1A", "graphs were captured")
        await pilot.press("enter")
        await shows(pilot, "1A  Tree algorithm", "failed   in stage ready")
        await pilot.press("5")
        await shows(pilot, "succeeded")


async def test_help_shows_the_keys_of_the_focused_part(project: Path) -> None:
    app = screens(project)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("question_mark")
        await shows(pilot, "down j", "Run the next item of the plan.")
        await pilot.press("escape", "3", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and "Next match" in text_of(app))


async def test_the_palette_offers_every_command_of_the_screen(project: Path) -> None:
    async with screens(project).run_test(size=(100, 40), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["1D"], "ctrl+p", *"ablate")
        await shows(pilot, "factors one by one")
        await pilot.press("enter")
        await shows(pilot, "Planned 1D")


async def test_read_only_leaves_out_every_command_that_acts(project: Path) -> None:
    app = screens(project, read_only=True)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await quiet(pilot)
        footer = text_of(app).splitlines()[-1]
        assert "Next" not in footer and "Compare" in footer
        await pilot.press(*"j" * TO["2"], "n", "r", "x", "m", "a", "b")
        await quiet(pilot)
        assert isinstance(app.screen, PlanScreen)
    assert recorded(project, "2").status == "pending"


async def test_edit_where_no_editor_can_be_opened_says_where_the_item_is(project: Path) -> None:
    line = (project / "plans" / "tuning.md").read_text().splitlines().index("### 1A: Tree algorithm") + 1
    async with screens(project).run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "e")
        await until(pilot, lambda: f"tuning.md:{line}" in "".join(text_of(pilot.app).split()))


async def test_q_leaves_while_a_run_goes_on(project: Path) -> None:
    begin_run(project, "2", datetime.now(UTC))
    app = screens(project)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0
    assert recorded(project, "2").status == "in_progress"


async def test_the_footer_of_a_search_shows_how_to_leave_it_and_no_key_that_is_typed(project: Path) -> None:
    begin_run(project, "2", datetime.now(UTC))
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        for key in ("1", "3"):
            await pilot.press(key, "slash")
            await until(pilot, lambda: text_of(app).splitlines()[-1].split() == ["esc", "Back"])
            await pilot.press("slash", "escape")
            await until(pilot, lambda: "/ Find" in text_of(app).splitlines()[-1])


@pytest.mark.parametrize("opener", ["x", "N", "m", "slash"])
async def test_what_is_typed_ahead_into_a_question_is_no_command(project: Path, opener: str) -> None:
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press(*"j" * TO["2"])
        await quiet(pilot)
        for key in (opener, *"nbncnb"):
            app.post_message(Key(key, key if len(key) == 1 else "/"))
        await quiet(pilot)
        assert not isinstance(app.screen, CompareScreen)
    assert recorded(project, "2").status == "pending"
    assert not recorded_runs(project, "2")


async def test_a_day_of_keys_leaves_no_keys_behind(project: Path) -> None:
    app = screens(project)
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
