"""A plan as it may be recorded: with the secrets in its text and recipes masked."""

from __future__ import annotations

from optrack.core.plan import Item, Plan, RecipeLayer
from optrack.core.secrets.masking import mask_data, mask_text


def masked_plan(plan: Plan, salt: bytes) -> Plan:
    """Return the plan with every secret in its text, its items and its recipe layers masked."""
    return plan.model_copy(
        update={
            "text": mask_text(plan.text, salt),
            "recipe": _layer(plan.recipe, salt),
            "items": tuple(_item(item, salt) for item in plan.items),
        }
    )


def _item(item: Item, salt: bytes) -> Item:
    return item.model_copy(
        update={
            "title": mask_text(item.title, salt),
            "hypothesis": mask_text(item.hypothesis, salt) if item.hypothesis else item.hypothesis,
            "attributes": {name: mask_text(text, salt) for name, text in item.attributes.items()},
            "recipe": _layer(item.recipe, salt),
        }
    )


def _layer(layer: RecipeLayer | None, salt: bytes) -> RecipeLayer | None:
    if layer is None:
        return None
    return layer.model_copy(update={"data": mask_data(layer.data, salt), "text": mask_text(layer.text, salt)})
