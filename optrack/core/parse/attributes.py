"""Attributes of items: `Expected gain: 5-10 ms` in bullets, lines, columns, or inline after a dash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from optrack.core.parse.document import Block, Listing, Paragraph, Quote
from optrack.core.parse.inline import Inline
from optrack.core.parse.words import plain
from optrack.core.plan import Quantity
from optrack.core.quantity import TIME_UNITS, quantity, unit_named

_NAMES: dict[str, tuple[str, ...]] = {
    "gain": (
        *(
            "expected gain",
            "gain",
            "expected speedup",
            "speedup",
            "expected saving",
            "expected savings",
            "savings",
        ),
        *(
            "saving",
            "expected improvement",
            "improvement",
            "estimated gain",
            "estimated speedup",
            "estimated savings",
        ),
        *(
            "est gain",
            "est speedup",
            "est savings",
            "potential gain",
            "potential speedup",
            "potential savings",
        ),
        *(
            "performance gain",
            "perf gain",
            "expected",
            "expected impact",
            "estimated impact",
            "est impact",
            "payoff",
        ),
        *(
            "estimated improvement",
            "projected gain",
            "expected benefit",
            "expected win",
            "expected effect",
            "win",
        ),
        *(
            "expected result",
            "expected outcome",
            "expected performance",
            "impact",
            "benefit",
            "benefits",
            "potential",
        ),
        *(
            "roi",
            "reward",
            "upside",
            "performance impact",
            "estimated benefit",
            "typical gain",
            "typical gains",
        ),
        *(
            "expected gains",
            "gains",
            "theoretical gain",
            "max gain",
            "latency reduction",
            "speed gain",
            "hoped gain",
        ),
        *(
            "ganho",
            "ganho esperado",
            "impacto",
            "impacto esperado",
            "ganancia",
            "ganancia esperada",
            "beneficio",
        ),
        *(
            "gewinn",
            "erwarteter gewinn",
            "nutzen",
            "gain attendu",
            "gain estimé",
            "выигрыш",
            "эффект",
            "收益",
            "预期收益",
        ),
        *(
            "total removido",
            "total movido",
            "economia",
            "tokens economizados",
            "預期收益",
            "期待効果",
            "効果",
        ),
    ),
    "effort": (
        *(
            "effort",
            "estimated effort",
            "est effort",
            "effort estimate",
            "time",
            "estimated time",
            "est time",
            "duration",
        ),
        *(
            "time estimate",
            "estimate",
            "estimated duration",
            "implementation time",
            "implementation effort",
            "cost",
        ),
        *(
            "difficulty",
            "complexity",
            "work",
            "size",
            "eta",
            "estimated lines",
            "lines",
            "loc",
            "time required",
        ),
        *("implementation cost", "dev time", "engineering effort", "level of effort", "loe", "t-shirt size"),
        *(
            "esforço",
            "estimativa",
            "tempo",
            "tempo estimado",
            "esfuerzo",
            "tiempo",
            "estimación",
            "tiempo estimado",
        ),
        *("aufwand", "dauer", "zeit", "effort estimé", "durée", "temps", "трудоёмкость", "время", "оценка"),
        *("工作量", "时间", "预计时间", "耗时", "工数", "所要時間"),
    ),
    "risk": ("risk", "risks", "risk level", "risco", "riesgo", "risiko", "risque", "риск", "风险", "リスク"),
    "needs": (
        *(
            "needs",
            "need",
            "depends on",
            "depends",
            "dependency",
            "dependencies",
            "requires",
            "after",
            "blocked by",
        ),
        *(
            "prerequisite",
            "prerequisites",
            "depende de",
            "dependências",
            "dependencias",
            "abhängig von",
            "dépend de",
        ),
        *("зависит от", "依赖", "前置条件", "依存"),
    ),
    "skip_if": ("skip if", "skip when", "unless", "skip"),
    "hypothesis": ("hypothesis", "idea", "hypothese", "hipótesis", "hipótese", "гипотеза", "假设", "仮説"),
    "status": ("status", "state", "estado", "situação", "zustand", "statut", "статус", "状态", "状態"),
    "priority": (
        "priority",
        "prio",
        "prioridad",
        "prioridade",
        "priorität",
        "priorité",
        "приоритет",
        "优先级",
    ),
}
_CANONICAL = {name: key for key, names in _NAMES.items() for name in names}
_WEAK_GAIN = (
    "impact",
    "benefit",
    "benefits",
    "expected result",
    "expected outcome",
    "impacto",
    "expected",
    "potential",
)
_KEY = re.compile(r"^\s*(?P<key>[^:：\n]{1,48}?)\s*[:：]\s*(?P<value>.*)$", re.DOTALL)
_JOINED = re.compile(r"\s+[|·•]\s+|\s*[;,]\s+(?=[A-Z][\w ]{2,24}:\s)")
_DONE_ALREADY = re.compile(
    r"^(?:already (?:done|implemented|in place|complete)|done already|nothing to do)\b|\bno (?:further )?action needed\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Attribute:
    """An attribute as written: its name, its canonical key if known, its value, its line."""

    name: str
    key: str | None
    value: str
    line: int


def canonical(name: str) -> str | None:
    """Return what a name stands for (`Est. impact` -> `gain`), or None."""
    folded = re.sub(r"\s*\([^)]*\)", "", plain(name)).replace(".", "").casefold().strip(" *_`")
    return _CANONICAL.get(folded)


def column_key(name: str) -> str | None:
    """Return what a column's name stands for, also where it says what is gained (`Battery Gain`)."""
    found = canonical(name)
    if found is not None:
        return found
    folded = plain(name).casefold()
    if re.search(r"\b(?:gain|speed-?up|savings?|impact|improvement|benefit|reduction)\b", folded):
        return "gain"
    if re.search(r"\b(?:effort|time|difficulty|complexity|estimate|duration)\b", folded):
        return "effort"
    if re.search(r"\b(?:depend\w*|requires|prerequisites?)\b", folded):
        return "needs"
    return None


def attributes_in(blocks: list[Block], *, depth: int = 3) -> Iterator[Attribute]:
    """Yield the attributes in an item's own blocks: bullets, lines of paragraphs, quotes."""
    for block in blocks:
        match block:
            case Paragraph():
                yield from _of_lines(block.lines)
            case Quote() if depth:
                yield from attributes_in(block.blocks, depth=depth - 1)
            case Listing():
                for entry in block.entries:
                    if entry.lines and entry.box is None:
                        yield from _of_lines([Inline.joined(entry.lines)])


def _of_lines(lines: list[Inline]) -> Iterator[Attribute]:
    pending: Attribute | None = None
    for line in lines:
        found = list(_of_line(line))
        if found:
            if pending is not None:
                yield pending
            yield from found[:-1]
            pending = found[-1]
        elif pending is not None and line.text.strip():
            value = f"{pending.value} {line.text.strip()}"
            pending = Attribute(pending.name, pending.key, value, pending.line)
    if pending is not None:
        yield pending


def _of_line(line: Inline) -> Iterator[Attribute]:
    for part in _JOINED.split(line.text):
        found = _KEY.match(part)
        if found is None:
            continue
        name = plain(found["key"]).strip("*_ ")
        key = canonical(name)
        lead = line.lead
        if name and found["value"].strip() and (key is not None or (lead is not None and name in lead)):
            yield Attribute(name, key, found["value"].strip(), line.line)


def best_gain(attributes: list[Attribute]) -> Attribute | None:
    """Return the attribute that says the gain best: a named gain or speed-up before a general impact."""
    gains = [a for a in attributes if a.key == "gain"]
    named = [a for a in gains if a.name.casefold() not in _WEAK_GAIN]
    return next(iter(named or gains), None)


def amount_of(attribute: Attribute | None) -> Quantity | None:
    """Return the attribute's amount, or None for none and for what only says that there is none (`-`)."""
    if attribute is None or not attribute.value.strip(" -–—?.*"):
        return None
    unit = re.search(r"\(([^)]+)\)", attribute.name)
    counted = unit[1] if unit is not None else unit_named(attribute.name.split()[-1]) or ""
    return quantity(attribute.value.strip().rstrip("."), unit=counted)


def says_done(blocks: list[Block]) -> bool:
    """Whether an item's text starts by saying that nothing is left to do."""
    first = next(iter(blocks), None)
    if isinstance(first, Listing) and first.entries and first.entries[0].box is None:
        lines = first.entries[0].lines
    elif isinstance(first, Paragraph):
        lines = first.lines
    else:
        return False
    return bool(lines) and _DONE_ALREADY.search(Inline.joined(lines).text[:120]) is not None


_EFFORT_WORDS = re.compile(r"\b(?:effort|work|to implement|of coding|implementation|lines?)\b", re.IGNORECASE)
_GAIN_WORDS = re.compile(
    r"\b(?:savings?|saved|saves?|gains?|faster|speed-?ups?|reduction|less|fewer|improvement|lower|higher throughput|boost"
    r"|head start|throughput|estimated|expected)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:tested|measured|prior|previous(?:ly)?|currently|was|were|earlier|before|today)\b",
    re.IGNORECASE,
)
_EFFORT_PHRASE = re.compile(
    r"\b(?:very )?(?:low|medium|moderate|high|small|minimal|trivial) effort(?:\s*\([^)]*\))?", re.IGNORECASE
)


def inline_amounts(text: str) -> tuple[Quantity | None, Quantity | None]:
    """Return gain and effort said in prose (`estimated 5-10ms savings, 30 minutes effort`).

    Sentences that tell of earlier measurements don't count.
    """
    gain = effort = None
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9~+])", text[:2000]):
        phrase = _EFFORT_PHRASE.search(sentence)
        if phrase is not None and effort is None:
            effort = quantity(phrase[0])
        if _PAST.search(sentence):
            continue
        for part in re.split(r"[,;]\s+| \| | · ", sentence):
            amount = quantity(re.sub(r"[()]", " ", part) if not gain and not effort else part)
            if not amount.unit or (amount.low is None and amount.high is None):
                if (
                    amount.unit
                    and gain is None
                    and re.search(r"\bimprov|\breduc|\bincreas", part, re.IGNORECASE)
                ):
                    gain = amount
                continue
            if effort is None and amount.unit in (*TIME_UNITS[4:], "lines") and _EFFORT_WORDS.search(part):
                effort = amount
            elif gain is None and amount.unit not in TIME_UNITS[6:] and _near_gain_word(part):
                gain = amount
    return gain, effort


def _near_gain_word(part: str) -> bool:
    found = _GAIN_WORDS.search(part)
    number = re.search(r"\d", part)
    return found is not None and number is not None and abs(found.start() - number.start()) < 36
