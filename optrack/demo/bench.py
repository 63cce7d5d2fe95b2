"""The demo's benchmark client: `python -m optrack.demo.bench --port 30000 --num-prompts 8 --output-len 64`.

Sends prompts one after the other and takes the time of every token. Prints a table; `--output-file` appends
the same figures as a line of JSON.
"""

import argparse
import http.client
import json
import random
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 60.0
WORDS = ("how", "fast", "can", "a", "small", "server", "speak", "when", "its", "ranks", "must", "agree")
PROMPT_WORDS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """When what came, in seconds of the clock; `arrivals` and `steps_ms` have an entry for each token.

    `steps_ms` are the times of the decode steps as the server measures them: a client that waits for its turn
    on a busy machine sees tokens in bursts, the server doesn't.
    """

    sent: float
    arrivals: list[float]
    steps_ms: list[float]

    @property
    def latency(self) -> float:
        """From sending the request to the last token, in seconds."""
        return self.arrivals[-1] - self.sent

    @property
    def gaps(self) -> list[float]:
        """From each token to the next, in seconds."""
        return [b - a for a, b in zip(self.arrivals, self.arrivals[1:], strict=False)]


class RequestFailedError(Exception):
    """A prompt went unanswered; the message says why."""


def main() -> int:
    """Runs the benchmark; the exit status is 1 if any request failed."""
    args = _parse_arguments()
    rng = random.Random(args.seed)
    prompts = [" ".join(rng.choices(WORDS, k=PROMPT_WORDS)) for _ in range(args.num_prompts)]
    answers: list[Answer] = []
    try:
        for prompt in prompts[: args.warmup_requests]:
            ask(args.host, args.port, prompt, args.output_len)
    except RequestFailedError as error:
        print(f"The warm-up failed: {error}", file=sys.stderr)
    began = time.perf_counter()
    for prompt in prompts:
        try:
            answers.append(ask(args.host, args.port, prompt, args.output_len))
        except RequestFailedError as error:
            print(f"A request failed: {error}", file=sys.stderr)
    result = summarise(answers, len(prompts) - len(answers), time.perf_counter() - began)
    print(table(result))
    if args.output_file:
        with args.output_file.open("a") as file:
            file.write(json.dumps(result) + "\n")
    return 1 if result["failed"] else 0


def ask(host: str, port: int, prompt: str, output_len: int) -> Answer:
    """Has one prompt answered, token by token; raises `RequestFailedError` unless all tokens come."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    body = json.dumps({"prompt": prompt, "max_new_tokens": output_len, "stream": True})
    arrivals: list[float] = []
    lines: list[bytes] = []
    sent = time.perf_counter()
    try:
        connection.request("POST", "/generate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        for line in response:
            arrivals.append(time.perf_counter())
            lines.append(line)
    except (OSError, http.client.HTTPException) as error:
        raise RequestFailedError(f"{host}:{port}: {error}") from error
    finally:
        connection.close()
    # Every token has its line, and a last line closes the answer.
    last = lines[-1].decode() if lines else ""
    if response.status != http.HTTPStatus.OK or len(lines) != output_len + 1 or "meta_info" not in last:
        raise RequestFailedError(f"{host}:{port}: status {response.status}, {len(lines)} lines: {last}")
    return Answer(sent, arrivals[:-1], [json.loads(line)["step_ms"] for line in lines[:-1]])


def summarise(answers: Sequence[Answer], failed: int, duration: float) -> dict[str, float | int | None]:
    """The figures of a benchmark; `duration` in seconds. Latencies are null if nothing was answered."""
    gaps = sorted(1000 * gap for answer in answers for gap in answer.gaps)
    steps = sorted(step for answer in answers for step in answer.steps_ms)
    latencies = [1000 * answer.latency for answer in answers]
    tokens = sum(len(answer.arrivals) for answer in answers)
    return {
        "completed": len(answers),
        "failed": failed,
        "duration": duration,
        "total_output_tokens": tokens,
        "output_throughput": tokens / duration,
        "mean_itl_ms": _mean(gaps),
        "median_itl_ms": _quantile(gaps, 0.5),
        "p99_itl_ms": _quantile(gaps, 0.99),
        "median_step_ms": _quantile(steps, 0.5),
        "mean_e2e_latency_ms": _mean(latencies),
    }


ROWS = (
    ("Successful requests:", "completed"),
    ("Failed requests:", "failed"),
    ("Benchmark duration (s):", "duration"),
    ("Total generated tokens:", "total_output_tokens"),
    ("Output token throughput (tok/s):", "output_throughput"),
    ("Mean ITL (ms):", "mean_itl_ms"),
    ("Median ITL (ms):", "median_itl_ms"),
    ("P99 ITL (ms):", "p99_itl_ms"),
    ("Median decode step (ms):", "median_step_ms"),
    ("Mean E2E Latency (ms):", "mean_e2e_latency_ms"),
)


def table(result: dict[str, float | int | None]) -> str:
    """The figures in the form that serving benchmarks print."""
    lines = ["{:=^52}".format(" Serving Benchmark Result ")]
    for label, key in ROWS:
        value = result[key]
        text = "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
        lines.append(f"{label:<40} {text:<10}")
    return "\n".join([*lines, "=" * 52])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _quantile(ordered: Sequence[float], q: float) -> float | None:
    """The q-quantile of sorted values, linear between neighbours as numpy's default is."""
    if not ordered:
        return None
    position = q * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmarks the demo server, one request at a time.")
    parser.add_argument("--host", default="127.0.0.1", help="where the server is (%(default)s)")
    parser.add_argument("--port", type=int, required=True, help="its port")
    parser.add_argument("--num-prompts", type=int, default=8, help="requests to send (%(default)s)")
    parser.add_argument("--output-len", type=int, default=64, help="tokens to ask for in each (%(default)s)")
    parser.add_argument("--warmup-requests", type=int, default=1, help="requests not counted (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which prompts (%(default)s)")
    parser.add_argument("--output-file", type=Path, help="append the figures to this file, a line of JSON")
    args = parser.parse_args()
    for name in ("num_prompts", "output_len"):
        if getattr(args, name) < 1:
            parser.error(f"argument --{name.replace('_', '-')}: has to be at least 1")
    return args


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
