"""Checklists in fences: boxes that somebody keeps in a code block, read as the lists that they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from optrack.plan.document import Document
from optrack.plan.parts import Candidate, Fence, Listing, Paragraph

_LANGUAGES = ("", "markdown", "md", "text", "txt", "plain", "plaintext", "todo", "tasks")
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[ xX✓✔~\-/]\]\s+\S")
_LEAD = re.compile(r"[^\W_]|[*_#]|[^\x00-\x7f]")
_BELOW = re.compile(r"\s{2,}\S")


def checklists(fence: Fence) -> Iterator[tuple[Listing, str]]:
    """The lists of a fence that holds a checklist and nothing else, each with the line above it."""
    if not fence.closed or not _is_checklist(fence):
        return
    lead = heading = ""
    for part in Document(fence.content, fence.line + 1).parts():
        match part:
            case Candidate():
                lead = heading = part.text.text
            case Listing():
                yield part, lead
                lead = heading
            case _:
                lead = part.lines[-1].text if isinstance(part, Paragraph) else heading


def _is_checklist(fence: Fence) -> bool:
    """Whether a fence has boxes, what stands below them, and lines above them, but nothing else."""
    if fence.info.split(" ")[0].casefold() not in _LANGUAGES:
        return False
    lines = fence.content.split("\n")
    boxes = [_BOX.match(line) is not None for line in lines]
    written = [index for index, line in enumerate(lines) if line.strip()]
    if sum(boxes) < 2 or sum(boxes) * 2 < len(written):
        return False
    for place, (index, following) in enumerate(zip(written, [*written[1:], written[-1]], strict=True)):
        starts = not place or not lines[index - 1].strip()
        leads = starts and boxes[following] and _LEAD.match(lines[index])
        below = _BELOW.match(lines[index]) and any(boxes[:index])
        if not (boxes[index] or leads or below or lines[index].startswith("#")):
            return False
    return True
