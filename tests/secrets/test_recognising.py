"""What text is taken for a secret and what isn't, and how long looking for them takes."""

from __future__ import annotations

import json
import time

import pytest

from optrack.model.secrets.masking import is_masked, mask_text
from tests.secrets.forms import FORMATS, INNOCENT, TEXTS, made

SALT = b"tests' own salt"
SIZE = 300_000
RUNS = {character: character * SIZE for character in "x=-._7/:<\"'p \n"}
LONG = {
    "hexadecimal": made("hex", SIZE, "0123456789abcdef"),
    "letters and digits": made("any", SIZE),
    "base64": made("base64", SIZE, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    "names and values": "key=" * (SIZE // 4),
    "flags": "--key " * (SIZE // 6),
    "json": json.dumps(
        [{"token": f"a{n} b", "max_tokens": n, "api_key": f"v{n}"} for n in range(SIZE // 60)]
    ),
    "one line of a log": "token usage: 0.12, key cache 0.5, " * (SIZE // 34),
}


def seconds(text: str) -> float:
    """Return the least CPU time of three that masking the text took."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        mask_text(text, SALT)
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_token_of_an_issuers_format_is_masked_wherever_it_stands(kind: str) -> None:
    for text in (f"see {FORMATS[kind]}, and go on", f'"{FORMATS[kind]}"', f"+x={FORMATS[kind]}\n"):
        assert FORMATS[kind] not in mask_text(text, SALT)


@pytest.mark.parametrize(("text", "secret"), TEXTS)
def test_a_secret_in_the_forms_of_code_commands_and_settings_is_masked(text: str, secret: str) -> None:
    masked = mask_text(text, SALT)
    assert secret not in masked and is_masked(masked)
    assert masked.count("\n") == text.count("\n")
    assert mask_text(masked, SALT) == masked


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_of_plans_and_server_logs_stays_as_it_is(text: str) -> None:
    assert mask_text(text, SALT) == text


@pytest.mark.parametrize("text", [*RUNS.values(), *LONG.values()], ids=[*map(repr, RUNS), *LONG])
def test_masking_takes_time_linear_in_the_length_of_a_text(text: str) -> None:
    half, whole = seconds(text[: len(text) // 2]), seconds(text)
    assert whole < 1.0
    assert whole <= 2.5 * half + 0.02
