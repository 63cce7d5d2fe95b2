"""A comparison in words says of each difference whether it stands in the way of a verdict."""

from __future__ import annotations

from typing import Any

from optrack.errors import UsageError
from optrack.model.judgement import Difference
from optrack.tui.app import OptrackApp
from optrack.tui.board import Compared
from optrack.tui.widgets.verdict_text import differences, statistics
from tests.tui.driving import begun, text_of, until
from tests.tui.fake_board import FakeBoard


def difference(field: str, cls: Any, severity: Any) -> Difference:
    return Difference(field=field, baseline=1, candidate=2, cls=cls, severity=severity)


def told(*found: Difference) -> list[str]:
    return [line.plain for line in differences(found, 80) if line.plain]


def test_an_accepted_difference_is_not_said_to_make_the_comparison_unfair() -> None:
    lines = told(difference("packages.b", "unexplained", "note"))
    assert lines[0] == ". Unexplained, but found or accepted to be of no matter"


def test_a_volatile_difference_that_is_too_great_is_said_to_make_it_unfair() -> None:
    lines = told(difference("load.cpu", "volatile", "blocking"), difference("load.io", "volatile", "note"))
    assert lines[0].endswith("they make the comparison unfair") and "load.cpu" in lines[1]
    assert lines[2].startswith(". Volatile") and "load.io" in lines[3]


def test_every_difference_is_in_one_group() -> None:
    classes = ("unexplained", "unknown", "volatile")
    every = [difference(f"{c}.{s}", c, s) for c in classes for s in ("blocking", "note")]
    lines = told(*every, difference("declared.note", "declared", "note"))
    for one in every:
        assert sum(one.field in line for line in lines) == 1


def test_a_row_of_the_statistics_is_a_line_with_its_unit() -> None:
    board = FakeBoard()
    found = board.compare("3", "baseline")
    samples = found.candidate.samples
    metric = samples[0].metric.model_copy(
        update={"unit": "requests", "name": "total_output_tokens_retokenized"}
    )
    both = [s.model_copy(update={"metric": metric}) for s in samples]
    run = found.candidate.model_copy(update={"samples": tuple(both)})
    lines = statistics(Compared(candidate=run, baseline=run, judgement=found.judgement), 77)
    assert max(line.cell_length for line in lines) <= 77
    assert lines[-1].plain.endswith("requests")


class Unknown(FakeBoard):
    """A board that knows nothing of what is to be compared."""

    def compare(self, candidate: str, baseline: str) -> Compared:
        raise UsageError(f"there is no run {candidate}", hint="did you mean 1A?")


async def test_a_comparison_that_cannot_be_made_says_why_in_sentences() -> None:
    app = OptrackApp(Unknown())
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("4")
        await until(pilot, lambda: "there is no run baseline. Did you mean 1A?" in text_of(app))
        assert "1A?." not in text_of(app)
