"""The error allowed to one comparison among many, and to one look among several."""

from __future__ import annotations

import math
from functools import lru_cache

from optrack.model.wording import level


def improvement_tail(confidence: float, family: int, credited: int = 0) -> float:
    """Return the one-sided error at which an `improvement` may be claimed among `family` comparisons, `credited` of
    which are improvements already.

    Holm's procedure (1979): each comparison that is still open gets (1 - confidence) / (family - credited), so the
    chance of even one false improvement in the campaign is at most 1 - confidence, however the comparisons depend
    on one another (they share a baseline). Never more than an interval at `confidence` leaves at one end.
    """
    return min((1 - confidence) / 2, (1 - confidence) / max(1, family - credited))


def family_statement(confidence: float, family: int, credited: int = 0) -> str:
    """Return the sentence with which a log says how false improvements are bounded."""
    each = level(improvement_tail(confidence, family, credited))
    how = (
        f"Holm: {each} for each of the {family - credited} others"
        if credited
        else f"Bonferroni: {each} for each"
    )
    least = level(1 - confidence)
    return f"The chance of even one false improvement among {family} comparisons is kept to {least} ({how})."


def regression_statement(confidence: float, family: int) -> str:
    """Return the sentence that says how false regressions aren't bounded."""
    return (
        f"The chance of a false regression is {level((1 - confidence) / 2)} in each of the {family} comparisons; "
        "over all of them together it isn't bounded."
    )


_GRID = 601


@lru_cache(maxsize=64)
def nominal_tails(tail: float, first: int, last: int) -> tuple[float, ...]:
    """Return the one-sided error for each look, from `first` to `last` pairs, whose total is `tail`.

    Error spending after Lan and DeMets (Biometrika 70, 1983): by look n the share n / last of it is spent,
    which is the linear member of the family of Kim and DeMets (1987). The chance to cross at each look
    comes from the density of the sum of the differences among paths that haven't crossed before, integrated
    numerically (Armitage, McPherson and Rowe, 1969). For a spread that is estimated, the same probabilities
    are used with Student's t (Jennison and Turnbull, Group Sequential Methods, 2000, section 3.8).
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    tails: list[float] = []
    at = density = weight = np.empty(0)
    spent = 0.0
    for look in range(first, last + 1):
        share = tail * look / last - spent
        spent += share
        width = math.sqrt(look)
        if not tails:
            bound = -float(ndtri(share))
        else:
            low, high = 0.0, 12.0
            for _ in range(60):
                bound = (low + high) / 2
                crossing = float(np.sum(density * weight * ndtr(at - bound * width)))
                low, high = (bound, high) if crossing > share else (low, bound)
        reached = np.linspace(-8 * width, bound * width, _GRID)
        if not tails:
            grown = np.exp(-(reached**2) / (2 * look)) / math.sqrt(2 * math.pi * look)
        else:
            step = reached[:, None] - at[None, :]
            grown = (np.exp(-(step**2) / 2) / math.sqrt(2 * math.pi)) @ (density * weight)
        at, density = reached, grown
        weight = np.full(_GRID, at[1] - at[0])
        weight[[0, -1]] /= 2
        tails.append(float(ndtr(-bound)))
    return tuple(tails)
