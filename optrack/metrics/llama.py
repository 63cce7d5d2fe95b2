"""llama.cpp's `llama-bench` (markdown, CSV, JSON, JSON lines) and llama-benchy, whose table looks like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Setting, last_of, number, numeric, slug
from optrack.metrics.rows import distinguishing, named
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import Report, setting_of, tool

_SPEED = re.compile(r"([\d.,]+|nan|inf)(?:[^\d\n]+([\d.,]+|nan|inf))?")
_FAILED = re.compile(
    r"^.*(?:(?:CUDA|ROCm|HIP|Vulkan|Metal|ggml) error|GGML_ASSERT|error: (?:failed|unable)|HSA_STATUS_ERROR"
    r"|main: error|Segmentation fault|out of memory).*$",
    re.IGNORECASE | re.MULTILINE,
)
_DEPTHS = ("n_depth", "depth", "starting_depth")
_MEASURED = re.compile(
    r"(?:avg|stddev|samples|max|min|median)_?(?:ns|ts|ms|s)?|t/s.*|peak t/s.*|.*\(ms\)|size|params|test"
)
_ABOUT = re.compile(
    r"test_time|build.*|.*time.*|.*date.*|cpu_info|gpu_info|backends?|model_size|model_n_params|samples.*"
)
"""What never tells two tests apart."""
_MOST_SETTINGS = 40


def _markdown(output: Output) -> list[Report]:
    """Return the rows of the markdown tables that have a column `t/s` and one for the test; other lines may stand
    between them."""
    header: list[str] | None = None
    rows: list[Report] = []
    for line in output.lines:
        if not line.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if "test" in cells and any(cell.startswith("t/s") for cell in cells):
            header = cells
        elif header is not None and len(cells) == len(header) and not set("".join(cells)) <= set("-: "):
            rows.append(dict(zip(header, cells, strict=True)))
    return rows


def _has_table(output: Output) -> bool:
    return any("t/s" in line and re.search(r"\|\s*test\s*\|", line) is not None for line in output.lines)


def _is_row(row: Report) -> bool:
    return {"n_prompt", "n_gen", "avg_ts"} <= row.keys()


def _rows(output: Output) -> list[Report]:
    rows: list[Report] = [document for document in output.objects if _is_row(document)]
    if not rows and '"avg_ts"' not in output.text and "avg_ts" in output.text:
        rows = [dict(row) for row in table_rows(output) if _is_row(row)]
    return rows or _markdown(output)


def _test(row: Report) -> str:
    """Return `tg128_d8192` for `tg128 @ d8192`, or of the numbers of tokens and the depth."""
    if "test" in row and "n_gen" not in row:
        return slug(str(row["test"]).replace("@", " "))
    depth = next((int(amount) for key in _DEPTHS if (amount := _finite(row.get(key)))), 0)
    counts = {"pp": row.get("n_prompt"), "tg": row.get("n_gen"), "d": depth}
    return "_".join(f"{what}{int(amount)}" for what, count in counts.items() if (amount := _finite(count)))


def _finite(value: Any) -> float | None:
    amount = numeric(value)
    return amount if amount is not None and abs(amount) < 1e15 else None


def _speeds(row: Report) -> dict[str, tuple[float, float | None]]:
    """Return a row's measures with their deviations: by the unit part of a metric's name."""
    if "avg_ts" in row:
        rate = numeric(row["avg_ts"])
        return {"tok_s": (rate, numeric(row.get("stddev_ts")))} if rate is not None else {}
    speeds: dict[str, tuple[float, float | None]] = {}
    for column, cell in row.items():
        if not (column.startswith(("t/s", "peak t/s")) or column.endswith("(ms)")):
            continue
        speed = _SPEED.match(str(cell))
        rate = number(speed[1]) if speed else None
        if speed and rate is not None:
            name = slug(column).replace("t_s", "tok_s") if "t/s" in column else named(column)[0]
            speeds[name] = rate, number(speed[2] or "")
    return speeds


def _measures(rows: Sequence[Report]) -> tuple[dict[str, Amount], tuple[str, ...]]:
    """Return a metric for each test, `tg128_tok_s`; settings in which equal tests differ join the name."""
    values: dict[str, Amount] = {}
    notes: list[str] = []
    by_test: dict[str, list[Report]] = {}
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
                unit = "tok/s" if "tok_s" in measure else "ms"
                values |= {full: (value, unit), f"std_{full}": (deviation, unit)}
    return values, tuple(dict.fromkeys(notes))


def _differing(rows: Sequence[Report]) -> list[str]:
    """Return the columns in which rows of one test differ: all that have to do with how it was run."""
    asked = [k for k in rows[0] if not (k in ("n_prompt", "n_gen", *_DEPTHS) or _is_no_setting(k))]
    differing = [k for k in asked if len({_setting(row.get(k)) for row in rows}) > 1]
    whole = {tuple(_setting(row.get(k)) for k in differing) for row in rows}
    if len(whole) < len(rows) or len(rows) == 1:
        return differing
    short = distinguishing([{k: row.get(k) for k in differing} for row in rows])
    apart = {tuple(_setting(row.get(k)) for k in short) for row in rows}
    return short if len(apart) == len(rows) else differing


def _is_no_setting(column: str) -> bool:
    return _MEASURED.fullmatch(column) is not None or _ABOUT.fullmatch(column) is not None


def _setting(value: Any) -> str:
    amount = numeric(value)
    return f"{amount:g}" if amount is not None and abs(amount) < 1e6 else str(value)


def _settings(rows: Sequence[Report]) -> dict[str, Setting]:
    """Return the settings that all rows share."""
    shared = {k: v for k, v in rows[0].items() if isinstance(v, str | int | float) and not _is_no_setting(k)}
    same = {k: v for k, v in shared.items() if v != "" and all(row.get(k) == v for row in rows)}
    return {k: setting_of(v) for k, v in list(same.items())[:_MOST_SETTINGS]}


def _is_benchy(output: Output) -> bool:
    return "llama-benchy" in output.text or ("ttfr (ms)" in output.text and _has_table(output))


def _parse(output: Output) -> Parsed | None:
    rows, has_table = _rows(output), _has_table(output)
    if not (has_table or any(map(_is_row, rows))):
        return None
    values, notes = _measures(rows)
    failure = _FAILED.search(output.text)
    if not values:
        return Parsed(invalid=f"the table has no rows{f': {failure[0].strip()}' if failure else ''}")
    parsed = last_of([values], "").but(notes=notes, settings=_settings(rows))
    parsed = parsed.because(f"it failed on the way: {failure[0].strip()}" if failure else None)
    return parsed.because("the last row is cut off" if output.torn else None)


def _failed(output: Output) -> Parsed | None:
    failure = _FAILED.search(output.text)
    return Parsed(invalid=f"no table and no rows: {failure[0].strip()}") if failure else None


PARSERS = (
    tool(
        "llama-benchy",
        "eugr/llama-benchy: README (results table)",
        text=lambda output: _parse(output) if _is_benchy(output) else None,
        otherwise=lambda output: _parse(output) or _failed(output),
        missing="no table and no rows",
    ),
    tool(
        "llama-bench",
        "ggml-org/llama.cpp: tools/llama-bench/llama-bench.cpp (printers)",
        text=_parse,
        otherwise=_failed,
        missing="no table and no rows",
        aliases=("llama.cpp",),
    ),
)
