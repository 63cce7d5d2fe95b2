"""A plan: its items, their recipes and attributes, what is wrong with it; and the statuses of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from optrack.model.metrics import Better
from optrack.model.value import Frozen
from optrack.model.written import Text, Written, one_of

Status = Literal["pending", "in_progress", "completed", "cancelled"]
STATUSES: tuple[Status, ...] = ("pending", "in_progress", "completed", "cancelled")

_ALLOWED: frozenset[tuple[Status, Status]] = frozenset(
    {
        ("pending", "in_progress"),
        ("pending", "completed"),
        ("pending", "cancelled"),
        ("in_progress", "pending"),
        ("in_progress", "completed"),
        ("in_progress", "cancelled"),
        ("completed", "pending"),
        ("completed", "in_progress"),
        ("completed", "cancelled"),
        ("cancelled", "pending"),
        ("cancelled", "in_progress"),
    }
)


def may_move(before: Status, after: Status) -> bool:
    """Whether an item may go from `before` to `after`.

    Everything may except standing still, and a cancelled item being completed without having been
    taken up again: a result needs a run or a decision, and cancelling was one.
    """
    return (before, after) in _ALLOWED


class Quantity(Frozen):
    """An amount as people write it (`5-10 ms`, `~2x`): bounds in `unit`, and the words themselves.

    `low` and `high` are None where the text gives no number; equal where it gives one.
    """

    text: str
    low: float | None = None
    high: float | None = None
    unit: str = ""


class PrimaryMetric(Written):
    """The metric that verdicts are about."""

    name: Text = "output_throughput"
    unit: Text | None = None
    better: Annotated[Better, one_of("higher", "lower")] | None = None


class RecipeLayer(Frozen):
    """What one recipe block changes: plain data, still to be laid over its parents' layers.

    `text` is the block as written; `lines` and `columns` map a dotted key (`server.tp`) to its place in the
    plan. A layer
    over the `baseline` is laid over the baseline's recipe, whatever item it stands in.
    """

    data: Mapping[str, Any]
    text: str
    line: int
    lines: Mapping[str, int] = Field(default_factory=dict)
    columns: Mapping[str, int] = Field(default_factory=dict)
    over: Literal["parent", "baseline"] = "parent"


class Item(Frozen):
    """One entry of the plan. `rank` is its position in plan order, from 0; `line` counts from 1."""

    id: str
    title: str
    line: int
    rank: int
    parent: str | None = None
    priority: str | None = None
    status: Status = "pending"
    gain: Quantity | None = None
    effort: Quantity | None = None
    risk: str | None = None
    hypothesis: str | None = None
    needs: tuple[str, ...] = ()
    skip_if: str | None = None
    attributes: Mapping[str, str] = Field(default_factory=dict)
    recipe: RecipeLayer | None = None


class Problem(Frozen):
    """Something in the plan that can't be used (`error`) or is probably not meant (`warning`)."""

    severity: Literal["error", "warning"]
    message: str
    line: int
    column: int = 1
    hint: str | None = None

    def located(self, path: str) -> str:
        """Return the problem as one line, `path:line:column: severity: message (hint)`."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{path}:{self.line}:{self.column}: {self.severity}: {self.message}{hint}"


class LeftOut(Frozen):
    """A heading, entry or row that wasn't read as an item: its line, its words, and why.

    `labelled` ones have a label or a task box; `doubtful` ones may have been meant as items: they stand between such
    and are numbered, labelled or boxed, or are rows of a ranked table.
    """

    line: int
    text: str
    kind: Literal["heading", "bold line", "entry", "row"]
    reason: str
    labelled: bool = False
    doubtful: bool = False


class Plan(Frozen):
    """A whole plan; `name` is the file's stem and identifies the plan within its project."""

    name: str
    path: str
    title: str
    text: str
    metric: PrimaryMetric = PrimaryMetric()
    target: Quantity | None = None
    min_effect: float = 0.02
    baseline: str = "baseline"
    adopt: Literal["manual", "auto"] = "manual"
    recipe: RecipeLayer | None = None
    items: tuple[Item, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by id, and by lower-case id where that is unique and no other item's id."""
        found: dict[str, Item] = {}
        folded = Counter(item.id.casefold() for item in self.items)
        for item in self.items:
            if folded[item.id.casefold()] == 1:
                found.setdefault(item.id.casefold(), item)
        return found | {item.id: item for item in reversed(self.items)}

    def item(self, item_id: str) -> Item | None:
        """Return the item with this id (upper and lower case alike if no id matches exactly), or None."""
        exact = self.by_id.get(item_id)
        return exact if exact is not None else self.by_id.get(item_id.casefold())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with its own index of items."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("by_id", None)
        return copy

    def children(self, item_id: str) -> tuple[Item, ...]:
        """Return the items directly under this one, in plan order."""
        return tuple(item for item in self.items if item.parent == item_id)
