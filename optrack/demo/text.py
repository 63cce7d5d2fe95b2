"""Text to tokens and back: the model reads bytes and speaks in syllables."""

VOCABULARY = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an ", "er ")]


def tokenise(text: str) -> list[int]:
    """A token for each byte of the text; an empty text is a single token."""
    return [byte % len(VOCABULARY) for byte in text.encode()] or [0]


def detokenise(token: int) -> str:
    """The syllable that a token stands for."""
    return VOCABULARY[token]
