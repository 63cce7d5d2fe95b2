"""Of all that a log says, a failure names the line that matters, whatever wrote it."""

# ruff: noqa: E501  (lines of logs)
from __future__ import annotations

import pytest

from optrack.judge.failures import classify
from optrack.model.run import Failure

FRAME = '  File "/opt/app/serve.py", line 12, in main\n    engine.start()\n    ^^^^^^^^^^^^^^\n'
HEAD = f"Traceback (most recent call last):\n{FRAME}"
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"


def failed(log: str, code: int | None = 1, signal: str | None = None) -> Failure:
    return classify(log, stage="ready", exit_code=code, signal=signal)


OTHER_PROGRAMS = {
    "nginx": (
        "2026/01/02 03:04:05 [warn] 7#7: the user directive makes sense only as root\n"
        'nginx: [emerg] unknown directive "gzipp" in /srv/nginx.conf:3\n'
        "nginx: configuration file /srv/nginx.conf test failed\n",
        "exception",
        'unknown directive "gzipp"',
    ),
    "nginx's port": (
        "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n" * 3
        + "nginx: [emerg] still could not bind()\n",
        "port_in_use",
        "bind() to 0.0.0.0:80 failed",
    ),
    "postgres": (
        "2026-01-02 03:04:05.678 UTC [91] LOG:  starting PostgreSQL 17\n"
        '2026-01-02 03:04:05.678 UTC [91] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use\n'
        "2026-01-02 03:04:05.678 UTC [91] HINT:  Is another postmaster running on port 5432?\n"
        "2026-01-02 03:04:05.678 UTC [91] FATAL:  could not create any TCP/IP sockets\n"
        "2026-01-02 03:04:05.678 UTC [91] LOG:  database system is shut down\n",
        "port_in_use",
        "could not bind IPv4 address",
    ),
    "postgres's setting": (
        '2026-01-02 03:04:05 UTC [91] LOG:  unrecognized configuration parameter "jitt" in file "p.conf" line 3\n'
        '2026-01-02 03:04:05 UTC [91] FATAL:  configuration file "p.conf" contains errors\n'
        "2026-01-02 03:04:05 UTC [91] LOG:  done\n",
        "exception",
        'configuration file "p.conf" contains errors',
    ),
    "redis's file": (
        "91:C 02 Jan 2026 03:04:05.678 * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo\n"
        "91:C 02 Jan 2026 03:04:05.678 # Fatal error, can't open config file '/srv/r.conf': No such file\n"
        "91:C 02 Jan 2026 03:04:05.678 * bye\n",
        "exception",
        "can't open config file",
    ),
    "redis's setting": (
        "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\nReading the configuration file, at line 4\n"
        ">>> 'maxmemori 1gb'\nBad directive or wrong number of arguments\n",
        "exception",
        "'maxmemori 1gb' Bad directive",
    ),
    "rust": (
        "thread 'main' panicked at src/main.rs:41:9:\ncalled `Option::unwrap()` on a `None` value\n"
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
        "exception",
        "called `Option::unwrap()` on a `None` value",
    ),
    "old rust": (
        "thread '<unnamed>' panicked at 'no shard', src/lib.rs:3:1\nnote: run with `RUST_BACKTRACE=1`\n",
        "exception",
        "'no shard'",
    ),
    "go": (
        "panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x1d\nexit status 2\n",
        "exception",
        "assignment to entry in nil map",
    ),
    "go's log": (
        "2026/01/02 03:04:05 listen tcp :8080: bind: address already in use\nexit status 1\n",
        "port_in_use",
        ":8080",
    ),
    "c++": (
        "loading\nterminate called after throwing an instance of 'std::length_error'\n"
        "  what():  vector::reserve\nAborted (core dumped)\n",
        "exception",
        "std::length_error: vector::reserve",
    ),
    "an assertion in c": (
        "kv: pool.c:88: take: Assertion `free > 0' failed.\nAborted (core dumped)\n",
        "assertion",
        "Assertion `free > 0' failed",
    ),
    "java": (
        'Exception in thread "main" org.x.StartError: no start\n\tat org.x.Main.main(Main.java:4)\n'
        "Caused by: java.net.BindException: Address already in use\n\tat java.base/sun.nio.ch.Net.bind0(Net)\n\t... 4 more\n",
        "port_in_use",
        "java.net.BindException: Address already in use; raised again as org.x.StartError: no start",
    ),
    "the java machine": (
        "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
        "#  SIGSEGV (0xb) at pc=0x00007f, pid=3, tid=4\n#\n# JRE version: 21\n",
        "killed",
        "SIGSEGV",
    ),
    "node": (
        "node:events:496\n      throw er; // Unhandled 'error' event\n      ^\n\n"
        "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setup (node:net:1897:16)\n"
        "    at listen (node:net:1962:12) {\n  code: 'EADDRINUSE',\n  port: 3000\n}\n\nNode.js v22.1.0\n",
        "port_in_use",
        "EADDRINUSE",
    ),
    "node's own error": (
        "/srv/app.js:3\nboom.go()\n     ^\n\nTypeError: boom.go is not a function\n"
        "    at Object.<anonymous> (/srv/app.js:3:6)\n\nNode.js v22.1.0\n",
        "exception",
        "TypeError: boom.go is not a function",
    ),
    "node's heap": (
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb9 node::OOM [node]\n",
        "out_of_memory",
        "heap limit",
    ),
    "a log with levels": (
        'level=info msg="start"\nlevel=fatal msg="no leader in zone"\nlevel=info msg="bye"\n',
        "exception",
        "no leader in zone",
    ),
    "a log of json": (
        '{"level":"info","msg":"start"}\n{"level":"fatal","msg":"open store","error":"bad magic"}\n{"level":"info","msg":"bye"}\n',
        "exception",
        "open store: bad magic",
    ),
    "a compiler": (
        'main.cu(7): error: identifier "foo" is undefined\n1 error detected in the compilation\nmake: leaving\n',
        "exception",
        'identifier "foo" is undefined',
    ),
    "nccl": (
        "host:7:9 [0] NCCL WARN Cuda failure 2 'out of memory'\nbye\n",
        "nccl",
        "Cuda failure 2",
    ),
    "a segmentation fault": ("Fatal Python error: Segmentation fault\n\nThread 0x1:\n", "killed", "Segmentation"),
}  # fmt: skip


@pytest.mark.parametrize("program", OTHER_PROGRAMS)
def test_each_program_s_own_words_for_its_end_are_the_message(program: str) -> None:
    log, kind, words = OTHER_PROGRAMS[program]
    failure = failed(log)
    assert words in failure.message and failure.kind == kind, failure
    assert "the log ends with" not in failure.message


VALIDATION = (
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for ServeConfig\n"
    "  Value error, max_len 9000 is longer than the model's 8192 [type=value_error, input_value=1, input_type=int]\n"
    "    For further information visit https://example.invalid/v\n"
)
FIELDS = (
    "pydantic.ValidationError: 2 validation errors for ServeConfig\n"
    "tp\n  Input should be a valid integer [type=int_parsing, input_value='x', input_type=str]\n"
    "    For further information visit https://example.invalid/v\n"
    "model.path\n  Field required [type=missing, input_value={}, input_type=dict]\n"
)
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/opt/app/serve.py", line 12, in main
  |     raise group
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/opt/app/serve.py", line 3, in work
    |     load()
    | FileNotFoundError: no shard 3
    +------------------------------------
"""
TRACEBACKS = {
    "a validation error": (HEAD + VALIDATION, "max_len 9000 is longer than the model's 8192", "type=value_error"),
    "fields that aren't valid": (HEAD + FIELDS, "tp: Input should be a valid integer; model.path: Field required", "type="),
    "more lines": (HEAD + "ValueError: bad plan\n  step 3 repeats step 2\n", "bad plan step 3 repeats step 2", "File"),
    "the line below": (HEAD + "ImportError: \n`flashier` is too old\n", "`flashier` is too old", "File"),
    "a direct cause": (
        f"{HEAD}ValueError: head_dim 96\n{DIRECT}{HEAD}RuntimeError: engine failed\n",
        "ValueError: head_dim 96; raised again as RuntimeError: engine failed",
        "File",
    ),
    "two direct causes": (
        f"{HEAD}OSError: bad magic\n{DIRECT}{HEAD}ValueError: b\n{DIRECT}{HEAD}RuntimeError: c\n",
        "OSError: bad magic; raised again as RuntimeError: c",
        "ValueError",
    ),
    "one while handling another": (
        f"{HEAD}KeyError: 'x'\n{DURING}{HEAD}RuntimeError: no such layer\n",
        "RuntimeError: no such layer; while handling KeyError: 'x'",
        "File",
    ),
    "a group": (GROUP, "FileNotFoundError: no shard 3", "File"),
    "the last of two": (f"{HEAD}ValueError: a\nretry\n" + "x\n" * 90 + f"{HEAD}ValueError: b\n", "ValueError: b", "a"),
}  # fmt: skip
PREFIXES = (
    "",
    "(EngineCore pid=123) ",
    "(Worker_TP1 pid=77) ERROR 01-02 03:04:05 [multiproc.py:12] ",
    "[2026-01-02 03:04:05 TP0] ",
    "[rank3]: ",
    "3: ",
    "[1,2]<stderr>:",
    "engine-1  | ",
    "2026-01-02T03:04:05.678Z ",
)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("which", TRACEBACKS)
def test_a_traceback_gives_the_exception_that_explains_it(which: str, prefix: str) -> None:
    log, words, not_words = TRACEBACKS[which]
    failure = failed("".join(f"{prefix}{line}\n" for line in log.splitlines()))
    assert words in failure.message and not_words not in failure.message.replace(words, ""), failure.message


def test_tracebacks_of_several_processes_line_by_line_are_told_apart() -> None:
    first = f"{HEAD}ValueError: head_dim 96\n{DIRECT}{HEAD}RuntimeError: engine failed\n".splitlines()
    log = "".join(f"(Worker_TP{rank} pid={rank}7) {line}\n" for line in first for rank in (0, 1))
    assert failed(log).message == "ValueError: head_dim 96; raised again as RuntimeError: engine failed"


OOM = f"{HEAD}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
DECODE = "[2026-01-02 03:04:05 TP1] Decode batch, #running-req: 1, gen throughput (token/s): 9.00\n"
KINDS = {
    "a port in use, and the old server's answer": (
        "[2026-01-02 03:04:05] ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 3): "
        "address already in use\n[2026-01-02 03:04:06] INFO:     127.0.0.1:5 - \"GET /model_info HTTP/1.1\" 200 OK\n",
        "port_in_use",
    ),
    "out of memory after decoding": (DECODE * 3 + OOM, "out_of_memory"),
    "out of memory, and other ranks go on": (OOM + DECODE * 3, "out_of_memory"),
    "too small a cache": (
        f"{HEAD}ValueError: To serve at least one request with 131072 tokens, 16.00 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (3.20 GiB).\n",
        "out_of_memory",
    ),
    "a failed warm-up": (
        f"[2026-01-02 03:04:05] Initialization failed. warmup error: {HEAD}AssertionError: res=<Response [503]>\n",
        "warmup",
    ),
    "a failed warm-up with its cause": (
        f"[2026-01-02 03:04:05 TP0] Scheduler hit an exception: {OOM}\n"
        f"[2026-01-02 03:04:05] Initialization failed. warmup error: {HEAD}AssertionError: res=<Response [503]>\n",
        "out_of_memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", KINDS)
def test_the_kind_is_that_of_the_cause(which: str) -> None:
    log, kind = KINDS[which]
    assert failed(log, code=None, signal="SIGKILL").kind == kind
