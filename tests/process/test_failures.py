"""A log tells why its command failed: the first cause, its kind, and the same fingerprint another time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optrack.judge.failures import classify, fingerprint, normalised, plain_failure
from optrack.model.run import Failure


def ready_failure(log: str, exit_code: int | None = None, signal: str | None = "SIGKILL") -> Failure:
    return classify(log, stage="ready", exit_code=exit_code, signal=signal)


def scheduler_crash(last: str, *, rank: str = "TP2", at: str = "2026-03-04 05:06:07") -> str:
    return f"""\
[{at} TP0] Load weight begin. avail mem=90.00 GB
[{at}] Ignore import error when loading sglang.srt.models.x: No module named 'cutlass'
[{at} {rank}] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/site/sglang/srt/managers/scheduler.py", line 4313, in run_scheduler_process
    scheduler = Scheduler(
                ^^^^^^^^^^
{last}

[{at}] Received sigquit from a child process. It usually means the child failed.
[{at}] kill_process_tree called: parent_pid=1795, include_parent=True, pid=1795
"""


GRAPH_AND_NCCL = """\
RuntimeError: NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/site/sglang/srt/runner.py", line 365, in __init__
    raise Exception(
Exception: Capture cuda graph failed: NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)
Possible solutions:
1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)"""


@pytest.mark.parametrize(
    ("last", "kind", "words"),
    [
        (GRAPH_AND_NCCL, "nccl", "Capture cuda graph failed: NCCL error: invalid usage"),
        ("Exception: Capture cuda graph failed: unsupported op", "cuda_graph", "unsupported op"),
        ("ModuleNotFoundError: No module named 'deepgemm'", "import_error", "deepgemm"),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            "out_of_memory",
            "2.00 GiB",
        ),
        ("ValueError: Loaded weights leave no GPU memory for the KV cache", "out_of_memory", "KV cache"),
        ("RuntimeError: Cannot find any model weights with `/m`", "weights", "model weights"),
        ("AssertionError", "assertion", "AssertionError"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda", "illegal memory"),
        ("KeyError: 'rope_scaling'", "exception", "KeyError: 'rope_scaling'"),
    ],
)
def test_the_exception_that_the_scheduler_announced_is_the_cause(last: str, kind: str, words: str) -> None:
    failure = ready_failure(scheduler_crash(last))
    assert failure.kind == kind
    assert words in failure.message
    assert "sigquit" not in failure.message


@pytest.mark.parametrize(
    ("log", "code", "kind", "words"),
    [
        ("usage: serve [-h]\nserve: error: unrecognized arguments: --no-such 1\n", 2, "usage", "--no-such"),
        ("bash: line 1: vlmm: command not found\n", 127, "command_not_found", "vlmm"),
        (
            "ERROR:    [Errno 98] error while binding ('127.0.0.1', 8000): address already in use\n",
            1,
            "port_in_use",
            "8000",
        ),
        ("OSError: [Errno 28] No space left on device\n", 1, "disk_full", "No space"),
        ("RuntimeError: No accelerator (CUDA, XPU) is available.\n", 1, "no_device", "accelerator"),
        ("watchdog timeout (self.watchdog_timeout=300, self.soft=False)\n", None, "stuck", "watchdog"),
        ("something happened\nit went wrong\n", 1, "unknown", "it went wrong"),
        ("", 5, "unknown", "exit code 5"),
        ("bash: line 1: 4242 Segmentation fault (core dumped) python s.py\n", 139, "killed", "Segmentation"),
    ],
)  # fmt: skip
def test_single_lines_tell_their_kind(log: str, code: int | None, kind: str, words: str) -> None:
    failure = ready_failure(log, exit_code=code, signal=None)
    assert (failure.kind, words in failure.message) == (kind, True), failure


@pytest.mark.parametrize(
    ("last", "phase"),
    [
        ("Capturing batches (bs=8): 10%|#   | 1/23", "CUDA graphs"),
        ("Loading safetensors checkpoint shards: 57% Completed | 28/49", "weights"),
        ("INFO torch.compile took 30 s", "compiled"),
    ],
)
def test_a_silent_death_says_the_signal_and_what_was_being_done(last: str, phase: str) -> None:
    failure = ready_failure(f"starting\n{last}")
    assert failure.kind == "killed"
    assert "SIGKILL" in failure.message and phase in failure.message


def test_a_dead_peer_is_the_cause_only_if_nothing_else_is_known() -> None:
    reset = scheduler_crash("RuntimeError: [gloo] Read error [192.0.2.2]:333: Connection reset by peer")
    assert ready_failure(reset).kind == "peer_lost"
    both = reset + scheduler_crash("torch.OutOfMemoryError: CUDA out of memory.", rank="TP3")
    assert ready_failure(both).kind == "out_of_memory"


def test_an_engine_that_refers_to_a_trace_above_is_not_the_cause() -> None:
    prefix = "(EngineCore pid=77) ERROR 03-04 05:06:07 [core.py:99] "
    lines = [
        "EngineCore failed to start.",
        "Traceback (most recent call last):",
        '  File "/opt/vllm/core.py", line 1, in run',
        "ValueError: No available memory for the cache blocks.",
    ]
    log = "".join(f"{prefix}{line}\n" for line in lines)
    log += 'Traceback (most recent call last):\n  File "/x.py", line 3\n'
    log += "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"
    failure = ready_failure(log, exit_code=1, signal=None)
    assert failure.kind == "out_of_memory" and failure.message.startswith("ValueError: No available")


def test_an_error_that_the_server_survived_is_not_why_it_ended() -> None:
    log = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad request\n'
    log += '[2026-03-04 05:06:07] INFO:     127.0.0.1:5 - "POST /generate HTTP/1.1" 200 OK\n' * 5
    failure = ready_failure(log)
    assert failure.kind == "killed" and "requests were served" in failure.message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OOM on GPU 3: tried 2.00 GiB at 0x7f3a2b", "OOM on GPU 11: tried 17.5 GiB at 0xdeadbeef00"),
        ("no file /home/ann/.cache/x/config.json", "no file /srv/bob/models/config.json"),
        ("[192.0.2.2]:6858: reset", "[198.51.100.77]:20690: reset"),
        ("run 0193a4b2-77aa-7c11-8e2f-001122334455 died", "run ffffa4b2-1111-7c11-8e2f-aabbccddee00 died"),
        ("in /tmp/tmpabc/x", "in /var/lib/jobs/77/y"),
    ],
)
def test_the_same_failure_has_the_same_fingerprint_elsewhere(one: str, other: str) -> None:
    assert fingerprint("k", one) == fingerprint("k", other), (normalised(one), normalised(other))


def test_ranks_and_times_do_not_change_a_fingerprint_and_causes_do() -> None:
    first = ready_failure(scheduler_crash("ValueError: head_dim 96"))
    again = ready_failure(
        scheduler_crash("ValueError: head_dim 96", rank="TP7 EP7", at="2027-01-01 00:00:00")
    )
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != ready_failure(scheduler_crash("ValueError: kv heads")).fingerprint
    assert "No module named 'a'" != normalised("No module named 'a'") != normalised("No module named 'b'")


def test_messages_and_tails_are_bounded() -> None:
    failure = plain_failure("unknown", "x" * 10_000, "y" * 100_000)
    assert len(failure.message) == 500 and len(failure.log_tail) == 4000


@given(st.text(max_size=300), st.sampled_from([None, 0, 1, 137]), st.sampled_from([None, "SIGKILL"]))
def test_any_text_is_classified(text: str, code: int | None, signal: str | None) -> None:
    failure = classify(text, stage="launch", exit_code=code, signal=signal)
    assert failure.kind and failure.message and len(failure.fingerprint) == 12


@given(
    st.lists(
        st.sampled_from(
            [
                "Traceback (most recent call last):",
                "  File",
                "E: x",
                "",
                "During handling of the above exception, another exception occurred:",
                "Scheduler hit an exception: Traceback (most recent call last):",
            ]
        ),
        max_size=20,
    )
)
def test_broken_tracebacks_are_classified(lines: list[str]) -> None:
    assert classify("\n".join(lines), stage="ready", exit_code=1, signal=None).message
