"""The words by which headings of plans are known, in English and, where usual, other languages."""

from __future__ import annotations

import re
import unicodedata

GROUP_WORDS = (
    *(
        "priority",
        "prio",
        "tier",
        "phase",
        "stage",
        "week",
        "day",
        "sprint",
        "milestone",
        "wave",
        "track",
        "month",
    ),
    *(
        "quarter",
        "bucket",
        "batch",
        "iteration",
        "fase",
        "etapa",
        "semana",
        "prioridad",
        "prioridade",
        "phasen",
    ),
    *("priorität", "priorité", "étape", "woche", "stufe", "priorità", "этап", "фаза", "приоритет", "неделя"),
    *("阶段", "优先级", "第", "フェーズ", "段階", "優先度", "단계"),
)
LEAF_WORDS = (
    *(
        "experiment",
        "exp",
        "option",
        "optimization",
        "optimisation",
        "opt",
        "task",
        "item",
        "idea",
        "technique",
    ),
    *(
        "proposal",
        "step",
        "test",
        "change",
        "fix",
        "improvement",
        "candidate",
        "action",
        "trial",
        "ticket",
        "story",
    ),
    *("lever", "approach", "paso", "passo", "schritt", "opción", "opção", "experimento", "tarea", "tarefa"),
    *("aufgabe", "optimierung", "optimización", "otimização", "optimisation", "шаг", "задача", "эксперимент"),
    *("步骤", "实验", "任务", "优化", "ステップ", "実験", "タスク"),
)

_CONTEXT_START = (
    r"executive summary|summary|overview|introduction|intro\b|background|context|motivation|goals?\b"
    r"|objectives?\b|scope"
    r"|non-?goals|problems?\b|the problem|current|existing|baseline (?:metrics|performance|results"
    r"|measurements?|numbers)"
    r"|targets?\b|results?\b|benchmarks?\b|findings?|investigation|analysis|measurements?|metrics"
    r"|evidence|root causes?"
    r"|diagnos|bottleneck|profil(?:e|ing) (?:results?|data)|breakdown|time breakdown|where (?:the )?time"
    r"|risks?\b"
    r"|mitigations?|rollback|verif(?:y|ication)|validation|testing|tests?$|test (?:plan|strategy"
    r"|commands?|matrix)"
    r"|success|acceptance|criteria|definition of|references?|resources?|links|sources|bibliography"
    r"|further reading"
    r"|related|appendix|glossary|notes?\b|important|caveats?|limitations?|assumptions?|constraints?|principles?"
    r"|guidelines?|rules|conventions|dependenc|prerequisites?|requirements?|set-?up|install|environment|hardware"
    r"|usage|getting started|files?\b|key files|new files|affected|modified|architecture|how\b|why\b"
    r"|what\b|when to"
    r"|lessons?|conclusions?|decisions?\b|decision|rejected|not worth|out of scope|already|deployed"
    r"|change ?log"
    r"|history|revision|cost\b|budget|monitoring|commands?\b|questions?|open questions|faq|contact"
    r"|approval|sign-?off"
    r"|trade-?offs?|comparison|expected|projections?|impact\b|progress|status|log\b|team"
    r"|table of contents|contents$"
    r"|quick reference|tl;?dr|key (?:insights?|takeaways?|findings?|metrics|observations?)|observations?"
    r"|insights?"
    r"|methodology|scoring|legend|definitions?|(?:example|exemplo|ejemplo|beispiel|exemple|пример)|deliverables?|outcomes?|anti-?patterns?|troubleshooting"
    r"|error handling|supported|workspace|directory|project structure|performance (?:floor|targets?"
    r"|budget|summary)"
    r"|theoretical|combined (?:impact|effect)|interaction|cumulative|total\b|tools\b|tooling required"
    r"|documentation$"
    r"|measurement|data$|code$|sample|snippets?|implementation (?:notes|details|status)"
    r"|technical (?:details|notes)"
    r"|resumen|resumo|contexto|diagn[oó]stico|riesgos|riscos|resultados?|referencias|refer[eê]ncias|conclus"
    r"|zusammenfassung|überblick|hintergrund|kontext|risiken|ergebnisse|quellen|fazit|princ[ií]pios|m[eé]tricas"
    r"|résumé|contexte|risques|résultats|références|итоги|контекст|риски|результаты|背景|概要|总结|摘要|风险|结果|参考|現状|まとめ"
)
_CONTEXT = re.compile(rf"^(?:the |our |key |main |final |post-?|some )?(?:{_CONTEXT_START})", re.IGNORECASE)
_CONTEXT_END = re.compile(
    r"\b(?:summary|analysis|results?|findings?|overview|criteria|references?|risks?|verification|metrics|details"
    r"|background|breakdown|comparison|projections?|matrix|log|history|framework|causes?|notes|estimates?|estimation)"
    r"(?:\s*\(.*\))?$",
    re.IGNORECASE,
)
_CONTEXT_INSIDE = re.compile(
    r"\b(?:root causes?|current state|success criteria|current status)\b", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:order|sequence|sequencing|schedule|timeline|calendar|checklist|matrix|at a glance|recap"
    r"|next steps?)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:plans?|planned|roadmap|to-?dos?|tasks?|backlog|queue|priorit(?:y|ies|i[sz]ed)|experiments?|optimi[sz]ations?"
    r"|improvements?|proposals?|proposed|ideas?|opportunit(?:y|ies)|techniques?|candidates?|action items?"
    r"|work items?"
    r"|next steps?|future work|things to try|to try|fixes|recommendations?|recommended|suggest(?:ed"
    r"|ions?)|initiatives?"
    r"|milestones?|campaign|quick wins?|action plan|phases?|wishlist|remaining|pending|open items|issues"
    r"|plano|plan de|fases?|tareas|tarefas|otimiza\w+|optimizaci\w+|mejoras|melhorias|aufgaben|maßnahmen"
    r"|optimierung\w*"
    r"|améliorations|tâches|план|задачи|улучшения)\b|计划|任务|优化|待办|計画|改善|タスク",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"\b(?:examples?|samples?|templates?|syntax|looks? like|such as|for instance|e\.g|prints?|printed|shows?"
    r"|like this|in (?:this|the following) format|exemplo|ejemplo|beispiel|vorlage|exemple|пример)\b"
    r"|\b(?:outputs?|formats?)\s*[:：]?$|^(?:usage|outputs?)\b|示例|模板",
    re.IGNORECASE,
)
_NOT_A_PLAN = re.compile(
    r"\b(?:agent|program|guide|manual|documentation|docs|readme|report|instructions?|runbook|specification|spec|tutorial"
    r"|change ?log|release notes|faq|reference|handbook|playbook|rules|post-?mortem|findings|results"
    r"|review|retrospective"
    r"|summary|notes|paper|architecture|overview|how to|how-to|introduction|contributing|api|log"
    r"|benchmarks?|cheat ?sheet"
    r"|complete|completed|informe|relatório|relatorio|bericht|rapport|отчет|отчёт|guía|guia|报告|指南|文档)\b",
    re.IGNORECASE,
)
_GENERIC = frozenset(
    {
        *("the", "of", "and", "for", "to", "detailed"),
        *("proposed", "planned", "possible", "potential", "remaining", "recommended"),
        *("ranked", "prioritized", "prioritised", "priority", "priorities", "implementation"),
        *("optimization", "optimizations", "optimisation", "optimisations", "improvement", "improvements"),
        *("experiment", "experiments", "opportunity", "opportunities", "roadmap", "plan"),
        *("plans", "task", "tasks", "list", "phase", "phases"),
        *("item", "items", "work", "action", "actions", "technique"),
        *("techniques", "idea", "ideas", "candidate", "candidates", "recommendation"),
        *("recommendations", "strategy", "strategies", "development", "execution", "todo"),
        *("todos", "backlog", "queue", "step", "steps", "next"),
        *("performance"),
    }
)
_BAND = re.compile(
    r"^(?:priority[:\s]+)?(?P<level>critical|urgent|highest|high|medium|moderate|mid|lowest|low|immediate|alta|media|média"
    r"|baja|baixa|hohe|mittlere|niedrige|haute|moyenne|basse|должен|高|中|低)"
    r"(?:[\s\-]*(?:priority|prio|impact|value|prioridad|prioridade|priorität|priorité|优先级|優先度|confidence))"
    r"(?:[\s\-]*(?:items?|tasks?|optimi[sz]ations?|improvements?|fixes|changes|experiments?|issues|work|wins|actions?"
    r"|recommendations?|features?|enhancements?))?(?:\s*[,/&+]\s*(?:low|high|medium)[\s\-]*(?:effort|risk|impact))?$"
    r"|^(?P<alone>critical|high|medium|low)$"
    r"|^(?:prioridade?|priorité|priorität)\s+(?P<after>alta|media|média|baja|baixa|hoch|mittel|niedrig|haute|moyenne|basse)$"
    r"|^(?P<quick>quick wins?|low[\s\-]hanging fruits?|easy wins?|big bets?|long shots?|moon ?shots?"
    r"|nice[\s\-]to[\s\-]haves?"
    r"|must[\s\-]haves?|should[\s\-]haves?|could[\s\-]haves?|strategic investments?|research bets?"
    r"|stretch goals?)\b(?!.*summary)"
    r"|^(?P<term>(?:short|near|medium|mid|long|longer)[\s\-]term)\b(?!.*summary)"
    r"|^(?P<time>now|soon|next|later|someday|immediate)$",
    re.IGNORECASE,
)
_HIGH = ("critical", "urgent", "highest", "immediate", "now", "high", "alta", "hohe", "hoch", "haute", "高")
_MEDIUM = ("medium", "moderate", "mid", "media", "média", "mittlere", "mittel", "moyenne", "中")
_LOW = ("low", "lowest", "baja", "baixa", "niedrige", "niedrig", "basse", "低", "later", "someday")
_LEVELS = {
    **dict.fromkeys(_HIGH, "high"),
    **dict.fromkeys(_MEDIUM, "medium"),
    **dict.fromkeys(_LOW, "low"),
}


_LONGEST = 600
"""Characters of a heading or entry that are looked at; what follows them is no title."""


def plain(text: str) -> str:
    """Return the text without leading signs and pictures, runs of space or a trailing colon."""
    text = text[:_LONGEST]
    start = 0
    for start, character in enumerate(text):  # noqa: B007
        if unicodedata.category(character)[0] in "LN" or character in "#[`~\"'(.+-":
            break
    else:
        return ""
    return " ".join(text[start:].split()).rstrip(":：").rstrip()


def is_context(heading: str) -> bool:
    """Whether a heading names what surrounds a plan (summary, results, risks, references), not what to do."""
    words = re.sub(r"^\d+(?:\.\d+)*[.)]?\s+", "", plain(heading))
    if _CONTEXT.match(words) or _CONTEXT_INSIDE.search(words):
        return True
    return bool(_CONTEXT_END.search(words)) and not is_band(words)


def is_order(heading: str) -> bool:
    """Whether a heading names an order or overview of items that are written out elsewhere."""
    return bool(_ORDER.search(heading))


def is_sample(text: str) -> bool:
    """Whether a heading or lead-in says that what follows only shows how something looks."""
    return bool(_SAMPLE.search(text))


def is_planlike(heading: str) -> bool:
    """Whether a heading or title speaks of things to do."""
    return bool(_PLAN.search(heading))


def is_no_plan(title: str) -> bool:
    """Whether a document's title names another kind of document: a guide, a report, an agent's program."""
    return bool(_NOT_A_PLAN.search(title)) and not re.search(
        r"\b(?:plan|roadmap|to-?dos?|backlog|queue|priorities|campaign|proposals?)\b", title, re.IGNORECASE
    )


def is_container(heading: str) -> bool:
    """Whether a heading only says that items follow (`2. Optimization Opportunities`)."""
    words = re.findall(r"\w+", re.sub(r"^\d+(?:\.\d+)*[.)]?\s+", "", plain(heading)).casefold())
    return bool(words) and _GENERIC.issuperset(words)


def is_band(heading: str) -> bool:
    """Whether a heading is a band of priority, value or time (`HIGH PRIORITY`, `Quick wins`)."""
    return _BAND.match(re.sub(r"\s*\(.*\)$", "", plain(heading))) is not None


def level_of(text: str) -> str | None:
    """Return `high`, `medium` or `low` where a band, a cell or a remark names one; else None."""
    for word in re.findall(r"\w+", text.lower()):
        if word in _LEVELS:
            return _LEVELS[word]
    return None
