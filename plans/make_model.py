"""Makes the model folders that the plans here serve: two Llamas of 1.1 billion parameters and their EAGLE-3 drafts.

Usage: python3 plans/make_model.py FOLDER. Only configuration and tokenizer are written, no weights and nothing
is downloaded: a server makes random weights of the right shapes with `--load-format dummy`. Needs Python's
standard library alone; a folder that is there already is left as it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

VOCABULARY = 32_000
_SPECIAL = ("<unk>", "<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>", "<|system|>")
_CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|> {{ message['content'] }} </s> {% endfor %}"
    "{% if add_generation_prompt %}<|assistant|> {% endif %}"
)


def llama(**changes: Any) -> dict[str, Any]:
    """Return a Llama configuration of 1.1 billion parameters, with `changes`."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCABULARY,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "hidden_act": "silu",
        "max_position_embeddings": 131_072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "initializer_range": 0.02,
        "use_cache": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 3,
        **changes,
    }


def deep(**changes: Any) -> dict[str, Any]:
    """Return a Llama configuration of 1.1 billion parameters in 60 narrow layers, with `changes`.

    A decode step under tensor parallelism makes 121 all-reduces of 3 KiB, nearly four times those of `llama`.
    """
    narrow = {
        "hidden_size": 1536,
        "intermediate_size": 2304,
        "num_hidden_layers": 60,
        "num_attention_heads": 24,
    }
    return llama(**(narrow | changes))


def tokenizer() -> dict[str, Any]:
    """Return a tokenizer of whole words, in the format of the `tokenizers` library (version 1.0)."""
    words = [*_SPECIAL, *(f"w{number:05d}" for number in range(len(_SPECIAL), VOCABULARY))]
    added = [
        {
            "id": number,
            "content": word,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for number, word in enumerate(_SPECIAL)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(words)},
            "unk_token": "<unk>",
        },
    }


def write(folder: Path, configuration: dict[str, Any]) -> None:
    """Write a model folder, unless it is there."""
    if (folder / "config.json").is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    special = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    files = {
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": 131_072,
            "clean_up_tokenization_spaces": False,
            "chat_template": _CHAT,
            **special,
        },
        "special_tokens_map.json": special,
        "generation_config.json": {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3},
        "config.json": configuration,
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the model folders into the folder that is named."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(f"{(__doc__ or '').splitlines()[2]}\n")
        return 2
    root = Path(arguments[0])
    draft = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "num_hidden_layers": 1,
        "draft_vocab_size": VOCABULARY,
    }
    for name, shape in (("llama-1b", llama), ("llama-1b-deep", deep)):
        write(root / name, shape())
        write(root / f"{name}-eagle3", shape(**draft))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
