"""The frame of a parser: a JSON report, or printed text by a table of what its lines say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    Setting,
    last_of,
    nothing,
    number,
    numeric,
    readings_of,
    with_reason,
)
from optrack.model.metrics import SECONDS, Reading, unit_of

WORK = frozenset(
    "request_rate max_concurrency concurrency num_prompts num_requests burstiness seed random_seed dataset_name "
    "dataset_path backend endpoint model model_id tokenizer_id batch_size input_len output_len isl osl conc "
    "random_input_len random_output_len random_range_ratio random_prefix_len sharegpt_output_len warmup_requests "
    "ignore_eos max_tokens num_concurrency time_unit traffic_scenario num_clients task".split()
)
"""The settings that tell what work was done, by the names that tools give them."""
_MOST_CHARS = 200

TextReader = Callable[[Output], Parsed | None]


@dataclass(frozen=True)
class JsonTool:
    """A tool that writes a report in JSON; `text` reads what else it writes, None for what isn't its.

    `is_report` tells the tool's reports from any JSON value, `readings` reads one, `why` says why a report (with
    what was read of it) is no measurement, `settings` has the work that it tells. The last report counts.
    """

    name: str
    source: str
    is_report: Callable[[Any], bool]
    readings: Callable[[dict[str, Any]], tuple[Reading, ...]]
    why: Callable[[dict[str, Any], Parsed], str | None] = lambda report, parsed: None
    settings: Callable[[dict[str, Any]], Mapping[str, Setting]] = lambda report: work_of(report)
    notes: Callable[[dict[str, Any]], Iterable[str]] = lambda report: ()
    text: TextReader = lambda output: None
    aliases: tuple[str, ...] = ()
    names: Collection[str] = ()

    def recognises(self, output: Output) -> bool:
        """Whether the output has a report, or text of this tool."""
        return any(map(self.is_report, output.objects)) or self.text(output) is not None

    def parse(self, output: Output) -> Parsed:
        """Return the readings of the last report, of the text where there is no report."""
        reports = [document for document in output.objects if self.is_report(document)]
        if not reports:
            printed = self.text(output)
            if printed is not None:
                return printed
            return nothing(self.name, "the result is cut off" if output.torn else "no result of this tool")
        report = reports[-1]
        parsed = last_of(self.name, [self.readings(each) for each in reports], "results in this pass")
        if not parsed.readings:
            why = self.why(report, parsed) or "the result has no numbers"
            return parsed.model_copy(update={"invalid": why})
        parsed = parsed.model_copy(
            update={"settings": self.settings(report), "notes": (*parsed.notes, *self.notes(report))}
        )
        parsed = with_reason(parsed, self.why(report, parsed))
        return with_reason(parsed, "the last result is cut off" if output.torn else None)

    def parser(self) -> Parser:
        """Return the parser by its name."""
        return Parser(
            name=self.name,
            source=self.source,
            recognises=self.recognises,
            parse=self.parse,
            aliases=self.aliases,
            names=frozenset(self.names),
        )


Row = tuple[str, str, str]
"""An expression, the metric that it gives, and its unit.

The expression's group `value` is the number, `unit` its unit where the tool scales it, `key` what fills the
metric's `{key}`.
"""


@dataclass(frozen=True)
class PrintedTool:
    """A tool whose printed result is read by a table; each `begin` starts a result, and the last one counts.

    `failures` are expressions whose first group counts what failed; `settings` are name and expression.
    """

    name: str
    begin: str
    rows: tuple[Row, ...]
    failures: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    def read(self, output: Output) -> Parsed | None:
        """Return what the last result says; None for text that isn't this tool's."""
        starts = [match.start() for match in re.finditer(self.begin, output.text, re.MULTILINE)]
        texts = [output.text[a:b] for a, b in pairwise([*starts, len(output.text)])]
        results = [readings for text in texts if (readings := self._readings(text))]
        if not results:
            return None
        parsed = last_of(self.name, results, "results in this pass")
        settings = {name: match[1] for name, at in self.settings if (match := _find(at, texts[-1]))}
        parsed = parsed.model_copy(update={"settings": {k: setting_of(v) for k, v in settings.items()}})
        return with_reason(parsed, self._why(texts[-1]))

    def _readings(self, text: str) -> tuple[Reading, ...]:
        values: dict[str, float | None] = {}
        units: dict[str, str] = {}
        for expression, name, unit in self.rows:
            for match in re.finditer(expression, text, re.MULTILINE):
                groups = match.groupdict()
                full = name.format(key=(groups.get("key") or "").replace(".", "_"))
                value = scaled(groups["value"], groups.get("unit") or unit, unit)
                if value is not None:
                    values[full], units[full] = value, unit
        return readings_of(values, units)

    def _why(self, text: str) -> str | None:
        for expression, what in self.failures:
            counts = [number(match[1]) or 0 for match in re.finditer(expression, text, re.MULTILINE)]
            if sum(counts) > 0:
                return f"{sum(counts):,.0f} {what}"
        return None


def _find(expression: str, text: str) -> re.Match[str] | None:
    return re.search(expression, text, re.MULTILINE)


def printed_parser(tool: PrintedTool, source: str, aliases: tuple[str, ...] = ()) -> Parser:
    """Return the parser of a tool that only prints."""

    def parse(output: Output) -> Parsed:
        return tool.read(output) or nothing(tool.name, "no result of this tool")

    return Parser(
        name=tool.name,
        source=source,
        recognises=lambda output: tool.read(output) is not None,
        parse=parse,
        aliases=aliases,
    )


def scaled(text: str, unit: str, wanted: str) -> float | None:
    """Return the number that `text` is in `unit`, in the unit `wanted` (`1.5k`, `1.2 s` as 1200 ms)."""
    factor = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:], 1.0)
    value = number(text[:-1] if factor != 1 else text)
    if value is None:
        return None
    ours, theirs = SECONDS.get(wanted), SECONDS.get(unit_of(unit) or unit)
    return value * factor * (theirs / ours if ours and theirs and ours != theirs else 1)


def work_of(row: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the settings of `WORK` in a JSON object; infinity is the word `inf`."""
    return {key: setting_of(value) for key, value in row.items() if key in WORK and _is_plain(value)}


def setting_of(value: Any) -> Setting:
    """Return a setting's value as number or short text."""
    amount = numeric(value)
    if isinstance(value, bool):
        return str(value).lower()
    if amount is None or not math.isfinite(amount):
        return str(value)[:_MOST_CHARS]
    return int(amount) if amount.is_integer() and abs(amount) < 1e15 else amount


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value != ""
