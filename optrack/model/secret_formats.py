"""The token formats of known issuers: prefix, alphabet and least length, as the issuers document them."""

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
