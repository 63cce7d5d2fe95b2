"""Load generators and benchmarks of stores: their figures, their settings, and their words for failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output

WRK = """\
Running 5s test @ http://127.0.0.1:9000/
  2 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   850.50us    1.25ms   1.50s    91.00%
    Req/Sec     3.25k   210.00     4.00k    70.00%
  Latency Distribution
     50%  700.00us
     99%    6.25ms
  32500 requests in 5.00s, 4.10MB read
Requests/sec:   6500.25
Transfer/sec:    840.50KB
"""
HEY = """\

Summary:
  Total:\t2.5000 secs
  Slowest:\t0.2500 secs
  Fastest:\t0.0100 secs
  Average:\t0.0500 secs
  Requests/sec:\t80.0000

Response time histogram:
  0.010 [1]\t|■
  0.034 [99]\t|■■■■

Latency distribution:
  50% in 0.0400 secs
  99% in 0.2000 secs

Status code distribution:
  [200]\t200 responses
"""
AB = """\
This is ApacheBench, Version 2.3
Server Software:        demo
Document Path:          /x
Concurrency Level:      4
Time taken for tests:   0.500 seconds
Complete requests:      100
Failed requests:        0
Requests per second:    200.00 [#/sec] (mean)
Time per request:       20.500 [ms] (mean)
Time per request:       5.125 [ms] (mean, across all concurrent requests)
Percentage of the requests served within a certain time (ms)
  50%     18
 100%     90 (longest request)
"""
K6 = """\
  █ TOTAL RESULTS

    HTTP
    http_req_duration..............: avg=1.5s     min=2ms med=950.5µs max=1m5s p(90)=2s p(95)=3s
      { expected_response:true }...: avg=1s       min=2ms med=900µs   max=1m   p(90)=2s p(95)=3s
    http_req_failed................: 0.00%  0 out of 400
    http_reqs......................: 400    39.5/s

    EXECUTION
    iteration_duration.............: avg=1.5s     min=2ms med=950.5µs max=1m5s p(90)=2s p(95)=3s
    iterations.....................: 400    39.5/s
"""
PGBENCH = """\
transaction type: <builtin: select only>
scaling factor: 10
query mode: prepared
number of clients: 8
number of threads: 2
duration: 5 s
number of transactions actually processed: 50000
number of failed transactions: 0 (0.000%)
latency average = 0.850 ms
initial connection time = 4.500 ms
tps = 9950.500000 (without initial connection time)
"""
REDIS = """\
====== GET ======
  5000 requests completed in 0.10 seconds
  20 parallel clients
  3 bytes payload

Latency by percentile distribution:
0.000% <= 0.023 milliseconds (cumulative count 1)

Summary:
  throughput summary: 50000.00 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.125     0.010     0.110     0.250     0.500     2.500
"""
SYSBENCH = """\
sysbench 1.0.20 (using system LuaJIT)
Number of threads: 4
SQL statistics:
    transactions:                        900    (450.25 per sec.)
    queries:                             18000  (9005.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
Latency (ms):
         min:                                    1.50
         avg:                                    8.75
         max:                                   40.00
         95th percentile:                       15.25
"""
LOCUST = (
    "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
    "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,95%,99.9%\n"
    "POST,/chat,90,0,410,415.5,300,900,512,9.0,0.0,410,700,900\n"
    ",Aggregated,90,0,410,415.5,300,900,512,9.0,0.0,410,700,900\n"
)


def _auto(text: str) -> Parsed:
    return parse_output("auto", text.encode())


def _unit(parsed: Parsed, name: str) -> str:
    return next(reading.metric.unit for reading in parsed.readings if reading.metric.name == name)


@pytest.mark.parametrize(
    ("text", "tool", "name", "value", "unit"),
    [
        (WRK, "wrk", "requests_per_second", 6500.25, "req/s"),
        (WRK, "wrk", "avg_latency_ms", 0.8505, "ms"),
        (WRK, "wrk", "max_latency_ms", 1500.0, "ms"),
        (WRK, "wrk", "p99_latency_ms", 6.25, "ms"),
        (HEY, "hey", "requests_per_second", 80.0, "req/s"),
        (HEY, "hey", "p99_latency_s", 0.2, "s"),
        (AB, "ab", "requests_per_second", 200.0, "req/s"),
        (AB, "ab", "mean_latency_ms", 20.5, "ms"),
        (AB, "ab", "p50_latency_ms", 18.0, "ms"),
        (K6, "k6", "avg_http_req_duration_ms", 1500.0, "ms"),
        (K6, "k6", "med_http_req_duration_ms", 0.9505, "ms"),
        (K6, "k6", "max_http_req_duration_ms", 65000.0, "ms"),
        (K6, "k6", "http_reqs_per_s", 39.5, "req/s"),
        (PGBENCH, "pgbench", "transactions_per_second", 9950.5, "transactions/s"),
        (PGBENCH, "pgbench", "average_latency_ms", 0.85, "ms"),
        (REDIS, "redis-benchmark", "get_requests_per_second", 50000.0, "req/s"),
        (REDIS, "redis-benchmark", "get_p99_latency_ms", 0.5, "ms"),
        (SYSBENCH, "sysbench", "transactions_per_second", 450.25, "transactions/s"),
        (SYSBENCH, "sysbench", "p95_latency_ms", 15.25, "ms"),
        (LOCUST, "locust", "requests_per_second", 9.0, "req/s"),
        (LOCUST, "locust", "p95_response_time_ms", 700.0, "ms"),
        (LOCUST, "locust", "p99_9_response_time_ms_post_chat", 900.0, "ms"),
    ],
)
def test_a_load_generators_figures_have_their_unit(
    text: str, tool: str, name: str, value: float, unit: str
) -> None:
    parsed = _auto(text)
    assert (parsed.tool, parsed.invalid) == (tool, None)
    assert parsed.value(name) == pytest.approx(value)
    assert _unit(parsed, name) == unit


@pytest.mark.parametrize(
    ("text", "old", "new", "count"),
    [
        (WRK, "Requests/sec:", "  Non-2xx or 3xx responses: 41\nRequests/sec:", "41"),
        (WRK, "Requests/sec:", "  Socket errors: connect 0, read 0, write 0, timeout 7\nRequests/sec:", "7"),
        (WRK, "Requests/sec:", "  Socket errors: connect 9, read 0, write 0, timeout 0\nRequests/sec:", "9"),
        (HEY, "  [200]\t200", "  [200]\t150 responses\n  [503]\t50", "50"),
        (
            HEY,
            "200 responses\n",
            "200 responses\n\nError distribution:\n  [6]\tGet http://x: connection refused\n",
            "6",
        ),
        (AB, "Failed requests:        0", "Failed requests:        12", "12"),
        (AB, "Requests per second", "Non-2xx responses:      100\nRequests per second", "100"),
        (K6, "0.00%  0 out of", "2.50%  10 out of", "2.5"),
        (PGBENCH, "failed transactions: 0", "failed transactions: 31", "31"),
        (LOCUST, ",Aggregated,90,0,", ",Aggregated,90,4,", "4"),
    ],
)
def test_failures_in_a_tools_own_words_make_the_pass_invalid(
    text: str, old: str, new: str, count: str
) -> None:
    parsed = _auto(text.replace(old, new))
    assert parsed.readings
    assert parsed.invalid is not None and count in parsed.invalid


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (WRK, {"duration": "5s", "threads": 2, "connections": 16}),
        (AB, {"concurrency": 4, "path": "/x"}),
        (PGBENCH, {"clients": 8, "scaling_factor": 10, "query_mode": "prepared", "duration": "5 s"}),
        (REDIS, {"clients": 20, "payload_bytes": 3, "requests": 5000}),
        (SYSBENCH, {"threads": 4}),
    ],
)
def test_the_work_that_a_tool_repeats_is_kept(text: str, settings: dict[str, Any]) -> None:
    assert settings.items() <= dict(_auto(text).settings).items()


def test_of_several_results_of_a_load_generator_the_last_counts() -> None:
    parsed = _auto(WRK + WRK.replace("6500.25", "7000.5"))
    assert parsed.value("requests_per_second") == 7000.5
    assert len(parsed.earlier) == 1 and any("2 results" in note for note in parsed.notes)


@pytest.mark.parametrize("shape", ["flat", "nested"])
def test_k6s_exported_summary_is_read_in_both_its_shapes(shape: str) -> None:
    duration: dict[str, Any] = {"avg": 12.5, "p(95)": 40.5}
    failed: dict[str, Any] = (
        {"rate": 0.02, "passes": 1, "fails": 49} if shape == "nested" else {"value": 0.02}
    )
    requests: dict[str, Any] = {"count": 50, "rate": 9.5}
    if shape == "nested":
        duration = {"type": "trend", "contains": "time", "values": duration}
        failed = {"type": "rate", "contains": "default", "values": failed}
        requests = {"type": "counter", "contains": "default", "values": requests}
    report = {
        "root_group": {"name": "", "checks": [{"name": "status is 200", "passes": 50, "fails": 0}]},
        "metrics": {"http_req_duration": duration, "http_req_failed": failed, "http_reqs": requests},
    }
    parsed = _auto(json.dumps(report))
    assert parsed.tool == "k6"
    assert (parsed.value("p95_http_req_duration_ms"), _unit(parsed, "p95_http_req_duration_ms")) == (
        40.5,
        "ms",
    )
    assert parsed.value("http_reqs_per_s") == 9.5
    assert parsed.invalid is not None and "2%" in parsed.invalid
    assert not any("root_group" in reading.metric.name for reading in parsed.readings)


def test_redis_benchmark_is_read_quiet_and_as_csv_too() -> None:
    quiet = _auto("\rSET: rps=0.0 (overall: nan)\rSET: 40000.50 requests per second, p50=0.150 msec\n\n")
    assert (quiet.tool, quiet.value("set_requests_per_second")) == ("redis-benchmark", 40000.5)
    table = _auto('"test","rps","avg_latency_ms","p99_latency_ms"\n"SET","40000.50","0.2","0.9"\n')
    assert (table.value("set_requests_per_second"), table.value("set_p99_latency_ms")) == (40000.5, 0.9)


def test_fio_gives_rates_and_latencies_of_each_direction() -> None:
    job = {
        "jobname": "mix",
        "error": 0,
        "job options": {"rw": "randread", "bs": "4k", "iodepth": "8"},
        "read": {
            "total_ios": 100,
            "iops": 2500.5,
            "bw_bytes": 10485760,
            "clat_ns": {"mean": 52500.0, "percentile": {"99.000000": 91000}},
        },
        "write": {"total_ios": 0, "iops": 0.0},
    }
    parsed = _auto(json.dumps({"fio version": "fio-3", "jobs": [job]}))
    assert (parsed.tool, parsed.value("read_iops"), parsed.value("read_bw_mib_s")) == ("fio", 2500.5, 10.0)
    assert parsed.value("read_p99_clat_latency_us") == 91.0
    assert parsed.value("write_iops") is None
    assert parsed.settings["iodepth"] == 8
    broken = _auto(json.dumps({"fio version": "fio-3", "jobs": [{**job, "error": 5}]}))
    assert broken.invalid is not None and "mix" in broken.invalid


def test_hyperfines_markdown_is_read_in_seconds() -> None:
    text = (
        "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n"
        "| `sleep 0.1` | 101.5 ± 0.5 | 100.5 | 103.0 | 1.00 |\n"
        "| `sleep 0.2` | 202.5 ± 0.5 | 201.0 | 204.0 | 2.00 ± 0.01 |\n"
    )
    parsed = _auto(text)
    assert parsed.tool == "hyperfine"
    assert parsed.value("sleep_0_2_mean_s") == pytest.approx(0.2025)
    assert parsed.value("sleep_0_1_stddev_s") == pytest.approx(0.0005)


def test_genai_bench_and_inference_perf_give_seconds_and_count_failures() -> None:
    stats = {"ttft": {"mean": 0.25, "p99": 0.5}, "output_throughput": {"mean": 41.5}}
    bench = {
        "aggregated_metrics": {
            "scenario": "D(100,100)",
            "num_concurrency": 4,
            "num_error_requests": 0,
            "mean_output_throughput_tokens_per_s": 160.5,
            "stats": stats,
        },
        "individual_request_metrics": [],
    }
    parsed = _auto(json.dumps(bench))
    assert (parsed.tool, parsed.invalid, parsed.value("p99_ttft")) == ("genai-bench", None, 0.5)
    assert (_unit(parsed, "p99_ttft"), _unit(parsed, "mean_output_throughput")) == ("s", "tok/s")
    assert parsed.settings["num_concurrency"] == 4
    perf = {
        "load_summary": {"count": 10},
        "successes": {
            "count": 8,
            "latency": {"request_latency": {"mean": 1.5, "p99": 2.5}},
            "throughput": {"output_tokens_per_sec": 90.5},
        },
        "failures": {"count": 2},
    }
    read = _auto(json.dumps(perf))
    assert (read.tool, read.value("p99_request_latency")) == ("inference-perf", 2.5)
    assert _unit(read, "output_tokens_per_sec") == "tok/s"
    assert read.invalid is not None and "2" in read.invalid


GUIDELLM = """\
ℹ Request Latency Statistics (Completed Requests)
|===========|=====|=====|======|======|
| Benchmark | Request Latency || TTFT ||
| Strategy  | Sec || ms ||
|           | Mdn | p95 | Mdn  | p95  |
|-----------|-----|-----|------|------|
| constant  | 1.5 | 2.5 | 40.5 | 55.5 |
|===========|=====|=====|======|======|
ℹ Server Throughput Statistics
|===========|=====|======|======|======|
| Benchmark | Requests || Output Tokens ||
| Strategy  | Per Sec || Per Sec ||
|           | Mdn | Mean | Mdn  | Mean |
|-----------|-----|------|------|------|
| constant  | 2.0 | 1.95 | 80.5 | 81.5 |
|===========|=====|======|======|======|
"""


def test_guidellms_console_gives_the_names_of_its_report() -> None:
    parsed = _auto(GUIDELLM)
    assert (parsed.tool, parsed.invalid) == ("guidellm", None)
    assert parsed.value("p95_time_to_first_token_ms") == 55.5
    assert (parsed.value("median_request_latency"), _unit(parsed, "median_request_latency")) == (1.5, "s")
    assert parsed.value("output_tokens_per_second") == 81.5
    assert _unit(parsed, "requests_per_second") == "req/s"


def test_llama_benchys_other_columns_are_read_too() -> None:
    text = (
        "| model | test | t/s | peak t/s | ttfr (ms) | e2e_ttft (ms) |\n|:--|--:|--:|--:|--:|--:|\n"
        "| m | pp512 | 900.5 ± 4.0 |  | 210.5 ± 2.0 | 260.5 ± 3.0 |\n"
        "| m | tg32 | 40.5 ± 0.5 | 42.0 ± 0.5 |  |  |\n\nllama-benchy (0.1)\n"
    )
    parsed = _auto(text)
    assert (parsed.tool, parsed.value("pp512_tok_s"), parsed.value("tg32_peak_tok_s")) == (
        "llama-benchy",
        900.5,
        42.0,
    )
    assert (parsed.value("pp512_ttfr_ms"), _unit(parsed, "pp512_e2e_ttft_ms")) == (210.5, "ms")
