"""Whether a name, and a value under it, tell that the value is a secret."""

from __future__ import annotations

import re
from collections import Counter
from enum import IntEnum
from functools import lru_cache
from math import log2

LONGEST_NAME = 96
"""Of a longer name only its end is looked at."""

_STRONG = re.compile(
    r"password|passwd|passphrase|passcode|passwort|secret|api_?keys?(?:_|$)|credential|bearer|cookie|"
    r"(?:access|private|encryption|signing|account|master|licen[cs]e|client|hmac|session|deploy|ssh|auth|admin|"
    r"root|service|storage|shared_access|subscription|webhook|aes|rsa|gpg|pgp)_?keys?(?:_|$)|"
    r"(?:auth|access|refresh|api|bot|hf|hub|github|gh|gitlab|slack|npm|pypi|csrf|personal|deploy|service|"
    r"admin|login|jwt|vault|runner|registry|session|identity|oauth|wandb)_?tokens?(?:_|$)|"
    r"webhook_?url|connection_?string|(?:^|_)pass_(?:word|wd|phrase|code)|"
    r"(?:^|_)(?:db|sql|mysql|pg|postgres|redis|mongo|user|usr|root|admin|my|smtp|mail|imap|ftp|ssh|http|https|proxy|"
    r"ldap|login|auth|key|store|keystore|rabbit|rabbitmq|amqp|jdbc|basic|sudo|vault|wifi|vnc|ssl|tls|cert|p12|git)"
    r"_?(?:pass|pwd|pw)(?:_|$)|(?:^|_)pw$|[a-z0-9]_pwd$|(?:^|_)authorization$"
)
_WEAK = frozenset(
    "token key auth pat pass cred creds dsn sas signature sig pin salt pw pwd sessionid jwt otp nonce".split()
)
_AFTER_WEAK = frozenset(
    "value secret str string prod dev test staging old new primary secondary a b header".split()
)
_CROWD = re.compile(
    r"(?:^|_)(?:pad|eos|bos|unk|mask|sep|cls|special|stop|first|last|next|prev|draft|prompt|input|output|per|num|max|min|"
    r"total|image|audio|video|think|tool|end|start|begin|cached|prefill|decode|accepted|generated|completion|new|"
    r"primary|foreign|sort|cache|partition|group|index|lookup|row|dict|hot|shortcut|state|param|weight|layer|missing|"
    r"unexpected|public|head|value|query|attention|forward|backward|one|two|single|multi)_(?:token|key|pass|pin)$"
)
_REFERENCE = frozenset(
    "file path dir folder sock socket ttl expiry expires timeout len length size count name type helper provider "
    "policy required enabled disabled algorithm algo bits num max min format dtype dim dims heads idx index ids "
    "askpass ref env var prefix suffix location endpoint mount mode usage limit version cache rotation kind".split()
)
"""Last words of names whose values only point at a secret or measure it."""

_NEVER = re.compile(r"^(?:old_?)?pwd$|^ssh_auth_sock$|^xauthority$|askpass$")
_PLAIN = re.compile(
    r"""(?isx) [+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:[a-z%]{1,3})? | true|false|yes|no|on|off|none|null|nil|auto|default |
    enabled|disabled|required|optional|missing|invalid|unset|empty | (?:~|\.{1,2}|file:)?(?:/[\w.\-@+]*)+ |
    \$\{?\w+\}? | \$[({].*[)}] | %\w+% | \{+[^{}]*\}+ | \*+ | \.{2,} | … | x{3,} | <[^<>]*> | \[[A-Z_]+\]"""
)
_CODE = re.compile(r"[A-Za-z_][\w.]*|.*[(\[{].*", re.DOTALL)
_DOTTED = re.compile(r"(?:[A-Za-z_]+\d{0,3}|\d{1,4})(?:[._\-/:](?:[A-Za-z_]+\d{0,3}|\d{1,4}))+")
_GENERATED = re.compile(r"[0-9a-f]{32,}|(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/=_\-]{20,}")
_TYPES = frozenset(
    "str string bytes int integer float bool boolean any none optional text secretstr number object type null "
    "required is are was must not the a an for in of to and or as with from field env".split()
)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


class Weight(IntEnum):
    """How much a name tells: nothing; a telling word somewhere; one in its telling place; a secret for certain."""

    NONE = 0
    FAINT = 1
    WEAK = 2
    STRONG = 3


@lru_cache(maxsize=8192)
def weight(name: str) -> Weight:
    """Return how much a name tells, written in any of the usual ways (snake, camel, dashes, dots)."""
    words = [w for w in _SEPARATORS.split(_HUMPS.sub("_", name[-LONGEST_NAME:]).lower()) if w]
    snake = "_".join(words)
    words = [word.rstrip("0123456789") or word for word in words]
    if not words or words[-1] in _REFERENCE or _NEVER.search(snake):
        return Weight.NONE
    if _STRONG.search(snake) or _STRONG.search("_".join(words)):
        return Weight.STRONG
    if any(word.startswith("tokeniz") or word == "tokens" for word in words) or _CROWD.search(
        "_".join(words)
    ):
        return Weight.NONE
    told = [word in _WEAK for word in words]
    if told[-1] or (len(words) > 1 and told[-2] and words[-1] in _AFTER_WEAK) or snake.endswith("session_id"):
        return Weight.WEAK
    return Weight.FAINT if any(told) else Weight.NONE


def telling_name(name: str) -> bool:
    """Whether a name alone says that its value is a secret, whatever the value looks like."""
    return weight(name) is Weight.STRONG


def is_plain(value: str) -> bool:
    """Whether a value is no secret unless its name says so: a number, a switch, a path, a reference, a placeholder."""
    return _PLAIN.fullmatch(value) is not None


def secret_by_name(name: str, value: str) -> bool:
    """Whether a whole value is a secret because of its name.

    A telling name is enough (`password`, `api_key`); a name that may be harmless (`token`, `key`) needs a
    value that is neither a number, a switch nor a path.
    """
    told = weight(name)
    if told is Weight.NONE or not value:
        return False
    if told is Weight.FAINT:
        return _GENERATED.fullmatch(value) is not None
    if is_plain(value):
        return told is Weight.STRONG and value.isdigit()
    return True


def secret_in_text(name: str, value: str) -> bool:
    """Whether a quoted value in program text is a secret: a name that may be harmless needs a random-looking one."""
    return secret_by_name(name, value) and (telling_name(name) or looks_random(value))


def secret_unquoted(name: str, value: str, *, colon: bool) -> bool:
    """Whether an unquoted value is one: it must not be program text itself, nor the type of a field."""
    if "(" in value or not secret_by_name(name, value):
        return False
    if looks_random(value):
        return True
    if not telling_name(name):
        return False
    if any(map(str.isdigit, value)) or not _CODE.fullmatch(value):
        return not value.endswith("]") and "[" not in value
    return colon and value.isalpha() and value.lower() not in _TYPES and value.lower() not in name.lower()


def looks_random(value: str) -> bool:
    """Whether a value has the variety of a generated secret: 3 bits a character over 8 characters or more, of
    more than one kind (Shannon's entropy of its characters)."""
    if len(value) < 8 or _DOTTED.fullmatch(value):
        return False
    if _CODE.fullmatch(value) and not any(map(str.isdigit, value)):
        return False
    counts = Counter(value)
    entropy = -sum(count / len(value) * log2(count / len(value)) for count in counts.values())
    kinds = sum(any(map(kind, value)) for kind in (str.isdigit, str.islower, str.isupper))
    return entropy >= 3.0 and kinds >= 2
