"""Secrets: recognised by name and look, and masked before anything is recorded or shown."""
