"""The screens follow what others do to the campaign, whatever happens to the reading."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from optrack.app import actions
from optrack.app.project import Project
from optrack.app.watching import View, Watcher
from optrack.settings import load_settings
from optrack.tui.app import OptrackApp
from tests.tui.driving import begun, quiet, screens, shows, text_of, until
from tests.tui.project import begin_run, with_logs


@contextmanager
def changing(project: Path) -> Iterator[Project]:
    """Give a project of somebody else on the same record."""
    other = Project(load_settings(project))
    yield other
    other.close()


@contextmanager
def locked(project: Path) -> Iterator[None]:
    """Hold the record's lock, so that nobody can write."""
    holder = sqlite3.connect(load_settings(project).state / "optrack.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


async def test_a_change_by_another_process_is_shown(project: Path) -> None:
    async with screens(project).run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        with changing(project) as other:
            actions.mark(other, "2", "cancelled", why="no longer wanted")
        await until(pilot, lambda: re.search(r"Fusion patch +/ cancelled", text_of(pilot.app)))


async def test_the_cursor_stays_on_its_item_when_the_plan_changes(project: Path) -> None:
    plan = project / "plans" / "tuning.md"
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "j")
        before, after = plan.read_text().split("### 1A", 1)
        plan.write_text(before + "### 1B" + after.split("### 1B", 1)[1])
        await until(pilot, lambda: app.view is not None and app.view.plan.item("1A") is None)
        await quiet(pilot)
        assert app.selected == "1B"


async def test_a_plan_that_is_edited_while_the_record_is_locked_is_shown_and_every_screen_goes_on(
    project: Path,
) -> None:
    plan = project / "plans" / "tuning.md"
    app = screens(project)
    async with app.run_test(size=(120, 36)) as pilot:
        await begun(pilot)
        with locked(project):
            plan.write_text(
                plan.read_text().replace("title: Faster all-reduces", "title: Quicker all-reduces")
            )
            await shows(pilot, "Quicker all-reduces")
            assert app.view is not None and app.view.is_behind
            await pilot.press("5")
            await shows(pilot, "output_throughput, level of each run", "Expected against measured")
            await pilot.press("6")
            await shows(pilot, "graphs were captured")
            await pilot.press("1", "j", "j", "j", "enter")
            await shows(pilot, "1B  Fewer channels", "baseline: 16", "+19.9%")
        await until(pilot, lambda: app.view is not None and not app.view.is_behind)


async def test_a_record_that_is_taken_away_is_told_once_and_the_screens_recover(project: Path) -> None:
    record = load_settings(project).state / "optrack.db"
    async with screens(project).run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        record.rename(record.with_name("away"))
        await until(pilot, lambda: "optrack.db is gone" in " ".join(text_of(pilot.app).split()))
        record.with_name("away").rename(record)
        with changing(project) as other:
            actions.mark(other, "2", "cancelled", why="seen again")
        await until(pilot, lambda: re.search(r"Fusion patch +/ cancelled", text_of(pilot.app)))


class Defective(Watcher):
    """A watcher with a defect that shows once."""

    broken = True

    def look(self) -> View | None:
        if self.broken:
            self.broken = False
            raise KeyError("[a defect]")
        return super().look()


class Slow(Watcher):
    """A watcher that reads nothing before `go` is set."""

    go = threading.Event()

    def look(self) -> View | None:
        self.go.wait(20)
        return super().look()


async def test_a_defect_of_the_watch_is_told_and_it_begins_again(project: Path) -> None:
    app = OptrackApp(Defective(load_settings(project)))
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await shows(pilot, "[a defect]")
        await begun(pilot)
        assert "Fusion patch" in text_of(app)


async def test_slow_reading_does_not_hold_up_the_keys(project: Path) -> None:
    watcher = Slow(load_settings(project))
    async with OptrackApp(watcher).run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await shows(pilot, "Keys: Plan")
        watcher.go.set()
        await pilot.press("escape")
        await begun(pilot)


async def test_a_log_that_is_scrolled_pauses_and_follows_again_at_its_end(project: Path) -> None:
    _, logs = begin_run(project, "2", datetime.now(UTC))
    async with screens(project).run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "following")
        await pilot.press("pageup")
        await shows(pilot, "paused")
        with (logs / "server.log").open("a") as log:
            log.write("the newest line\n")
        await pilot.press("G")
        await shows(pilot, "the newest line", "following")


async def test_a_paused_log_stays_when_the_next_launch_begins(project: Path) -> None:
    run, logs = begin_run(project, "2", datetime.now(UTC))
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "following")
        await pilot.press("p")
        await shows(pilot, "paused")
        later = logs.parent / "launch-1"
        later.mkdir()
        (later / "server.log").write_text("the next launch\n")
        before = app.view
        with changing(project) as other:
            actions.note(other, "1A", "somebody else was here")
        await until(pilot, lambda: app.view is not before)
        await quiet(pilot)
        assert "paused" in text_of(app) and "the next launch" not in text_of(app)
        await pilot.press("G")
        await shows(pilot, "the next launch", "following", run)


async def test_a_run_without_a_server_begins_with_the_output_of_its_benchmark(project: Path) -> None:
    _, logs = begin_run(project, "2", datetime.now(UTC))
    (logs / "server.log").unlink()
    async with screens(project).run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "benchmark output", "Mean ITL")
        await pilot.press("l")
        await shows(pilot, "server log", "Nothing has been")


async def test_a_search_shows_the_line_and_goes_on_to_the_one_before(project: Path) -> None:
    begin_run(project, "2", datetime.now(UTC))
    async with screens(project).run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "following")
        await pilot.press("slash", *"#TOKEN: 23", "enter")
        await shows(pilot, "#token: 23")
        first = text_of(pilot.app)
        await pilot.press("N")
        await until(pilot, lambda: text_of(pilot.app) != first)
        await pilot.press("n")
        await shows(pilot, "#token: 23")
        await pilot.press("l")
        await shows(pilot, "benchmark output", "Mean ITL")


async def test_the_clock_of_a_run_goes_on_without_entries(project: Path) -> None:
    begin_run(project, "2", datetime.now(UTC) - timedelta(minutes=16))
    async with screens(project).run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "launch 2 of 3", "pass 2 of 2", "96.", "so far")
        first = re.findall(r"\S+ so far", text_of(pilot.app))
        await until(pilot, lambda: re.findall(r"\S+ so far", text_of(pilot.app)) not in ([], first))


async def test_filter_only_sort_and_fold_change_what_the_plan_shows(project: Path) -> None:
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("slash", *"unfair")
        await until(pilot, lambda: "Read the profile" not in text_of(app) and "More threads" in text_of(app))
        await pilot.press("escape")
        await shows(pilot, "Read the profile")
        await pilot.press("s", "s")
        await until(
            pilot, lambda: text_of(app).index("Fewer channels") < text_of(app).index("Tree algorithm")
        )
        assert "by result" in text_of(app)
        await pilot.press("f")
        await shows(pilot, "by result, only pending")
        await pilot.press("escape", "s", "g", "j", "space")
        await until(pilot, lambda: "by result" not in text_of(app))
        await until(pilot, lambda: "Tree algorithm" not in text_of(app) and "+ 1" in text_of(app))


async def test_a_log_of_any_bytes_is_shown_as_text_and_the_view_goes_on(project: Path) -> None:
    run, _ = begin_run(project, "2", datetime.now(UTC))
    logs = with_logs(project, run)
    async with screens(project).run_test(size=(100, 36), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await shows(pilot, "[/usr/lib/libnccl.so.2] WARN Decode batch [red] is not red [/]")
        assert "0;title" not in text_of(pilot.app)
        with (logs / "server.log").open("a") as log:
            log.write("[/x] another [bold\n")
        await shows(pilot, "[/x] another [bold")
