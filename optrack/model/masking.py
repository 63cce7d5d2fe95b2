"""Masks: what is written in place of a secret.

A mask carries a keyed digest (HMAC-SHA256 with the project's salt, RFC 2104, 64 bits of it), so that two
different secrets still differ and the secret itself can't be guessed from the record without the salt.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from optrack.model.secret_scan import MASK, looks_secret, scan_data, scan_text, scan_value, scan_words

__all__ = [
    "is_masked",
    "keyed_digest",
    "looks_secret",
    "mask_argv",
    "mask_data",
    "mask_text",
    "mask_value",
    "masked",
]


def keyed_digest(value: str, salt: bytes) -> str:
    """Return 16 hexadecimal digits that are equal for equal values under the same salt, and tell nothing
    else."""
    return hmac.new(salt, os.fsencode(value), hashlib.sha256).hexdigest()[:16]


def masked(value: str, salt: bytes) -> str:
    """Return what is written in place of a secret value; a value that is a mask already stays as it is."""
    return value if MASK.fullmatch(value) else f"<masked:{keyed_digest(value, salt)}>"


def is_masked(value: object) -> bool:
    """Whether a recorded value is, or contains, the mask of a secret."""
    return isinstance(value, str) and MASK.search(value) is not None


def mask_value(name: str, value: str, salt: bytes) -> str:
    """Return the value with the whole of it masked if it looks secret, else with the secrets in it masked."""
    return scan_value(name, value, partial(masked, salt=salt))


def mask_text(text: str, salt: bytes) -> str:
    """Return free text with every secret that can be recognised masked, line breaks kept."""
    return scan_text(text, partial(masked, salt=salt))


def mask_argv(argv: Sequence[str], salt: bytes) -> list[str]:
    """Return a command's words with secrets masked."""
    return scan_words(argv, partial(masked, salt=salt))


def mask_data(data: Any, salt: bytes, name: str = "") -> Any:
    """Return nested plain data with the secrets in it masked, by the key that each value stands under."""
    return scan_data(data, partial(masked, salt=salt), name)
