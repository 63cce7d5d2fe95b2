"""Finds the secrets in text, in a command's words and in nested data, and puts something else in their place: a mask.

What is put is up to the caller (a mask, or the value as it is where secrets are only collected); a value that
is a mask already is left. All of it takes time linear in the size of what is looked through. A mask carries a keyed
digest (HMAC-SHA256 with the project's salt, RFC 2104, 64 bits of it), so that two different secrets still differ and
the secret itself can't be guessed from the record without the salt.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from optrack.model.secrets import formats
from optrack.model.secrets.formats import compiled, formats_in, has_known_format
from optrack.model.secrets.names import (
    LONGEST_NAME,
    Weight,
    is_plain,
    looks_random,
    secret_by_name,
    secret_in_text,
    secret_unquoted,
    telling_name,
    weight,
)

Put = Callable[[str], str]

MASK = re.compile(r"(?:<|&lt;|\\u003c)masked:[0-9a-f]{16}(?:>|&gt;|\\u003e)")
_ENCODED = re.compile(rf"{MASK.pattern}|[A-Za-z0-9+/=]{{8,}}")
_SHORTEST = 6
"""No shorter text holds a secret and what gives it away."""
_LONGEST_VALUE = 4096
_LONG = 512
_LOOK_BACK = 96


def looks_secret(name: str, value: str) -> bool:
    """Whether the whole value under this name has to be masked: by the name, or by a known token's format."""
    if not value or MASK.fullmatch(value):
        return False
    return has_known_format(value) or secret_by_name(name, value)


def scan_value(name: str, value: str, put: Put) -> str:
    """Return the value with the whole of it replaced if it looks secret, else with the secrets in it replaced."""
    return put(value) if looks_secret(name, value) else scan_text(value, put)


def scan_text(text: str, put: Put) -> str:
    """Return free text (a log, a diff, an address) with every secret that can be recognised replaced.

    Line breaks are kept, so that a diff stays a diff.
    """
    if len(text) < _SHORTEST:
        return text
    if "-----BEGIN" in text:
        text = formats.PRIVATE_BLOCK.sub(lambda found: _block(found.group(0), put), text)
    for pattern in formats_in(text):
        text = pattern.sub(lambda found: put(found.group(0)), text)
    lowered = text.lower()
    for hints, shape in formats.SHAPES:
        if any(hint in lowered for hint in hints):
            text = compiled(shape).sub(lambda found: _group(found, put), text)
    if not any(word in lowered for word in formats.TELLING):
        return text
    for hints, shape in formats.NAMED_SHAPES:
        if any(hint in lowered for hint in hints):
            text = compiled(shape).sub(lambda found: _named(found, put), text)
    return _pairs(text, put)


def scan_words(words: Sequence[str], put: Put) -> list[str]:
    """Return a command's words with secrets replaced: `--api-key X`, `--api-key=X`, `X=Y`, `-u me:X`, by look."""
    done: list[str] = []
    flag = ""
    for word in words:
        secret = bool(flag) and not word.startswith("-") and looks_secret(flag, word)
        done.append(put(word) if secret else scan_text(word, put))
        flag = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
    joined = " ".join("_" if re.search(r"\s", word) or not word else word for word in done)
    whole = scan_text(joined, put)
    if whole == joined:
        return done
    parts, plain = whole.split(" "), joined.split(" ")
    if len(parts) != len(plain):
        return done
    return [part if part != before else word for word, part, before in zip(done, parts, plain, strict=True)]


def scan_data(data: Any, put: Put, name: str = "") -> Any:
    """Return nested plain data with the secrets in it replaced, by the key that each value stands under."""
    if isinstance(data, str):
        return scan_value(name, data, put)
    if isinstance(data, Mapping):
        pair = _pair_of(data)
        return {
            str(key): scan_data(value, put, pair[0] if pair is not None and key == pair[1] else str(key))
            for key, value in data.items()
        }
    if isinstance(data, (list, tuple)):
        if isinstance(data, list) and data and all(isinstance(word, str) for word in data):
            secret = telling_name(name)
            return [put(w) if secret and looks_secret(name, w) else w for w in scan_words(data, put)]
        return [scan_data(value, put, name) for value in data]
    if isinstance(data, int) and not isinstance(data, bool) and len(str(data)) >= 4 and telling_name(name):
        return put(str(data))
    return data


def _pair_of(data: Mapping[Any, Any]) -> tuple[str, str] | None:
    """Return the name that a mapping gives its value, as in `{"name": "API_KEY", "value": …}`, and the value's key."""
    for name in ("name", "key"):
        told = data.get(name)
        if isinstance(told, str) and "value" in data and weight(told) is not Weight.NONE:
            return told, "value"
    return None


def _pairs(text: str, put: Put) -> str:
    parts: list[str] = []
    done = at = 0
    while (found := formats.PAIR.search(text, at)) is not None:
        at = found.end("name")
        name = text[max(found.start("name"), found.end("name") - LONGEST_NAME) : found.end("name")]
        if weight(name) is Weight.NONE:
            continue
        span = _value_of(text, found, name)
        if span is None:
            continue
        start, end, secret = span
        if secret and not MASK.search(text, start, end):
            parts += (text[done:start], put(text[start:end]))
            done = at = end
        elif end - start > _LONG:
            at = end
    return "".join((*parts, text[done:])) if parts else text


def _value_of(text: str, pair: re.Match[str], name: str) -> tuple[int, int, bool] | None:
    """Return where the value of a pair begins and ends, and whether it is a secret; None if there is no value."""
    at = pair.end()
    opening = formats.OPENING.match(text, at)
    if opening is not None:
        start = opening.end()
        end = _closing(text, start, opening.group("quote"))
        scheme = formats.SCHEME.match(text, start, end)
        start = scheme.end() if scheme else start
        value = text[start:end]
        if not value:
            return None
        if pair.group("spaced") is not None:
            return start, end, looks_secret(name, value)
        secret = secret_in_text(name, value)
        return start, end, secret and (pair.group("listed") is None or not _is_sentence(value))
    if pair.group("listed") is not None:
        return None
    scheme = formats.SCHEME.match(text, at)
    at = scheme.end() if scheme else at
    before = text[pair.start() - 1] if pair.start() else "\n"
    assign = (pair.group("assign") or "").strip()
    if before in "?&" and assign == "=":
        return _judged(
            text, formats.IN_ADDRESS.match(text, at), lambda v: len(v) >= 6 and secret_by_name(name, v)
        )
    if pair.group("spaced") is not None or (pair.group("dash") and assign == "="):
        return _judged(text, formats.UNQUOTED.match(text, at), lambda v: _option(name, v))
    tight = pair.group("assign") == "=" and before in " \t\n+;=:'\"`"
    if tight and not _in_code(text, pair.start()):
        found = _judged(text, formats.IN_SETTING.match(text, at), lambda v: _setting(name, v))
        if found is not None and found[2]:
            return found
    colon = assign in (":", "=>") or bool(scheme)
    return _judged(text, formats.UNQUOTED.match(text, at), lambda v: secret_unquoted(name, v, colon=colon))


def _judged(
    text: str, value: re.Match[str] | None, secret: Callable[[str], bool]
) -> tuple[int, int, bool] | None:
    return None if value is None else (value.start(), value.end(), secret(value.group(0)))


def _option(name: str, value: str) -> bool:
    return secret_by_name(name, value) and (telling_name(name) or not value.isalpha() or len(value) >= 12)


def _setting(name: str, value: str) -> bool:
    """A value of a settings file or a shell script: a name that may be harmless has to be a variable's."""
    return secret_by_name(name, value) and (telling_name(name) or looks_random(value) or name.isupper())


def _in_code(text: str, start: int) -> bool:
    """Whether a pair stands inside the parentheses of a call, so that an identifier there is program text."""
    line = text[max(text.rfind("\n", max(0, start - _LOOK_BACK), start) + 1, start - _LOOK_BACK) : start]
    return line.rfind("(") > line.rfind(")")


def _is_sentence(value: str) -> bool:
    """Whether a quoted value is plain words, as a help text or a default's description is."""
    return value.count(" ") >= 2 and value.replace(" ", "").isalpha()


def _closing(text: str, start: int, quote: str) -> int:
    """Return where a quoted value ends: before its closing quote, or with its line."""
    end = text.find(quote, start, start + _LONGEST_VALUE)
    line = text.find("\n", start, end if end >= 0 else start + _LONGEST_VALUE)
    if line >= 0:
        return line
    return end if end >= 0 else min(len(text), start + _LONGEST_VALUE)


def _group(found: re.Match[str], put: Put) -> str:
    """Replace the group named `secret`, and leave the rest of the match."""
    start, end = (place - found.start() for place in found.span("secret"))
    whole, secret = found.group(0), found.group("secret")
    if MASK.search(secret) or (is_plain(secret) and not secret.isdigit()):
        return whole
    return whole[:start] + put(secret) + whole[end:]


def _named(found: re.Match[str], put: Put) -> str:
    """Replace the group named `secret` if the name tells that it is one."""
    name, secret = found.group("name"), found.group("secret")
    return _group(found, put) if secret_in_text(name, secret) or has_known_format(secret) else found.group(0)


def _block(block: str, put: Put) -> str:
    """Replace each encoded line of a private block, and keep its first and last line and its number of lines."""
    lines = block.split("\n")
    if len(lines) == 1:
        return put(block)
    inner = []
    for line in lines[1:-1]:
        mark, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else ("", line)
        inner.append(mark + _ENCODED.sub(lambda found: put(found.group(0)), rest))
    return "\n".join([lines[0], *inner, lines[-1]])


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
