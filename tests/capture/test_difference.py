"""Which differences are declared, which nobody explained, and what that makes of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.judge.difference import comparison, differences
from optrack.model.judgement import Difference
from optrack.model.snapshot import Snapshot


def snapshot(**parts: Any) -> Snapshot:
    """A snapshot with the parts that a comparison can't do without, and the given ones."""
    return Snapshot(**{"git": {}, "env": {"server": {}}, "hardware": {}, **parts})


def env(**variables: Any) -> dict[str, Any]:
    return {"env": {"server": variables}}


def between(baseline: Snapshot, candidate: Snapshot, **declared: tuple[Any, Any]) -> tuple[Difference, ...]:
    return differences(candidate, baseline, declared={k.replace("__", "."): v for k, v in declared.items()})


def test_a_lost_variable_is_told_as_a_sentence() -> None:
    (found,) = between(snapshot(**env(NCCL_PROTO="LL")), snapshot())
    assert found.meaning == "NCCL_PROTO was LL in the baseline's processes and is not set in the candidate's."
    assert (found.cls, found.severity) == ("unexplained", "blocking")


def test_a_declared_variable_is_declared_and_a_note() -> None:
    found = between(
        snapshot(**env(NCCL_ALGO="Ring")), snapshot(**env(NCCL_ALGO="Tree")), env__NCCL_ALGO=("Ring", "Tree")
    )
    assert [(d.cls, d.severity) for d in found] == [("declared", "note")]
    assert comparison(found) == "fair"


def test_a_declared_variable_with_another_value_than_declared_is_unexplained() -> None:
    found = between(snapshot(), snapshot(**env(NCCL_ALGO="Tree")), env__NCCL_ALGO=("Ring", "Tree"))
    assert [(d.cls, d.severity) for d in found] == [("unexplained", "blocking")]
    assert "Declared for env.NCCL_ALGO is Ring in the baseline" in found[0].meaning


def test_a_variable_that_a_recipe_adds_may_have_been_inherited_before() -> None:
    found = between(
        snapshot(**env(NCCL_ALGO="Ring")), snapshot(**env(NCCL_ALGO="Tree")), env__NCCL_ALGO=(None, "Tree")
    )
    assert comparison(found) == "fair"


def test_a_declared_numeric_value_is_compared_as_text() -> None:
    found = between(snapshot(), snapshot(**env(OMP_NUM_THREADS="8")), env__OMP_NUM_THREADS=(None, 8))
    assert [d.cls for d in found] == ["declared"]


def test_one_declared_variable_doesnt_cover_another() -> None:
    found = between(
        snapshot(**env(NCCL_ALGO="Ring")),
        snapshot(**env(NCCL_ALGO="Tree", NCCL_PROTO="LL")),
        env__NCCL_ALGO=("Ring", "Tree"),
    )
    assert [(d.field, d.cls) for d in found] == [
        ("env.server.NCCL_PROTO", "unexplained"),
        ("env.server.NCCL_ALGO", "declared"),
    ]


def test_a_variable_written_into_the_launch_command_is_covered_by_it() -> None:
    found = between(snapshot(), snapshot(**env(NCCL_ALGO="Tree")), launch=("serve", "NCCL_ALGO=Tree serve"))
    assert [d.cls for d in found] == ["declared"]


def test_what_was_passed_is_not_said_twice() -> None:
    one = {"env": {"server": {"NCCL_ALGO": "Ring"}, "passed": {"NCCL_ALGO": "Ring"}}}
    other = {"env": {"server": {"NCCL_ALGO": "Tree"}, "passed": {"NCCL_ALGO": "Tree"}}}
    assert [d.field for d in between(snapshot(**one), snapshot(**other))] == ["env.server.NCCL_ALGO"]


def test_what_only_the_benchmarks_client_was_passed_is_said() -> None:
    one = {"env": {"server": {"OMP_NUM_THREADS": "1"}, "passed": {"OMP_NUM_THREADS": "1"}}}
    other = {"env": {"server": {"OMP_NUM_THREADS": "1"}, "passed": {"OMP_NUM_THREADS": "2"}}}
    assert [d.field for d in between(snapshot(**one), snapshot(**other))] == ["env.passed.OMP_NUM_THREADS"]


@pytest.mark.parametrize("part", ["git", "env", "hardware"])
def test_a_part_missing_on_both_sides_is_unknown_where_none_can_do_without(part: str) -> None:
    bare = snapshot().model_copy(update={part: None})
    found = between(bare, bare)
    assert [(d.field, d.cls, d.severity) for d in found] == [(part, "unknown", "blocking")]
    assert comparison(found) == "unknown"


def test_a_part_that_could_not_be_captured_is_unknown_too() -> None:
    broken = snapshot(packages={"problem": "OSError: disk"})
    found = between(broken, snapshot(packages={"distributions": {"a": "1"}}))
    assert [(d.field, d.cls) for d in found] == [("packages", "unknown")]
    assert "baseline's run" in found[0].meaning


def test_a_part_that_neither_side_needs_says_nothing() -> None:
    assert between(snapshot(), snapshot()) == ()


def test_a_server_seen_on_one_side_only_is_unknown() -> None:
    found = between(snapshot(env={"passed": {}}), snapshot(**env(NCCL_ALGO="Ring")))
    assert [(d.field, d.cls) for d in found] == [("env.server", "unknown")]


def test_an_unfair_comparison_is_unfair_even_if_something_is_unknown() -> None:
    found = between(snapshot(**env(A_DEBUG="1"), packages={}), snapshot())
    assert {d.cls for d in found} == {"unexplained", "unknown"}
    assert comparison(found) == "unfair"


def test_a_volatile_field_counts_beyond_its_tolerance_only() -> None:
    def load(clock: float) -> Snapshot:
        return snapshot(load={"gpus": {"0": {"sm_clock_mhz": {"max": clock}}}})

    assert between(load(1980), load(1930)) == ()
    found = between(load(1980), load(1500))
    assert [(d.cls, d.severity) for d in found] == [("volatile", "blocking")]


def test_a_gpu_that_one_side_lacks_is_one_difference() -> None:
    def gpus(*names: str) -> Snapshot:
        devices = {str(n): {"name": name, "uuid": name, "mig": "off"} for n, name in enumerate(names)}
        return snapshot(hardware={"gpus": {"devices": devices}})

    found = between(gpus("a", "b"), gpus("a"))
    assert [d.field for d in found] == ["hardware.gpus.devices.1"]
    assert [d.cls for d in between(gpus("a", "b"), gpus("a"), gpus=("0,1", "0"))] == ["declared"]


def test_arguments_are_covered_by_the_recipes_server_keys() -> None:
    one = snapshot(arguments={"asked": {"tp": 8}, "reported": {"tp_size": 8, "chunked_prefill_size": 48}})
    other = snapshot(arguments={"asked": {"tp": 4}, "reported": {"tp_size": 4, "chunked_prefill_size": 24}})
    assert {d.cls for d in between(one, other, server__tp=(8, 4))} == {"declared"}
    assert {d.cls for d in between(one, other, env__NCCL_ALGO=("a", "b"))} == {"unexplained"}


def test_a_patch_covers_the_recipes_repository_and_no_other() -> None:
    def code(name: str, digest: str) -> Snapshot:
        return snapshot(git={name: {"state": "branch", "code": digest}})

    assert [d.cls for d in between(code("repo", "1"), code("repo", "2"), patch=(None, ["a.diff"]))] == [
        "declared"
    ]
    assert [d.cls for d in between(code("project", "1"), code("project", "2"), patch=(None, ["a.diff"]))] == [
        "unexplained"
    ]
    assert [d.cls for d in between(code("repo", "1"), code("repo", "2"), setup=(None, "make"))] == [
        "unexplained"
    ]


def test_setup_covers_no_package() -> None:
    one, other = (snapshot(packages={"distributions": {"torch": v}}) for v in ("2.6", "2.7"))
    (found,) = between(one, other, setup=(None, "pip install torch"))
    assert (found.cls, found.severity) == ("unexplained", "blocking")
    assert found.meaning == "The package torch was 2.6 in the baseline's run and is 2.7 in the candidate's."


def test_a_library_loaded_on_one_side_goes_with_a_declared_change_of_what_runs() -> None:
    one = snapshot(libraries={"loaded": {}})
    other = snapshot(libraries={"loaded": {"libflashinfer.so": {"build": "1", "version": "1"}}})
    assert [d.cls for d in between(one, other, server__backend=("a", "b"))] == ["declared"]
    assert [d.cls for d in between(one, other)] == ["unexplained"]


def test_another_build_of_a_library_goes_with_nothing() -> None:
    one, other = (snapshot(libraries={"loaded": {"libnccl.so": {"build": b}}}) for b in ("1", "2"))
    assert [d.cls for d in between(one, other, server__backend=("a", "b"))] == ["unexplained"]


def test_blocking_differences_come_first() -> None:
    found = between(
        snapshot(**env(NCCL_ALGO="Ring")),
        snapshot(**env(NCCL_ALGO="Tree", NCCL_PROTO="LL")),
        env__NCCL_ALGO=("Ring", "Tree"),
    )
    assert [d.severity for d in found] == ["blocking", "note"]


def test_what_git_could_not_tell_is_unknown_even_if_neither_side_knows() -> None:
    refused = snapshot(git={"project": {"state": "no_git", "commit": "a", "unknown": ["changes"]}})
    found = between(refused, refused)
    assert [(d.field, d.cls) for d in found] == [("git.project", "unknown")]
    assert comparison(found) == "unknown"


def test_another_secret_is_a_note_and_so_is_one_that_only_one_side_has() -> None:
    one, other = "<masked:0123456789abcdef>", "<masked:fedcba9876543210>"
    (found,) = between(snapshot(**env(HF_TOKEN=one)), snapshot(**env(HF_TOKEN=other)))
    assert (found.cls, found.severity) == ("volatile", "note")
    (found,) = between(snapshot(**env(HF_TOKEN=one)), snapshot())
    assert found.severity == "note"


def test_a_workers_environment_that_neither_side_showed_is_unknown() -> None:
    hidden = snapshot(env={"passed": {}, "observed_in": "unknown"})
    assert comparison(between(hidden, hidden)) == "unknown"


def test_a_repository_that_could_not_be_found_without_packages_is_unknown_and_not_gone() -> None:
    code = {"package server": {"code": "abc"}}
    seen = snapshot(git=code, packages={"distributions": {"server": "1"}})
    found = between(seen, snapshot())
    assert {(d.field, d.cls) for d in found} == {("git.package server", "unknown"), ("packages", "unknown")}
    assert comparison(found) == "unknown"
    gone = between(seen, snapshot(packages={"distributions": {"server": "1"}}))
    assert [(d.field, d.cls) for d in gone] == [("git.package server", "unexplained")]
