"""What every JSON document has in common: its schema version, and only numbers that JSON knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA_VERSION = 1


def document(**fields: Any) -> dict[str, Any]:
    """Return a document with its schema version first."""
    return {"schema_version": SCHEMA_VERSION, **fields}


def finite(value: Any) -> Any:
    """Return plain data with every number that JSON lacks (NaN, infinities) replaced by None."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
