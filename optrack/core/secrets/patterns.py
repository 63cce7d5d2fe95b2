"""What secrets look like: telling names, the token formats of known issuers, and how they stand in text.

The formats are those that the issuers document for their own tokens (prefix, alphabet and least length).
"""

from __future__ import annotations

import re

_STRONG = (
    r"pass[_\-.]?(?:word|wd|phrase|code)|passwd|pwd|secret|api[_\-.]?key|access[_\-.]?key|private[_\-.]?key|"
    r"encryption[_\-.]?key|signing[_\-.]?key|account[_\-.]?key|master[_\-.]?key|license[_\-.]?key|"
    r"client[_\-.]?key|credentials?|auth[_\-.]?token|access[_\-.]?token|refresh[_\-.]?token|bearer|webhook[_\-.]?url|"
    r"connection[_\-.]?string|cookie|hmac[_\-.]?key|session[_\-.]?key|deploy[_\-.]?key|ssh[_\-.]?key"
)
_WEAK = r"token|key|auth|authorization|pat|pass|creds?|dsn|sas|signature|sig|pin|session[_\-.]?id|salt"

STRONG_NAME = re.compile(rf"(?i:{_STRONG})")
"""A name that says by itself that the value is a secret."""

WEAK_NAME = re.compile(
    rf"(?i:(?:^|[^a-z0-9])(?:{_WEAK})\d*(?:$|[^a-z0-9]))|(?<=[a-z])(?:Token|Key|Auth|Pat)(?![a-z])"
)
"""A name that may be harmless: its value decides too."""

NEVER = re.compile(
    r"(?ix)^(?:old)?pwd$ | ^ssh_auth_sock$ | ^xauthority$ | ^(?:ssh_|gpg_)?askpass$ | tokenizer | tokens | "
    r"[_\-.](?:file|path|dir|sock|socket|ttl|expiry|timeout|len|length|size|count|id_file)$ | "
    r"^git_askpass$ | key[_\-.]?(?:cache|value|dtype|heads|dim)| "
    r"[_\-](?:key|token)[_\-](?:bits|num|max|min)"
)
"""Names that contain a telling word and hold no secret."""

PLAIN_VALUE = re.compile(
    r"(?ix) [+-]?\d+(?:\.\d+)?(?:[a-z%]{1,3})? | true|false|yes|no|on|off|none|null|auto|default | "
    r"enabled|disabled | (?:~|\.{1,2})?(?:/[\w.\-@+]+)+/? | \$\{?\w+\}?"
)
"""Values that are no secret unless the name says so: numbers, switches, paths, references to variables."""

FORMATS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(rf"(?<![A-Za-z0-9_]){pattern}")
    for pattern in (
        r"hf_[A-Za-z0-9]{16,}",
        r"api_org_[A-Za-z0-9]{16,}",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"gl(?:pat|ptt|dt|rt|soat|cbt|ft|agent)-[A-Za-z0-9_\-.]{16,}",
        r"sk-[A-Za-z0-9_\-]{16,}",
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
        r"whsec_[A-Za-z0-9+/=]{16,}",
        r"xox[abeoprs]-[A-Za-z0-9\-]{10,}",
        r"xapp-[A-Za-z0-9\-]{10,}",
        r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])",
        r"AIza[A-Za-z0-9_\-]{30,}",
        r"ya29\.[A-Za-z0-9_\-]{20,}",
        r"GOCSPX-[A-Za-z0-9_\-]{20,}",
        r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{4,}\.[A-Za-z0-9_\-]*",
        r"npm_[A-Za-z0-9]{30,}",
        r"pypi-[A-Za-z0-9_\-]{30,}",
        r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
        r"do[opr]_v1_[0-9a-f]{40,}",
        r"nvapi-[A-Za-z0-9_\-]{20,}",
        r"r8_[A-Za-z0-9]{30,}",
        r"gsk_[A-Za-z0-9]{30,}",
        r"xai-[A-Za-z0-9]{30,}",
        r"pplx-[A-Za-z0-9]{30,}",
        r"fw_[A-Za-z0-9]{20,}",
        r"tvly-[A-Za-z0-9\-]{20,}",
        r"lin_api_[A-Za-z0-9]{30,}",
        r"hv[sbr]\.[A-Za-z0-9_\-]{20,}",
        r"dapi[0-9a-f]{32}",
        r"(?:AC|SK)[0-9a-f]{32}(?![0-9a-zA-Z])",
        r"key-[0-9a-f]{32}",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        r"dckr_pat_[A-Za-z0-9_\-]{20,}",
        r"wandb_v1_[A-Za-z0-9_]{20,}",
        r"ATATT[A-Za-z0-9_\-=]{20,}",
        r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
        r"\d{8,10}:AA[A-Za-z0-9_\-]{30,}",
        r"https://hooks\.slack\.com/services/[A-Za-z0-9/_\-]{20,}",
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_\-]{20,}",
    )
)

PRIVATE_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|CERTIFICATE|MESSAGE|PRIVATE KEY BLOCK)-----"
    r".*?(?:-----END [A-Z0-9 ]*-----|\Z)",
    re.DOTALL,
)

_NAME = rf"(?P<name>[A-Za-z0-9_\-.]*(?i:{_STRONG}|(?<![A-Za-z])(?:{_WEAK})(?![a-z]))[A-Za-z0-9_\-.]*)"
_ASSIGNED = r"[\"']?[ \t]*(?::=|=>|==|[:=])[ \t]*"

UNNAMED: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s:/@'\"<>]*:(?P<secret>[^\s@'\"]+)@",
        r"(?:https?|ssh|git)://(?P<secret>[A-Za-z0-9_\-]{20,})@",
        r"(?i:(?:proxy-)?authorization)[\"']?\s*[:=]\s*[\"']?(?i:(?:bearer|basic|token|digest)\s+)"
        r"(?P<secret>[^\s\"',;]+)",
        r"(?i:\bbearer)\s+(?P<secret>[A-Za-z0-9_\-.=+/]{16,})",
        r"(?i:\bbasic)\s+(?P<secret>[A-Za-z0-9+/]{16,}={0,2})",
        r"(?i:AccountKey|SharedAccessKey|Pwd|Password)=(?P<secret>[^;\s\"'()]{4,});",
        r";(?i:AccountKey|SharedAccessKey|Pwd|Password)=(?P<secret>[^;\s\"'()]{4,})",
        r"[?&](?i:sig|signature|token|api_?key|access_token|key|x-amz-signature|x-amz-security-token)="
        r"(?P<secret>[^&\s\"'#]{6,})",
        r"(?m:^[+\- ]?\s*(?:machine\s+\S+\s+)?login\s+\S+\s+password\s+(?P<secret>\S+))",
    )
)
"""Secrets in running text that their surroundings give away."""

QUOTED: tuple[re.Pattern[str], ...] = (
    re.compile(rf"{_NAME}{_ASSIGNED}\"(?P<secret>[^\"\n]+)\""),
    re.compile(rf"{_NAME}{_ASSIGNED}'(?P<secret>[^'\n]+)'"),
)
"""A name and its quoted value."""

SETTING = re.compile(
    r"(?m:^[+\- ]?[ \t]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+|-[ \t]+)?)"
    rf"{_NAME}=(?P<secret>[^\s\"'`$()]+)(?m:$|(?=\s))"
)
"""A line of a settings file or a shell script, `NAME=value`."""

FLAG = re.compile(rf"(?<![\w\-])--?{_NAME}[\"']?(?:[ \t]+|=)[\"']?(?P<secret>[^\s\"'\-$][^\s\"']*)")
"""An option of a command and its value."""

BARE = re.compile(rf"{_NAME}{_ASSIGNED}(?P<secret>[^\s\"',;)}}\]]+)")
"""A name and an unquoted value: program text as well as settings, so the value has to look random."""

CODE = re.compile(r"[A-Za-z_][\w.]*|.*[(\[{].*")
"""An identifier, a call or a subscript: program text, not a value."""
