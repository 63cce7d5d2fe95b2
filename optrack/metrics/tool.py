"""The frame of a parser: a report in JSON, or printed text by a table of what its lines say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Parser, Setting, Values, last_of, number, numeric
from optrack.model.metrics import SECONDS, SIZES, unit_of

WORK = frozenset(
    "request_rate max_concurrency concurrency num_prompts num_requests burstiness seed random_seed dataset_name "
    "dataset_path backend endpoint model model_id tokenizer_id batch_size input_len output_len isl osl conc "
    "random_input_len random_output_len random_range_ratio random_prefix_len sharegpt_output_len warmup_requests "
    "ignore_eos max_tokens num_concurrency time_unit traffic_scenario num_clients task".split()
)
"""The settings that tell what work was done, by the names that tools give them."""
REPEATED = WORK | frozenset(
    "duration max_seconds threads connections vus clients jobs path document_bytes temperature top_p top_k".split()
)
"""The settings of all tools that two sides must have alike."""
_MOST_CHARS = 200

Report = dict[str, Any]
TextReader = Callable[[Output], Parsed | None]
"""Reads what a tool prints; None for what isn't its, a `Parsed` with `invalid` for its output without a result."""


def _nothing(output: Output) -> None:
    return None


def numbers(report: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the numbers of a JSON object by their keys."""
    return {key: numeric(value) for key, value in report.items() if not isinstance(value, str)}


def work_of(row: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the settings of `WORK` in a JSON object; infinity is the word `inf`."""
    plain = {k: v for k, v in row.items() if isinstance(v, str | int | float) and v != ""}
    return {key: setting_of(value) for key, value in plain.items() if key in WORK}


def tool(
    name: str,
    source: str,
    *,
    text: TextReader = _nothing,
    otherwise: TextReader = _nothing,
    keys: str = "",
    is_report: Callable[[Report], bool] | None = None,
    readings: Callable[[Report], Values] = numbers,
    why: Callable[[Report, Parsed], str | None] = lambda report, parsed: None,
    settings: Callable[[Report], Mapping[str, Setting]] = work_of,
    notes: Callable[[Report], Iterable[str]] = lambda report: (),
    missing: str = "no result of this tool",
    aliases: tuple[str, ...] = (),
    names: Collection[str] = (),
) -> Parser:
    """Return the parser of a tool that writes a report in JSON, or something else that `text` reads.

    A report is a JSON object with all these `keys`, or one that `is_report` tells from others. `readings` reads one,
    `why` says why a report (with what was read of it) is no measurement, `settings` has the work that it tells. The
    last report counts. `otherwise` reads what is taken for this tool's only where it was asked for by name; `missing`
    says what isn't there where output of another tool was given.
    """
    wanted = frozenset(keys.split())
    mine = is_report or (lambda report: bool(wanted) and wanted <= report.keys())

    def recognises(output: Output) -> bool:
        return any(map(mine, output.objects)) or text(output) is not None

    def parse(output: Output) -> Parsed:
        parsed = _of_reports(output) or text(output) or otherwise(output)
        if parsed is None:
            parsed = Parsed(invalid="the result is cut off" if output.torn else missing)
        return parsed if parsed.tool else parsed.but(tool=name)

    def _of_reports(output: Output) -> Parsed | None:
        reports = [document for document in output.objects if mine(document)]
        if not reports:
            return None
        report = reports[-1]
        parsed = last_of([readings(each) for each in reports], "results in this pass")
        if not parsed.readings:
            return parsed.but(invalid=why(report, parsed) or "the result has no numbers")
        parsed = parsed.but(settings=settings(report), notes=(*parsed.notes, *notes(report)))
        parsed = parsed.because(why(report, parsed))
        return parsed.because("the last result is cut off" if output.torn else None)

    return Parser(name, source, recognises, parse, aliases, frozenset(names))


Row = tuple[str, str, str | None]
"""An expression, the metric that it gives, and its unit, None where the name implies it.

The expression's group `value` is the number, `unit` its unit where the tool scales it, `key` what fills the
metric's `{key}`.
"""


@dataclass(frozen=True)
class Printed:
    """Reads a printed result by a table; each `begin` starts a result, and the last one counts.

    `failures` are expressions whose first group counts what failed; `settings` are name and expression.
    """

    begin: str
    rows: tuple[Row, ...]
    failures: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    def __call__(self, output: Output) -> Parsed | None:
        """Return what the last result says; None for text that isn't this tool's."""
        starts = [match.start() for match in re.finditer(self.begin, output.text, re.MULTILINE)]
        texts = [output.text[a:b] for a, b in pairwise([*starts, len(output.text)])]
        results = [values for part in texts if (values := self.values(part))]
        if not results:
            return None
        found = {name: re.search(at, texts[-1], re.MULTILINE) for name, at in self.settings}
        settings = {name: setting_of(match[1]) for name, match in found.items() if match is not None}
        return last_of(results, "results in this pass").but(settings=settings).because(self._why(texts[-1]))

    def values(self, text: str) -> dict[str, Amount]:
        """Return what the lines of one result say; what is there twice counts as it was said last."""
        values: dict[str, Amount] = {}
        for expression, name, unit in self.rows:
            for match in re.finditer(expression, text, re.MULTILINE):
                groups = match.groupdict()
                full = name.format(key=re.sub(r"[^\w -]+", "_", groups.get("key") or ""))
                value = scaled(groups["value"], groups.get("unit") or unit or "", unit or "")
                if value is not None:
                    values[full] = value, unit
        return values

    def _why(self, text: str) -> str | None:
        for expression, what in self.failures:
            counts = [number(match[1]) or 0 for match in re.finditer(expression, text, re.MULTILINE)]
            if sum(counts) > 0:
                return f"{sum(counts):,.0f} {what}"
        return None


_FACTORS = SECONDS | {f"{size}/s": factor for size, factor in SIZES.items()}


def scaled(text: str, unit: str, wanted: str) -> float | None:
    """Return the number that `text` is in `unit`, in the unit `wanted` (`1.5k`, `1.2 s` as 1200 ms)."""
    factor = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:], 1.0)
    value = number(text[:-1] if factor != 1 else text)
    if value is None:
        return None
    ours, theirs = _FACTORS.get(wanted), _FACTORS.get(unit_of(unit) or unit)
    return value * factor * (theirs / ours if ours and theirs and ours != theirs else 1)


def setting_of(value: Any) -> Setting:
    """Return a setting's value as number or short text."""
    amount = numeric(value)
    if isinstance(value, bool):
        return str(value).lower()
    if amount is None or not math.isfinite(amount):
        return str(value)[:_MOST_CHARS]
    return int(amount) if amount.is_integer() and abs(amount) < 1e15 else amount


def counted(count: float | None, what: str) -> str | None:
    """Return the reason why a pass with so many failures is no measurement, None if there were none."""
    return f"{count:,.0f} {what}" if count else None
