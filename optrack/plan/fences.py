"""Checklists set in a code fence without a language: read as the checklists that they look like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from optrack.plan.blocks import Fence, Listing, Paragraph
from optrack.plan.document import read_document

_LANGUAGES = ("", "markdown", "md", "text", "txt", "plain", "plaintext", "todo", "tasks")
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[ xX✓✔~\-/]\]\s+\S")
_LEAD = re.compile(r"[^\W_]|[*_#]|[^\x00-\x7f]")
_BELOW = re.compile(r"\s{2,}\S")


def checklist(fence: Fence) -> Iterator[tuple[Listing, str]]:
    """Yield the lists of a fence that holds a checklist and nothing else, each with the line above it."""
    if not fence.closed or not _is_checklist(fence):
        return
    inner = read_document(fence.content, first=fence.line + 1)
    for section in (inner, *inner.walk()):
        lead = section.heading.text
        for block in section.blocks:
            if isinstance(block, Listing):
                yield block, lead
            lead = block.lines[-1].text if isinstance(block, Paragraph) else section.heading.text


def _is_checklist(fence: Fence) -> bool:
    """Whether a fence has boxes, what stands below them, and lines above them, but nothing else."""
    if fence.info.split(" ")[0].casefold() not in _LANGUAGES:
        return False
    lines = fence.content.split("\n")
    boxes = [_BOX.match(line) is not None for line in lines]
    written = [index for index, line in enumerate(lines) if line.strip()]
    if sum(boxes) < 2:
        return False
    seen = False
    for place, index in enumerate(written):
        line, following = lines[index], written[place + 1] if place + 1 < len(written) else index
        starts = index == 0 or not lines[index - 1].strip() or not place
        leads = starts and boxes[following] and _LEAD.match(line)
        if not (boxes[index] or leads or (seen and _BELOW.match(line)) or line.startswith("#")):
            return False
        seen = seen or boxes[index]
    return sum(boxes) * 2 >= len(written)
