"""Secrets: what gives one away, what stands in its place, and the gate that all text goes through."""
