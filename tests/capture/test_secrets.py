"""Secrets are in no record, whatever they look like and wherever they stand; what is no secret stays
readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optrack.judge.applied import arguments_part
from optrack.model.secrets.masking import is_masked, looks_secret, mask_argv, mask_data, mask_text, mask_value
from optrack.render.replay import replay_script
from optrack.render.snapshot_text import snapshot_lines
from tests.capture.planted_secrets import NAMED, TOKENS, all_secrets, arguments, environment, source
from tests.capture.repositories import git
from tests.capture.world import SALT, World

SERVE = "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n"


def test_there_are_sixty_secrets_of_over_twenty_kinds() -> None:
    places = len(environment()) + len(arguments())
    assert places + len(all_secrets()) >= 60
    assert len(TOKENS) + len(NAMED) >= 30


def test_no_planted_secret_is_in_a_snapshot_or_in_what_is_made_of_it(world: World) -> None:
    (world.project / "config.py").write_text(source())
    (world.project / "server.py").write_text(SERVE)
    (world.project / "run.sh").write_text(source())
    git(world.project, "remote", "add", "origin", f"https://x:{NAMED['CLIENT_SECRET']}@host/r.git")
    git(world.repo, "remote", "add", "origin", f"https://{TOKENS['github']}@github.com/r.git")
    world.package("delta", "1.0", {"url": f"git+https://{TOKENS['gitlab']}:x@h/r", "vcs_info": {}})
    world.env |= environment()
    world.launch = "{python} {server} " + " ".join(f"'{word}'" for word in arguments())
    world.recipe_env |= {"SGLANG_API_KEY": NAMED["SGLANG_API_KEY"], "FREE_NAME": TOKENS["openai"]}
    world.asked |= {"api-key": NAMED["SGLANG_API_KEY"], "note": TOKENS["jwt"]}
    world.reported |= {"api_key": NAMED["SGLANG_API_KEY"], "args": {"admin_api_key": NAMED["CLIENT_SECRET"]}}
    snapshot = world.capture()
    script = replay_script(
        snapshot, run="r", item="1", project=str(world.project), commands={"server": world.launch}, salt=SALT
    )
    record = "\n".join(
        (
            snapshot.model_dump_json(),
            json.dumps(snapshot.model_dump(), ensure_ascii=False),
            *snapshot_lines(snapshot, full=True),
            script,
        )
    )
    assert [secret for secret in all_secrets() if secret in record] == []
    env = snapshot.model_dump()["env"]
    assert set(environment()) <= {*env["server"], *env["other"]}


def test_a_masked_secret_still_differs() -> None:
    assert mask_value("HF_TOKEN", "hf_" + "a" * 20, SALT) != mask_value("HF_TOKEN", "hf_" + "b" * 20, SALT)
    assert mask_value("HF_TOKEN", "hf_" + "a" * 20, SALT) == mask_value("HF_TOKEN", "hf_" + "a" * 20, SALT)
    assert mask_value("HF_TOKEN", "hf_" + "a" * 20, SALT) != mask_value(
        "HF_TOKEN", "hf_" + "a" * 20, b"other"
    )


def test_masking_twice_changes_nothing() -> None:
    once = mask_text(source(), SALT)
    assert mask_text(once, SALT) == once
    assert mask_value("DB_PASSWORD", mask_value("DB_PASSWORD", "x", SALT), SALT).count("<masked:") == 1


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_of_a_known_form_needs_no_name(kind: str) -> None:
    assert TOKENS[kind] not in mask_text(f"see {TOKENS[kind]}, and go on", SALT)
    assert looks_secret("ANYTHING", TOKENS[kind])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/root/x"),
        ("SSH_AUTH_SOCK", "/tmp/agent.1"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("SGLANG_MAX_TOKENS", "4096"),
        ("NCCL_BUFFSIZE", "16777216"),
        ("HF_TOKEN_PATH", "/root/.cache/token"),
        ("KEY", "3"),
        ("VLLM_USE_KEY_CACHE", "true"),
        ("SSL_CERT_FILE", "/etc/ssl/cert.pem"),
        ("NCCL_TOPO_FILE", "/opt/topology.xml"),
        ("CUDA_VISIBLE_DEVICES", "0,1,2,3"),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:512"),
        ("MODEL", "moonshotai/Kimi-K2.5"),
        ("VLLM_ADDRESS", "http://127.0.0.1:30000/v1"),
        ("GIT_COMMIT", "3f9c0d2e71aa9d1b7c5e4f3a2b1c0d9e8f7a6b5c"),
        ("PASSWORD", ""),
    ],
)
def test_what_is_no_secret_stays_as_it_is(name: str, value: str) -> None:
    assert mask_value(name, value, SALT) == value


@pytest.mark.parametrize(
    "line",
    [
        "def decode(token: int, key: str = 'a') -> bool:",
        "    key = sorted(items)",
        "    token = tokens[position]",
        "    password = read_password(prompt)",
        "    self.api_key = api_key",
        "for key, value in settings.items():",
        "num_draft_tokens = 4",
        "cache[key] = hash(value)",
        "assert token == expected_token",
        "key: layer.key_proj.weight",
        "author = Somebody",
        "index d00491fd7e5bb6fa28c517a0bb32b8b506539d4d..0cfbf08886fca9a91cb753ec8734c84fcbe52c9f 100644",
        "k_cache, v_cache = kv.split(key_dim)",
        "tokenizer = AutoTokenizer.from_pretrained(model)",
        "python -m sglang.launch_server --model-path x --tp 8 --max-total-tokens 8192",
    ],
)
def test_program_text_is_not_taken_for_secrets(line: str) -> None:
    assert mask_text(line, SALT) == line


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ('password = "hunter2"', "hunter2"),
        ("password: hunter2", "hunter2"),
        ("export API_KEY=abcdef", "abcdef"),
        ("+DB_PASSWORD=plainword", "plainword"),
        ("  'client_secret': 'abc def',", "abc def"),
        ('"token": "q8Zr2Lx0Pp91vB"', "q8Zr2Lx0Pp91vB"),
        ("machine api.example.org login me password hunter2", "hunter2"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
        ("Server=h;Database=d;User Id=u;Password=hunter2;", "hunter2"),
        ("https://x.blob.core.windows.net/c?sv=2&sig=abc%2Fdef123", "abc%2Fdef123"),
        ("ssh://git:s3cr3t@host/x", "s3cr3t"),
        ("postgresql+psycopg2://u:p%40ss@h/d", "p%40ss"),
    ],
)
def test_secrets_in_text_are_masked(line: str, secret: str) -> None:
    masked = mask_text(line, SALT)
    assert secret not in masked and is_masked(masked)


def test_options_of_a_command_are_masked_and_the_rest_is_not() -> None:
    words = [
        "python",
        "-m",
        "x",
        "--api-key",
        "abc",
        "--tp",
        "8",
        "--max-total-tokens",
        "100",
        "--key=/etc/k.pem",
    ]
    found = mask_argv(words, SALT)
    assert is_masked(found[4])
    assert found[:4] + found[5:] == words[:4] + words[5:]


def test_a_servers_report_is_masked_by_its_keys() -> None:
    found = mask_data(
        {"api_key": "abc", "a": [{"password": "x1"}], "launch": ["--api-key", "abc"], "tp": 8}, SALT
    )
    assert "abc" not in json.dumps(found) and "x1" not in json.dumps(found)
    assert found["tp"] == 8


def test_the_arguments_part_has_no_secret() -> None:
    part = arguments_part(
        asked={"api-key": "abc"}, command="serve --api-key abc", reported={"api_key": "abc"}, salt=SALT
    ).model_dump()
    assert "abc" not in json.dumps(part)


def test_a_mask_in_a_diff_keeps_its_lines(tmp_path: Path) -> None:
    text = "".join(f"+{line}\n" for line in source().splitlines())
    assert mask_text(text, SALT).count("\n") == text.count("\n")
    assert all(line.startswith("+") for line in mask_text(text, SALT).splitlines())
