"""The contract with other programs: what every command answers with `--json`, as types and as JSON Schema."""

from optrack.core.contract.answers import ANSWERS, answer_schema

__all__ = ["ANSWERS", "answer_schema"]
