"""Rows of results as readings: told apart by the columns in which they differ, each with its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optrack.metrics.output import Setting, numeric, slug
from optrack.metrics.tables import measure_of
from optrack.metrics.tool import setting_of
from optrack.model.metrics import SECONDS, SIZES, Reading, metric_named, rate_direction, unit_of

MOST_ROWS_APART = 100
"""Of more rows only the last is read: that is a course of time, not cases."""
MOST_READINGS = 1000
_SHORT = {
    "batch_size": "bs",
    "bs": "bs",
    "batch": "bs",
    "max_concurrency": "c",
    "num_concurrency": "c",
    "rate": "rate",
}
_SHORT |= dict.fromkeys(("concurrency", "concur", "conc", "c"), "c")
_SHORT |= dict.fromkeys(("depth", "n_depth", "starting_depth"), "d")
_SETTING = re.compile(
    r"(?:offered|target|requested)_\w+|(?:n|num|max|min|total)?_?(?:c|concurrency|concur|conc|batch(?:_?size)?|bs|u?batch|isl|osl"
    r"|(?:random_)?(?:input|output|prompt|context|seq|ctx|prefix)_?(?:len|length|lens)|ctx|context|depth|starting_depth"
    r"|size|threads|clients|connections|users|vus|streams|rate|request_rate|prompts|seed|tp|dp|pp|ep|ngl|gpus?"
    r"|max_tokens|tokens_max|num_prompts|workers|port|pid|version|timestamp|rank|run|rep|repetition|trial|iteration)"
)
"""Names that say how was measured, not what."""
_STATISTIC = re.compile(
    r"avg|average|mean|median|med|mdn|min|minimum|max|maximum|std|stdev|stddev|sd|sum|p\d+(?:_\d+)?|value|result|total"
    r"|score|measured|measurement"
)
_OF_A_ROW = re.compile(rf"{_STATISTIC.pattern}|error")
"""Columns whose unit another column gives."""
_PLAIN_VALUE = frozenset({"value", "result", "measured", "measurement"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_BRACKETED = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]")
_PERCENTILE = re.compile(
    r"(?:p(?:ercentile)?)?\(?(\d{1,2}(?:\.\d+)?|100)(?:th percentile|th|%|\))(?:ile)?\)?|p(\d{1,2}\.\d+)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LABEL_CHARS = 40
_MOST_LABEL_CHARS = 120


@dataclass
class Found:
    """What was read so far: readings by name, the settings of the work, and notes of what was left out."""

    readings: dict[str, Reading] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: float, unit: str | None, ending: str = "") -> None:
        """Add a value under `name` and what tells its row apart; a name that is taken gets a number."""
        base = metric_named(name, unit=unit)
        full = f"{name}_{ending}" if ending else name
        if len(self.readings) >= MOST_READINGS:
            note = f"more than {MOST_READINGS} values; the others were left out"
            self.notes += [note] if note not in self.notes else []
            return
        if full in self.readings:
            count = next(n for n in range(2, MOST_READINGS + 2) if f"{full}_{n}" not in self.readings)
            self.notes.append(f"{full} is there again, as {full}_{count}")
            full = f"{full}_{count}"
        better = rate_direction(name, base.unit) if "/" in base.unit else base.better
        metric = metric_named(full, unit=base.unit).model_copy(update={"better": better})
        self.readings[full] = Reading(metric=metric, value=value)


def is_setting(name: str) -> bool:
    """Whether a column or key says how was measured."""
    return _SETTING.fullmatch(slugged(_BRACKETED.sub("", name))) is not None


def slugged(text: str) -> str:
    """Return a label as part of a metric's name: `meanLatencyMs` as `mean_latency_ms`, `50%` as `p50`."""
    percentile = _PERCENTILE.fullmatch(text.strip().casefold())
    if percentile is not None:
        return "p" + (percentile[1] or percentile[2]).replace(".", "_")
    return slug(_CAMEL.sub("_", text))


def named(label: str) -> tuple[str, str | None]:
    """Return a metric's name and its unit of a label: `ttft_avg_ms` and `ms` for `TTFT Avg (ms)`."""
    unit = unit_of(label) if " " not in label.strip() else None
    if unit is not None and ("/" in label or unit.endswith("/s")):
        return _spelled_out(label), unit
    for match in _BRACKETED.finditer(label):
        unit = unit_of(match[1])
        if unit is not None:
            return with_unit(
                slugged(label[: match.start()] + " " + label[match.end() :]), match[1], unit
            ), unit
    return slugged(label), None


def with_unit(name: str, spelled: str, unit: str) -> str:
    """Return a name that ends with its unit, as the tool spells it."""
    ending = "pct" if unit == "%" else _spelled_out(spelled) if "/" in unit[1:] else slug(_plain(spelled))
    return name if not ending or f"_{name}".endswith(f"_{ending}") else f"{name}_{ending}".strip("_")


def _spelled_out(unit: str) -> str:
    """Return a unit as part of a name: `us_per_op` for `micros/op`, and `tokens_sec` for `tokens/sec`, as ever."""
    short = unit_of(unit) or unit
    return slug(_plain(unit)) if short.endswith(("/s", "/min", "/h")) else slug(short.replace("/", "_per_"))


def _plain(unit: str) -> str:
    return unit.replace("µ", "u").replace("μ", "u")


def distinguishing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fewest columns by which rows can be told apart: words and settings before counts."""
    columns = [name for name in rows[0] if len({str(r.get(name)) for r in rows}) > 1]
    ranks = {c: rank for c in columns if (rank := _rank(rows, c)) is not None}
    ranked = sorted(ranks, key=lambda column: ranks[column])
    chosen: list[str] = []
    for column in (*ranked, *list(rows[0])[:1]):
        if _distinct(rows, [*chosen, column]) > _distinct(rows, chosen):
            chosen.append(column)
    for column in list(chosen):
        rest = [c for c in chosen if c != column]
        if rest and _distinct(rows, rest) == _distinct(rows, chosen):
            chosen = rest
    return chosen


def _rank(rows: Sequence[Mapping[str, Any]], column: str) -> int | None:
    """Return how well a column tells cases apart, best first; None for what is measured."""
    values = [row.get(column) for row in rows if row.get(column) not in (None, "")]
    numbers = [amount for value in values if (amount := _amount(value)) is not None]
    if is_setting(column):
        return 1
    if len(numbers) < len(values):
        texts = [str(value) for value in values]
        is_label = all(len(text) <= _LABEL_CHARS and not _DATE.search(text) for text in texts)
        return 0 if is_label and not numbers else 3
    name, unit = named(column)
    metric = metric_named(name, unit=unit)
    is_count = all(abs(number) < 1e15 and number.is_integer() for number in numbers)
    return 2 if is_count and metric.better is None and not metric.unit else None


def _distinct(rows: Sequence[Mapping[str, Any]], columns: list[str]) -> int:
    return len({tuple(str(row.get(column)) for column in columns) for row in rows}) if columns else 1


def _amount(value: Any) -> float | None:
    measure = _measure(value)
    return measure[0] if measure is not None else None


def ending(column: str, value: Any, most: int = _LABEL_CHARS) -> str:
    """Return what a row's value in a column adds to names: `c4`, `osl_128`, `llama_8b`; of words the first `most`."""
    name, amount = slugged(column), numeric(value)
    text = slug(f"{amount:g}" if amount is not None and abs(amount) < 1e6 else str(value))[:most].strip("_")
    if amount is None:
        return text or "none"
    short = _SHORT.get(name)
    return f"{short}{text}" if short else f"{name}_{text}" if name else text


def add_rows(found: Found, rows: Sequence[Mapping[str, Any]], prefix: str = "") -> None:
    """Add each row's numbers, named by column and by what tells the row apart; what can't be told apart is noted."""
    if len(rows) > MOST_ROWS_APART:
        found.notes.append(f"{len(rows)} rows{f' of {prefix}' if prefix else ''}; the last one counts")
        rows = rows[-1:]
    chosen = distinguishing(rows) if len(rows) > 1 else _label_of(rows[0]) if rows else []
    by_ending = _by_ending(rows, chosen, _LABEL_CHARS)
    if len(by_ending) < len(rows):
        by_ending = _by_ending(rows, chosen, _MOST_LABEL_CHARS)
    if len(by_ending) < len(rows):
        by = f" by {', '.join(c or 'the first column' for c in chosen)}" if chosen else ""
        found.notes.append(f"{len(rows)} rows can't all be told apart{by}; the last of each counts")
    labelled = len(chosen) == 1 and all(_amount(row.get(chosen[0])) is None for row in rows)
    columns = [c for c in rows[0] if c not in chosen and _amount(rows[0][c]) is not None]
    transposed = labelled and bool(columns) and all(_STATISTIC.fullmatch(slugged(c)) for c in columns)
    for end, row in by_ending.items():
        spelled = next((str(row[c]) for c in row if slug(c) in ("unit", "units")), "")
        label, unit = named(str(row.get(chosen[0], ""))) if labelled else ("", None)
        for column, value in row.items():
            if column in chosen or _add_setting(found, column, value, end):
                continue
            statistic, name_unit = named(column)
            given = "" if name_unit or not _OF_A_ROW.fullmatch(statistic) else spelled
            name = f"{prefix}_{statistic}" if prefix else statistic
            if transposed:
                name = label if statistic in _PLAIN_VALUE else f"{statistic}_{label}"
            amount = _measure(value)
            if amount is not None:
                add_measure(
                    found,
                    name,
                    amount[0],
                    amount[1] or given,
                    name_unit or unit,
                    "" if transposed else end,
                    amount[2],
                )


def _label_of(row: Mapping[str, Any]) -> list[str]:
    """Return the column that names the only row of a table, where its others are statistics."""
    words = [c for c in row if _amount(row[c]) is None]
    others = [c for c in row if c not in words]
    return (
        words if len(words) == 1 and others and all(_STATISTIC.fullmatch(slugged(c)) for c in others) else []
    )


def _by_ending(
    rows: Sequence[Mapping[str, Any]], chosen: Sequence[str], most: int
) -> dict[str, Mapping[str, Any]]:
    return {
        "_".join(ending(c, row.get(c), most) for c in chosen if row.get(c) is not None): row for row in rows
    }


def _add_setting(found: Found, column: str, value: Any, end: str) -> bool:
    """Add a cell that says how was measured, and return whether it is one; what numbers the rows is left out."""
    if not is_setting(column):
        return False
    name = slugged(column)
    if value not in (None, "") and not end:
        found.settings[name] = setting_of(value)
    elif _amount(value) is None or name not in ("run", "rank", "port", "pid", "version", "timestamp"):
        found.settings.setdefault(f"{name}_{end}".strip("_"), setting_of(value))
    return True


def _measure(value: Any) -> tuple[float, str, float | None] | None:
    if isinstance(value, str):
        return measure_of(value.lstrip("±"))
    amount = numeric(value)
    return (amount, "", None) if amount is not None else None


def _scale(own: str, unit: str) -> float | None:
    """Return what a number in the unit `own` is multiplied by to be in `unit`: times, and sizes (`MB` in `B/s`)."""
    if own in SECONDS and unit in SECONDS:
        return SECONDS[own] / SECONDS[unit]
    theirs = unit.removesuffix("/s")
    if own.removesuffix("/s") in SIZES and theirs in SIZES:
        return SIZES[own.removesuffix("/s")] / SIZES[theirs]
    return None


def add_measure(
    found: Found, name: str, amount: float, spelled: str, unit: str | None, end: str, deviation: float | None
) -> None:
    """Add a number with the unit that its label or its own text gives; `k`, `M` and `G` behind it are factors."""
    factor = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.get(spelled)
    own = unit_of(spelled) if spelled and factor is None else None
    if unit is None and own is not None:
        name, unit = with_unit(name, spelled, own), own
    elif unit is not None and own is not None and own != unit:
        factor = _scale(own, unit)
    found.add(name, amount * (factor or 1), unit, end)
    if deviation is not None:
        found.add(
            f"std_{name}",
            deviation * (factor or 1),
            unit if unit is not None else metric_named(name).unit,
            end,
        )
