"""The base of all values: immutable and strict; and the canonical text of plain data with its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


def canonical(data: Any) -> str:
    """Return plain data as ASCII JSON with sorted keys; what JSON can't say (a path, a date) becomes text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), default=_plain)


def as_written(data: Any) -> str:
    """Return plain data as ASCII JSON with its keys in the order given, for data whose order is shown."""
    return json.dumps(data, separators=(",", ":"), default=_plain)


def value_text(value: Frozen) -> str:
    """Return a core value as ASCII JSON that `json.loads` and validation make equal again.

    Text that is no Unicode (odd bytes of an environment) and numbers that are none survive, as they don't in
    pydantic's own JSON.
    """
    return as_written(value.model_dump(mode="json"))


def digest(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def recipe_digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a resolved recipe: equal for recipes that say the same, in whatever order."""
    return digest(canonical(data))


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
