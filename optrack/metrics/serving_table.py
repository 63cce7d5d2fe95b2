"""The table that SGLang's and vLLM's serving benchmarks print: `==== Serving Benchmark Result ====`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from optrack.metrics.output import Output, number, slug

_HEAD = re.compile(r"(?<!=)={3,}+\s*+(?:Serving|Offline Throughput) Benchmark Result\s*+={3,}", re.IGNORECASE)
_END = re.compile(r"^\s*={10,}\s*$")
_LATENCY = re.compile(
    r"(?P<stat>mean|median|avg|average|std|max|min|p\d+(?:\.\d+)?)\s+"
    r"(?P<what>e2e\s*latency|end-to-end\s*latency|e2el|ttft|tpot|itl)\s*(?:\((?P<unit>ms|s)\))?",
    re.IGNORECASE,
)
_BAR = re.compile(r"(?<!\d)(\d{1,12})/(\d{1,12}) \[\d{1,12}:\d\d")
_MOST_ROWS = 400
_LABEL_CHARS = 200
_LABELS = {
    "successful requests": "completed",
    "failed requests": "failed",
    "benchmark duration": "duration",
    "total input tokens": "total_input_tokens",
    "total input text tokens": "total_input_text_tokens",
    "total input vision tokens": "total_input_vision_tokens",
    "total generated tokens": "total_output_tokens",
    "total generated tokens retokenized": "total_output_tokens_retokenized",
    "request throughput": "request_throughput",
    "request goodput": "request_goodput",
    "input token throughput": "input_throughput",
    "output token throughput": "output_throughput",
    "peak output token throughput": "max_output_tokens_per_s",
    "peak concurrent requests": "max_concurrent_requests",
    "total token throughput": "total_throughput",
    "total throughput": "total_throughput",
    "concurrency": "concurrency",
    "accept length": "accept_length",
    "acceptance length": "accept_length",
    "acceptance rate": "acceptance_rate",
    "last generation throughput": "last_gen_throughput",
}
_SETTINGS = {
    "traffic request rate": "request_rate",
    "max request concurrency": "max_concurrency",
    "maximum request concurrency": "max_concurrency",
    "request rate configured": "request_rate",
    "backend": "backend",
}


@dataclass(frozen=True)
class Table:
    """One result table: values by the name that the tool gives them in JSON, and the settings that it repeats.

    `whole` is False if the closing rule is missing; `requested` is the total of the progress bar before it.
    """

    values: Mapping[str, float]
    settings: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True
    requested: int | None = None


def tables(output: Output) -> list[Table]:
    """Return the result tables of the output, in order."""
    found: list[Table] = []
    rows: list[str] | None = None
    requested: int | None = None
    prefix = ""
    for full_line in output.lines:
        line = full_line.removeprefix(prefix)
        head = _HEAD.search(line)
        if head is not None:
            if rows is not None:
                found.append(_table(rows, whole=False, requested=requested))
            rows, prefix = [], full_line[: full_line.find("===")]
        elif rows is None:
            bar = _BAR.search(line)
            requested = int(bar[2]) if bar else requested
        elif _END.match(line):
            found.append(_table(rows, whole=True, requested=requested))
            rows, requested = None, None
        elif len(rows) < _MOST_ROWS:
            rows.append(line)
    if rows is not None:
        found.append(_table(rows, whole=False, requested=requested))
    return found


def _table(rows: list[str], *, whole: bool, requested: int | None) -> Table:
    values: dict[str, float] = {}
    settings: dict[str, str] = {}
    for label, text in _entries(rows):
        setting, value = _setting(label), number(text)
        if setting is not None:
            settings[setting] = text
        elif value is not None and (name := metric_of(label) or slug(label)):
            values.setdefault(name, value)
    return Table(values=values, settings=settings, whole=whole, requested=requested)


def _setting(label: str) -> str | None:
    if metric_of(label) is not None:
        return None
    near = difflib.get_close_matches(_plain(label), _SETTINGS, n=1, cutoff=0.88)
    return _SETTINGS[near[0]] if near else None


def _entries(rows: list[str]) -> list[tuple[str, str]]:
    """Return label and value of each row, where a label or its value may continue on the next line."""
    entries: list[tuple[str, str]] = []
    pending = ""
    for row in rows:
        if not row.strip() or _is_rule(row):
            pending = ""
            continue
        label, colon, text = row.rpartition(":")
        if not colon:
            if pending.endswith(":") and number(row) is not None:
                entries.append((pending[:-1], row.strip()))
                pending = ""
            else:
                pending = _joined(pending, row)
        elif not text.strip():
            pending = _joined(pending, label) + ":"
        else:
            entries.append((_joined(pending, label), text.strip()))
            pending = ""
    return entries


def _is_rule(row: str) -> bool:
    """Whether a row is a line of dashes, with or without a title in it."""
    return row.strip().startswith("---") and row.strip().endswith("---") and len(row.strip()) >= 6


def _joined(label: str, more: str) -> str:
    """Return a label with its continuation; of what is too long for a label, the end."""
    return f"{label} {more.strip()}".strip()[-_LABEL_CHARS:]


def metric_of(label: str) -> str | None:
    """Return the metric that a row's label stands for, forgiving a misspelling; None for a setting."""
    latency = _LATENCY.search(label)
    if latency is not None:
        stat = latency["stat"].casefold().replace("average", "mean").replace("avg", "mean")
        what = latency["what"].casefold()
        what = "e2e_latency" if "latency" in what else what
        return f"{stat}_{what}_{latency['unit'] or 'ms'}"
    plain = _plain(label)
    if plain in _LABELS:
        return _LABELS[plain]
    near = difflib.get_close_matches(plain, [*_LABELS, *_SETTINGS], n=1, cutoff=0.88)
    return _LABELS.get(near[0]) if near else None


def _plain(label: str) -> str:
    label = re.sub(r"\((?!retokenized)[^)]*\)?", " ", label)
    return " ".join(re.sub(r"[^a-z0-9-]+", " ", label.casefold()).split())
