"""What all answers have in common, and what failing answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from optrack.contract.parts import Part


class Answer(Part):
    """A command's answer: one document on standard output."""

    schema_version: Literal[1]


class ErrorBody(Part):
    """What is wrong, where, and what to do; the exit code of the command says which kind it is."""

    code: str
    message: str
    hint: str | None
    where: str | None
    problems: list[str] = Field(default_factory=list)


class ErrorAnswer(Answer):
    """What every command answers where it fails."""

    error: ErrorBody
