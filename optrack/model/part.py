"""The base of all parts of a snapshot, and what their values are.

A value that wasn't captured is absent, in the JSON document too; one that was looked for and isn't there is null. What
another version recorded beside the known fields is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, SerializerFunctionWrapHandler, model_serializer

from optrack.model.value import Frozen

Number = int | float | None
Text = str | None
Value = str | bool | int | float | list[str | int | float | None] | None
"""What one process or CPU has, or the list of what several of them have."""


class Part(Frozen):
    """A piece of a snapshot; `problem` says why it couldn't be captured."""

    model_config = ConfigDict(extra="allow", defer_build=True, protected_namespaces=())

    problem: Text = None

    @model_serializer(mode="wrap")
    def _captured(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data = dump(self)
        return {name: data[name] for name in sorted(self.model_fields_set)}

    def has(self, name: str) -> bool:
        """Whether this was captured, be it as null."""
        return name in self.model_fields_set


def plain(part: Part | Mapping[str, Part | str] | None) -> dict[str, Any]:
    """Return a part as plain data, as the JSON document has it."""
    if part is None:
        return {}
    if isinstance(part, Part):
        return part.model_dump()
    return {name: one.model_dump() if isinstance(one, Part) else one for name, one in part.items()}
