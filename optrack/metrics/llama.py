"""llama.cpp's `llama-bench` (markdown, CSV, JSON, JSON lines) and llama-benchy, whose table looks like it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    Setting,
    nothing,
    number,
    numeric,
    readings_of,
    slug,
)
from optrack.metrics.rows import distinguishing, named
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import setting_of
from optrack.model.metrics import Reading

NAME = "llama-bench"
BENCHY = "llama-benchy"
_SPEED = re.compile(r"([\d.,]+|nan|inf)(?:[^\d\n]+([\d.,]+|nan|inf))?")
_FAILED = re.compile(
    r"^.*(?:(?:CUDA|ROCm|HIP|Vulkan|Metal|ggml) error|GGML_ASSERT|error: (?:failed|unable)|HSA_STATUS_ERROR"
    r"|main: error|Segmentation fault|out of memory).*$",
    re.IGNORECASE | re.MULTILINE,
)
_DEPTHS = ("n_depth", "depth", "starting_depth")
_OF_TEST = frozenset({"n_prompt", "n_gen", *_DEPTHS, "t/s", "test"})
_MEASURED = re.compile(
    r"(?:avg|stddev|samples|max|min|median)_?(?:ns|ts|ms|s)?|t/s.*|peak t/s.*|.*\(ms\)|size|params"
)
_ABOUT = re.compile(
    r"test_time|build.*|.*time.*|.*date.*|cpu_info|gpu_info|backends?|model_size|model_n_params|samples.*"
)
"""What never tells two tests apart."""
_MOST_SETTINGS = 40

Row = dict[str, Any]


def _markdown(output: Output) -> list[Row]:
    """Return the rows of the markdown tables that have a column `t/s` and one for the test."""
    header: list[str] | None = None
    found: list[Row] = []
    for line in output.lines:
        if not line.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if "test" in cells and any(cell.startswith("t/s") for cell in cells):
            header = cells
        elif header is not None and len(cells) == len(header):
            row = dict(zip(header, cells, strict=True))
            if not set("".join(cells)) <= set("-: "):
                found.append(row)
    return found


def _has_table(output: Output) -> bool:
    return any("t/s" in line and re.search(r"\|\s*test\s*\|", line) is not None for line in output.lines)


def _is_row(document: Any) -> bool:
    return isinstance(document, dict) and {"n_prompt", "n_gen", "avg_ts"} <= document.keys()


def _rows(output: Output) -> list[Row]:
    rows: list[Row] = [document for document in output.objects if _is_row(document)]
    if not rows and '"avg_ts"' not in output.text and "avg_ts" in output.text:
        rows = [dict(row) for row in table_rows(output) if _is_row(row)]
    return rows or _markdown(output)


def _test(row: Row) -> str:
    """Return `tg128_d8192` for `tg128 @ d8192`, or of the numbers of tokens and the depth."""
    if "test" in row and "n_gen" not in row:
        return slug(str(row["test"]).replace("@", " "))
    depths = [int(amount) for key in _DEPTHS if (amount := _finite(row.get(key)))]
    prompt, generated = (int(_finite(row.get(key)) or 0) for key in ("n_prompt", "n_gen"))
    parts = (f"pp{prompt}" if prompt else "", f"tg{generated}" if generated else "")
    return "_".join(part for part in (*parts, f"d{depths[0]}" if depths else "") if part)


def _finite(value: Any) -> float | None:
    amount = numeric(value)
    return amount if amount is not None and abs(amount) < 1e15 else None


def _speeds(row: Row) -> dict[str, tuple[float, float | None]]:
    """Return a row's measures with their deviations: by the unit part of a metric's name."""
    if "avg_ts" in row:
        rate = numeric(row["avg_ts"])
        return {"tok_s": (rate, numeric(row.get("stddev_ts")))} if rate is not None else {}
    found: dict[str, tuple[float, float | None]] = {}
    for column, cell in row.items():
        if column != "t/s" and not (column.startswith(("t/s", "peak t/s")) or column.endswith("(ms)")):
            continue
        speed = _SPEED.match(str(cell))
        rate = number(speed[1]) if speed else None
        if speed and rate is not None:
            name = slug(column).replace("t_s", "tok_s") if "t/s" in column else named(column)[0]
            found[name] = rate, number(speed[2] or "")
    return found


def _readings(rows: Sequence[Row]) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    """Return a metric for each test, `tg128_tok_s`; settings in which equal tests differ join the name."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    notes: list[str] = []
    by_test: dict[str, list[Row]] = {}
    for row in rows:
        if _speeds(row):
            by_test.setdefault(_test(row), []).append(row)
    for test, same in by_test.items():
        differing = _differing(same)
        for row in same:
            ending = "_".join(f"{slug(k)}_{slug(_setting(row[k]))}" for k in differing if k in row)
            for measure, (value, deviation) in _speeds(row).items():
                full = "_".join(part for part in (test, measure, ending) if part)
                if full in values:
                    notes.append(f"{full} is there several times; the last counts")
                values |= {full: value, f"std_{full}": deviation}
                units |= dict.fromkeys((full, f"std_{full}"), "tok/s" if "tok_s" in measure else "ms")
    return readings_of(values, units), tuple(dict.fromkeys(notes))


def _differing(rows: Sequence[Row]) -> list[str]:
    """Return the columns in which rows of one test differ: all that have to do with how it was run."""
    asked = {
        k for row in rows for k in row if not (k in _OF_TEST or _MEASURED.fullmatch(k) or _ABOUT.fullmatch(k))
    }
    columns = [k for k in rows[0] if k in asked]
    differing = [k for k in columns if len({_setting(row.get(k)) for row in rows}) > 1]
    if len({tuple(_setting(row.get(k)) for k in differing) for row in rows}) == len(rows):
        short = distinguishing([{k: row.get(k) for k in differing} for row in rows]) if len(rows) > 1 else []
        apart = {tuple(_setting(row.get(k)) for k in short) for row in rows}
        return short if len(apart) == len(rows) else differing
    return differing


def _setting(value: Any) -> str:
    amount = numeric(value)
    return f"{amount:g}" if amount is not None and abs(amount) < 1e6 else str(value)


def _settings(rows: Sequence[Row]) -> dict[str, Setting]:
    """Return the settings that all rows share."""
    shared: Mapping[str, Any] = {
        k: v
        for k, v in rows[0].items()
        if isinstance(v, str | int | float) and all(row.get(k) == v for row in rows)
    }
    asked = {
        k: v
        for k, v in shared.items()
        if not (_MEASURED.fullmatch(k) or _ABOUT.fullmatch(k) or k in ("t/s", "test"))
    }
    return {k: setting_of(v) for k, v in list(asked.items())[:_MOST_SETTINGS] if v != ""}


def _is_benchy(output: Output) -> bool:
    return "llama-benchy" in output.text or ("ttfr (ms)" in output.text and _has_table(output))


def _parse(output: Output) -> Parsed:
    tool = BENCHY if _is_benchy(output) else NAME
    rows = _rows(output)
    readings, notes = _readings(rows)
    failure = _FAILED.search(output.text)
    if not readings:
        there = bool(rows) or _has_table(output)
        what = "the table has no rows" if there else f"no table and no rows of {tool}"
        return nothing(tool, f"{what}: {failure[0].strip()}" if failure else what)
    why = f"it failed on the way: {failure[0].strip()}" if failure else None
    if output.torn and not why:
        why = "the last row is cut off"
    return Parsed(tool=tool, readings=readings, invalid=why, notes=notes, settings=_settings(rows))


def _recognises(output: Output) -> bool:
    return bool(any(map(_is_row, output.objects)) or _has_table(output) or any(map(_is_row, _rows(output))))


PARSERS = (
    Parser(
        name=BENCHY,
        source="eugr/llama-benchy: README (results table)",
        recognises=lambda output: _is_benchy(output) and _recognises(output),
        parse=_parse,
    ),
    Parser(
        name=NAME,
        source="ggml-org/llama.cpp: tools/llama-bench/llama-bench.cpp (printers)",
        recognises=_recognises,
        parse=_parse,
        aliases=("llama.cpp",),
    ),
)
