"""Shapes of maps and lists of plain data: known keys, free names, several values, a choice by type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from optrack.model.shape import Fault, Json, Path, Shape, listed, shown, unknown


@dataclass(frozen=True)
class Several(Shape):
    """A list of values, or one alone."""

    each: Shape

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't fit in any entry."""
        for index, entry in enumerate(value if isinstance(value, list) else [value]):
            if entry is None and isinstance(value, list):
                yield Fault(path, f"`{'.'.join(path)}` has an empty entry", "remove it")
            yield from self.each.faults(entry, (*path, str(index)) if isinstance(value, list) else path)

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        return {"anyOf": [self.each.json(), {"type": "array", "items": self.each.json()}]}


@dataclass(frozen=True)
class MapOf(Shape):
    """A map from names to values of one shape."""

    each: Shape
    names: tuple[str, ...] = ()

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't fit in any entry."""
        if value is None:
            return
        if not isinstance(value, Mapping):
            yield Fault(
                path,
                f"`{'.'.join(path)}` must be a map, not {shown(value)}",
                f"write `{path[-1]}: {{name: value}}`",
            )
            return
        for name, entry in value.items():
            if self.names and name not in self.names:
                yield unknown((*path, name), self.names)
            else:
                yield from self.each.faults(entry, (*path, name))

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        if self.names:
            named = {name: self.each.json() for name in self.names}
            return {"type": ["object", "null"], "properties": named, "additionalProperties": False}
        return {"type": ["object", "null"], "additionalProperties": self.each.json()}


@dataclass(frozen=True)
class Fields(Shape):
    """A map with known keys; `notes` says in a sentence what each is for."""

    keys: Mapping[str, Shape]
    notes: Mapping[str, str] = field(default_factory=dict)

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield unknown keys with the nearest known one, and what doesn't fit under known keys."""
        if value is None:
            return
        if not isinstance(value, Mapping):
            name = f"`{'.'.join(path)}`" if path else "this"
            yield Fault(
                path,
                f"{name} must be a map, not {shown(value)}",
                f"its keys are {listed(tuple(self.keys))}",
            )
            return
        for key, entry in value.items():
            shape = self.keys.get(key)
            if shape is None:
                yield unknown((*path, key), tuple(self.keys))
            else:
                yield from shape.faults(entry, (*path, key))

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        properties = {
            key: {**shape.json(), **({"description": self.notes[key]} if key in self.notes else {})}
            for key, shape in self.keys.items()
        }
        return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


@dataclass(frozen=True)
class ByType(Shape):
    """A shape chosen by what the value is: text or a number, a map, or a list."""

    scalar: Shape
    mapping: Shape
    sequence: Shape | None = None

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what doesn't fit the shape chosen."""
        if isinstance(value, Mapping):
            yield from self.mapping.faults(value, path)
        elif isinstance(value, list) and self.sequence is not None:
            yield from self.sequence.faults(value, path)
        else:
            yield from self.scalar.faults(value, path)

    def json(self) -> Json:
        """Return the JSON Schema of this shape."""
        shapes = [self.scalar, self.mapping, *([self.sequence] if self.sequence else [])]
        return {"anyOf": [shape.json() for shape in shapes]}
