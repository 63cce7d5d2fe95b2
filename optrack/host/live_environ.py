"""The environment of a process that wrote its title over the one it was started with: read from its memory.

Programs that set their title (redis, nginx, PostgreSQL, whatever calls setproctitle) copy their variables first and let
the C library's `environ` point at the copies. Where that variable lies is in the symbol table (elf(5)) of the program,
if it has a copy of its own, else of the C library; it is read through /proc/PID/mem (proc(5)).
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_NAMES = (b"environ", b"__environ")
_MOST_VARIABLES = 4096
_MOST_BYTES = 128 * 2**10
_LIBC = re.compile(r"/(?:libc[.-][^/]*\.so[^/]*|libc\.so[^/]*|ld-musl[^/]*)$")


def live_environ(pid: int, proc: Path = Path("/proc")) -> dict[str, str] | None:
    """Return the variables that a process has now; None where they can't be found or read (64 bits only)."""
    folder = proc / str(pid)
    try:
        maps = (folder / "maps").read_text(errors="replace").splitlines()
        executable = str((folder / "exe").readlink())
        with (folder / "mem").open("rb", buffering=0) as memory:
            for path, base in _objects(maps, executable):
                for offset, is_relative in _symbols(str(folder / "root") + path):
                    at = offset + (base if is_relative else 0)
                    found = _variables(memory.fileno(), at)
                    if found:
                        return found
    except (OSError, ValueError, struct.error):
        return None
    return None


def _objects(maps: list[str], executable: str) -> Iterator[tuple[str, int]]:
    """Yield the program and the C library, each with the address of its first mapping."""
    bases: dict[str, int] = {}
    for line in maps:
        words = line.split(None, 5)
        if len(words) == 6 and words[2] == "00000000":
            bases.setdefault(words[5], int(words[0].partition("-")[0], 16))
    if executable in bases:
        yield executable, bases[executable]
    yield from ((path, base) for path, base in bases.items() if _LIBC.search(path))


@lru_cache(maxsize=64)
def _symbols(path: str) -> tuple[tuple[int, bool], ...]:
    """Return the values of `environ` in a file's dynamic symbols, each with whether it is relative to its base."""
    data = Path(path).read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return ()
    is_relative = struct.unpack_from("<H", data, 16)[0] == 3
    table, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + n * size) for n in range(count)]
    found = []
    for section in sections:
        if section[1] != 11:
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            begin = names + name
            if index and data[begin : data.index(b"\0", begin)] in _NAMES:
                found.append((value, is_relative))
    return tuple(dict.fromkeys(found))


def _variables(memory: int, at: int) -> dict[str, str] | None:
    (pointers,) = struct.unpack("<Q", os.pread(memory, 8, at))
    found: dict[str, str] = {}
    for number in range(_MOST_VARIABLES if pointers else 0):
        (pointer,) = struct.unpack("<Q", os.pread(memory, 8, pointers + 8 * number))
        if not pointer:
            return found
        name, equals, value = _text(memory, pointer).partition(b"=")
        if not equals:
            return None
        found[os.fsdecode(name)] = os.fsdecode(value)
    return None


def _text(memory: int, at: int) -> bytes:
    """Return the text that ends with a zero byte; a page that isn't there ends it, too."""
    text = b""
    while b"\0" not in text and len(text) < _MOST_BYTES:
        piece = os.pread(memory, 4096 - (at + len(text)) % 4096, at + len(text))
        if not piece:
            break
        text += piece
    return text.partition(b"\0")[0]
