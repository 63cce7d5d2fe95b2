"""Failures as knowledge: from the text of a log to a kind, the line that matters and a fingerprint."""
