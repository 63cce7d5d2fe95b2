"""How well plans are read, against hand-made labels: `python tests/plan/score.py FOLDER`.

FOLDER holds `*.md` and, in `labels/`, a JSON of the same name for each: `{"kind", "ambiguity", "items":
[{"id", "title", "parent", "status", "gain", "effort", "line"}]}`. An item is right if title and parent agree;
titles are compared without case, signs and bracketed remarks. An amount is right if low and high agree.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from optrack.model.plan import Item, Plan, Quantity
from optrack.plan.read import parse_plan


@dataclass
class Score:
    """Counts over one plan or several: items right, found, labelled; quantities right and compared."""

    right: int = 0
    found: int = 0
    labelled: int = 0
    gains: list[bool] = field(default_factory=list)
    efforts: list[bool] = field(default_factory=list)
    statuses: list[bool] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __iadd__(self, other: Score) -> Score:
        """Add another plan's counts."""
        self.right += other.right
        self.found += other.found
        self.labelled += other.labelled
        self.gains += other.gains
        self.efforts += other.efforts
        self.statuses += other.statuses
        return self

    def row(self, name: str) -> str:
        """Return the table's row."""
        precision = self.right / self.found if self.found else 1.0
        recall = self.right / self.labelled if self.labelled else 1.0
        shares = "  ".join(_share(values) for values in (self.gains, self.efforts, self.statuses))
        return f"{name:36} {self.labelled:5} {self.found:5}   {precision:5.2f} {recall:5.2f}   {shares}"


def score(plan: Plan, label: dict[str, Any]) -> Score:
    """Compare what was read with the label; items past `partial_to_line` count only if labelled."""
    last = label.get("partial_to_line", 10**9)
    items = [item for item in plan.items if item.line <= last]
    titles = {item.id: item.title for item in plan.items}
    by_id = {e["id"]: e["title"] for e in label["items"] if e["id"] is not None}
    result = Score(found=len(items), labelled=len(label["items"]))
    unused = list(items)
    for entry in label["items"]:
        parent = by_id.get(entry["parent"], entry["parent"])
        match = next((i for i in unused if _is(i, titles, entry["title"], parent)), None)
        if match is None:
            result.wrong.append(f"missing, line {entry['line']}: {entry['title']}")
            continue
        unused.remove(match)
        result.right += 1
        for values, ours, theirs in (
            (result.gains, match.gain, entry["gain"]),
            (result.efforts, match.effort, entry["effort"]),
        ):
            if theirs is not None:
                values.append(_agree(ours, theirs))
                if not values[-1]:
                    result.wrong.append(f"line {entry['line']}: {theirs} read as {ours}")
            elif ours is not None and (ours.low is not None or ours.high is not None):
                values.append(False)
                result.wrong.append(f"line {entry['line']}: invented {ours}")
        result.statuses.append(match.status == entry["status"])
    result.wrong += [f"invented, line {item.line}: {item.title}" for item in unused]
    return result


def main(folder: Path, *, verbose: bool) -> int:
    """Print the table for a folder."""
    open_total, total = Score(), Score()
    print(f"{'plan':36} items found    prec   rec    gain  effort  status")  # noqa: T201
    for path in sorted((folder / "labels").glob("*.json")):
        label = json.loads(path.read_text(encoding="utf-8"))
        source = folder / label.get("file", f"{path.stem}.md")
        plan = parse_plan(source.read_bytes(), name=path.stem, path=str(source))
        one = score(plan, label)
        low = label["ambiguity"] == "low"
        print(one.row(path.stem + ("" if low else "  (ambiguous)")))  # noqa: T201
        for line in one.wrong if verbose else ():
            print(f"      {line}")  # noqa: T201
        total += one
        if low:
            open_total += one
    print(open_total.row("all of low ambiguity"))  # noqa: T201
    print(total.row("all"))  # noqa: T201
    return 0


def _is(item: Item, titles: dict[str, str], title: str, parent: str | None) -> bool:
    ours = titles.get(item.parent) if item.parent is not None else None
    same_parent = (ours is None) == (parent is None) and (ours is None or _same(ours, parent or ""))
    return same_parent and _same(item.title, title)


def _same(ours: str, theirs: str) -> bool:
    return _plain(ours) == _plain(theirs) or _plain(_bare(ours)) == _plain(_bare(theirs))


def _bare(title: str) -> str:
    return re.sub(r"\s*[(\[][^()\[\]]*[)\]]\s*$", "", title)


def _plain(title: str) -> str:
    return re.sub(r"\W+", "", title.casefold())


def _agree(ours: Quantity | None, theirs: dict[str, Any]) -> bool:
    low, high = theirs["low"], theirs["high"]
    if ours is None:
        return low is None and high is None and not theirs["unit"]
    return bool(ours.low == low and ours.high == high)


def _share(values: list[bool]) -> str:
    return f"{sum(values) / len(values):6.2f}" if values else "     -"


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), verbose="-v" in sys.argv))
