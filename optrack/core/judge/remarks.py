"""What a judgement tells beside its verdict: derived metrics, and what the server declined."""

from __future__ import annotations

from optrack.core.fairness.declined import declined
from optrack.core.judge.derived import derive
from optrack.core.judgement import Judgement
from optrack.core.metrics import means_of
from optrack.core.recipes.recipe import treatment
from optrack.core.run import Run


def with_remarks(judgement: Judgement, candidate: Run, baseline: Run | None) -> Judgement:
    """Return the judgement of whole runs with the derived metrics of the candidate's recipe, why any can't be
    computed, and what its server says that it left out. A run that measured nothing has no derived metrics."""
    expressions = candidate.recipe.get("derived", {}) if candidate.samples else {}
    theirs = means_of(baseline.samples) if baseline else {}
    found = derive(expressions, means_of(candidate.samples), theirs) if expressions else ()
    said = [f"{d.name} can't be computed: {d.problem}." for d in found if d.problem]
    if baseline is not None and candidate.snapshot is not None and baseline.snapshot is not None:
        said += declined(candidate.snapshot, baseline.snapshot, treatment(candidate.recipe, baseline.recipe))
    return judgement.model_copy(
        update={"derived": {d.name: d.value for d in found}, "reasons": (*judgement.reasons, *said)}
    )
