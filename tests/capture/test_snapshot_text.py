"""Snapshots for people."""

from __future__ import annotations

from optrack.model.snapshot import Snapshot
from optrack.render.snapshot_text import diff_lines, snapshot_lines
from tests.capture.world import World


def test_a_snapshot_is_shown_part_by_part(world: World) -> None:
    (world.project / "run.sh").write_text("edited\n")
    lines = snapshot_lines(world.capture())
    text = "\n".join(lines)
    for part in (
        "git",
        "env",
        "arguments",
        "packages",
        "libraries",
        "hardware",
        "files",
        "processes",
        "load",
    ):
        assert part in lines
    assert "  project: main at " in text and ", with uncommitted changes" in text
    assert "    NCCL_PROTO=LL  (NCCL: algorithm, protocol, channels, buffers, transports)" in lines
    assert "  distributions: 4 packages" in lines
    assert "+edited" not in text


def test_in_full_the_patch_and_all_packages_are_shown(world: World) -> None:
    (world.project / "run.sh").write_text("edited\n")
    lines = snapshot_lines(world.capture(), full=True)
    assert "      +edited" in lines
    assert "    alpha: 1.0" in lines


def test_what_was_not_captured_is_said() -> None:
    lines = snapshot_lines(Snapshot(packages={"problem": "OSError: disk"}))
    assert "git: not captured" in lines
    assert "packages: not captured (OSError: disk)" in lines


def test_control_characters_never_reach_a_terminal() -> None:
    lines = snapshot_lines(Snapshot(env={"server": {"NCCL_X": "a\x1b[31m\nb"}}))
    assert "    NCCL_X=a\\x1b[31m\\nb" in lines[3] or any("a\\x1b[31m\\nb" in line for line in lines)
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_a_diff_shows_what_counts_and_then_what_informs(world: World) -> None:
    baseline = world.capture()
    world.set(NCCL_PROTO=None)
    world.nvml.devices[0].power_mw = 99_000
    lines = diff_lines(baseline, world.capture(), names=("one", "two"))
    assert lines[0] == "one -> two"
    assert lines[1] == "! env.server.NCCL_PROTO: LL -> -"
    assert "  hardware.gpus.devices.0.state.power_w: 75.0 -> 99.0" in lines


def test_a_diff_marks_what_was_declared() -> None:
    one, two = (Snapshot(git={}, hardware={}, env={"server": {"NCCL_ALGO": v}}) for v in ("Ring", "Tree"))
    lines = diff_lines(one, two, declared={"env.NCCL_ALGO": ("Ring", "Tree")})
    assert lines[1] == "= env.server.NCCL_ALGO: Ring -> Tree"


def test_the_same_snapshot_has_no_diff(world: World) -> None:
    snapshot = world.capture()
    assert diff_lines(snapshot, snapshot, names=("a", "b")) == ["a and b have the same snapshot"]
