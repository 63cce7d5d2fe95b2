"""Groups failed runs by the fingerprint of their failure."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from optrack.core.run import Failure
from optrack.core.state import KnownFailure
from optrack.steps.record.times import from_text


def by_fingerprint(found: Sequence[sqlite3.Row]) -> tuple[KnownFailure, ...]:
    """Return the failures of these rows of `run_record` (oldest first), the one met last first."""
    groups: dict[str, list[sqlite3.Row]] = {}
    for row in found:
        groups.setdefault(row["fingerprint"], []).append(row)
    known = [_known_failure(fingerprint, group) for fingerprint, group in groups.items()]
    return tuple(sorted(known, key=lambda failure: failure.last_at, reverse=True))


def _known_failure(fingerprint: str, group: Sequence[sqlite3.Row]) -> KnownFailure:
    latest = Failure.model_validate(json.loads(group[-1]["failure"]))
    return KnownFailure(
        fingerprint=fingerprint,
        kind=latest.kind,
        message=latest.message,
        items=tuple(dict.fromkeys(row["item"] for row in group)),
        runs=tuple(row["id"] for row in group),
        first_at=from_text(group[0]["started_at"]),
        last_at=from_text(group[-1]["started_at"]),
    )
