"""Sixty secrets of over twenty kinds: what each looks like, and where it stands. All are made up here."""

from __future__ import annotations

import base64
import hashlib


def _made(
    kind: str, length: int, alphabet: str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
) -> str:
    """Return a random-looking text that is always the same for a kind."""
    text = ""
    while len(text) < length:
        for byte in hashlib.sha256(f"{kind}{len(text)}".encode()).digest():
            text += alphabet[byte % len(alphabet)]
    return text[:length]


def _hexadecimal(kind: str, length: int) -> str:
    return _made(kind, length, "0123456789abcdef")


_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

TOKENS: dict[str, str] = {
    "hugging face": "hf_" + _made("hf", 34),
    "github": "ghp_" + _made("gh", 36),
    "github fine-grained": "github_pat_" + _made("ghf", 60),
    "gitlab": "glpat-" + _made("gl", 20),
    "openai": "sk-proj-" + _made("oa", 40),
    "anthropic": "sk-ant-api03-" + _made("an", 40),
    "stripe": "sk_live_" + _made("st", 24),
    "slack": "xoxb-" + _made("sl", 24, "0123456789") + "-" + _made("sl2", 24),
    "aws key id": "AKIA" + _made("aws", 16, _UPPER),
    "google": "AIza" + _made("go", 35),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + _made("jwt", 43),
    "npm": "npm_" + _made("npm", 36),
    "pypi": "pypi-" + _made("pypi", 60),
    "nvidia": "nvapi-" + _made("nv", 64),
    "replicate": "r8_" + _made("r8", 37),
    "groq": "gsk_" + _made("gsk", 52),
    "vault": "hvs." + _made("hvs", 24),
    "databricks": "dapi" + _hexadecimal("dapi", 32),
    "sendgrid": "SG." + _made("sg", 22) + "." + _made("sg2", 43),
    "digital ocean": "dop_v1_" + _hexadecimal("do", 64),
    "telegram": "123456789:AA" + _made("tg", 33),
    "docker": "dckr_pat_" + _made("dk", 27),
}
"""Tokens that are recognised by their form, under any name."""

NAMED: dict[str, str] = {
    "AWS_SECRET_ACCESS_KEY": _made("awss", 40),
    "WANDB_API_KEY": _hexadecimal("wandb", 40),
    "MY_PASS_PHRASE": "correct horse battery",
    "DB_PASSWORD": "hunter2",
    "SGLANG_API_KEY": "letmein",
    "SESSION_COOKIE": "id=" + _made("cookie", 20),
    "CLIENT_SECRET": _made("client", 12),
    "JENKINS_AUTH": _made("auth", 16),
    "SIGNING_KEY": _made("sign", 44) + "=",
    "GITHUB_PAT": _made("pat", 20),
    "NCCL_SECRET": "nccl-plain-word",
    "VLLM_API_KEY": "two\nlines-of-secret",
    "HF_TOKEN": "odd-\udce9-bytes-9x8y7z",
    "AZURE_CREDENTIALS": '{"clientSecret": "' + _made("azure", 34) + '"}',
}
"""Values that only their variable's name gives away."""

PASSWORDS = {scheme: _made(scheme, 14) for scheme in ("postgres", "redis", "https", "mongodb", "amqp")}
"""Passwords inside addresses."""

PRIVATE_KEY_LINES = [base64.b64encode(_made(f"pem{n}", 48).encode()).decode() for n in range(3)]

PRIVATE_KEY = "\n".join(
    ("-----BEGIN OPENSSH PRIVATE KEY-----", *PRIVATE_KEY_LINES, "-----END OPENSSH PRIVATE KEY-----")
)
"""A block whose lines each have to go."""


def environment() -> dict[str, str]:
    """Return an environment that holds every one of the secrets, by name, by form, in addresses and in
    blocks."""
    by_form = {f"SETTING_{n}": token for n, token in enumerate(TOKENS.values())}
    relevant = {f"NCCL_SETTING_{n}": token for n, token in enumerate(TOKENS.values())}
    addresses = {
        f"VLLM_{scheme.upper()}": f"{scheme}://user:{word}@host/x" for scheme, word in PASSWORDS.items()
    }
    return {**NAMED, **by_form, **relevant, **addresses, "SGLANG_CERT": PRIVATE_KEY}


def arguments() -> list[str]:
    """Return a command's words that hold secrets: as options, inside options, in headers."""
    words = ["serve", "--api-key", NAMED["SGLANG_API_KEY"], f"--admin-api-key={NAMED['CLIENT_SECRET']}"]
    words += [f"--header=Authorization: Bearer {_made('bearer', 24)}", f"--note={TOKENS['jwt']}"]
    words += [f"--db=postgres://u:{PASSWORDS['postgres']}@h/d", "--token", TOKENS["hugging face"]]
    return words


def source() -> str:
    """Return a source file that holds secrets in the ways in which people leave them there."""
    lines = [f'{name.lower()} = "{value}"' for name, value in NAMED.items() if "\n" not in value]
    lines = [line for line in lines if "\udce9" not in line and '{"' not in line]
    lines += [f"# {token}" for token in TOKENS.values()]
    lines += [f'url = "{scheme}://user:{word}@host"' for scheme, word in PASSWORDS.items()]
    lines += [f"requests.get(url, headers={{'Authorization': 'Bearer {_made('bearer', 24)}'}})"]
    lines += [f"curl https://api.example.org/x?api_key={_made('query', 20)}&n=1"]
    lines += [f"export DEPLOY_TOKEN={_made('deploy', 24)}", "KEY = '''", PRIVATE_KEY, "'''"]
    return "\n".join(lines) + "\n"


def all_secrets() -> list[str]:
    """Return every text that must be in no record."""
    made = [_made("bearer", 24), _made("query", 20), _made("deploy", 24)]
    named = [part for value in NAMED.values() for part in value.split("\n")]
    named = [part.replace('{"clientSecret": "', "").replace('"}', "").removeprefix("id=") for part in named]
    return [*TOKENS.values(), *named, *PASSWORDS.values(), *PRIVATE_KEY_LINES, *made]
