"""The model that the plans for GPUs serve, made from nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "plans" / "make_model.py"


def _make(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-S", str(SCRIPT), str(folder)], capture_output=True, text=True)


def test_the_folders_hold_a_configuration_and_a_tokenizer_of_the_same_vocabulary(tmp_path: Path) -> None:
    assert _make(tmp_path).returncode == 0
    for name, architecture in (
        ("llama-1b", "LlamaForCausalLM"),
        ("llama-1b-eagle3", "LlamaForCausalLMEagle3"),
    ):
        config = json.loads((tmp_path / name / "config.json").read_text())
        tokenizer = json.loads((tmp_path / name / "tokenizer.json").read_text())
        assert config["architectures"] == [architecture]
        assert len(tokenizer["model"]["vocab"]) == config["vocab_size"]
        assert all(tokenizer["model"]["vocab"][t["content"]] == t["id"] for t in tokenizer["added_tokens"])


def test_the_model_has_about_a_billion_parameters(tmp_path: Path) -> None:
    _make(tmp_path)
    c = json.loads((tmp_path / "llama-1b" / "config.json").read_text())
    hidden, keys = c["hidden_size"], c["num_key_value_heads"] * c["head_dim"]
    layer = 2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * c["intermediate_size"]
    assert 1.0e9 < 2 * c["vocab_size"] * hidden + c["num_hidden_layers"] * layer < 1.3e9


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    _make(tmp_path)
    config = tmp_path / "llama-1b" / "config.json"
    config.write_text("{}")
    assert _make(tmp_path).returncode == 0
    assert config.read_text() == "{}"
    assert subprocess.run([sys.executable, str(SCRIPT)], capture_output=True).returncode == 2
