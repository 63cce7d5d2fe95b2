"""What was asked is compared with what ran."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.core.applied import arguments_part, not_applied
from optrack.core.secrets import mask_value
from optrack.core.snapshot import Snapshot

SALT = b"salt"


def ran(**parts: Any) -> Snapshot:
    return Snapshot(**parts)


def test_what_was_applied_gives_no_sentence() -> None:
    snapshot = ran(env={"server": {"NCCL_ALGO": "Tree"}, "witness": "workers"})
    assert (
        not_applied(snapshot, {"NCCL_ALGO": "Tree", "NCCL_PROTO": None}, {"env": {"NCCL_ALGO": "Tree"}}) == ()
    )


@pytest.mark.parametrize(
    ("recipe_env", "expect", "sentence"),
    [
        ({"A_DEBUG": "1"}, {}, "A_DEBUG was set to 1 and is not set in the server's processes."),
        ({"NCCL_ALGO": "Ring"}, {}, "NCCL_ALGO was set to Ring and is Tree in the server's processes."),
        ({"NCCL_ALGO": None}, {}, "NCCL_ALGO was to be unset and is Tree in the server's processes."),
        (
            {},
            {"env": {"NCCL_PROTO": "LL"}},
            "NCCL_PROTO was set to LL and is not set in the server's processes.",
        ),
        ({}, {"packages": {"torch": "2.7"}}, "The package torch was expected as 2.7 and is 2.6.0."),
        ({}, {"packages": {"torch": None}}, "The package torch was to be absent and is 2.6.0."),
        (
            {},
            {"libraries": {"libnccl.so": "2.27"}},
            "The library libnccl.so was expected as 2.27 and is 2.26.2.",
        ),
    ],
)
def test_what_was_not_applied_is_a_sentence(
    recipe_env: dict[str, str | None], expect: dict[str, dict[str, str | None]], sentence: str
) -> None:
    snapshot = ran(
        env={"server": {"NCCL_ALGO": "Tree"}, "witness": "workers"},
        packages={"distributions": {"torch": "2.6.0"}},
        libraries={"loaded": {"libnccl.so": {"version": "2.26.2"}}},
    )
    assert not_applied(snapshot, recipe_env, expect) == (sentence,)


def test_without_a_server_what_was_passed_counts() -> None:
    assert not_applied(ran(env={"passed": {"NCCL_ALGO": "Ring"}}), {"NCCL_ALGO": "Tree"}) == (
        "NCCL_ALGO was set to Tree and is Ring in what the commands were passed.",
    )


def test_what_couldnt_be_seen_gives_no_sentence() -> None:
    assert not_applied(ran(env={"passed": {}, "witness": "unknown"}), {"NCCL_ALGO": "Tree"}) == ()
    assert not_applied(ran(), {"NCCL_ALGO": "Tree"}) == ()


def test_a_secret_is_compared_by_its_digest_and_never_told() -> None:
    token = "hf_" + "a" * 20
    snapshot = ran(env={"server": {"HF_TOKEN": mask_value("HF_TOKEN", token, SALT)}, "witness": "workers"})
    assert not_applied(snapshot, {"HF_TOKEN": token}, salt=SALT) == ()
    (sentence,) = not_applied(snapshot, {"HF_TOKEN": "hf_" + "b" * 20}, salt=SALT)
    assert "bbbb" not in sentence and "aaaa" not in sentence


def test_an_argument_that_the_server_rewrote_is_told() -> None:
    part = arguments_part(
        asked={
            "tp": 8,
            "speculative-num-draft-tokens": 7,
            "mem-fraction-static": "0.88",
            "enable-metrics": True,
        },
        command="serve",
        reported={
            **{"tp_size": 8, "speculative_num_draft_tokens": 4, "mem_fraction_static": 0.88},
            **{"enable_metrics": True, "version": "0.5.15", "last_gen_throughput": 81.0},
        },
        salt=SALT,
    )
    assert not_applied(ran(arguments=part), {}) == (
        "The server was started with speculative-num-draft-tokens 7 and reports speculative_num_draft_tokens 4.",
    )
    assert "last_gen_throughput" in part["reported"]["volatile"]


def test_lists_are_compared_as_lists() -> None:
    part = arguments_part(
        asked={"cuda-graph-bs": [1, 2, 4]}, command=None, reported={"cuda_graph_bs": [1, 2, 4]}, salt=SALT
    )
    assert not_applied(ran(arguments=part), {}) == ()


def test_a_server_that_reports_nothing_gives_no_sentence() -> None:
    part = arguments_part(asked={"tp": 8}, command=None, reported=None, salt=SALT)
    assert "reported" not in part
    assert not_applied(ran(arguments=part), {}) == ()
