"""Which form a document's items have: headings with what stands under them, else tables, else lists."""

from __future__ import annotations

from collections.abc import Iterator

from optrack.core.parse.attributes import attributes_in
from optrack.core.parse.bold import raise_bold
from optrack.core.parse.checklists import breakdown_drafts, fenced_drafts
from optrack.core.parse.complete import complete_from_tables
from optrack.core.parse.document import Block, Listing, Section, Table
from optrack.core.parse.draft import Draft
from optrack.core.parse.headings import body, document_title, draft_of, heading_drafts, title_text
from optrack.core.parse.labels import read_label
from optrack.core.parse.lists import (
    entry_drafts,
    has_amounts,
    has_boxes,
    has_labels,
    has_titles,
    leads_astray,
    lists_of,
    says_amounts,
)
from optrack.core.parse.tables import columns_of, row_drafts
from optrack.core.parse.words import is_band, is_context, is_no_plan, is_order, is_planlike


def find_drafts(root: Section, *, named_plan: bool, has_recipes: bool) -> list[Draft]:
    """Return the document's items in document order; none for a document that is no plan.

    `named_plan` says that front matter or the like makes it a plan whatever its title; so does any recipe.
    """
    title = document_title(root)
    raise_bold(root, title)
    words = title_text(title)
    certain = named_plan or has_recipes
    planlike = certain or (is_planlike(words) and not is_no_plan(words))
    drafts = heading_drafts(root, title, planlike=planlike)
    taken = {id(d.section) for d in drafts if d.section is not None}
    drafts += _below_groups(drafts, taken)
    drafts += breakdown_drafts(root, title, drafts)
    if not any(d.label is None or d.label.kind not in ("band", "baseline") for d in drafts):
        drafts += _loose(root, title, planlike=planlike, drafts=drafts) or fenced_drafts(
            root, title, planlike=planlike
        )
    drafts = [d for d in drafts if not _is_empty_band(d)]
    ranking = [] if has_recipes else _ranking(root, title)
    if len(ranking) > len(drafts) and _weight(ranking) > 1.5 * _weight(drafts):
        drafts = ranking
    if not certain and is_no_plan(words) and not _is_tracked(drafts):
        return []
    drafts.sort(key=lambda d: d.line)
    complete_from_tables(root, drafts)
    return drafts


def _ranking(root: Section, title: Section | None) -> list[Draft]:
    """The rows of the document's fullest ranking: a table with ids or ranks, gains and efforts."""
    best: list[Draft] = []
    for section in _open_sections(root, title, set(), orders=False):
        for block in section.blocks:
            columns = columns_of(block) if isinstance(block, Table) else None
            if not isinstance(block, Table) or columns is None or len(block.rows) <= max(len(best), 4):
                continue
            if (
                columns.id is not None
                and columns.rank is not None
                and {"gain", "effort"} <= set(columns.keys.values())
            ):
                best = row_drafts(block, columns, None)
    return best


def _below_groups(drafts: list[Draft], taken: set[int]) -> list[Draft]:
    """The items in lists and tables under headings that are groups and hold no labelled headings."""
    found: list[Draft] = []
    for draft in drafts:
        if draft.label is None or not draft.label.is_group or draft.children or draft.parent is not None:
            continue
        if draft.section is None:
            continue
        band = draft.label.kind == "band"
        for section, blocks in _places(draft.section, taken):
            own = section is draft.section
            inner = _in_tables(blocks, draft) or _in_lists(blocks, draft, band=band, own=own)
            found += inner
            if inner and own:
                _without_parts(draft, inner)
                break
        if not draft.children:
            found += _subheadings(draft, band=band)
    return found


def _without_parts(draft: Draft, inner: list[Draft]) -> None:
    """Read a group again without the lists and tables whose entries are items of their own."""
    if draft.section is None:
        return
    first = {item.line for item in inner}
    fresh = draft_of(draft.section, draft.label)
    fresh.blocks = [
        b for b in draft.blocks if not (isinstance(b, Listing) and first & {e.line for e in b.entries})
    ]
    fresh.read_attributes()
    draft.gain, draft.effort, draft.status = fresh.gain, fresh.effort, fresh.status
    draft.attributes = fresh.attributes


def _places(section: Section, taken: set[int]) -> Iterator[tuple[Section, list[Block]]]:
    yield section, section.blocks
    for child in section.sections:
        if id(child) not in taken and is_planlike(child.heading.text) and not is_context(child.heading.text):
            yield child, child.blocks


def _in_tables(blocks: list[Block], parent: Draft | None) -> list[Draft]:
    found: list[Draft] = []
    for block in blocks:
        columns = columns_of(block) if isinstance(block, Table) else None
        if isinstance(block, Table) and columns is not None and (columns.is_ranked or columns.says_amounts):
            found += row_drafts(block, columns, parent)
    return found


def _in_lists(blocks: list[Block], parent: Draft | None, *, band: bool, own: bool) -> list[Draft]:
    found: list[Draft] = []
    for listing, lead in lists_of(blocks):
        if has_boxes(listing):
            if lead is not None and leads_astray(lead) and is_context(lead):
                continue
            found += entry_drafts(listing, parent, numbered=False, bullets=False)
        elif has_labels(listing, parent):
            found += entry_drafts(listing, parent, numbered=True, bullets=False)
        elif lead is not None and leads_astray(lead):
            continue
        elif listing.ordered and own and lead is None:
            found += entry_drafts(listing, parent, numbered=True, bullets=False)
        elif not listing.ordered and own and (band or has_titles(listing)) and not _describes(listing):
            found += entry_drafts(listing, parent, numbered=False, bullets=True)
    return found


def _describes(listing: Listing) -> bool:
    return sum(a.key is not None for a in attributes_in([listing])) * 2 >= len(listing.entries)


def _subheadings(draft: Draft, *, band: bool) -> list[Draft]:
    """Unlabelled headings under a band, or under a group where they say gain or effort themselves."""
    section = draft.section
    if section is None:
        return []
    inner = [
        s
        for s in section.sections
        if not is_context(s.heading.text) and not s.heading.text.rstrip().endswith(":")
    ]
    telling = [s for s in inner if any(a.key in ("gain", "effort") for a in attributes_in(s.blocks))]
    chosen = inner if band else telling if len(telling) * 2 >= len(inner) else []
    found = []
    for child in chosen:
        label = read_label(child.heading.text)
        item = draft_of(child, label if label is not None and label.kind in ("number", "dotted") else None)
        item.blocks = list(body(child, set()))
        item.read_attributes()
        draft.adopt(item)
        found.append(item)
    if found:
        draft.gain = draft.effort = None
    return found


def _loose(root: Section, title: Section | None, *, planlike: bool, drafts: list[Draft]) -> list[Draft]:
    """Items in tables, else in lists, of a document whose headings are none."""
    held = {id(d.section) for d in drafts if d.section is not None}
    for orders in (False, True):
        places = list(_open_sections(root, title, held, orders=orders))
        found = _loose_tables(places) or _loose_lists(places, title, planlike=planlike)
        if found:
            return found
    return []


def _open_sections(
    root: Section, title: Section | None, held: set[int], *, orders: bool
) -> Iterator[Section]:
    yield root
    stack = root.sections[::-1]
    while stack:
        section = stack.pop()
        heading = section.heading.text
        if id(section) in held:
            continue
        if section is not title:
            if is_order(heading) and not orders:
                continue
            if is_context(heading) and not is_band(heading) and not (orders and is_order(heading)):
                continue
        yield section
        stack.extend(section.sections[::-1])


def _loose_tables(places: list[Section]) -> list[Draft]:
    found: list[Draft] = []
    signature: tuple[str, ...] | None = None
    for section in places:
        for block in section.blocks:
            columns = columns_of(block) if isinstance(block, Table) else None
            if not isinstance(block, Table) or columns is None:
                continue
            ranked = columns.is_ranked and (columns.says_amounts or "status" in columns.keys.values())
            around = is_planlike(section.heading.text) and (columns.says_amounts or columns.is_ranked)
            if not (ranked or around) or (signature is not None and signature != columns.names):
                continue
            signature = columns.names
            found += row_drafts(block, columns, None)
    return found


def _loose_lists(places: list[Section], title: Section | None, *, planlike: bool) -> list[Draft]:
    found: list[Draft] = []
    numbered: list[Draft] = []
    for section in places:
        around = (planlike and (section is title or section.level == 0)) or (
            section is not title and is_planlike(section.heading.text)
        )
        for listing, lead in lists_of(section.blocks):
            if lead is not None and is_context(lead):
                continue
            if has_boxes(listing) or has_labels(listing):
                found += entry_drafts(listing, None, numbered=has_labels(listing), bullets=False)
            elif listing.ordered and around and has_titles(listing) and has_amounts(listing):
                found += entry_drafts(listing, None, numbered=True, bullets=False)
            elif not listing.ordered and around and says_amounts(listing):
                found += entry_drafts(listing, None, numbered=False, bullets=True)
            elif listing.ordered and (around or has_amounts(listing)) and not (lead and leads_astray(lead)):
                numbered += entry_drafts(listing, None, numbered=True, bullets=False)
    return found or numbered


def _weight(drafts: list[Draft]) -> int:
    return sum(draft.weight() for draft in drafts if draft.parent is None)


def _is_empty_band(draft: Draft) -> bool:
    return (
        draft.label is not None and draft.label.kind == "band" and not draft.children and draft.recipe is None
    )


def _is_tracked(drafts: list[Draft]) -> bool:
    """Whether items carry what only a plan gives: boxes, or labels with amounts on half of them."""
    if any(d.boxed for d in drafts):
        return True
    labelled = [d for d in drafts if d.label is not None]
    said = sum(bool(d.gain or d.effort) for d in labelled)
    return bool(labelled) and said * 2 >= len(labelled)
