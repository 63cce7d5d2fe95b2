"""What a parser is, and what it makes of one benchmark pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from optrack.core.frozen import Frozen
from optrack.core.metrics import Reading, metric_named
from optrack.core.parsers.output import Output


class Parsed(Frozen):
    """The readings of one benchmark pass by the parser called `tool`.

    `invalid` says why the pass is no measurement: its readings are kept and shown, never judged. `earlier`
    holds the readings of results that the same output had before the one that counts, oldest first.
    """

    tool: str
    readings: tuple[Reading, ...] = ()
    invalid: str | None = None
    notes: tuple[str, ...] = ()
    earlier: tuple[tuple[Reading, ...], ...] = ()

    def value(self, name: str) -> float | None:
        """Return the reading of the metric called `name`, or None if there is none."""
        return next((r.value for r in self.readings if r.metric.name == name), None)


@dataclass(frozen=True)
class Parser:
    """A reader of one tool's output; `source` says where the format is defined.

    `recognises` is asked in the order of the table, so it must be sure; `parse` is also called on output
    that it doesn't recognise, and then returns a `Parsed` whose `invalid` says so.
    """

    name: str
    source: str
    recognises: Callable[[Output], bool]
    parse: Callable[[Output], Parsed]
    aliases: tuple[str, ...] = ()
    whole_file: bool = False
    """Whether the tool writes its file anew each time, so that a pass is the whole file."""


def readings_of(
    values: Mapping[str, float | None], units: Mapping[str, str] | None = None
) -> tuple[Reading, ...]:
    """Return a reading for each value by metric name; a value of None is a metric that wasn't measured."""
    return tuple(
        Reading(metric=metric_named(name, unit=(units or {}).get(name)), value=value)
        for name, value in values.items()
        if value is not None
    )


def nothing(tool: str, why: str, notes: Iterable[str] = ()) -> Parsed:
    """Return a pass of which nothing could be read, and why."""
    return Parsed(tool=tool, invalid=why, notes=tuple(notes))


def last_of(tool: str, results: list[tuple[Reading, ...]], what: str) -> Parsed:
    """Return the last of several results as the one that counts, the others as `earlier`, with a note."""
    notes = (f"{len(results)} {what}; the last one counts",) if len(results) > 1 else ()
    return Parsed(tool=tool, readings=results[-1], notes=notes, earlier=tuple(results[:-1]))
