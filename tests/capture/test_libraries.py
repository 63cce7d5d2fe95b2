"""Loaded libraries by their path, version and build."""

from __future__ import annotations

import shutil
from pathlib import Path

from optrack.host.libraries import WATCHED, build_id, libraries_part, mapped
from optrack.host.process_tree import Member
from tests.capture.planted import CLEAN_LIBRARY
from tests.capture.world import World

MAPS = """\
55d0c0a00000-55d0c0a01000 r--p 00000000 08:01 1 /opt/venv/bin/python3.12
7f0000000000-7f0000001000 r--p 00000000 08:01 2 {nccl}
7f0000001000-7f0000002000 r-xp 00001000 08:01 2 {nccl}
7f0000002000-7f0000003000 r--p 00000000 08:01 3 /gone/libcublas.so.12.4.5.8 (deleted)
7f0000003000-7f0000004000 rw-p 00000000 00:00 0 [heap]
7f0000004000-7f0000005000 r--p 00000000 08:01 4 /opt/with space/libother.so
"""


def process(tmp_path: Path, nccl: Path, env: dict[str, str]) -> tuple[Member, Path]:
    folder = tmp_path / "proc" / "7"
    folder.mkdir(parents=True)
    (folder / "maps").write_text(MAPS.format(nccl=nccl))
    return Member(7, 1, "python", ("python",), "/opt/venv/bin/python3.12", env, False), tmp_path / "proc"


def test_mapped_files_are_each_named_once(tmp_path: Path) -> None:
    _, proc = process(tmp_path, Path("/x/libnccl.so.2"), {})
    assert mapped(proc / "7" / "maps") == [
        Path("/x/libnccl.so.2"),
        Path("/gone/libcublas.so.12.4.5.8"),
        Path("/opt/with space/libother.so"),
    ]


def test_watched_libraries_have_a_version_and_a_build(tmp_path: Path) -> None:
    nccl = tmp_path / "site-packages" / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    nccl.parent.mkdir(parents=True)
    shutil.copyfile(CLEAN_LIBRARY, nccl)
    with nccl.open("ab") as file:
        file.write(b"\0NCCL version 2.27.3+cuda12.8\0")
    member, proc = process(tmp_path, nccl, {})
    loaded = libraries_part([member], proc).model_dump()["loaded"]
    assert set(loaded) == {"libnccl.so", "libcublas.so"}
    assert loaded["libnccl.so"]["version"] == "2.27.3"
    assert loaded["libnccl.so"]["build"] == build_id(nccl)
    assert loaded["libcublas.so"] == {
        "path": "/gone/libcublas.so.12.4.5.8",
        "version": "12.4.5.8",
        "build": None,
    }


def test_a_librarys_version_may_be_that_of_its_package(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    library = site / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"no ELF")
    info = site / "nvidia_cudnn_cu12-9.10.2.21.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("nvidia/cudnn/lib/libcudnn.so.9,sha256=x,1\n")
    member, proc = process(tmp_path, library, {})
    assert libraries_part([member], proc).model_dump()["loaded"]["libcudnn.so"]["version"] == "9.10.2.21"


def test_a_preloaded_library_is_named_with_its_content(tmp_path: Path) -> None:
    allocator = tmp_path / "libanything.so"
    allocator.write_bytes(b"one")
    member, proc = process(tmp_path, tmp_path / "x", {"LD_PRELOAD": str(allocator)})
    one = libraries_part([member], proc).model_dump()["preloaded"]
    allocator.write_bytes(b"two")
    assert (
        one[0].startswith("libanything.so ")
        and one != libraries_part([member], proc).model_dump()["preloaded"]
    )


def test_a_build_id_is_none_for_what_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    (tmp_path / "cut").write_bytes(b"\x7fELF\x02\x01")
    assert build_id(tmp_path / "text") is None
    assert build_id(tmp_path / "cut") is None
    assert build_id(tmp_path / "missing") is None


def test_the_libraries_that_matter_are_watched() -> None:
    for name in (
        *(
            "libnccl.so.2",
            "libcudart.so.12",
            "libcudart-9335f6a2.so.12",
            "libcublasLt.so.12.4.5.8",
            "libtorch.so",
        ),
        *(
            "libtorch_cuda.so",
            "libjemalloc.so.2",
            "libtcmalloc_minimal.so.4",
            "libgomp.so.1",
            "libcuda.so.550.54",
        ),
        *("libnvshmem_host.so.3", "libscipy_openblas64_-32a4b2a6.so", "libc.so.6", "libmscclpp.so"),
    ):
        assert WATCHED.match(name), name
    assert not WATCHED.match("libpthread.so.0")


def test_the_executable_of_a_server_that_is_no_python_has_a_build(world: World) -> None:
    server = world.write("bin/llama-server", b"\x7fELF not really")
    member = Member(1, 0, "llama-server", (str(server),), str(server), {}, False)
    executable = libraries_part([member]).model_dump()["executable"]
    assert executable["path"] == str(server) and len(executable["build"]) == 64
