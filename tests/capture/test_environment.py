"""The effective environment: what leader and children had, where they differ, and what can't be known."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.host.capture import capture_running
from optrack.judge.applied import not_applied
from optrack.judge.difference import comparison, differences
from optrack.judge.variables import is_noise, is_relevant, parse_environ, plain
from optrack.model.hardware import Hardware
from optrack.model.snapshot import Snapshot
from tests.capture.processes_for_tests import WIPE, WORKER, tree

SALT = b"salt"


def captured(program: str, env: dict[str, str], *, ready: int = 1, **recipe_env: str | None) -> Snapshot:
    with tree(program, env, ready) as (leader, pids):
        return capture_running(pids, leader=leader, recipe_env=recipe_env, salt=SALT)


def env_of(snapshot: Snapshot) -> dict[str, Any]:
    assert snapshot.env is not None
    return snapshot.env.model_dump()


def spawn(worker: str, before: str = "") -> str:
    """Return a program that changes its own environment and then starts a worker anew."""
    return f"{before}\nsubprocess.run([sys.executable, '-c', 'import os, sys\\n' + {worker!r}])"


def test_a_variable_set_after_the_start_is_seen_in_the_children() -> None:
    found = env_of(captured(spawn(WORKER, "os.environ['NCCL_PROTO'] = 'LL'"), {"NCCL_ALGO": "Ring"}))
    assert found["server"]["NCCL_PROTO"] == "LL"
    assert found["server"]["NCCL_ALGO"] == "Ring"
    assert found["observed_in"] == "workers"
    assert found["differing"]["NCCL_PROTO"]["leader"] is None
    assert "=LL" in found["differing"]["NCCL_PROTO"]["children"]


def test_a_variable_lost_on_the_way_to_the_children_is_not_applied() -> None:
    snapshot = captured(spawn(WORKER, "del os.environ['NCCL_ALGO']"), {"NCCL_ALGO": "Tree"}, NCCL_ALGO="Tree")
    assert "NCCL_ALGO" not in env_of(snapshot)["server"]
    assert not_applied(snapshot, {"NCCL_ALGO": "Tree"}, {}) == (
        "NCCL_ALGO was set to Tree and is not set in the server's processes.",
    )


def test_a_variable_that_only_some_workers_have_is_a_list_and_not_applied() -> None:
    workers = f"""
env = dict(os.environ, NCCL_ALGO='Tree')
code = 'import os, sys\\n' + {WORKER!r}
both = [subprocess.Popen([sys.executable, '-c', code], env=e) for e in (env, None)]
[p.wait() for p in both]
"""
    snapshot = captured(workers, {}, ready=2, NCCL_ALGO="Tree")
    assert env_of(snapshot)["server"]["NCCL_ALGO"] == [None, "Tree"]
    assert not_applied(snapshot, {"NCCL_ALGO": "Tree"}) == (
        "NCCL_ALGO was set to Tree and is not set or Tree in the server's processes.",
    )


def test_wiped_workers_alone_make_the_environment_unknown_not_unset() -> None:
    snapshot = captured(spawn(WIPE + WORKER), {"NCCL_ALGO": "Tree"}, NCCL_ALGO="Tree")
    found = env_of(snapshot)
    assert found["observed_in"] == "unknown"
    assert "server" not in found
    assert found["unreadable"]
    assert not_applied(snapshot, {"NCCL_ALGO": "Tree"}) == ()


def test_an_unknown_environment_makes_the_comparison_unknown() -> None:
    wiped = captured(spawn(WIPE + WORKER), {"NCCL_ALGO": "Tree"}, NCCL_ALGO="Tree")
    open_ = captured(spawn(WORKER), {"NCCL_ALGO": "Tree"}, NCCL_ALGO="Tree")
    rest: dict[str, Any] = {
        "git": {},
        "hardware": Hardware(),
        "packages": None,
        "libraries": None,
        "processes": None,
    }
    found = differences(
        wiped.model_copy(update=rest),
        open_.model_copy(update=rest),
        declared={},
        accepted=["env.observed_in"],
    )
    assert [(d.field, d.cls) for d in found if d.severity == "blocking"] == [("env.server", "unknown")]
    assert comparison(found) == "unknown"


def test_beside_wiped_workers_the_tracker_tells_what_they_were_given() -> None:
    program = f"""
os.environ['NCCL_PROTO'] = 'LL'
from multiprocessing import resource_tracker
resource_tracker.ensure_running()
subprocess.run([sys.executable, '-c', 'import os, sys\\n' + {WIPE + WORKER!r}])
"""
    found = env_of(captured(program, {}))
    assert found["observed_in"] == "trackers"
    assert found["server"]["NCCL_PROTO"] == "LL"


def test_a_server_of_one_process_tells_for_itself() -> None:
    found = env_of(captured(WORKER, {"OMP_NUM_THREADS": "3"}))
    assert (found["observed_in"], found["server"]["OMP_NUM_THREADS"]) == ("main", "3")


def test_a_forked_child_is_known_to_show_its_parents_start() -> None:
    program = f"""
if os.fork() == 0:
    {WORKER}
os.wait()
"""
    snapshot = captured(program, {"OMP_NUM_THREADS": "3"})
    assert snapshot.processes is not None
    assert [process.environment for process in snapshot.processes.tree][-1] == "as its parent's start"
    assert env_of(snapshot)["server"]["OMP_NUM_THREADS"] == "3"


def test_odd_values_survive() -> None:
    found = env_of(
        captured(WORKER, {"NCCL_A": "caf\udce9", "NCCL_B": "a\nb", "NCCL_C": "", "NCCL_D": "ü = 1"})
    )
    server = found["server"]
    assert server["NCCL_A"] == "bytes:caf%E9"
    assert (server["NCCL_B"], server["NCCL_C"], server["NCCL_D"]) == ("a\nb", "", "ü = 1")


def test_secrets_of_the_processes_are_masked_but_differ() -> None:
    one = env_of(captured(WORKER, {"HF_TOKEN": "hf_" + "a" * 20}))["other"]["HF_TOKEN"]
    other = env_of(captured(WORKER, {"HF_TOKEN": "hf_" + "b" * 20}))["other"]["HF_TOKEN"]
    assert one.startswith("<masked:") and other.startswith("<masked:") and one != other


def test_a_process_that_ended_meanwhile_is_no_error() -> None:
    with tree(WORKER, {}) as (leader, pids):
        gone = [*pids, 2**22 - 7]
        assert env_of(capture_running(gone, leader=leader, recipe_env={}, salt=SALT))["observed_in"] == "main"
    assert env_of(capture_running(pids, leader=leader, recipe_env={}, salt=SALT))["observed_in"] == "unknown"


@pytest.mark.parametrize(
    "name",
    [
        "NCCL_ALGO",
        "CUDA_VISIBLE_DEVICES",
        "SGLANG_X",
        "VLLM_Y",
        "TORCHINDUCTOR_CACHE_DIR",
        "PYTORCH_CUDA_ALLOC_CONF",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "LD_PRELOAD",
        "HF_HUB_OFFLINE",
        "FLASHINFER_X",
        "TRITON_CACHE_DIR",
        "GLOO_SOCKET_IFNAME",
        "UCX_TLS",
        "MSCCLPP_X",
        "EAGLE3_PROFILE",
        "MY_DEBUG",
        "ANY_LOG_LEVEL",
        "PYTHONHASHSEED",
        "GLIBC_TUNABLES",
    ],
)
def test_performance_relevant_variables_are_recorded_by_value(name: str) -> None:
    assert is_relevant(name) and not is_noise(name)


@pytest.mark.parametrize(
    "name",
    ["SSH_CLIENT", "TERM", "PWD", "OPTRACK_RUN", "PORT", "RUN_DIR", "MASTER_PORT", "SHLVL", "_", "HISTFILE"],
)
def test_variables_of_login_launch_and_optrack_say_nothing(name: str) -> None:
    assert is_noise(name) and not is_relevant(name)


def test_settings_extend_the_table_by_name_and_prefix() -> None:
    assert is_relevant("FOO", ["FOO"])
    assert is_relevant("FOO_BAR", ["FOO_"]) and is_relevant("FOOBAR", ["FOO*"])
    assert not is_relevant("FOO_BAR", ["FOO"])


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"A=1\0B=2\0", {"A": "1", "B": "2"}),
        (b"A=1=2\0", {"A": "1=2"}),
        (b"A=\0", {"A": ""}),
        (b"", {}),
        (b"\0\0\0\0", None),
        (b"sglang::scheduler\0\0\0", None),
        (b"a title\0B=2\0", None),
        (b"A=1\0A=2\0", {"A": "1"}),
    ],
)
def test_environ_is_read_as_the_kernel_shows_it(data: bytes, found: dict[str, str] | None) -> None:
    assert parse_environ(data) == found


def test_bytes_that_are_no_text_are_kept_reversibly() -> None:
    from urllib.parse import unquote_to_bytes

    data = bytes(range(1, 256))
    assert unquote_to_bytes(plain(data).removeprefix("bytes:")) == data
