"""Benchmarks of stores and of the machine: redis-benchmark, pgbench, sysbench, fio."""

from __future__ import annotations

import re
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
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import JsonTool, PrintedTool, printed_parser, setting_of
from optrack.model.metrics import Reading

REDIS = "redis-benchmark"
PGBENCH = PrintedTool(
    name="pgbench",
    begin=r"^transaction type: ",
    rows=(
        (r"^latency average = (?P<value>[\d.]+) ms", "average_latency_ms", "ms"),
        (r"^latency stddev = (?P<value>[\d.]+) ms", "stddev_latency_ms", "ms"),
        (r"^initial connection time = (?P<value>[\d.]+) ms", "initial_connection_time_ms", "ms"),
        (r"^tps = (?P<value>[\d.]+) \((?:without|excluding)", "transactions_per_second", "transactions/s"),
        (
            r"^tps = (?P<value>[\d.]+) \(including",
            "transactions_per_second_with_connecting",
            "transactions/s",
        ),
        (r"^number of transactions actually processed: (?P<value>\d+)", "transactions", "transactions"),
        (r"^number of failed transactions: (?P<value>\d+)", "failed", "transactions"),
        (r"^number of transactions retried: (?P<value>\d+)", "retried", "transactions"),
    ),
    failures=(
        (r"^number of failed transactions: (\d+)", "transactions failed"),
        (
            r"^number of transactions above the .* latency limit: (\d+)",
            "transactions were above the latency limit",
        ),
    ),
    settings=(
        ("transaction_type", r"^transaction type: (.{1,100})$"),
        ("scaling_factor", r"^scaling factor: (\d+)"),
        ("query_mode", r"^query mode: (\w+)"),
        ("clients", r"^number of clients: (\d+)"),
        ("threads", r"^number of threads: (\d+)"),
        ("duration", r"^duration: (\d+ s)"),
        ("transactions_per_client", r"^number of transactions per client: (\d+)"),
    ),
)
SYSBENCH = PrintedTool(
    name="sysbench",
    begin=r"^sysbench \d",
    rows=(
        (r"^ +events per second: +(?P<value>[\d.]+)", "events_per_second", "events/s"),
        (r"^ +transactions: +\d+ +\((?P<value>[\d.]+) per sec", "transactions_per_second", "transactions/s"),
        (r"^ +queries: +\d+ +\((?P<value>[\d.]+) per sec", "queries_per_second", "req/s"),
        (r"^Total operations: \d+ \( *(?P<value>[\d.]+) per second", "operations_per_second", "ops/s"),
        (r"^[\d.]+ MiB transferred \((?P<value>[\d.]+) MiB/sec\)", "transferred_mib_per_s", "MiB/s"),
        (r"^ +(?P<key>reads|writes|fsyncs)/s: +(?P<value>[\d.]+)", "{key}_per_s", "ops/s"),
        (r"^ +(?P<key>read|written), MiB/s: +(?P<value>[\d.]+)", "{key}_mib_per_s", "MiB/s"),
        (r"^ +total time: +(?P<value>[\d.]+)s", "total_time_s", "s"),
        (r"^ +total number of events: +(?P<value>\d+)", "events", "events"),
        (r"^ +(?P<key>min|avg|max): +(?P<value>[\d.]+)$", "{key}_latency_ms", "ms"),
        (r"^ +(?P<key>\d+)th percentile: +(?P<value>[\d.]+)$", "p{key}_latency_ms", "ms"),
    ),
    failures=((r"^ +ignored errors: +(\d+)", "errors were ignored"),),
    settings=(
        ("threads", r"^Number of threads: (\d+)"),
        ("block_size", r"^ +block size: (\S+)"),
        ("total_size", r"^ +total size: (\S+)"),
        ("operation", r"^ +operation: (\S+)"),
        ("prime_limit", r"^Prime numbers limit: (\d+)"),
    ),
)
_REDIS_SECTION = re.compile(r"^\s*====== (?P<test>[^=\n]{1,80}) ======\s*$")
_REDIS_QUIET = re.compile(
    r"^\s*(?:.{0,300}\s)?(?P<test>[A-Za-z][\w ()-]{0,60}): (?P<rate>[\d.]+) requests per second"
    r"(?:, p50=(?P<p50>[\d.]+) msec)?"
)
_REDIS_RATE = re.compile(r"^\s*(?:throughput summary: )?(?P<rate>[\d.]+) requests per second\s*$")
_REDIS_SETTING = re.compile(r"^\s+(?:(\d+) parallel clients|(\d+) bytes payload|(\d+) requests completed)")
_REDIS_COLUMNS = ("avg", "min", "p50", "p95", "p99", "max")


def _redis_text(output: Output) -> tuple[dict[str, float | None], dict[str, Setting]]:
    """Return the figures of each test by its name, and the settings of the last."""
    values: dict[str, float | None] = {}
    settings: dict[str, Setting] = {}
    test, columns = "", False
    for line in output.lines:
        if len(line) > 400:
            continue
        if (section := _REDIS_SECTION.match(line)) is not None:
            test, columns = slug(section["test"]), False
        elif test and (rate := _REDIS_RATE.match(line)) is not None:
            values[f"{test}_requests_per_second"] = number(rate["rate"])
        elif test and line.split() == list(_REDIS_COLUMNS):
            columns = True
        elif columns and len(cells := line.split()) == len(_REDIS_COLUMNS):
            values |= {
                f"{test}_{k}_latency_ms": number(v) for k, v in zip(_REDIS_COLUMNS, cells, strict=True)
            }
            columns = False
        elif test and (told := _REDIS_SETTING.match(line)) is not None:
            names = ("clients", "payload_bytes", "requests")
            settings |= {n: setting_of(v) for n, v in zip(names, told.groups(), strict=True) if v}
        elif (quiet := _REDIS_QUIET.match(line)) is not None:
            name = slug(quiet["test"])
            values[f"{name}_requests_per_second"] = number(quiet["rate"])
            values[f"{name}_p50_latency_ms"] = number(quiet["p50"] or "")
    return values, settings


def _redis_csv(output: Output) -> dict[str, float | None]:
    if not output.text.lstrip().startswith('"test","rps"'):
        return {}
    values: dict[str, float | None] = {}
    for row in table_rows(output):
        test = slug(row["test"])
        values[f"{test}_requests_per_second"] = number(row["rps"])
        values |= {f"{test}_{slug(k)}": number(v) for k, v in row.items() if k.endswith("_ms")}
    return values


def _redis(output: Output) -> Parsed | None:
    if "requests per second" not in output.text and '"rps"' not in output.text:
        return None
    table = _redis_csv(output)
    values, settings = (table, {}) if table else _redis_text(output)
    units = {name: "req/s" if name.endswith("per_second") else "ms" for name in values}
    readings = readings_of(values, units)
    return Parsed(tool=REDIS, readings=readings, settings=settings) if readings else None


def _is_fio(document: Any) -> bool:
    return isinstance(document, dict) and "fio version" in document and isinstance(document.get("jobs"), list)


def _fio(report: dict[str, Any]) -> tuple[Reading, ...]:
    """Return for each direction that did something `read_iops`, `read_bw_mib_s`, latencies in us; jobs by name."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    jobs = _jobs(report)
    for index, job in enumerate(jobs):
        name = slug(str(job.get("jobname", "")))
        same = sum(slug(str(other.get("jobname", ""))) == name for other in jobs) > 1
        prefix = "" if len(jobs) == 1 else f"{name}_{index + 1}_" if same else f"{name}_"
        for way in ("read", "write", "trim"):
            part = job.get(way)
            if isinstance(part, dict) and numeric(part.get("total_ios")):
                for key, (value, unit) in _fio_way(part).items():
                    values[f"{prefix}{way}_{key}"], units[f"{prefix}{way}_{key}"] = value, unit
    return readings_of(values, units)


def _fio_way(part: dict[str, Any]) -> dict[str, tuple[float | None, str]]:
    rate = numeric(part.get("bw_bytes"))
    kib = numeric(part.get("bw"))
    mib = rate / 2**20 if rate is not None else kib / 1024 if kib is not None else None
    found: dict[str, tuple[float | None, str]] = {
        "iops": (numeric(part.get("iops")), "iops"),
        "bw_mib_s": (mib, "MiB/s"),
    }
    for kind in ("lat_ns", "clat_ns"):
        entry = part.get(kind)
        if not isinstance(entry, dict):
            continue
        name = kind.removesuffix("_ns")
        told = {s: numeric(entry.get(s)) for s in ("mean", "min", "max", "stddev")}
        percentiles = entry.get("percentile")
        for rank, value in percentiles.items() if isinstance(percentiles, dict) else ():
            told["p" + str(rank).rstrip("0").rstrip(".").replace(".", "_")] = numeric(value)
        for statistic, amount in told.items():
            if amount is not None:
                found[f"{statistic}_{name}_latency_us"] = amount / 1000, "us"
    return found


def _jobs(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [job for job in report["jobs"] if isinstance(job, dict)]


def _fio_why(report: dict[str, Any], parsed: Parsed) -> str | None:
    errors = [job for job in _jobs(report) if numeric(job.get("error"))]
    return f"the job {errors[0].get('jobname')} failed with error {errors[0]['error']}" if errors else None


def _fio_settings(report: dict[str, Any]) -> dict[str, Setting]:
    options = [report.get("global options"), *(job.get("job options") for job in _jobs(report))]
    told = {k: v for part in options if isinstance(part, dict) for k, v in part.items()}
    return {k: setting_of(v) for k, v in told.items() if k not in ("name", "filename", "directory")}


PARSERS = (
    Parser(
        name=REDIS,
        source="redis/redis: src/redis-benchmark.c (also valkey-benchmark)",
        recognises=lambda output: _redis(output) is not None,
        parse=lambda output: _redis(output) or nothing(REDIS, "no result of this tool"),
        aliases=("valkey-benchmark",),
    ),
    printed_parser(PGBENCH, "postgres/postgres: src/bin/pgbench/pgbench.c (printResults)"),
    printed_parser(SYSBENCH, "akopytov/sysbench: src/sysbench.c, src/tests"),
    JsonTool(
        name="fio",
        source="axboe/fio: stat.c (--output-format=json)",
        is_report=_is_fio,
        readings=_fio,
        why=_fio_why,
        settings=_fio_settings,
    ).parser(),
)
