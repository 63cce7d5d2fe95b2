"""The bytes of a plan as text: UTF-8 or UTF-16 with a byte order mark, any line ends; all else is refused."""

from __future__ import annotations

import codecs

from optrack.errors import PlanError

_HINT = "save the file as UTF-8"


def decode(data: bytes, path: str) -> str:
    """Return the text with `\\n` line ends and no byte order mark.

    Raises PlanError naming the encoding and the offending byte (offset from 0) with its line.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise PlanError("the file is UTF-32, which isn't read (byte 0)", hint=_HINT, where=f"{path}:1")
    encoding = "utf-8"
    body = data
    if data.startswith(codecs.BOM_UTF8):
        body = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        body = data[2:]
    skipped = len(data) - len(body)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise PlanError(
            f"the file isn't valid {encoding.upper()}: byte 0x{body[error.start]:02x} at offset "
            f"{skipped + error.start} ({error.reason})",
            hint=_HINT,
            where=f"{path}:{line}",
        ) from None
    if "\0" in text:
        at = text.index("\0")
        offset = skipped + len(text[:at].encode(encoding))
        guess = "; UTF-16 without a byte order mark looks like this" if encoding == "utf-8" else ""
        raise PlanError(
            f"the file holds a NUL: byte 0x00 at offset {offset}{guess}",
            hint=_HINT,
            where=f"{path}:{text.count(chr(10), 0, at) + 1}",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")
