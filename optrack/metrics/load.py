"""Load generators for HTTP: wrk, hey, ApacheBench, locust, k6."""

from __future__ import annotations

import re
from collections.abc import Mapping

from optrack.metrics.output import Amount, Output, Parsed, Values, last_of, number, numeric, slug
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import Printed, Report, scaled, setting_of, tool

_TIME = r"(?P<value>[\d.]+)(?P<unit>[uµμmn]?s|m|h)"
_SECS = r"(?P<value>[\d.]+) secs?"

WRK = Printed(
    r"^(?:Running .{1,40} test @ .*\n)? *\d+ threads and \d+ connections",
    (
        (rf"^ +Latency +{_TIME} ", "avg_latency_ms", "ms"),
        (rf"^ +Latency +\S+ +{_TIME} ", "std_latency_ms", "ms"),
        (rf"^ +Latency +\S+ +\S+ +{_TIME} ", "max_latency_ms", "ms"),
        (rf"^ +(?P<key>\d[\d.]{{0,8}})% +{_TIME}$", "p{key}_latency_ms", "ms"),
        (r"^ +Req/Sec +(?P<value>[\d.]+[kMG]?) ", "avg_requests_per_second_per_thread", "req/s"),
        (r"^ +(?P<value>\d+) requests in ", "requests", "requests"),
        (r"^ *Requests/sec: +(?P<value>[\d.]+)", "requests_per_second", "req/s"),
        (r"^ *Transfer/sec: +(?P<value>[\d.]+)KB", "transfer_kb_s", "KB/s"),
        (r"^ *Transfer/sec: +(?P<value>[\d.]+)MB", "transfer_mb_s", "MB/s"),
        (r"^ *Transfer/sec: +(?P<value>[\d.]+)GB", "transfer_gb_s", "GB/s"),
    ),
    failures=(
        (r"Non-2xx or 3xx responses: (\d+)", "responses were errors (non-2xx or 3xx)"),
        (r"Socket errors: connect (\d+)", "connections failed"),
        (r"Socket errors: .*\bread (\d+)", "socket read errors"),
        (r"Socket errors: .*\bwrite (\d+)", "socket write errors"),
        (r"Socket errors: .*\btimeout (\d+)", "requests timed out"),
    ),
    settings=(
        ("duration", r"^Running (\S+) test @"),
        ("threads", r"(\d+) threads and"),
        ("connections", r"threads and (\d+) connections"),
    ),
)
HEY = Printed(
    r"^Summary:$",
    (
        (rf"^ +Total:\s+{_SECS}", "total_s", "s"),
        (rf"^ +Slowest:\s+{_SECS}", "slowest_latency_s", "s"),
        (rf"^ +Fastest:\s+{_SECS}", "fastest_latency_s", "s"),
        (rf"^ +Average:\s+{_SECS}", "average_latency_s", "s"),
        (r"^ +Requests/sec:\s+(?P<value>[\d.]+)", "requests_per_second", "req/s"),
        (r"^ +Size/sec:\s+(?P<value>[\d.]+) KiB", "size_kib_s", "KiB/s"),
        (r"^ +Size/sec:\s+(?P<value>[\d.]+) MiB", "size_mib_s", "MiB/s"),
        (r"^ +Size/request:\s+(?P<value>\d+) bytes", "size_per_request", "bytes"),
        (rf"^ +(?P<key>[1-9]\d{{0,2}}(?:\.[1-9]\d*)?)(?:\.0+)?%+ in {_SECS}", "p{key}_latency_s", "s"),
        (rf"^ +(?P<key>DNS-lookup|req write|resp wait|resp read):\s+{_SECS}", "average_{key}_s", "s"),
        (r"^ +\[2\d\d\]\s+(?P<value>\d+) responses", "completed", "requests"),
    ),
    failures=(
        (r"^ +\[[13-9]\d\d\]\s+(\d+) responses", "responses weren't 2xx"),
        (r"^ +\[(\d+)\]\s+[^\d\s|]", "requests failed"),
    ),
)
AB = Printed(
    r"^Server Software:",
    (
        (r"^Requests per second:\s+(?P<value>[\d.]+) \[#/sec\]", "requests_per_second", "req/s"),
        (r"^Time per request:\s+(?P<value>[\d.]+) \[ms\] \(mean\)$", "mean_latency_ms", "ms"),
        (r"^Time per request:\s+(?P<value>[\d.]+) \[ms\] \(mean, a", "mean_time_across_requests_ms", "ms"),
        (r"^Transfer rate:\s+(?P<value>[\d.]+) \[Kbytes/sec\] received", "transfer_kb_s", "KB/s"),
        (r"^ +(?P<key>\d+)%\s+(?P<value>\d+)", "p{key}_latency_ms", "ms"),
        (r"^Time taken for tests:\s+(?P<value>[\d.]+) seconds", "duration", "s"),
        (r"^Complete requests:\s+(?P<value>\d+)", "completed", "requests"),
        (r"^Failed requests:\s+(?P<value>\d+)", "failed", "requests"),
    ),
    failures=(
        (r"^Failed requests:\s+(\d+)", "requests failed"),
        (r"^Non-2xx responses:\s+(\d+)", "responses weren't 2xx"),
        (r"^Write errors:\s+(\d+)", "write errors"),
    ),
    settings=(
        ("concurrency", r"^Concurrency Level:\s+(\d+)"),
        ("path", r"^Document Path:\s+(\S+)"),
        ("document_bytes", r"^Document Length:\s+(\d+)"),
    ),
)

_LOCUST_NAMES = {
    "Request Count": ("requests", "requests"),
    "Failure Count": ("failed", "requests"),
    "Median Response Time": ("median_response_time_ms", "ms"),
    "Average Response Time": ("average_response_time_ms", "ms"),
    "Min Response Time": ("min_response_time_ms", "ms"),
    "Max Response Time": ("max_response_time_ms", "ms"),
    "Average Content Size": ("average_content_size", "bytes"),
    "Requests/s": ("requests_per_second", "req/s"),
    "Failures/s": ("failures_per_second", "/s"),
}
_LOCUST_MARKS = frozenset({"Name", "Request Count", "Failure Count", "Requests/s"})


def _locust_values(row: Mapping[str, str], ending: str = "") -> dict[str, Amount]:
    values: dict[str, Amount] = {}
    for column, cell in row.items():
        if re.fullmatch(r"[\d.]{1,8}%", column):
            values[f"p{slug(column)}_response_time_ms{ending}"] = number(cell), "ms"
        elif column in _LOCUST_NAMES:
            name, unit = _LOCUST_NAMES[column]
            values[name + ending] = number(cell), unit
    return values


def _locust(output: Output) -> Parsed | None:
    """Return the aggregate under plain names, each request under its own; a history's last aggregate counts."""
    rows = table_rows(output) if "Request Count" in output.text[:2000] else []
    if not rows or not rows[0].keys() >= _LOCUST_MARKS:
        return None
    totals = [row for row in rows if row["Name"] in ("Aggregated", "Total")] or rows[-1:]
    results = [_locust_values(row) for row in totals]
    for row in rows if "Timestamp" not in rows[0] else ():
        if row not in totals:
            results[-1] |= _locust_values(row, "_" + slug(f"{row.get('Type', '')} {row['Name']}"))
    parsed = last_of(results, "rows of totals")
    requests, failed = parsed.value("requests"), parsed.value("failed")
    parsed = parsed.because("no request was made" if requests == 0 else None)
    return parsed.because(f"{failed:,.0f} of {requests:,.0f} requests failed" if failed else None)


_LINE = re.compile(
    r"^\s*(?:[✓✗]\s)?(?P<name>[a-z_][\w]{0,60}|\{[^}\n]{1,80}\})\.{2,200}:\s+(?P<rest>\S.{0,300})$"
)
_PAIR = re.compile(r"(?P<stat>avg|min|med|max|count|p\([\d.]+\))=(?P<value>\S{1,24})")
_PART = re.compile(r"([\d.]+)(ms|us|µs|μs|ns|s|m|h)")
_COUNT = re.compile(
    r"^(?P<count>[\d.]+) (?:(?P<unit>[kKMG]?B) )?\s*(?P<rate>[\d.]+) ?(?P<rate_unit>[kKMG]?B)?/s"
)
_SHARE = re.compile(r"^(?P<rate>[\d.]+)%")
_SHARES = ("http_req_failed", "checks")
_RATE_UNITS = {"http_reqs": "req/s", "iterations": "it/s", "data_received": "B/s", "data_sent": "B/s"}
_MARK = re.compile(
    r"^[ \t]{0,20}(?:[✓✗] )?(?:iterations|http_reqs|iteration_duration|vus)\.{2,200}:", re.MULTILINE
)


def _k6_key(key: str) -> str:
    return slug(key.replace("(", "").replace(")", "").replace(".", "_"))


def _k6(report: Report) -> Values:
    """Return each metric's values, `p95_http_req_duration_ms`; times are in ms, as k6 writes them."""
    values: dict[str, Amount] = {}
    for name, entry in report["metrics"].items():
        if not isinstance(entry, dict):
            continue
        inner = entry["values"] if isinstance(entry.get("values"), dict) else entry
        is_time = entry.get("contains") == "time" or ("avg" in inner and "contains" not in entry)
        base = slug(name)
        for key, value in inner.items():
            amount = numeric(value) if not isinstance(value, str) else None
            if amount is None or key in ("thresholds", "passes", "fails"):
                continue
            if (key == "rate" and "count" not in inner) or (key == "value" and base in _SHARES):
                values[f"{base}_pct"] = amount * 100, "%"
            elif key == "rate":
                values[f"{base}_per_s"] = amount, _RATE_UNITS.get(base, "/s")
            elif key in ("count", "value"):
                if key == "count" or "rate" not in inner:
                    values[base] = amount, ""
            else:
                values[f"{_k6_key(key)}_{base}{'_ms' if is_time else ''}"] = amount, "ms" if is_time else ""
    return values


def _k6_why(report: Report, parsed: Parsed) -> str | None:
    """Return why a run is no measurement: failed requests, failed checks, crossed thresholds."""
    share, checks = parsed.value("http_req_failed_pct"), parsed.value("checks_pct")
    if share:
        return f"{share:.3g}% of the requests failed (http_req_failed)"
    if parsed.value("iterations") == 0:
        return "no iteration was completed"
    if checks is not None and checks < 100:
        return f"{100 - checks:.3g}% of the checks failed"
    metrics = report.get("metrics", {})
    for name, entry in metrics.items():
        thresholds = entry.get("thresholds") if isinstance(entry, dict) else None
        for rule, state in thresholds.items() if isinstance(thresholds, dict) else ():
            crossed = state.get("ok") is False if isinstance(state, dict) else state is True
            if crossed:
                return f"the threshold {rule} of {name} was crossed"
    return None


def _milliseconds(text: str) -> float | None:
    """Return a duration as Go writes it (`1m10s`, `703.94µs`) in ms; None if it is none."""
    parts = _PART.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text:
        return None
    return sum(scaled(amount, "min" if unit == "m" else unit, "ms") or 0.0 for amount, unit in parts)


def _k6_text(output: Output) -> Parsed | None:
    if _MARK.search(output.text) is None:
        return None
    values: dict[str, Amount] = {}
    above = ""
    for match in filter(None, map(_LINE.match, output.lines)):
        rest, tagged = match["rest"], match["name"].startswith("{")
        base = f"{above}_{slug(match['name'])}" if tagged else match["name"]
        above = above if tagged else base
        for pair in _PAIR.finditer(rest):
            time = _milliseconds(pair["value"])
            name = f"{_k6_key(pair['stat'])}_{base}"
            values |= {name: (number(pair["value"]), "")} if time is None else {f"{name}_ms": (time, "ms")}
        if (share := _SHARE.match(rest)) is not None:
            values[f"{base}_pct"] = number(share["rate"]), "%"
        elif (count := _COUNT.match(rest)) is not None:
            size = count["rate_unit"]
            full = f"{base}_{slug(size)}_s" if size else f"{base}_per_s"
            values[base] = number(count["count"]), count["unit"] or ""
            values[full] = number(count["rate"]), f"{size.upper()}/s" if size else _RATE_UNITS.get(base, "/s")
        elif base in ("vus", "vus_max") and (first := number(rest.split()[0])) is not None:
            values[base] = first
    if "checks_succeeded_pct" in values:
        values["checks_pct"] = values["checks_succeeded_pct"]
    vus = re.search(r"^[ \t]{0,20}default .{0,200}?(\d+)(?:/\d+)? VUs +(\S+)", output.text, re.MULTILINE)
    settings = {"vus": setting_of(vus[1]), "duration": setting_of(vus[2])} if vus else {}
    parsed = last_of([values], "").but(settings=settings)
    return parsed.because(_k6_why({}, parsed)) if values else None


_K6_MARKS = frozenset({"iterations", "http_reqs", "iteration_duration"})
PARSERS = (
    tool(
        "k6",
        "grafana/k6: internal/cmd/summary (handleSummary, --summary-export), end-of-test text",
        is_report=lambda report: (
            isinstance(report.get("metrics"), dict) and not _K6_MARKS.isdisjoint(report["metrics"])
        ),
        readings=_k6,
        why=_k6_why,
        settings=lambda report: {},
        text=_k6_text,
    ),
    tool("wrk", "wg/wrk: src/wrk.c, src/stats.c (also giltene/wrk2)", text=WRK, aliases=("wrk2",)),
    tool("hey", "rakyll/hey: requester/print.go (also hatoo/oha)", text=HEY, aliases=("oha",)),
    tool("ab", "apache/httpd: support/ab.c", text=AB, aliases=("apachebench",)),
    tool("locust", "locustio/locust: locust/stats.py (requests_csv_columns)", text=_locust),
)
