"""Benchmarks of stores and of the machine: redis-benchmark, pgbench, sysbench, fio."""

from __future__ import annotations

import re

from optrack.metrics.output import Amount, Output, Parsed, Setting, Values, last_of, number, numeric, slug
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import Printed, Report, setting_of, tool

PGBENCH = Printed(
    r"^transaction type: ",
    (
        (r"^latency average = (?P<value>[\d.]+) ms", "average_latency_ms", "ms"),
        (r"^latency stddev = (?P<value>[\d.]+) ms", "stddev_latency_ms", "ms"),
        (r"^initial connection time = (?P<value>[\d.]+) ms", "initial_connection_time_ms", "ms"),
        (r"^tps = (?P<value>[\d.]+) \((?:without|excluding)", "transactions_per_second", "transactions/s"),
        (r"^tps = (?P<value>[\d.]+) \(incl", "transactions_per_second_with_connecting", "transactions/s"),
        (r"^number of transactions actually processed: (?P<value>\d+)", "transactions", "transactions"),
        (r"^number of failed transactions: (?P<value>\d+)", "failed", "transactions"),
        (r"^number of transactions retried: (?P<value>\d+)", "retried", "transactions"),
    ),
    failures=(
        (r"^number of failed transactions: (\d+)", "transactions failed"),
        (r"^number of transactions above .* limit: (\d+)", "transactions were above the latency limit"),
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
SYSBENCH = Printed(
    r"^sysbench \d",
    (
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


def _redis_text(output: Output) -> tuple[dict[str, Amount], dict[str, Setting]]:
    """Return the figures of each test by its name, and the settings of the last."""
    values: dict[str, Amount] = {}
    settings: dict[str, Setting] = {}
    test, columns = "", False
    for line in output.lines:
        if len(line) > 400:
            continue
        if (section := _REDIS_SECTION.match(line)) is not None:
            test, columns = slug(section["test"]), False
        elif test and (rate := _REDIS_RATE.match(line)) is not None:
            values[f"{test}_requests_per_second"] = number(rate["rate"]), "req/s"
        elif test and line.split() == list(_REDIS_COLUMNS):
            columns = True
        elif columns and len(cells := line.split()) == len(_REDIS_COLUMNS):
            latencies = zip(_REDIS_COLUMNS, map(number, cells), strict=True)
            values |= {f"{test}_{k}_latency_ms": (value, "ms") for k, value in latencies}
            columns = False
        elif test and (setting := _REDIS_SETTING.match(line)) is not None:
            names = ("clients", "payload_bytes", "requests")
            settings |= {n: setting_of(v) for n, v in zip(names, setting.groups(), strict=True) if v}
        elif (quiet := _REDIS_QUIET.match(line)) is not None:
            name = slug(quiet["test"])
            values[f"{name}_requests_per_second"] = number(quiet["rate"]), "req/s"
            values[f"{name}_p50_latency_ms"] = number(quiet["p50"] or ""), "ms"
    return values, settings


def _redis_csv(output: Output) -> dict[str, Amount]:
    values: dict[str, Amount] = {}
    for row in table_rows(output):
        test = slug(row["test"])
        values[f"{test}_requests_per_second"] = number(row["rps"]), "req/s"
        values |= {f"{test}_{slug(k)}": (number(v), "ms") for k, v in row.items() if k.endswith("_ms")}
    return values


def _redis(output: Output) -> Parsed | None:
    settings: dict[str, Setting] = {}
    if output.text.lstrip().startswith('"test","rps"'):
        values = _redis_csv(output)
    elif "requests per second" in output.text:
        values, settings = _redis_text(output)
    else:
        return None
    return last_of([values], "").but(settings=settings) if values else None


def _fio(report: Report) -> Values:
    """Return for each direction that did something `read_iops`, `read_bw_mib_s`, latencies in us; jobs by name."""
    values: dict[str, Amount] = {}
    names = [slug(str(job.get("jobname", ""))) for job in _jobs(report)]
    for index, (name, job) in enumerate(zip(names, _jobs(report), strict=True)):
        same = f"_{index + 1}" if names.count(name) > 1 else ""
        prefix = f"{name}{same}_" if len(names) > 1 else ""
        for way in ("read", "write", "trim"):
            part = job.get(way)
            if isinstance(part, dict) and numeric(part.get("total_ios")):
                values |= {f"{prefix}{way}_{key}": amount for key, amount in _fio_way(part).items()}
    return values


def _fio_way(part: Report) -> dict[str, Amount]:
    rate, kib = numeric(part.get("bw_bytes")), numeric(part.get("bw"))
    mib = rate / 2**20 if rate is not None else kib / 1024 if kib is not None else None
    values: dict[str, Amount] = {"iops": (numeric(part.get("iops")), "iops"), "bw_mib_s": (mib, "MiB/s")}
    for kind in ("lat", "clat"):
        entry = part.get(f"{kind}_ns")
        given = entry if isinstance(entry, dict) else {}
        statistics = {s: numeric(given.get(s)) for s in ("mean", "min", "max", "stddev")}
        percentiles = given.get("percentile")
        for rank, value in percentiles.items() if isinstance(percentiles, dict) else ():
            statistics["p" + str(rank).rstrip("0").rstrip(".").replace(".", "_")] = numeric(value)
        for statistic, ns in statistics.items():
            values[f"{statistic}_{kind}_latency_us"] = None if ns is None else ns / 1000, "us"
    return values


def _jobs(report: Report) -> list[Report]:
    return [job for job in report["jobs"] if isinstance(job, dict)]


def _fio_why(report: Report, parsed: Parsed) -> str | None:
    errors = [job for job in _jobs(report) if numeric(job.get("error"))]
    return f"the job {errors[0].get('jobname')} failed with error {errors[0]['error']}" if errors else None


def _fio_settings(report: Report) -> dict[str, Setting]:
    options = [report.get("global options"), *(job.get("job options") for job in _jobs(report))]
    given = {k: v for part in options if isinstance(part, dict) for k, v in part.items()}
    return {k: setting_of(v) for k, v in given.items() if k not in ("name", "filename", "directory")}


PARSERS = (
    tool(
        "redis-benchmark",
        "redis/redis: src/redis-benchmark.c (also valkey-benchmark)",
        text=_redis,
        aliases=("valkey-benchmark",),
    ),
    tool("pgbench", "postgres/postgres: src/bin/pgbench/pgbench.c (printResults)", text=PGBENCH),
    tool("sysbench", "akopytov/sysbench: src/sysbench.c, src/tests", text=SYSBENCH),
    tool(
        "fio",
        "axboe/fio: stat.c (--output-format=json)",
        is_report=lambda report: "fio version" in report and isinstance(report.get("jobs"), list),
        readings=_fio,
        why=_fio_why,
        settings=_fio_settings,
    ),
)
