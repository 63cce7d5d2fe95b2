"""Names that a command was given and that mean nothing: the error, with what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from optrack.errors import UsageError


def neither(what: str, plan: str, items: Collection[str], error: UsageError) -> UsageError:
    """Return the error for a name that is no item's of the plan and, as `error` says, no run's either."""
    near = difflib.get_close_matches(what, list(items), n=1)
    hint = f"did you mean {near[0]!r}?" if near else error.hint
    return UsageError(
        f"{what!r} is neither an item of the plan {plan!r} nor a run",
        hint=hint or "`optrack status` lists the items, `optrack runs` the runs",
    )
