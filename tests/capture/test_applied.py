"""What was asked is compared with what ran."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.judge.applied import arguments_part, not_applied, rewritten_arguments, unseen_treatment
from optrack.model.secrets.masking import mask_value
from optrack.model.snapshot import Snapshot

SALT = b"salt"


def ran(**parts: Any) -> Snapshot:
    return Snapshot(**parts)


def test_what_was_applied_gives_no_sentence() -> None:
    snapshot = ran(env={"server": {"NCCL_ALGO": "Tree"}, "observed_in": "workers"})
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
        env={"server": {"NCCL_ALGO": "Tree"}, "observed_in": "workers"},
        packages={"distributions": {"torch": "2.6.0"}},
        libraries={"loaded": {"libnccl.so": {"version": "2.26.2"}}},
    )
    assert not_applied(snapshot, recipe_env, expect) == (sentence,)


def test_without_a_server_what_was_passed_counts() -> None:
    assert not_applied(ran(env={"passed": {"NCCL_ALGO": "Ring"}}), {"NCCL_ALGO": "Tree"}) == (
        "NCCL_ALGO was set to Tree and is Ring in what the commands were passed.",
    )


def test_what_couldnt_be_seen_gives_no_sentence() -> None:
    assert not_applied(ran(env={"passed": {}, "observed_in": "unknown"}), {"NCCL_ALGO": "Tree"}) == ()
    assert not_applied(ran(), {"NCCL_ALGO": "Tree"}) == ()


def test_a_secret_is_compared_by_its_digest_and_never_told() -> None:
    token = "hf_" + "a" * 20
    snapshot = ran(
        env={"server": {"HF_TOKEN": mask_value("HF_TOKEN", token, SALT)}, "observed_in": "workers"}
    )
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
    ).model_dump()
    assert rewritten_arguments(ran(arguments=part)) == (
        "The server was started with speculative-num-draft-tokens 7 and reports speculative_num_draft_tokens 4.",
    )
    assert "last_gen_throughput" in part["reported"]["volatile"]


def test_lists_are_compared_as_lists() -> None:
    part = arguments_part(
        asked={"cuda-graph-bs": [1, 2, 4]}, command=None, reported={"cuda_graph_bs": [1, 2, 4]}, salt=SALT
    ).model_dump()
    assert rewritten_arguments(ran(arguments=part)) == ()


def test_a_server_that_reports_nothing_gives_no_sentence() -> None:
    part = arguments_part(asked={"tp": 8}, command=None, reported=None, salt=SALT).model_dump()
    assert "reported" not in part
    assert rewritten_arguments(ran(arguments=part)) == ()


def test_an_engines_digest_of_the_report_is_understood() -> None:
    part = arguments_part(
        asked={"tp": 8, "speculative-num-draft-tokens": 7},
        command=None,
        reported={
            "version": "0.5.15",
            "applied": {
                **{"tp_size": 8, "speculative_num_draft_tokens": 4, "api_key": "abc", "nccl_port": 4711},
                "cuda_graph_config": {"decode": {"backend": "full", "bs": [1, 2], "last_used": 3}},
            },
            "changed": {"speculative_num_draft_tokens": {"asked": 7, "applied": 4}},
            "state": {
                "max_total_num_tokens": 1000,
                "last_gen_throughput": 81.0,
                "memory_usage": {"graph": 1.0},
            },
            "ours": True,
        },
        salt=SALT,
    ).model_dump()
    reported = part["reported"]
    assert (reported["tp_size"], reported["version"], reported["max_total_num_tokens"]) == (8, "0.5.15", 1000)
    assert reported["cuda_graph_config"] == {"decode": {"backend": "full", "bs": [1, 2]}}
    assert {"nccl_port", "last_gen_throughput", "memory_usage"} <= set(reported["volatile"])
    assert reported["api_key"].startswith("<masked:")
    assert rewritten_arguments(ran(arguments=part)) == (
        "The server was started with speculative_num_draft_tokens 7 and applied 4.",
    )


def test_an_expected_argument_that_isnt_in_force_is_not_applied() -> None:
    part = arguments_part(asked={}, command=None, reported={"tp_size": 4}, salt=SALT).model_dump()
    assert not_applied(ran(arguments=part), {}, {"server": {"tp": "8"}}) == (
        "The server was started with tp 8 and reports tp_size 4.",
    )


@pytest.mark.parametrize(
    ("leaf", "values", "candidate", "baseline", "sentences"),
    [
        ("env.A", ("1", "2"), {"A": "2"}, {"A": "1"}, 0),
        ("env.A", ("1", "2"), {"A": "2"}, {"A": "2"}, 1),
        ("env.A", (None, "2"), {}, {}, 1),
        ("launch", ("a", "b"), {}, {}, 0),
    ],
)
def test_a_treatment_that_made_no_difference_in_the_processes_is_told(
    leaf: str, values: tuple[Any, Any], candidate: dict[str, str], baseline: dict[str, str], sentences: int
) -> None:
    sides = [ran(env={"server": env, "observed_in": "workers"}) for env in (candidate, baseline)]
    assert len(unseen_treatment(sides[0], sides[1], {leaf: values})) == sentences


def test_what_was_to_differ_and_what_both_runs_had_is_said() -> None:
    both = ran(env={"server": {"NCCL_ALGO": "Tree"}, "observed_in": "workers"})
    assert unseen_treatment(both, both, {"env.NCCL_ALGO": ("Ring", "Tree")}) == (
        "NCCL_ALGO was to be Ring in the baseline and Tree in the candidate, and both runs had Tree.",
    )


def test_a_patch_that_changed_no_code_and_an_argument_the_server_overrode_are_told() -> None:
    both = ran(git={"repo": {"code": "1"}}, arguments={"reported": {"speculative_num_draft_tokens": 4}})
    declared = {
        "patch": (None, ["a.diff"]),
        "server.speculative-num-draft-tokens": (4, 7),
        "server.tp": (1, 2),
    }
    assert len(unseen_treatment(both, both, declared)) == 2


def test_what_couldnt_be_seen_of_a_treatment_is_not_told() -> None:
    hidden = ran(env={"passed": {}, "observed_in": "unknown"})
    assert (
        unseen_treatment(hidden, hidden, {"env.A": ("1", "2"), "server.tp": (1, 2), "patch": (None, "x")})
        == ()
    )
