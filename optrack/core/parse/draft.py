"""An item while the plan is read: what its form said, before ids, parents and problems are settled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from optrack.core.parse.attributes import (
    Attribute,
    amount_of,
    attributes_in,
    best_gain,
    known_in,
    says_done,
)
from optrack.core.parse.document import Block, Section
from optrack.core.parse.labels import Label
from optrack.core.parse.marks import Marked, status_of
from optrack.core.parse.prose import inline_amounts
from optrack.core.plan import Quantity, RecipeLayer
from optrack.core.quantity import EFFORT_UNITS
from optrack.core.status import Status

Form = Literal["heading", "list", "table"]


@dataclass(eq=False)
class Draft:
    """One entry of the plan as its form gave it; `blocks` is what stands under it."""

    form: Form
    title: str
    line: int
    label: Label | None = None
    explicit_id: str | None = None
    own_id: str | None = None
    parent: Draft | None = None
    section: Section | None = None
    status: Status | None = None
    boxed: bool = False
    priority: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None
    blocks: list[Block] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    recipe: RecipeLayer | None = None
    children: list[Draft] = field(default_factory=list)
    id: str = ""

    @property
    def written_id(self) -> str | None:
        """The id that the document itself gives the item, if it does."""
        if self.explicit_id is not None:
            return self.explicit_id
        return self.label.id if self.label is not None and self.label.id is not None else self.own_id

    def take_marks(self, marked: Marked) -> None:
        """Take over what the marks around the title said."""
        self.title = marked.title
        self.status = self.status or marked.status
        self.priority = self.priority or marked.priority
        self.gain = self.gain or marked.gain
        self.effort = self.effort or marked.effort

    def adopt(self, child: Draft) -> None:
        """Make `child` a part of this item."""
        child.parent = self
        self.children.append(child)

    def read_attributes(self, prose: str = "") -> None:
        """Read gain, effort and status from the blocks under the item, then from `prose` after its title."""
        self.attributes += attributes_in(self.blocks)
        self.attributes += (replace(a, line=self.line) for a in known_in(prose))
        gain = amount_of(best_gain(self.attributes))
        effort = amount_of(self.attribute("effort"))
        if gain is not None and (self.gain is None or gain.low is not None or gain.high is not None):
            self.gain = gain
        if effort is not None and effort.unit and effort.unit not in EFFORT_UNITS:
            self.gain, effort = self.gain or effort, None
        self.effort = effort or self.effort
        if prose and (self.gain is None or self.effort is None):
            said = inline_amounts(prose)
            self.gain, self.effort = self.gain or said[0], self.effort or said[1]
        status = self.attribute("status")
        if not self.boxed and status is not None:
            self.status = status_of(status.value) or self.status
        if not self.boxed and self.status is None and says_done(self.blocks):
            self.status = "completed"

    def attribute(self, key: str) -> Attribute | None:
        """Return the first attribute with this canonical key."""
        return next((a for a in self.attributes if a.key == key), None)

    def weight(self) -> int:
        """How much the item and those below it say beyond their titles."""
        own = (self.gain is not None) + (self.effort is not None) + 4 * (self.recipe is not None)
        return own + sum(child.weight() for child in self.children)
