"""What a server declines by its own word is told beside the verdict."""

from __future__ import annotations

import time

import pytest

from optrack.judge.remarks import declined, declining_lines
from optrack.model.snapshot import Snapshot

LOG = """\
[2026-03-02 15:12:01 TP0] server_args=ServerArgs(enable_fast_path=True)
[2026-03-02 15:12:02 TP0] FastPath: peer access is not supported on this device.
[2026-03-02 15:12:02 TP1] FastPath: peer access is not supported on this device.
[2026-03-02 15:12:03] INFO:     127.0.0.1:3344 - "GET /health HTTP/1.1" 503 Service Unavailable
Warming up:  50%|#####     | 2/4 [00:01<00:01, 1.1it/s] one state is not supported
[2026-03-02 15:12:04 TP0] fused_kernels 1.2 missing (no module kernels), falling back to plain ones
[2026-03-02 15:12:05 TP0] The server is fired up and ready to roll!
"""
PLAIN = (
    "[2026-03-02 14:00:00 TP0] fused_kernels 1.3 missing (no module kernels), falling back to plain ones\n"
)


def seen(log: str) -> Snapshot:
    return Snapshot(arguments={"declined": declining_lines(log, b"salt")})


def test_lines_that_decline_something_are_kept_once_without_time_and_rank() -> None:
    assert declining_lines(LOG, b"salt") == (
        "FastPath: peer access is not supported on this device.",
        "fused_kernels 1.2 missing (no module kernels), falling back to plain ones",
    )


def test_a_secret_in_such_a_line_is_masked() -> None:
    (line,) = declining_lines("Token hf_abcdefghijklmnopqrstuvwxyzABCDEFGH ignored\n", b"salt")
    assert "hf_abcdefgh" not in line and "ignored" in line


def test_what_only_one_side_declines_is_told_and_what_both_do_is_not() -> None:
    line = "FastPath: peer access is not supported on this device."
    (of_candidate,) = declined(seen(LOG), seen(PLAIN), ["server.enable-fast-path"])
    (of_baseline,) = declined(seen(PLAIN), seen(LOG), ["server.enable-fast-path"])
    assert of_candidate == f"The server said, and the baseline's didn't: {line}"
    assert of_baseline == f"The baseline's server said, and the candidate's didn't: {line}"


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("ERROR CUDA graph capture failed, running in eager mode", True),
        ("[2026-03-02 15:12:02 TP0] WARNING: graph capture failure, continuing", True),
        ("2026-03-02 15:12:02,123 - engine - WARN - using the fallback kernel", True),
        ("[2026-03-02 15:12:02] INFO eager execution of 4 warm-up batches", False),
        ("[2026-03-02 15:12:02] WARNING the cache directory is new", False),
    ],
)
def test_an_error_or_warning_that_something_failed_is_told(line: str, is_told: bool) -> None:
    said = declined(seen(f"started\n{line}\n"), seen("started\n"), [])
    assert bool(said) is is_told


def test_what_both_say_of_the_very_thing_that_is_treated_is_told() -> None:
    (said,) = declined(seen(PLAIN), seen(PLAIN), ["server.fused-kernels-backend"])
    assert said.startswith("The server said of what the treatment changes: fused_kernels 1.3 missing")
    assert declined(seen(PLAIN), seen(PLAIN), ["env.NCCL_PROTO", "server.radix-cache"]) == ()


def test_a_snapshot_of_before_tells_nothing() -> None:
    assert declined(seen(LOG), Snapshot(arguments={"asked": {}}), ["server.tp"]) != ()
    assert declined(Snapshot(), seen(LOG), ["server.tp"]) == ()


def test_what_speaks_of_the_treatment_is_told_first_however_much_the_server_declines() -> None:
    names = [f"{a}{b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr"]
    log = "".join(f"option {name} is ignored\n" for name in names) + "fused kernels are not supported\n"
    said = declined(seen(log), seen(""), ["server.fused-kernels-backend"])
    assert said[0] == "The server said of what the treatment changes: fused kernels are not supported"
    assert len(said) == 42
    assert said[-1] == "The server's log has 176 more such lines."


def test_a_log_of_many_lines_that_decline_something_costs_little() -> None:
    letters = "abcdefghijklmnopqrst"
    names = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in "abcdefghij"]
    begin = time.process_time()
    assert (
        len(declining_lines("".join(f"option {name} key=x is ignored\n" for name in names), b"salt")) == 400
    )
    assert time.process_time() - begin < 5
