"""What secrets look like: the token formats of known issuers, as they document them, and how secrets stand in text.

Pairs of a name and a value, options of commands, addresses and blocks: every pattern is bounded or possessive, so that
looking through a text takes time linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_W = r"[A-Za-z0-9_\-]"
_A = r"[A-Za-z0-9]"

_PREFIXED: tuple[tuple[str, str], ...] = (
    ("hf_", rf"{_A}{{16,}}"),
    ("api_org_", rf"{_A}{{16,}}"),
    *((f"gh{kind}_", rf"{_A}{{20,}}") for kind in "pousr"),
    ("github_pat_", r"[A-Za-z0-9_]{20,}"),
    *(
        (f"gl{kind}-", r"[A-Za-z0-9_\-.]{16,}")
        for kind in ("pat", "ptt", "dt", "rt", "soat", "cbt", "ft", "agent")
    ),
    ("sk-", rf"(?:(?=\S{{0,200}}[0-9A-Z]){_W}{{16,}}|[a-z]{{20,}})"),
    ("pk-lf-", rf"{_W}{{16,}}"),
    *((f"{kind}_{mode}_", rf"{_A}{{16,}}") for kind in ("sk", "rk", "pk") for mode in ("live", "test")),
    ("sk_", r"[0-9a-f]{32,}"),
    ("whsec_", r"[A-Za-z0-9+/=]{16,}"),
    *((f"xox{kind}-", r"[A-Za-z0-9\-]{10,}") for kind in "abeoprs"),
    ("xoxe.", rf"{_W}{{10,}}"),
    ("xapp-", r"[A-Za-z0-9\-]{10,}"),
    *((kind, r"[0-9A-Z]{16}(?![A-Za-z0-9])") for kind in ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("AIza", rf"{_W}{{30,}}"),
    ("ya29.", rf"{_W}{{20,}}"),
    ("GOCSPX-", rf"{_W}{{20,}}"),
    ("eyJ", rf"{_W}{{8,2048}}+\.eyJ{_W}{{4,}}+\.{_W}*"),
    ("eyJ", rf"{_W}{{8,2048}}+(?:\.{_W}*){{4}}"),
    ("eyJhcGlf", r"[A-Za-z0-9+/_\-]{30,}={0,2}"),
    ("npm_", rf"{_A}{{30,}}"),
    ("pypi-", rf"{_W}{{30,}}"),
    ("SG.", rf"{_W}{{16,256}}+\.{_W}{{16,}}"),
    *((f"do{kind}_v1_", r"[0-9a-f]{40,}") for kind in "opr"),
    ("nvapi-", rf"{_W}{{20,}}"),
    ("r8_", rf"{_A}{{30,}}"),
    ("gsk_", rf"{_A}{{30,}}"),
    ("csk-", rf"{_A}{{30,}}"),
    ("xai-", rf"{_A}{{30,}}"),
    ("pplx-", rf"{_A}{{30,}}"),
    ("fw_", rf"{_A}{{20,}}"),
    ("tvly-", r"[A-Za-z0-9\-]{20,}"),
    ("rpa_", rf"{_A}{{30,}}"),
    ("tgp_v1_", rf"{_W}{{20,}}"),
    ("tgp_", rf"{_W}{{30,}}"),
    ("lsv2_", r"(?:pt|sk)_[A-Za-z0-9_]{20,}"),
    ("ls__", rf"{_A}{{20,}}"),
    ("sbp_", r"[0-9a-f]{30,}"),
    ("sb_secret_", rf"{_W}{{16,}}"),
    *((f"dp.{kind}.", r"[A-Za-z0-9_\-.]{20,}") for kind in ("st", "pt", "ct", "sa", "scim", "audit")),
    ("PMAK-", r"[0-9a-f]{20,}-[0-9a-f]{20,}"),
    ("secret_", rf"(?=[A-Za-z]{{0,60}}\d){_A}{{32,}}"),
    ("ntn_", rf"{_A}{{30,}}"),
    ("pat", rf"{_A}{{14}}\.[0-9a-f]{{40,}}"),
    ("pat-", r"(?:na|eu)\d-[0-9a-f\-]{30,}"),
    ("ak-", rf"{_A}{{22}}(?![A-Za-z0-9])"),
    ("as-", rf"{_A}{{22}}(?![A-Za-z0-9])"),
    ("pcsk_", r"[A-Za-z0-9_]{30,}"),
    ("jina_", rf"{_W}{{30,}}"),
    ("pa-", rf"(?=\S{{0,60}}\d)(?=\S{{0,60}}[A-Z]){_W}{{40,}}"),
    ("fc-", r"[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("e2b_", r"[0-9a-f]{30,}"),
    ("figd_", rf"{_W}{{30,}}"),
    ("glsa_", r"[A-Za-z0-9_]{30,}"),
    ("glc_", r"[A-Za-z0-9+/=]{30,}"),
    ("HRKU-", r"[A-Za-z0-9_\-]{30,}"),
    ("sntrys_", r"[A-Za-z0-9_+/=\-]{30,}"),
    ("sntryu_", r"[0-9a-f]{30,}"),
    ("NRAK-", r"[A-Z0-9]{20,}"),
    ("pul-", r"[0-9a-f]{40}"),
    ("tskey-", rf"{_W}{{16,}}"),
    ("pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.\-]{20,}"),
    ("sq0", r"(?:atp|csp|idp)-[A-Za-z0-9_\-]{20,}"),
    ("EAAA", rf"{_W}{{56,}}"),
    ("rubygems_", r"[0-9a-f]{40,}"),
    ("cio", rf"{_A}{{32}}(?![A-Za-z0-9])"),
    ("pnu_", rf"{_A}{{30,}}"),
    ("LTAI", rf"(?=\S{{0,60}}\d){_A}{{16,}}"),
    ("lin_api_", rf"{_A}{{30,}}"),
    *((f"hv{kind}.", rf"{_W}{{20,}}") for kind in "sbr"),
    ("dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9a-zA-Z])"),
    ("AC", r"[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("SK", r"[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("key-", r"[0-9a-f]{32}"),
    *((f"shp{kind}_", r"[0-9a-fA-F]{32}") for kind in ("at", "ca", "pa", "ss")),
    ("dckr_pat_", rf"{_W}{{20,}}"),
    ("dckr_oat_", rf"{_W}{{20,}}"),
    ("wandb_v1_", r"[A-Za-z0-9_]{20,}"),
    ("ATATT", r"[A-Za-z0-9_\-=]{20,}"),
    ("ATBB", rf"{_A}{{24,}}"),
    ("AGE-SECRET-KEY-1", r"[0-9A-Z]{20,}"),
    ("https://hooks.slack.com/services/", r"[A-Za-z0-9/_\-]{20,}"),
    ("https://discord.com/api/webhooks/", rf"\d+/{_W}{{20,}}"),
    ("https://discordapp.com/api/webhooks/", rf"\d+/{_W}{{20,}}"),
)

_SHAPED: tuple[tuple[str, str], ...] = (
    (":AA", r"(?<![A-Za-z0-9_])\d{8,10}:AA[A-Za-z0-9_\-]{30,}"),
    (".", r"[MNO](?<![A-Za-z0-9_.\-][MNO])[A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}"),
    (".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{40,}"),
    ("8Q~", r"(?<![A-Za-z0-9_~.\-])[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{31,34}"),
)


def _prefixed(prefix: str, rest: str) -> str:
    """Return the pattern of a token that begins so and doesn't stand within a word; literal first, which is fast."""
    literal = re.escape(prefix)
    return rf"{literal}(?<![A-Za-z0-9_]{literal}){rest}"


FORMATS: tuple[tuple[str, str], ...] = (
    *((prefix, _prefixed(prefix, rest)) for prefix, rest in _PREFIXED),
    *_SHAPED,
)
"""Each format with a text that has to be there for it."""

compiled = cache(re.compile)
"""A pattern, compiled when it is first needed: few texts need any, and all of them take a while."""


def formats_in(text: str) -> Iterator[re.Pattern[str]]:
    """Yield the formats that a text may hold."""
    return (compiled(pattern) for hint, pattern in FORMATS if hint in text)


def has_known_format(value: str) -> bool:
    """Whether a whole value is a token of a known issuer."""
    return len(value) >= 16 and any(pattern.fullmatch(value) for pattern in formats_in(value))


_QUOTE = r"\\{0,3}[\"']"

PAIR = re.compile(
    rf"""(?x)
    (?<![A-Za-z0-9_.\-]) (?P<name> (?P<dash>-)?+ [A-Za-z0-9_.\-]++)
    (?: (?P<assign> (?:{_QUOTE})?\]?[ \t]{{0,40}}
            (?: :[ \t]?[A-Za-z_][\w.\[\]|\ ]{{0,60}}?[ \t]*=(?![=>]) | := | => | == | [:=] ) [ \t]{{0,40}} )
      | (?P<listed> {_QUOTE} [ \t]{{0,8}},[ \t]{{0,8}} (?=[rbfuRBFU]{{0,2}}\\{{0,3}}["']) )
      | (?(dash) (?P<spaced> (?:{_QUOTE})? [ \t]{{1,8}} (?=[^\s\-=:|&;>]) ) | (?!) )
    )""",
)
"""A name and what leads from it to its value."""

OPENING = re.compile(rf"[rbfuRBFU]{{0,2}}(?P<quote>\"\"\"|'''|{_QUOTE})")
SCHEME = re.compile(r"(?i:bearer|basic|token|digest|apikey|negotiate)[ \t]{1,4}")
UNQUOTED = re.compile(r"[^\s\"',;)}\]\\]{1,1024}")
IN_ADDRESS = re.compile(r"[^&\s\"'#]{1,1024}")
IN_SETTING = re.compile(r"[^\s\"'`$()]{1,1024}(?=\s|$|[\"';])")
PRIVATE_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|CERTIFICATE|MESSAGE|PRIVATE KEY BLOCK)-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)",
    re.DOTALL,
)

_WORD = r"[^\s\"'<>|&;]{1,512}"
_ARGUMENTS = r"(?:[^\n|&;]{0,200}?[ \t])??"

SHAPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("://",), r"://[^\s:/@'\"<>]{0,256}:(?P<secret>[^\s'\"<>/]{1,256})@"),
    (("://",), r"://[^\s:/@'\"<>]{0,256}:(?!\d{1,5}/)(?P<secret>[^\s'\"<>@]{1,256})@[A-Za-z0-9\[]"),
    (("://",), r"(?:https?|ssh|git)://(?P<secret>[A-Za-z0-9_\-]{20,256})@"),
    (("bearer",), r"(?i:bearer(?<![a-z]bearer))[ \t]{1,4}(?P<secret>[A-Za-z0-9_\-.=+/~]{16,})"),
    (
        ("basic",),
        r"(?i:basic(?<![a-z]basic))[ \t]{1,4}(?P<secret>(?=[A-Za-z/]{0,200}[0-9+=])[A-Za-z0-9+/]{12,}={0,2})",
    ),
    (
        ("login",),
        r"(?:(?<=\s)|^)login[ \t]+\S{1,256}\s+(?:account[ \t]+\S{1,256}\s+)?password\s+(?P<secret>\S{1,512})",
    ),
    (
        ("password", "secret", "token", "passphrase", "key"),
        r"(?i:password|passphrase|secret|token|api[ _\-]?key)[ \t]{1,4}(?:(?:is|was|to|of)[ \t]{1,4})?[\"'`]?"
        r"(?P<secret>(?=[^\s]{0,60}\d)(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z])[A-Za-z0-9+/=_\-!@#%^*]{10,256})(?![\w.])",
    ),
    (
        ("password",),
        r"(?:^|(?<=\n))[+\- ]?[ \t]*password[ \t]+(?P<secret>(?=[^\s]{0,60}\d)\S{4,512})[ \t]*(?=\n|$)",
    ),
    (
        ("wandb",),
        r"wandb[^\n]{0,60}?(?:login|key|token)[^\n]{0,40}?(?<![0-9a-f])(?P<secret>[0-9a-f]{40})(?![0-9a-f])",
    ),
    (("pass:",), r"(?:-pass(?:in|out)?[ \t=]|-k[ \t])pass:(?P<secret>\S{1,256})"),
    (
        ("mysql", "mariadb"),
        rf"(?:mysql|mariadb)[a-z\-]{{0,12}}[ \t]{_ARGUMENTS}-p[\"']?(?P<secret>{_WORD})",
    ),
    (("sshpass",), rf"sshpass[ \t]{_ARGUMENTS}-p[ \t]?[\"']?(?P<secret>{_WORD})"),
    (
        ("login",),
        rf"(?:docker|podman|helm|oc|az|crane|skopeo|nerdctl)[ \t]{_ARGUMENTS}login[ \t]{_ARGUMENTS}-p[ \t=]?[\"']?(?P<secret>{_WORD})",
    ),
    (("redis-cli",), rf"redis-cli[ \t]{_ARGUMENTS}-a[ \t][\"']?(?P<secret>{_WORD})"),
    (("ldap",), rf"ldap[a-z]{{3,8}}[ \t]{_ARGUMENTS}-w[ \t][\"']?(?P<secret>{_WORD})"),
    (("mongo",), rf"mongo[a-z]{{0,8}}[ \t]{_ARGUMENTS}-p[ \t]?[\"']?(?P<secret>{_WORD})"),
    (("sqlcmd",), rf"sqlcmd[ \t]{_ARGUMENTS}-P[ \t]?[\"']?(?P<secret>{_WORD})"),
    (("zip",), rf"(?<![A-Za-z])(?:un)?zip[ \t]{_ARGUMENTS}-P[ \t]?[\"']?(?P<secret>{_WORD})"),
    (("7z",), rf"(?<![A-Za-z0-9])7za?[ \t]{_ARGUMENTS}-p[\"']?(?P<secret>{_WORD})"),
    (("smbclient",), rf"smbclient[ \t]{_ARGUMENTS}-U[ \t]?[\"']?[^\s%\"']{{1,64}}%(?P<secret>{_WORD})"),
    (
        ("htpasswd",),
        rf"htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+\S{{1,200}}[ \t]+\S{{1,100}}[ \t]+(?P<secret>{_WORD})",
    ),
    (
        ("user", "-u"),
        rf"(?<![\w\-])(?:-u|--user|--proxy-user|-U)[ \t=]?[\"']?[A-Za-z0-9_.@+\-]{{1,64}}:(?!//)(?=[^\s\"']*[A-Za-z])(?P<secret>{_WORD})",
    ),
    (
        ("auth", "login", "credentials"),
        r"(?i:auth|login|credentials?|basicauth)(?:[\"']?\]?[ \t]*[:=][ \t]*)?[(\[][ \t]*[rbfu]?[\"'][^\"'\n]{0,128}[\"'][ \t]*,"
        r"[ \t]*[rbfu]?[\"'](?P<secret>[^\"'\n]{1,256})[\"']",
    ),
)
"""Secrets that their surroundings give away, with lower-case texts of which one has to be there."""

NAMED_SHAPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("default",),
        r"[\"']-{1,2}(?P<name>[A-Za-z0-9_\-]{1,64})[\"'][^()]{0,300}?\b(?:default|envvar_default|const)[ \t]*=[ \t]*"
        r"[rbfuRBFU]{0,2}[\"'](?P<secret>[^\"'\n]{1,512})[\"']",
    ),
    (
        ("name", "key"),
        r"\\{0,3}[\"'](?:name|key|Name|Key)\\{0,3}[\"'][ \t]*:[ \t]*\\{0,3}[\"'](?P<name>[A-Za-z0-9_.\-]{1,64})\\{0,3}[\"']\s{0,40},\s{0,40}"
        r"\\{0,3}[\"'](?:value|Value)\\{0,3}[\"'][ \t]*:[ \t]*\\{0,3}[\"'](?P<secret>[^\"'\\\n]{1,512})",
    ),
    (
        ("name", "key"),
        r"\\{0,3}[\"'](?:value|Value)\\{0,3}[\"'][ \t]*:[ \t]*\\{0,3}[\"'](?P<secret>[^\"'\\\n]{1,512})\\{0,3}[\"']\s{0,40},\s{0,40}"
        r"\\{0,3}[\"'](?:name|key|Name|Key)\\{0,3}[\"'][ \t]*:[ \t]*\\{0,3}[\"'](?P<name>[A-Za-z0-9_.\-]{1,64})",
    ),
    (
        ("name:", "key:"),
        r"(?<![\w\-])(?:name|key):[ \t]*[\"']?(?P<name>[A-Za-z0-9_.\-]{1,64})[\"']?[ \t]*\n[+\- ]?[ \t]*"
        r"value:[ \t]*[\"']?(?P<secret>[^\s\"'{][^\n\"']{0,512})",
    ),
    (
        ("name=", "key="),
        r"(?<![\w\-])(?:name|key)=[\"'](?P<name>[A-Za-z0-9_.\-]{1,64})[\"']\s{1,8}value=[\"'](?P<secret>[^\"'\n]{1,512})",
    ),
    (
        ("value=",),
        r"<(?P<name>[A-Za-z0-9_.\-]{1,64})[ \t][^<>\n]{0,100}?value=[\"'](?P<secret>[^\"'<>\n]{1,512})[\"']",
    ),
    (
        ("</",),
        r"<(?P<name>[A-Za-z0-9_.\-]{1,64})(?:[ \t][^<>]{0,200})?>(?P<secret>[^<>\s][^<>\n]{0,512})</",
    ),
    (
        ("env", "arg ", "set", "export"),
        r"(?:^|(?<=\n))[+\- ]?[ \t]*(?i:ENV|ARG|setenv|set(?:[ \t]+-\w+)?|configure[ \t]+set|aws[ \t]+configure[ \t]+set)[ \t]+"
        r"(?P<name>[A-Za-z0-9_.\-]{1,64})[ \t]+[\"']?(?P<secret>[^\s\"'$=][^\s\"']{0,512})",
    ),
    (
        ("configure",),
        r"configure[ \t]+set[ \t]+(?P<name>[A-Za-z0-9_.\-]{1,64})[ \t]+[\"']?(?P<secret>[^\s\"'$]{1,512})",
    ),
)
"""Names and values that stand otherwise than side by side."""

TELLING = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "bearer", "cookie", "pat", "dsn", "sas", "sig", "pin",
    "salt", "webhook", "connection", "session", "jwt", "otp", "nonce",
)  # fmt: skip
"""Of these one is in every name that tells anything, in lower case."""
