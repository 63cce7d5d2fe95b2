"""The build id of a program or library (a note that the linker writes; elf(5)), which tells two builds
apart."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

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
