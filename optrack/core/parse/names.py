"""The names of attributes and columns (`Est. impact`, `Aufwand`, `依赖`), and what each stands for."""

from __future__ import annotations

import re

from optrack.core.parse.words import plain

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
    if re.match(r"(?:est|expected|estimated|projected|erwartete\w*|erhoffte\w*)\b|.*[δ∆]", folded):
        return "gain"
    if re.search(r"\b(?:depend\w*|requires|prerequisites?)\b", folded):
        return "needs"
    return None
