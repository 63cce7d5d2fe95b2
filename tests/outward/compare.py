"""What commands answer now against the reference: `python -m tests.outward.compare [STATE…]`.

Prints a unified diff for each question whose answer is another, and a summary. `wanted.md` lists differences that
are meant: a table of patterns, each with its reason. A difference whose every changed line matches a pattern is
counted, not printed.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.outward.packing import read
from tests.outward.record import REFERENCE, every_state, record

WANTED = Path(__file__).with_name("wanted.md")
_ROW = re.compile(r"^\| *`(?P<pattern>.+?)` *\| *(?P<reason>.+?) *\|$")


class Wanted(NamedTuple):
    """A pattern that a changed line (with `-` or `+` before it) matches, and why it may have changed."""

    pattern: re.Pattern[str]
    reason: str


class Difference(NamedTuple):
    """A question whose answer is another than in the reference, with the lines of the diff."""

    state: str
    question: str
    lines: tuple[str, ...]

    def changed(self) -> tuple[str, ...]:
        """The changed lines, each with its sign."""
        return tuple(line for line in self.lines if line[:1] in "+-")


class Compared(NamedTuple):
    """How many questions were asked, and which answers differ."""

    asked: int
    differences: tuple[Difference, ...]


def wanted(path: Path = WANTED) -> tuple[Wanted, ...]:
    """Return the rows of the list of differences that are meant."""
    rows = (_ROW.match(line) for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(Wanted(re.compile(row["pattern"].replace(r"\|", "|")), row["reason"]) for row in rows if row)


def is_wanted(difference: Difference, rows: Sequence[Wanted]) -> bool:
    """Whether every changed line is one that is meant."""
    return all(any(row.pattern.search(line) for row in rows) for line in difference.changed())


def compared(state: str, before: dict[str, str], now: dict[str, str]) -> Compared:
    """Compare two recordings of a state, question by question."""
    questions = [*before, *(question for question in now if question not in before)]
    differences = []
    for question in questions:
        old, new = before.get(question), now.get(question)
        if old != new:
            lines = difflib.unified_diff(
                ["(not asked)"] if old is None else old.split("\n"),
                ["(not asked)"] if new is None else new.split("\n"),
                n=2,
                lineterm="",
            )
            differences.append(Difference(state, question, tuple(lines)[2:]))
    return Compared(len(questions), tuple(differences))


def compare(states: Sequence[str], reference: Path = REFERENCE, other: Path | None = None) -> Compared:
    """Compare the reference with what is recorded now, or with another recording."""
    asked = 0
    differences: list[Difference] = []
    if other is None:
        recordings = record(states, _say)
    else:
        recordings = ((s, read((other / f"{s}.txt").read_text(encoding="utf-8"))) for s in states)
    for state, now in recordings:
        file = reference / f"{state}.txt"
        before = read(file.read_text(encoding="utf-8")) if file.exists() else {}
        found = compared(state, before, now)
        asked += found.asked
        differences += found.differences
    return Compared(asked, tuple(differences))


def told(found: Compared, rows: Sequence[Wanted]) -> str:
    """Return the differences that nobody meant, the same diff once, and a summary."""
    groups: dict[tuple[str, ...], list[Difference]] = {}
    meant = [difference for difference in found.differences if is_wanted(difference, rows)]
    for difference in found.differences:
        if difference not in meant:
            groups.setdefault(difference.changed(), []).append(difference)
    lines = []
    for same in groups.values():
        lines += [f"=== {same[0].state}: {same[0].question}", *same[0].lines]
        lines += [f"    (the same in {other.state}: {other.question})" for other in same[1:]]
        lines.append("")
    different = len(found.differences)
    lines.append(
        f"{found.asked} questions: {found.asked - different} equal, {different} different, "
        f"of which {len(meant)} are meant and {different - len(meant)} are not ({len(groups)} different diffs)"
    )
    return "\n".join(lines)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main() -> int:
    """Compare the states that are named, or all; 1 if something differs that isn't meant."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("states", nargs="*", help="by default all of them")
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--with", dest="other", type=Path, help="another recording, in place of one made now")
    options = parser.parse_args()
    rows = wanted()
    found = compare(options.states or every_state(), options.reference, options.other)
    sys.stdout.write(told(found, rows) + "\n")
    return int(any(not is_wanted(difference, rows) for difference in found.differences))


if __name__ == "__main__":
    sys.exit(main())
