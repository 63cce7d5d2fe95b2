"""k6: the summary that it exports as JSON, and the one it prints at the end."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, number, numeric, readings_of, slug, with_reason
from optrack.metrics.tool import JsonTool, scaled, setting_of
from optrack.model.metrics import Reading

NAME = "k6"
_K6_LINE = re.compile(
    r"^\s*(?:[✓✗]\s)?(?P<name>[a-z_][\w]{0,60}|\{[^}\n]{1,80}\})\.{2,200}:\s+(?P<rest>\S.{0,300})$"
)
_K6_PAIR = re.compile(r"(?P<stat>avg|min|med|max|count|p\([\d.]+\))=(?P<value>\S{1,24})")
_K6_PART = re.compile(r"([\d.]+)(ms|us|µs|μs|ns|s|m|h)")
_K6_COUNT = re.compile(
    r"^(?P<count>[\d.]+) (?:(?P<unit>[kKMG]?B) )?\s*(?P<rate>[\d.]+) ?(?P<rate_unit>[kKMG]?B)?/s"
)
_K6_RATE = re.compile(r"^(?P<rate>[\d.]+)%")
_K6_SHARES = ("http_req_failed", "checks")
_K6_MARK = re.compile(
    r"^[ \t]{0,20}(?:[✓✗] )?(?:iterations|http_reqs|iteration_duration|vus)\.{2,200}:", re.MULTILINE
)


def _is_k6(document: Any) -> bool:
    metrics = document.get("metrics") if isinstance(document, dict) else None
    return isinstance(metrics, dict) and not metrics.keys().isdisjoint(
        {"iterations", "http_reqs", "iteration_duration"}
    )


def _k6_value(key: str) -> str:
    return slug(key.replace("(", "").replace(")", "").replace(".", "_"))


def _k6(report: dict[str, Any]) -> tuple[Reading, ...]:
    """Return each metric's values, `p95_http_req_duration_ms`; times are in ms, as k6 writes them."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for name, entry in report["metrics"].items():
        if not isinstance(entry, dict):
            continue
        inner = entry["values"] if isinstance(entry.get("values"), dict) else entry
        is_time = entry.get("contains") == "time" or ("avg" in inner and "contains" not in entry)
        base = slug(name)
        for key, value in inner.items():
            amount = numeric(value) if not isinstance(value, str) else None
            if (
                amount is None
                or key in ("thresholds", "passes", "fails")
                or (key == "value" and "rate" in inner)
            ):
                continue
            unit = "ms" if is_time and key not in ("count", "value") else ""
            if (key == "rate" and "count" not in inner) or (key == "value" and base in _K6_SHARES):
                full, amount, unit = f"{base}_pct", amount * 100, "%"
            elif key == "rate":
                full, unit = f"{base}_per_s", _k6_rate(base)
            elif key in ("count", "value"):
                full = base
            else:
                full = f"{_k6_value(key)}_{base}{'_ms' if is_time else ''}"
            values[full], units[full] = amount, unit
    return readings_of(values, units)


def _k6_rate(name: str) -> str:
    known = {"http_reqs": "req/s", "iterations": "it/s", "data_received": "B/s", "data_sent": "B/s"}
    return known.get(name, "/s")


def _k6_why(report: dict[str, Any], parsed: Parsed) -> str | None:
    """Return why a run is no measurement: failed requests, failed checks, crossed thresholds."""
    share = parsed.value("http_req_failed_pct")
    if share:
        return f"{share:.3g}% of the requests failed (http_req_failed)"
    if parsed.value("iterations") == 0:
        return "no iteration was completed"
    checks = parsed.value("checks_pct")
    if checks is not None and checks < 100:
        return f"{100 - checks:.3g}% of the checks failed"
    metrics = report.get("metrics")
    for name, entry in metrics.items() if isinstance(metrics, dict) else ():
        thresholds = entry.get("thresholds") if isinstance(entry, dict) else None
        for rule, state in thresholds.items() if isinstance(thresholds, dict) else ():
            crossed = state.get("ok") is False if isinstance(state, dict) else state is True
            if crossed:
                return f"the threshold {rule} of {name} was crossed"
    return None


def _milliseconds(text: str) -> float | None:
    """Return a duration as Go writes it (`1m10s`, `703.94µs`) in ms; None if it is none."""
    parts = _K6_PART.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text:
        return None
    known = {"m": "min", "µs": "us", "μs": "us"}
    return sum(scaled(amount, known.get(unit, unit), "ms") or 0.0 for amount, unit in parts)


def _k6_text(output: Output) -> Parsed | None:
    if _K6_MARK.search(output.text) is None:
        return None
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    above = ""
    for match in filter(None, map(_K6_LINE.match, output.lines)):
        rest, tagged = match["rest"], match["name"].startswith("{")
        base = f"{above}_{slug(match['name'])}" if tagged else match["name"]
        above = above if tagged else base
        for pair in _K6_PAIR.finditer(rest):
            time = _milliseconds(pair["value"])
            amount = time if time is not None else number(pair["value"])
            full = f"{_k6_value(pair['stat'])}_{base}" + ("_ms" if time is not None else "")
            values[full], units[full] = amount, "ms" if time is not None else ""
        if (share := _K6_RATE.match(rest)) is not None:
            values[f"{base}_pct"], units[f"{base}_pct"] = number(share["rate"]), "%"
        elif (count := _K6_COUNT.match(rest)) is not None:
            size = count["rate_unit"]
            full = f"{base}_{slug(size)}_s" if size else f"{base}_per_s"
            values |= {base: number(count["count"]), full: number(count["rate"])}
            units |= {base: count["unit"] or "", full: f"{size.upper()}/s" if size else _k6_rate(base)}
        elif base in ("vus", "vus_max") and (first := number(rest.split()[0])) is not None:
            values[base] = first
    if "checks_succeeded_pct" in values:
        values["checks_pct"], units["checks_pct"] = values["checks_succeeded_pct"], "%"
    vus = re.search(r"^[ \t]{0,20}default .{0,200}?(\d+)(?:/\d+)? VUs +(\S+)", output.text, re.MULTILINE)
    settings = {"vus": setting_of(vus[1]), "duration": setting_of(vus[2])} if vus else {}
    parsed = Parsed(tool=NAME, readings=readings_of(values, units), settings=settings)
    return with_reason(parsed, _k6_why({}, parsed)) if parsed.readings else None


PARSERS = (
    JsonTool(
        name=NAME,
        source="grafana/k6: internal/cmd/summary (handleSummary, --summary-export), end-of-test text",
        is_report=_is_k6,
        readings=_k6,
        why=_k6_why,
        settings=lambda report: {},
        text=_k6_text,
    ).parser(),
)
