"""Load generators for HTTP that print or write tables: wrk, hey, ApacheBench, locust."""

from __future__ import annotations

import re

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    last_of,
    nothing,
    number,
    readings_of,
    slug,
    with_reason,
)
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import PrintedTool, printed_parser

LOCUST = "locust"
_TIME = r"(?P<value>[\d.]+)(?P<unit>[uµμmn]?s|m|h)"
_SECS = r"(?P<value>[\d.]+) secs?"

WRK = PrintedTool(
    name="wrk",
    begin=r"^(?:Running .{1,40} test @ .*\n)? *\d+ threads and \d+ connections",
    rows=(
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
HEY = PrintedTool(
    name="hey",
    begin=r"^Summary:$",
    rows=(
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
AB = PrintedTool(
    name="ab",
    begin=r"^Server Software:",
    rows=(
        (r"^Requests per second:\s+(?P<value>[\d.]+) \[#/sec\]", "requests_per_second", "req/s"),
        (r"^Time per request:\s+(?P<value>[\d.]+) \[ms\] \(mean\)$", "mean_latency_ms", "ms"),
        (
            r"^Time per request:\s+(?P<value>[\d.]+) \[ms\] \(mean, across",
            "mean_time_across_requests_ms",
            "ms",
        ),
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

_LOCUST_MARKS = frozenset({"Name", "Request Count", "Failure Count", "Requests/s"})
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
_LOCUST_TOTAL = ("Aggregated", "Total")


def _locust_rows(output: Output) -> list[dict[str, str]]:
    if "Request Count" not in output.text[:2000]:
        return []
    rows = table_rows(output)
    return rows if rows and rows[0].keys() >= _LOCUST_MARKS else []


def _locust_values(row: dict[str, str], ending: str) -> dict[str, tuple[float | None, str]]:
    found = {}
    for column, cell in row.items():
        name, unit = _LOCUST_NAMES.get(column, ("", ""))
        if re.fullmatch(r"[\d.]{1,8}%", column):
            name, unit = f"p{slug(column)}_response_time_ms", "ms"
        if name:
            found[name + ending] = number(cell), unit
    return found


def _parse_locust(output: Output) -> Parsed:
    """Return the aggregate under plain names, each request under its own; a history's last aggregate counts."""
    rows = _locust_rows(output)
    if not rows:
        return nothing(LOCUST, "no table of locust's statistics")
    totals = [row for row in rows if row["Name"] in _LOCUST_TOTAL] or rows[-1:]
    results = [_locust_values(row, "") for row in totals]
    single = (
        {}
        if "Timestamp" in rows[0]
        else {f"{r.get('Type', '')} {r['Name']}": r for r in rows if r not in totals}
    )
    for label, row in single.items():
        results[-1] |= _locust_values(row, f"_{slug(label)}")
    readings = [
        readings_of({k: v for k, (v, _) in r.items()}, {k: u for k, (_, u) in r.items()}) for r in results
    ]
    parsed = last_of(LOCUST, readings, "rows of totals")
    failed = parsed.value("failed")
    if parsed.value("requests") == 0:
        return with_reason(parsed, "no request was made")
    return with_reason(
        parsed, f"{failed:,.0f} of {parsed.value('requests'):,.0f} requests failed" if failed else None
    )


PARSERS = (
    printed_parser(WRK, "wg/wrk: src/wrk.c, src/stats.c (also giltene/wrk2)", ("wrk2",)),
    printed_parser(HEY, "rakyll/hey: requester/print.go (also hatoo/oha)", ("oha",)),
    printed_parser(AB, "apache/httpd: support/ab.c", ("apachebench",)),
    Parser(
        name=LOCUST,
        source="locustio/locust: locust/stats.py (requests_csv_columns)",
        recognises=lambda output: bool(_locust_rows(output)),
        parse=_parse_locust,
    ),
)
