"""What was found of an item beyond its verdict, and the registry of the baseline, as lines for a terminal."""

from __future__ import annotations

from optrack.cli.table import table
from optrack.judge.calibration import Expectation
from optrack.judge.derived import derived_text
from optrack.judge.lineage import Registry, both_effects
from optrack.model.judgement import Judgement
from optrack.model.run import Run
from optrack.model.wording import percent
from optrack.render.bases import base_name, evidence, how, measured, standing
from optrack.render.calibrated import expected_range
from optrack.render.documents import timestamp
from optrack.render.summary import verdict_text


def found_lines(
    judgement: Judgement | None, original: Judgement | None, expected: Expectation | None, run: Run | None
) -> list[str]:
    """Return expected against measured, the standing against the original, guards and derived metrics."""
    lines = []
    if expected is not None:
        lines.append(
            f"expected:    {expected_range(expected)}; measured {percent(expected.measured)}, "
            f"{expected.standing} that"
        )
    if judgement is None:
        return lines
    if original is not None:
        both = both_effects(judgement, original)
        lines.append(f"original:    {verdict_text(original)}{f'   {both}' if both else ''}")
        lines += [f"  - {reason}" for reason in original.reasons]
    if judgement.guards:
        lines.append(f"guards:      {', '.join(f'{guard.name} {guard.state}' for guard in judgement.guards)}")
    derived = derived_text(judgement.derived, run.recipe if run else {})
    lines += [f"derived:     {name} = {text}" for name, text in derived.items()]
    return lines


def registry_lines(registry: Registry, unit: str) -> list[str]:
    """Return each base with its measurements over time and its drift, then what was adopted on what."""
    lines = []
    for base in registry.bases:
        rows = [(m.run, timestamp(m.at) or "", measured(m, unit), how(m)) for m in base.measurements]
        lines += ["", f"base: {base_name(base)}", *table(("RUN", "MEASURED AT", "MEAN", "HOW"), rows)]
        lines += [base.drift] if base.drift else []
    adopted = [
        (rest.adoption.item, timestamp(rest.adoption.at) or "", standing(rest), evidence(rest))
        for rest in registry.adoptions
    ]
    if adopted:
        lines += ["", *table(("ADOPTED", "AT", "STANDING", "ON WHICH EVIDENCE"), adopted)]
    return lines
