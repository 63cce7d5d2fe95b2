"""What the installed SGLang accepts is read from its sources, which are never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from optrack.engines.protocol import Arguments
from optrack.engines.sglang_arguments import Known, canonical, known_to, problems

CLASSIC = """
raise RuntimeError("this module must not be imported")
BACKENDS = ["triton", "flashinfer"]

class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", "--model", type=str)
        parser.add_argument("--tensor-parallel-size", "--tp-size", type=int)
        parser.add_argument("--attention-backend", choices=BACKENDS)
        parser.add_argument("--schedule-policy", choices=["lpm", "fcfs"])
        parser.add_argument("--disable-radix-cache", action="store_true")
        parser.add_argument("--max-running-requests", type=int)
        parser.add_argument("--max-total-tokens", type=int)
"""
ANNOTATED = """
import nothing_like_it
BACKENDS = ["triton", "flashinfer"]

class ServerArgs:
    model_path: A[str, Arg(help="model", aliases=["--model"])]
    tp_size: A[int, Arg(help="ranks", aliases=["--tensor-parallel-size"])] = 1
    attention_backend: A[Optional[str], Arg(help="kernels", choices=BACKENDS)] = None
    schedule_policy: A[Literal["lpm", "fcfs"], "order"] = "fcfs"
    disable_radix_cache: A[bool, "no cache"] = False
    max_running_requests: A[int, "most"] = 1
    max_total_tokens: A[int, "most"] = 1
    derived_only: A[int, Arg(no_cli=True)] = 0
    plain: int = 0
"""
ENVIRON = """
class Envs:
    SGLANG_LOG_MS = EnvBool(False)
    SGLANG_SIMULATE_ACC_LEN = EnvFloat(-1)
"""


@pytest.fixture(params=[CLASSIC, ANNOTATED], ids=["add_argument", "annotated fields"])
def known(request: pytest.FixtureRequest, tmp_path: Path) -> Known:
    """What an SGLang of each generation accepts."""
    (tmp_path / "srt").mkdir()
    (tmp_path / "srt" / "server_args.py").write_text(request.param)
    (tmp_path / "srt" / "environ.py").write_text(ENVIRON)
    return known_to(tmp_path)


def test_arguments_that_exist_raise_no_problem_in_any_spelling(known: Known) -> None:
    arguments: Arguments = {"model": "m", "tp": 2, "attention_backend": "triton", "schedule-policy": "lpm"}
    assert problems(arguments, {"SGLANG_LOG_MS": "1", "NCCL_ALGO": "Ring"}, known) == ()


def test_spellings_of_one_argument_have_one_name(known: Known) -> None:
    found = canonical({"tp": 1, "tp-size": 1, "tensor_parallel_size": 1, "model": "m"}, known)
    assert set(found.values()) == {"tp_size", "model_path"}
    assert problems({"tp": 1, "tensor-parallel-size": 2}, {}, known)[0].startswith(
        "server arguments tp and tensor-parallel-size are the same one"
    )


def test_a_mistyped_argument_value_or_variable_names_the_nearest(known: Known) -> None:
    found = problems(
        {
            "disable-radix-cach": True,
            "attention-backends": 1,
            "attention-backend": "tritn",
            "schedule-policy": "fcsf",
        },
        {"SGLANG_SIMULATE_ACC_LENGTH": "2.5"},
        known,
    )
    assert "did you mean 'attention-backend'?" in found[0]
    assert "can't be 'tritn'; did you mean 'triton'?" in found[1]
    assert "can't be 'fcsf'; did you mean 'fcfs'?" in found[2]
    assert "did you mean 'SGLANG_SIMULATE_ACC_LEN'?" in found[3]


def test_a_variable_that_is_read_somewhere_else_is_known(known: Known, tmp_path: Path) -> None:
    (tmp_path / "srt" / "cpu.py").write_text('ENGINE = os.environ.get("SGLANG_USE_CPU_ENGINE")')
    assert problems({}, {"SGLANG_USE_CPU_ENGINE": "1"}, known) == ()
    assert len(problems({}, {"SGLANG_USE_CPU": "1"}, known)) == 1


def test_an_abbreviation_counts_if_it_is_the_only_one_as_argparse_has_it(known: Known) -> None:
    assert known.option("disable-radix-cach") is not None
    assert known.option("max-r") is not None
    assert known.option("max") is None


def test_without_an_installation_only_common_spellings_are_known(tmp_path: Path) -> None:
    assert known_to(None) == Known()
    assert known_to(tmp_path / "missing").options == ()
    assert canonical({"tp": 1, "dp": 2, "other-thing": 3}) == {
        "tp": "tp_size",
        "dp": "dp_size",
        "other-thing": "other_thing",
    }
    assert problems({"made-up": 1}, {"SGLANG_MADE_UP": "1"}, Known()) == ()


def test_a_source_that_is_not_python_is_survived(tmp_path: Path) -> None:
    (tmp_path / "srt").mkdir()
    (tmp_path / "srt" / "server_args.py").write_bytes(b"\x00\xff not python (")
    assert known_to(tmp_path).options == ()
