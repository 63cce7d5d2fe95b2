"""llama.cpp's `llama-bench`: markdown table, CSV, JSON and JSON lines."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug
from optrack.metrics.rules import table_rows
from optrack.model.metrics import Reading

NAME = "llama-bench"
_SPEED = re.compile(r"([\d.,]+|nan|inf)(?:[^\d\n]+([\d.,]+|nan|inf))?")
_FAILED = re.compile(
    r"^.*(?:(?:CUDA|ROCm|HIP|Vulkan|Metal|ggml) error|GGML_ASSERT|error: (?:failed|unable)|HSA_STATUS_ERROR"
    r"|main: error|Segmentation fault|out of memory).*$",
    re.IGNORECASE | re.MULTILINE,
)
_SAME = frozenset({"model", "size", "params", "backend", "t/s", "test"})
_VARIED = ("model_type", "n_batch", "n_ubatch", "n_threads", "type_k", "type_v", "n_gpu_layers", "flash_attn")

Test = tuple[str, float, float | None, dict[str, str]]
"""Name of the test, tokens per second, their standard deviation, and the settings that may vary."""


def _markdown(output: Output) -> tuple[list[Test], bool]:
    """Return the tests of the markdown tables, and whether there was a table at all."""
    header: list[str] | None = None
    found: list[Test] = []
    for line in output.lines:
        if not line.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "t/s" in cells and "test" in cells:
            header = cells
        elif header is not None and len(cells) == len(header):
            row = dict(zip(header, cells, strict=True))
            speed = _SPEED.match(row["t/s"])
            if speed and (rate := number(speed[1])) is not None:
                varied = {k: v for k, v in row.items() if k not in _SAME} | {"model": row.get("model", "")}
                found.append((_named(row["test"]), rate, number(speed[2] or ""), varied))
    return found, header is not None


def _named(test: str) -> str:
    """Return `tg128_d8192` for `tg128 @ d8192`."""
    return slug(test.replace("@", " "))


def _row(document: Any) -> bool:
    return isinstance(document, dict) and {"n_prompt", "n_gen", "avg_ts"} <= document.keys()


def _test(row: dict[str, Any]) -> Test | None:
    prompt, generated, depth = (int(numeric(row.get(key)) or 0) for key in ("n_prompt", "n_gen", "n_depth"))
    rate = numeric(row["avg_ts"])
    if rate is None:
        return None
    parts = [f"pp{prompt}" if prompt else "", f"tg{generated}" if generated else ""]
    name = "_".join(part for part in (*parts, f"d{depth}" if depth else "") if part)
    varied = {key: str(row[key]) for key in _VARIED if key in row}
    return name, rate, numeric(row.get("stddev_ts")), varied


def _readings(tests: list[Test]) -> tuple[Reading, ...]:
    """Return a metric for each test, `tg128_tok_s`; settings in which equal tests differ join the name."""
    values: dict[str, float | None] = {}
    for name, rate, deviation, settings in tests:
        others = [other for other_name, _, _, other in tests if other_name == name]
        differing = [k for k in settings if len({other.get(k) for other in others}) > 1]
        full = "_".join([name, "tok_s", *(f"{slug(k)}_{slug(settings[k])}" for k in differing)])
        values |= {full: rate, f"std_{full}": deviation}
    return readings_of(values, dict.fromkeys(values, "tok/s"))


def _tests(output: Output) -> tuple[list[Test], bool]:
    rows: list[dict[str, Any]] = [document for document in output.objects if _row(document)]
    if not rows and '"avg_ts"' not in output.text and "avg_ts" in output.text:
        rows = [row for row in table_rows(output) if _row(row)]
    if rows:
        return [test for row in rows if (test := _test(row)) is not None], True
    return _markdown(output)


def recognises(output: Output) -> bool:
    """Whether the output has a table or rows of llama-bench."""
    return _tests(output)[1] or any(map(_row, output.objects))


def parse(output: Output) -> Parsed:
    """Return tokens per second of each test: `pp512_tok_s` (prompt), `tg128_tok_s` (generation)."""
    tests, there = _tests(output)
    failure = _FAILED.search(output.text)
    if not tests:
        what = "the table has no rows" if there else "no table and no rows of llama-bench"
        return nothing(NAME, f"{what}: {failure[0].strip()}" if failure else what)
    why = f"it failed on the way: {failure[0].strip()}" if failure else None
    if output.torn and not why:
        why = "the last row is cut off"
    return Parsed(tool=NAME, readings=_readings(tests), invalid=why)


PARSER = Parser(
    name=NAME,
    source="ggml-org/llama.cpp: tools/llama-bench/llama-bench.cpp (printers)",
    recognises=recognises,
    parse=parse,
    aliases=("llama.cpp",),
)
