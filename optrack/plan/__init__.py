"""Reads plans: from markdown as people write it to items, recipes, problems, and what was left out."""

from optrack.plan.read import parse_plan

__all__ = ["parse_plan"]
