"""Every outward answer is what it was, but for the differences that are meant."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.outward.compare import Wanted, compared, is_wanted, told
from tests.outward.packing import read, written
from tests.outward.process import ROOT

QUICK = ("bare", "empty", "tracker", "program")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="a state needs git")
@pytest.mark.timeout(600)
def test_what_the_states_without_runs_answer_is_what_they_answered() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.outward.compare", *QUICK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_answer_is_told_with_its_question_and_counts_unless_it_is_meant() -> None:
    before = {"optrack status": "exit 0\na = 1\nb = 2", "optrack runs": "exit 0"}
    found = compared("state", before, before | {"optrack status": "exit 0\na = 3\nb = 2"})
    assert found.asked == 2
    (difference,) = found.differences
    assert difference.changed() == ("-a = 1", "+a = 3")
    assert "state: optrack status" in told(found, ())
    one_side = (Wanted(re.compile("^-a"), "half of it"),)
    assert not is_wanted(difference, one_side)
    assert is_wanted(difference, (*one_side, Wanted(re.compile(r"^\+a = 3"), "the other half")))


def test_a_question_that_is_no_longer_asked_is_a_difference() -> None:
    found = compared("state", {"a": "x", "b": "y"}, {"a": "x"})
    assert [difference.question for difference in found.differences] == ["b"]


def test_packed_answers_are_read_as_they_were() -> None:
    document = "{\n a\n  b\n\n c\n}"
    answers = {
        "one": document,
        "two": "x\n" + document.replace("\n", "\n  "),
        "three": document * 2,
        "four": "",
    }
    text = written(answers)
    assert read(text) == answers
    assert "\n⇑ " in text
