"""The shared libraries that processes loaded, and the build ids that tell them apart."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from optrack.host.environment import content_digest
from optrack.host.packages import normalised
from optrack.host.process_tree import Member, read_bytes, read_text
from optrack.judge.variables import plain
from optrack.model.snapshot import Libraries, Library

_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3
_NOTE_LIMIT_BYTES = 65536


def build_id(path: Path) -> str | None:
    """Return the build id as hexadecimal digits, or None if the file has none, isn't ELF or can't be read."""
    try:
        with path.open("rb") as file:
            return _build_id(file)
    except (OSError, struct.error):
        return None


def _build_id(file: BinaryIO) -> str | None:
    head = file.read(64)
    if head[:4] != b"\x7fELF" or head[4] != 2 or head[5] != 1:
        return None
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    file.seek(table)
    headers = file.read(size * count)
    for index in range(count):
        (kind,) = struct.unpack_from("<I", headers, index * size)
        if kind != _PT_NOTE:
            continue
        offset, _, _, length = struct.unpack_from("<QQQQ", headers, index * size + 8)
        file.seek(offset)
        if found := _note(file.read(min(length, _NOTE_LIMIT_BYTES))):
            return found
    return None


def _note(notes: bytes) -> str | None:
    """Return the build id among a segment's notes."""
    place = 0
    while place + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, place)
        name = notes[place + 12 : place + 12 + name_size]
        place += 12 + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and name == b"GNU\0":
            return notes[place : place + size].hex()
        place += (size + 3) // 4 * 4
    return None


WATCHED = re.compile(
    r"^lib(?:nccl|nccl-net|nccl-tuner|rccl|msccl|mscclpp|nvshmem|nvshmem_host|cudart|cublas|cublasLt|cudnn|cufft|cusparse|"
    r"cusolver|nvrtc|nvJitLink|cuda|nvidia-ml|cupti|torch|torch_cpu|torch_cuda|torch_python|c10|c10_cuda|triton|"
    r"tcmalloc|tcmalloc_minimal|jemalloc|mimalloc|hugetlbfs|gomp|iomp5|omp|openblas|openblasp|scipy_openblas|mkl_rt|"
    r"mkl_core|dnnl|blas|lapack|ucp|ucs|uct|ucc|ibverbs|mlx5|gdrapi|fabric|efa|amdhip64|hsa-runtime64|rocblas|"
    r"flashinfer|cutlass|nvtx3|stdc\+\+|c|numa)(?:64_)?(?:[-._].*)?\.so(?:\.|$)"
)
"""Libraries of which another build can change performance: communication, CUDA, torch, allocators, threads,
algebra."""

_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
_NCCL = re.compile(rb"NCCL version (\d+\.\d+\.\d+)")
_WHOLE_LIMIT_BYTES = 32 * 2**20


def libraries_part(members: Sequence[Member], proc: Path = Path("/proc")) -> Libraries:
    """Return the `libraries` part: `loaded` (name -> path, version, build) over all processes, `preloaded`
    (from LD_PRELOAD and /etc/ld.so.preload, by name and content), and the main program's `executable`."""
    paths: dict[str, Path] = {}
    preloaded = _preloaded(members)
    for member in members:
        if member.shell:
            continue
        seen = member.mapped if member.mapped is not None else mapped(proc / str(member.pid) / "maps")
        for path in seen:
            if WATCHED.match(path.name) or path.name in {Path(entry).name for entry in preloaded}:
                paths[str(path)] = path
    loaded: dict[str, Library] = {}
    for path in (paths[name] for name in sorted(paths)):
        name = _short(path.name)
        loaded[name if name not in loaded else f"{name} {path.name}"] = _describe(path)
    program = next((member for member in members if not member.shell), None)
    part = Libraries(loaded=loaded, preloaded=sorted(f"{Path(p).name} {_build(Path(p))}" for p in preloaded))
    if program is None:
        return part
    executable = Library(path=plain(program.executable), build=_build(Path(program.executable)))
    return part.model_copy(update={"executable": executable})


def mapped(maps: Path) -> list[Path]:
    """Return the files that a process has mapped, each once; an empty list if it can't be read."""
    found: dict[str, None] = {}
    for line in (read_bytes(maps) or b"").decode(errors="surrogateescape").splitlines():
        place = line.find("/")
        if place > 0 and ".so" in line:
            found[line[place:].removesuffix(" (deleted)")] = None
    return [Path(path) for path in found]


def _short(name: str) -> str:
    """Return a library's name up to its `.so`; a second one of that name is told apart by its whole name."""
    return name.partition(".so")[0] + ".so"


def _describe(path: Path) -> Library:
    return Library(path=plain(str(path)), version=_version(path), build=_build(path))


def _version(path: Path) -> str | None:
    """Return a library's version: from its file's name, its package's folder, or, for NCCL, the text
    inside."""
    real = path.resolve() if path.exists() else path
    if found := _VERSION.search(real.name):
        return found.group(1)
    if real.name.startswith("libnccl.") and (version := _text_inside(real, _NCCL)):
        return version
    return _package_version(real)


def _text_inside(path: Path, pattern: re.Pattern[bytes]) -> str | None:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = pattern.search(content)
            return found.group(1).decode() if found else None
    except (OSError, ValueError):
        return None


def _package_version(path: Path) -> str | None:
    """Return the version of the Python package that brought a library, by the record that lists its file."""
    parts = path.parts
    site = next((i for i, part in enumerate(parts) if part in ("site-packages", "dist-packages")), None)
    if site is None:
        return None
    folder = Path(*parts[: site + 1])
    inside = "/".join(parts[site + 1 :])
    for info in _candidates(folder, parts[site + 1 :]):
        if f"\n{inside}," in "\n" + (read_text(info / "RECORD") or ""):
            return info.name.removesuffix(".dist-info").rpartition("-")[2]
    return None


def _candidates(folder: Path, inside: tuple[str, ...]) -> Iterable[Path]:
    """Yield the installed packages whose names fit a file's place best."""
    words = {normalised(part.removesuffix(".libs")) for part in inside[:2]}
    infos = sorted(folder.glob("*.dist-info"))
    yield from (info for info in infos if any(word in normalised(info.name) for word in words))


def _build(path: Path) -> str | None:
    """Return what tells two builds of a file apart: its build id, or a digest of its content."""
    if found := build_id(path):
        return found
    try:
        return content_digest(path, limit=_WHOLE_LIMIT_BYTES)
    except OSError:
        return None


def _preloaded(members: Sequence[Member]) -> list[str]:
    """Return the libraries that the linker was told to load first, in any process of the tree or in all of
    them."""
    text = [(member.environ or {}).get("LD_PRELOAD", "") for member in members]
    text.append(read_text(Path("/etc/ld.so.preload")) or "")
    return sorted({path for entry in text for path in re.split(r"[:\s]+", entry) if path})
