"""The demo's benchmark client: `python -m optrack.demo.bench --port 30000 --num-prompts 8 --output-len 64`.

Sends prompts one after the other and takes the time of every token. Prints a table; `--output-file` appends the
same figures as a line of JSON.
"""

import argparse
import http.client
import json
import random
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_S = 60.0
WORDS = ("how", "fast", "can", "a", "small", "server", "speak", "when", "its", "ranks", "must", "agree")
ROWS = {
    "completed": "Successful requests:",
    "failed": "Failed requests:",
    "duration": "Benchmark duration (s):",
    "total_output_tokens": "Total generated tokens:",
    "output_throughput": "Output token throughput (tok/s):",
    "mean_itl_ms": "Mean ITL (ms):",
    "median_itl_ms": "Median ITL (ms):",
    "p99_itl_ms": "P99 ITL (ms):",
    "median_step_ms": "Median decode step (ms):",
    "mean_e2e_latency_ms": "Mean E2E Latency (ms):",
}


class Answer(NamedTuple):
    """When the tokens of a prompt came, in ms after it was sent, and the decode steps as the server measures them:
    a client that waits for its turn on a busy machine sees tokens in bursts, the server doesn't."""

    arrivals_ms: list[float]
    steps_ms: list[float]


class RequestFailedError(Exception):
    """A prompt went unanswered; the message says why."""


def ask(host: str, port: int, prompt: str, output_len: int) -> Answer:
    """Return how a prompt was answered; raises RequestFailedError unless all tokens come."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    body = json.dumps({"prompt": prompt, "max_new_tokens": output_len, "stream": True})
    lines: list[tuple[float, bytes]] = []
    begin = time.perf_counter()
    try:
        connection.request("POST", "/generate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        for line in response:
            lines.append((1000 * (time.perf_counter() - begin), line))
    except (OSError, http.client.HTTPException) as error:
        raise RequestFailedError(f"{host}:{port}: {error}") from error
    finally:
        connection.close()
    # Every token has its line, and a last line closes the answer.
    last = lines.pop()[1].decode() if lines else ""
    if response.status != http.HTTPStatus.OK or len(lines) != output_len or "meta_info" not in last:
        raise RequestFailedError(f"{host}:{port}: status {response.status}, {len(lines)} lines: {last}")
    return Answer([at for at, _ in lines], [json.loads(line)["step_ms"] for _, line in lines])


def summarise(answers: list[Answer], failed: int, duration: float) -> dict[str, Any]:
    """Return the figures of a benchmark; `duration` in seconds. Latencies are null if nothing was answered."""
    gaps = [
        b - a for answer in answers for a, b in zip(answer.arrivals_ms, answer.arrivals_ms[1:], strict=False)
    ]
    steps = [step for answer in answers for step in answer.steps_ms]
    tokens = len(steps)
    return {
        "completed": len(answers),
        "failed": failed,
        "duration": duration,
        "total_output_tokens": tokens,
        "output_throughput": tokens / duration,
        "mean_itl_ms": statistics.fmean(gaps) if gaps else None,
        "median_itl_ms": statistics.median(gaps) if gaps else None,
        "p99_itl_ms": statistics.quantiles(gaps, n=100, method="inclusive")[98] if len(gaps) > 1 else None,
        "median_step_ms": statistics.median(steps) if steps else None,
        "mean_e2e_latency_ms": statistics.fmean(a.arrivals_ms[-1] for a in answers) if answers else None,
    }


def table(result: dict[str, Any]) -> str:
    """Return the figures in the form that serving benchmarks print."""
    lines = ["{:=^52}".format(" Serving Benchmark Result ")]
    for key, label in ROWS.items():
        value = result[key]
        text = "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
        lines.append(f"{label:<40} {text:<10}")
    return "\n".join([*lines, "=" * 52])


def main() -> int:
    """Run the benchmark; the exit status is 1 if any request failed."""
    parser = argparse.ArgumentParser(description="Benchmarks the demo server, one request at a time.")
    parser.add_argument("--host", default="127.0.0.1", help="where the server is (%(default)s)")
    parser.add_argument("--port", type=int, required=True, help="its port")
    parser.add_argument("--num-prompts", type=int, default=8, help="requests to send (%(default)s)")
    parser.add_argument("--output-len", type=int, default=64, help="tokens to ask for in each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which prompts (%(default)s)")
    parser.add_argument("--output-file", type=Path, help="append the figures to this file, a line of JSON")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    prompts = [" ".join(rng.choices(WORDS, k=8)) for _ in range(args.num_prompts)]
    answers: list[Answer] = []
    begin = time.perf_counter()
    for number, prompt in enumerate([*prompts[:1], *prompts]):
        try:
            answer = ask(args.host, args.port, prompt, args.output_len)
            answers += [answer] if number else []  # the first is a warm-up
        except RequestFailedError as error:
            print(f"A request failed: {error}", file=sys.stderr)
        if number == 0:
            begin = time.perf_counter()
    result = summarise(answers, len(prompts) - len(answers), time.perf_counter() - begin)
    print(table(result))
    if args.output_file:
        with args.output_file.open("a") as file:
            file.write(json.dumps(result) + "\n")
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
