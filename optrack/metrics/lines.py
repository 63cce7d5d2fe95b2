"""Lines of text as readings: a name, a number and a unit; or rows of `name=value` pairs."""

from __future__ import annotations

import re

from optrack.metrics.output import Output
from optrack.metrics.rows import Found, add_measure, add_rows, is_setting, named, slugged
from optrack.metrics.tables import measure_of
from optrack.metrics.tool import setting_of
from optrack.model.metrics import metric_named, unit_of

_LINE_CHARS = 400
_STAMP = re.compile(
    r"^\s{0,20}\[?(?:\d{4}[-/]\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d\S{0,12}\]?\s*(?:[-|:]\s*)?"
    r"|^\s*(?:INFO|DEBUG|WARNING|WARN|ERROR)\b\W*"
)
_LOG = re.compile(r"^\W{0,3}\([\w.]{1,40} pid=\d+\)|\b(?:INFO|DEBUG|WARNING|WARN|ERROR)\b")
_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_UNIT = r"(?:/ ?|[A-Za-zµμ%#])[\w/µμ%]*(?: ?per [a-z]+)?"
_LINE = re.compile(
    rf"^(?P<indent>\s*)(?:[-*•]\s+)?(?P<label>[^\W\d_][^:=\n]{{0,80}}?|\d[\d.]*(?:th percentile|%))"
    rf"\s*(?:[:=]\s*\.{{0,200}}|\.{{3,200}}:?)\s*"
    rf"(?P<value>{_NUMBER})\s?(?P<unit>{_UNIT})?(?:\s*(?:±|\+/?-)\s*(?P<deviation>{_NUMBER})\s?\S{{0,12}})?"
    rf"(?P<rest>(?:\s*[(\[][^()\[\]]{{0,60}}[)\]]){{0,3}})\s*$"
)
_HEADING = re.compile(r"^(?P<indent>\s*)(?P<label>[^\W\d_][^=\n]{0,60}?):\s*$")
_PAIR = re.compile(
    rf"(?P<name>[^\W\d_][\w.@%/-]{{0,40}})\s?[=:]\s{{0,3}}(?P<value>{_NUMBER})\s?(?P<unit>{_UNIT}(?![\w.@%/-]*\s?[=:]))?"
)
_LISTED = re.compile(
    r"^(?P<label>[A-Z][\w ]{0,30}?)\s+\[(?P<names>[\w., ]{1,80})\]"
    r"\s+(?P<values>[^,\s]{1,20}(?:, ?[^,\s]{1,20}){0,9})\s*$"
)
_STATISTIC = re.compile(
    r"(?:avg|average|mean|median|med|min|max|std(?:dev)?|stdev|sum|p\d+(?:_\d+)?|total|count)"
)
_MOST_LABEL_WORDS = 8


def add_lines(output: Output, found: Found, taken: frozenset[int]) -> None:
    """Add lines of one name and one value, and rows of `name=value` pairs."""
    section, indent, again = "", 0, set()
    series: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for index, full in enumerate(output.lines):
        if index in taken or len(full) > _LINE_CHARS or not full.strip():
            section = "" if not full.strip() and not full else section
            continue
        line = _STAMP.sub("", full, count=1)
        stamped = len(line) != len(full)
        if (heading := _HEADING.match(line)) is not None:
            section, indent = heading["label"], len(heading["indent"])
        elif (match := _LINE.match(line)) is not None:
            inside = section if len(match["indent"]) > indent else ""
            again |= _add_line(found, match, inside, stamped=stamped or _LOG.search(full) is not None)
        elif (listed := _LISTED.match(line)) is not None:
            _add_listed(found, listed)
        elif not stamped and _LOG.search(full) is None and (row := _pairs(line)) is not None:
            series.setdefault(tuple(row), []).append(row)
    if again:
        found.notes.append(
            f"{len(again)} names are there several times ({', '.join(sorted(again)[:5])}); the last counts"
        )
    for rows in series.values():
        leads = {row.get("", "") for row in rows}
        bare = all(_STATISTIC.fullmatch(slugged(name)) for name in rows[0] if name)
        same = slugged(leads.pop()) if len(leads) == 1 and bare else ""
        add_rows(found, [{k: v for k, v in row.items() if k or not same} for row in rows], prefix=same)


def _add_line(found: Found, match: re.Match[str], section: str, *, stamped: bool) -> set[str]:
    label, spelled = match["label"].strip(" ."), match["unit"] or ""
    measure = measure_of(match["value"])
    if measure is None or len(label.split()) > _MOST_LABEL_WORDS:
        return set()
    name, unit = named(label)
    if _STATISTIC.fullmatch(name) and section:
        name, unit = named(f"{section} {label}")
    if is_setting(label):
        found.settings[name] = setting_of(match["value"])
        return set()
    if spelled and unit_of(spelled) is None and spelled not in ("k", "K", "M", "G", "x"):
        found.notes.append(f"{label}: '{spelled}' is no unit that is known, so the line was left out")
        return set()
    if stamped and unit is None and not spelled and metric_named(name, unit=unit).better is None:
        return set()
    if section and name in found.readings:
        name, unit = named(f"{section} {label}")
    again = {name} if found.readings.pop(name, None) is not None else set()
    deviation = measure_of(match["deviation"]) if match["deviation"] else None
    add_measure(found, name, measure[0], spelled, unit, "", deviation[0] if deviation else None)
    for inner in re.findall(r"[(\[]([^()\[\]]*)[)\]]", match["rest"]):
        more = measure_of(inner)
        if (
            more is not None
            and unit_of(more[1]) is not None
            and f"{name}_{slugged(more[1])}" not in found.readings
        ):
            found.add(f"{name}_{slugged(more[1]) or 'pct'}", more[0], unit_of(more[1]))
    return again


def _add_listed(found: Found, match: re.Match[str]) -> None:
    """Add the values of a line such as `Latencies  [mean, 99, max]  2.6ms, 6.1ms, 12ms`."""
    names, cells = match["names"].split(","), match["values"].split(",")
    for name, cell in zip(names, cells, strict=False):
        measure = measure_of(cell)
        statistic = f"p{name.strip()}" if name.strip().replace(".", "").isdecimal() else name
        if measure is not None and len(names) == len(cells):
            add_measure(
                found, slugged(f"{match['label']} {statistic}"), measure[0], measure[1], None, "", None
            )


def _pairs(line: str) -> dict[str, str] | None:
    """Return a line of two or more `name=value` pairs as a row, the words before them under an empty name."""
    pairs = list(_PAIR.finditer(line))
    lead = line[: pairs[0].start()].strip(" :-|>*") if len(pairs) > 1 else ""
    if len(pairs) < 2 or len(lead.split()) > 4 or len({m["name"] for m in pairs}) < len(pairs):
        return None
    covered = sum(match.end() - match.start() for match in pairs) + len(lead)
    if covered < 0.7 * len(line.strip()):
        return None
    row = {"": lead} if lead else {}
    return row | {match["name"]: f"{match['value']} {match['unit'] or ''}".strip() for match in pairs}
