"""Secrets: how they are recognised, by name and by the look of the value, and masked before anything is
written.

A mask carries a keyed digest (HMAC-SHA256 with the project's salt, RFC 2104, 64 bits of it), so that two
different secrets still differ and the secret itself can't be guessed from the record without the salt.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

from optrack.core.secrets.patterns import (
    BARE,
    CODE,
    FLAG,
    FORMATS,
    NEVER,
    PLAIN_VALUE,
    PRIVATE_BLOCK,
    QUOTED,
    SETTING,
    STRONG_NAME,
    UNNAMED,
    WEAK_NAME,
)

_MASK = re.compile(r"<masked:[0-9a-f]{16}>")
_ENCODED = re.compile(r"<masked:[0-9a-f]{16}>|[A-Za-z0-9+/=]{8,}")


def keyed_digest(value: str, salt: bytes) -> str:
    """Return 16 hexadecimal digits that are equal for equal values under the same salt, and tell nothing
    else."""
    return hmac.new(salt, os.fsencode(value), hashlib.sha256).hexdigest()[:16]


def masked(value: str, salt: bytes) -> str:
    """Return what is written in place of a secret value; a value that is a mask already stays as it is."""
    return value if _MASK.fullmatch(value) else f"<masked:{keyed_digest(value, salt)}>"


def is_masked(value: object) -> bool:
    """Whether a recorded value is, or contains, the mask of a secret."""
    return isinstance(value, str) and _MASK.search(value) is not None


def telling_name(name: str) -> bool:
    """Whether a name alone says that its value is a secret, whatever the value looks like."""
    return STRONG_NAME.search(name) is not None and NEVER.search(name) is None


def looks_secret(name: str, value: str) -> bool:
    """Whether the whole value under this name has to be masked.

    A telling name is enough (`password`, `api_key`); a name that may be harmless (`token`, `key`) needs a
    value that is neither a number, a switch nor a path; a value of a known token format needs no name.
    """
    if not value or _MASK.fullmatch(value):
        return False
    if any(pattern.fullmatch(value) for pattern in FORMATS):
        return True
    if NEVER.search(name):
        return False
    plain = PLAIN_VALUE.fullmatch(value) is not None
    if STRONG_NAME.search(name):
        return not (plain and not value.isdigit())
    return WEAK_NAME.search(name) is not None and not plain


def mask_value(name: str, value: str, salt: bytes) -> str:
    """Return the value with the whole of it masked if it looks secret, else with the secrets in it masked."""
    return masked(value, salt) if looks_secret(name, value) else mask_text(value, salt)


def mask_text(text: str, salt: bytes) -> str:
    """Return free text (a log header, a diff, an address) with every secret that can be recognised masked.

    Line breaks are kept, so that a diff stays a diff.
    """
    text = PRIVATE_BLOCK.sub(lambda found: _mask_block(found.group(0), salt), text)
    for pattern in UNNAMED:
        text = pattern.sub(lambda found: _mask_group(found, salt), text)
    for pattern in FORMATS:
        text = pattern.sub(lambda found: masked(found.group(0), salt), text)
    for pattern, secret in (
        *((quoted, _quoted) for quoted in QUOTED),
        (SETTING, looks_secret),
        (FLAG, looks_secret),
    ):
        text = pattern.sub(lambda found, secret=secret: _mask_pair(found, secret, salt), text)  # type: ignore[misc]
    return BARE.sub(lambda found: _mask_pair(found, _bare, salt), text)


def looks_random(value: str) -> bool:
    """Whether a value has the variety of a generated secret: 3 bits a character over 8 characters or more, of
    more than one kind (Shannon's entropy of its characters)."""
    if len(value) < 8 or (CODE.fullmatch(value) and not any(map(str.isdigit, value))):
        return False
    counts = Counter(value)
    entropy = -sum(count / len(value) * log2(count / len(value)) for count in counts.values())
    kinds = sum(any(map(kind, value)) for kind in (str.isdigit, str.islower, str.isupper))
    return entropy >= 3.0 and kinds >= 2


def _quoted(name: str, value: str) -> bool:
    """A quoted value in program text: a strong name is enough, a weak one needs a random-looking value."""
    return looks_secret(name, value) and (telling_name(name) or looks_random(value))


def _bare(name: str, value: str) -> bool:
    """An unquoted value in program text: it must not be program text itself."""
    if "(" in value or not looks_secret(name, value):
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return looks_random(value) or (telling_name(name) and (mixed or not CODE.fullmatch(value)))


def _mask_group(found: re.Match[str], salt: bytes) -> str:
    """Mask the group named `secret`, and leave the rest of the match."""
    start, end = (place - found.start() for place in found.span("secret"))
    whole, secret = found.group(0), found.group("secret")
    return whole if _MASK.search(secret) else whole[:start] + masked(secret, salt) + whole[end:]


def _mask_pair(found: re.Match[str], secret: Callable[[str, str], bool], salt: bytes) -> str:
    """Mask the value of a name if the pair is a secret."""
    pair = found.group("name"), found.group("secret")
    return _mask_group(found, salt) if secret(*pair) else found.group(0)


def _mask_block(block: str, salt: bytes) -> str:
    """Mask each encoded line of a private block, and keep its first and last line and its number of lines."""
    lines = block.split("\n")
    if len(lines) == 1:
        return masked(block, salt)
    inner = []
    for line in lines[1:-1]:
        mark, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else ("", line)
        inner.append(mark + _ENCODED.sub(lambda found: masked(found.group(0), salt), rest))
    return "\n".join([lines[0], *inner, lines[-1]])


def mask_env(env: Mapping[str, str], salt: bytes) -> dict[str, str]:
    """Return an environment with its secrets masked, names kept."""
    return {name: mask_value(name, value, salt) for name, value in env.items()}


def mask_argv(argv: Sequence[str], salt: bytes) -> list[str]:
    """Return a command's words with secrets masked: `--api-key X`, `--api-key=X`, `X=Y`, and by look."""
    words: list[str] = []
    flag = ""
    for word in argv:
        if flag and not word.startswith("-") and looks_secret(flag, word):
            words.append(masked(word, salt))
        else:
            words.append(mask_text(word, salt))
        flag = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
    return words


def mask_data(data: Any, salt: bytes, name: str = "") -> Any:
    """Return nested plain data with the secrets in it masked, by the key that each value stands under."""
    if isinstance(data, Mapping):
        return {str(key): mask_data(value, salt, str(key)) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        words = [mask_data(value, salt, name) for value in data]
        return mask_argv(words, salt) if words and all(isinstance(word, str) for word in words) else words
    return mask_value(name, data, salt) if isinstance(data, str) else data
