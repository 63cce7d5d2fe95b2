"""How secrets stand in text: pairs of a name and a value, options of commands, addresses, blocks.

Every pattern is bounded or possessive, so that looking through a text takes time linear in its length.
"""

from __future__ import annotations

import re

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
