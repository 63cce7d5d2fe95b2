"""Lines of text as readings: a name, a number and a unit; and rows of several measures in a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from optrack.metrics.output import Output, number
from optrack.metrics.rows import Found, add_measure, add_rows, is_setting, named, slugged
from optrack.metrics.tables import measure_of
from optrack.metrics.tool import setting_of
from optrack.model.metrics import SIZES, metric_named, unit_of

_LINE_CHARS = 400
_STAMP = re.compile(
    r"^\s{0,20}\[?(?:\d{2,4}[-/]\d\d[-/]\d{2,4}[-T ]{0,2})?\d\d:\d\d:\d\d\S{0,12}\]?\s*(?:[-|:]\s*)?"
    r"(?:\[[A-Z]\]\s*|(?:INFO|DEBUG|WARNING|WARN|ERROR)\s*(?:[-|:]\s*)?)?"
    r"|^\s{0,20}\[\s?[A-Za-z_]{2,16}\s?\]\s+"
    r"|^\s*(?:INFO|DEBUG|WARNING|WARN|ERROR)\b\W*"
)
_SERVER = re.compile(r"^\W{0,3}\([\w.]{1,40} pid=\d+\)")
_LOG = re.compile(r"^\W{0,3}\([\w.]{1,40} pid=\d+\)|\b(?:INFO|DEBUG|WARNING|WARN|ERROR)\b")
_NUMBER = r"[-+]?(?:\d(?:[\d,]*\d)?\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_UNIT = r"(?:/ ?|[A-Za-zµμ%#])[\w/µμ%]*(?: ?per [a-z]+)?"
_SPAN = r"(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s"
_LINE = re.compile(
    rf"^(?P<indent>\s*)(?:[-*•]\s+)?(?P<label>[^\W\d_][^:=\n]{{0,80}}?(?::\s+[^\W\d](?:[^:=\s]|\s(?!\s)){{0,60}}?)?"
    rf"|\d[\d.]*(?:th percentile|%))\s*(?:[:=]\s*\.{{0,200}}|\.{{3,200}}:?)\s*"
    rf"(?P<value>{_SPAN}(?=\s*$)|{_NUMBER})\s?(?P<unit>{_UNIT}(?:\(s\))?)?(?:\s*(?:±|\+/?-)\s*(?P<deviation>{_NUMBER})\s?\S{{0,12}})?"
    rf"(?P<rest>(?:\s*[(\[][^()\[\]]{{0,60}}[)\]]){{0,3}})\s*$"
)
_HEADING = re.compile(
    r"^(?P<indent>\s*)(?:(?P<label>[^\W\d_][^=\n]{0,60}?):|\[(?P<boxed>[A-Z][^\[\]\n]{2,60})\]"
    r"|[-=#*]{2,}\s(?P<ruled>[^\W\d_][^\n]{1,60}?)\s[-=#*]{2,})\s*$"
)
_LISTED = re.compile(
    r"^\s*(?P<label>[^\W\d][\w ]{0,30}?)\s*[\[(](?P<names>[\w., ]{1,80})[\])](?::\s*|\s+)"
    r"(?P<values>[^,\s]{1,20}(?:, ?[^,\s]{1,20}){0,9})\s*$"
)
_SLASHED = re.compile(
    rf"^\s*(?P<label>[^\W\d][\w ]{{0,30}}?)\s+(?P<names>\w+(?:/\w+){{1,9}})\s*[=:]\s*"
    rf"(?P<values>{_NUMBER}(?:/{_NUMBER}){{1,9}})\s?(?P<unit>{_UNIT})?\s*$"
)
_STATISTIC = re.compile(
    r"(?:avg|average|mean|median|med|min|max|std(?:dev)?|stdev|sum|p\d+(?:_\d+)?|total|count)"
)
_BETWEEN = re.compile(
    r"\s*(?:[;|]|,(?=\s)|\s[/@#](?=\s)|\s\((?!s\)|[^()]*\)\s*[:=])|(?<!%)\)(?=\s|$)|\t"
    r"|(?<![:=\s])\s{3,}(?![:=\s]))\s*"
)
"""What stands between the measures of a line."""
_LABELLED = re.compile(
    rf"^(?P<label>[^\W\d_].{{0,80}}?)(?P<sign>\s*[:=]\s*|\s+)(?P<value>{_SPAN}(?=$)|{_NUMBER})(?:\s{{0,2}}(?P<unit>{_UNIT}))?$"
)
_BARE = re.compile(rf"^(?P<value>{_NUMBER})(?:\s?(?P<unit>{_UNIT}))?(?P<label>(?:\s[a-z-]{{1,20}}){{0,3}})$")
_BEFORE_A_PAIR = re.compile(rf"(?<=[\w%])\s+(?=[^\W\d_][\w.@%/()-]{{0,40}}={_NUMBER})")
_AFTER_A_MEASURE = re.compile(
    rf"(?<![\w.])({_NUMBER}\s?(?:{_UNIT})?)\s+(?=[^\W\d_][\w.@%/()-]{{0,40}}\s?[=:]\s{{0,3}}{_NUMBER})"
)
_TWO_MEASURES = re.compile(rf"(?<![\w.])({_NUMBER} ({_UNIT}))\s+(?={_NUMBER} {_UNIT})")
_DIGIT = re.compile(r"\d")
_MOST_LABEL_WORDS = 8
_MOST_PLAIN_WORDS = 3
_MOST_PARTS = 40


@dataclass(frozen=True)
class _Line:
    """A line with its measure, and what tells where it stands."""

    match: re.Match[str]
    section: str
    stamped: bool


def add_lines(output: Output, found: Found, taken: frozenset[int]) -> None:
    """Add lines of one name and one value, and rows of several measures."""
    section, indent = "", 0
    single: list[_Line] = []
    series: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for index, full in enumerate(output.lines):
        if index in taken or len(full) > _LINE_CHARS or not full.strip():
            section = "" if not full else section
            continue
        line = _STAMP.sub("", full, count=1)
        stamped = len(line) != len(full) or _LOG.search(full) is not None
        if (heading := _HEADING.match(line)) is not None:
            section = heading["label"] or heading["boxed"] or heading["ruled"]
            indent = len(heading["indent"]) if heading["label"] or heading["boxed"] else -1
        elif _DIGIT.search(line) is None:
            continue
        elif (match := _LINE.match(line)) is not None:
            single.append(_Line(match, section if len(match["indent"]) > indent else "", stamped))
        elif (listed := _LISTED.match(line)) is not None:
            _add_listed(found, listed["label"], listed["names"].split(","), listed["values"].split(","))
        elif (listed := _SLASHED.match(line)) is not None:
            cells = [f"{cell} {listed['unit'] or ''}".strip() for cell in listed["values"].split("/")]
            _add_listed(found, listed["label"], listed["names"].split("/"), cells)
        elif (
            _SERVER.search(full) is None
            and (row := _measures(line)) is not None
            and (not stamped or _has_units(row))
        ):
            series.setdefault(tuple(row), []).append(row)
    _add_single(found, single)
    for rows in series.values():
        leads = {row.get("", "") for row in rows}
        bare = all(_STATISTIC.fullmatch(slugged(name)) or unit_of(name) for name in rows[0] if name)
        same = slugged(leads.pop()) if len(leads) == 1 and bare else ""
        add_rows(found, [{k: v for k, v in row.items() if k or not same} for row in rows], prefix=same)


def _has_units(row: dict[str, str]) -> bool:
    measured = [measure_of(value) for value in row.values()]
    return any(m is not None and m[1] and unit_of(m[1]) for m in measured) or any(named(k)[1] for k in row)


def _add_single(found: Found, lines: list[_Line]) -> None:
    """Add lines of one measure; a label that stands in several sections goes with them, of others the last counts."""
    sections: dict[str, set[str]] = {}
    for line in lines:
        sections.setdefault(line.match["label"].strip(" ."), set()).add(line.section)
    again: set[str] = set()
    for line in lines:
        label = line.match["label"].strip(" .")
        apart = line.section and (len(sections[label]) > 1 or _STATISTIC.fullmatch(named(label)[0]))
        again |= _add_line(found, line, f"{line.section} {label}" if apart else label, label)
    if again:
        found.notes.append(
            f"{len(again)} names are there several times ({', '.join(sorted(again)[:5])}); the last counts"
        )


def _add_line(found: Found, line: _Line, full: str, label: str) -> set[str]:
    match, spelled = line.match, (line.match["unit"] or "").removesuffix("(s)")
    measure = measure_of(match["value"])
    if measure is None or len(label.split()) > _MOST_LABEL_WORDS:
        return set()
    name, unit = named(full)
    if is_setting(label):
        found.settings[name] = setting_of(match["value"])
        return set()
    if spelled and unit_of(spelled) is None and spelled not in ("k", "K", "M", "G", "x"):
        found.notes.append(f"{label}: '{spelled}' is no unit that is known, so the line was left out")
        return set()
    if line.stamped and unit is None and not spelled and metric_named(name, unit=unit).better is None:
        return set()
    again = {name} if found.readings.pop(name, None) is not None else set()
    deviation = measure_of(match["deviation"]) if match["deviation"] else None
    add_measure(found, name, measure[0], spelled or measure[1], unit, "", deviation[0] if deviation else None)
    for inner in re.findall(r"[(\[]([^()\[\]]*)[)\]]", match["rest"]):
        more = measure_of(inner)
        if (
            more is not None
            and unit_of(more[1]) is not None
            and f"{name}_{slugged(more[1])}" not in found.readings
        ):
            found.add(f"{name}_{slugged(more[1]) or 'pct'}", more[0], unit_of(more[1]))
    return again


def _add_listed(found: Found, label: str, names: list[str], cells: list[str]) -> None:
    """Add the values of a line such as `Latencies  [mean, 99, max]  2.6ms, 6.1ms, 12ms` or `rtt min/avg = 1/2 ms`."""
    for name, cell in zip(names, cells, strict=False):
        measure = measure_of(cell)
        statistic = f"p{name.strip()}" if name.strip().replace(".", "").isdecimal() else name
        if measure is not None and len(names) == len(cells):
            add_measure(found, slugged(f"{label} {statistic}"), measure[0], measure[1], None, "", None)


def _measures(line: str) -> dict[str, str] | None:
    """Return a line of several measures as a row, the words before them under an empty name.

    A measure has its name before it (`latency: 5 ms`, `p99=5ms`), or after it, or no other than its unit (`51.6 MB/s`);
    then the name of the first is the row's. Words before a single number at the end of the line are its name together.
    """
    parts = [part for part in _BETWEEN.split(_apart(line.strip(" -|>*#"))) if part]
    if len(parts) > _MOST_PARTS:
        return None
    lead: list[str] = []
    row: dict[str, str] = {}
    unnamed = counts = 0
    for part in parts:
        labelled, bare = _LABELLED.match(part), _BARE.match(part)
        if bare is not None and not row and not lead and (unit_of(bare["unit"] or "") or "") in SIZES:
            lead.append(part)
        elif bare is not None and (bare["unit"] or bare["label"]):
            if (bare["unit"] or "").startswith("/"):  # so many of as many, as a bar of progress says
                continue
            is_unit = unit_of(bare["unit"] or "") is not None
            key = (
                bare["label"] if is_unit and bare["label"] else f"{bare['unit'] or ''}{bare['label']}"
            ).strip()
            unnamed += not bare["label"] or not is_unit
            row.setdefault(key, f"{bare['value']} {(bare['unit'] or '') if is_unit else ''}".strip())
        elif labelled is not None and _is_label(labelled):
            key, unit = labelled["label"].strip(" :="), labelled["unit"] or ""
            key = f"{key} ({unit})" if key in row and unit else key
            counts += not row and bool(unit) and unit_of(unit) is None
            row.setdefault(key, f"{labelled['value']} {unit}".strip())
        elif bare is None and not row:
            lead.append(part.strip(" :"))
        elif bare is not None and part == parts[-1] and not row:
            return _one_at_the_end(lead, part)
    if len(row) == 1 and len(parts) == 1:
        return row if not unnamed and line.strip()[0].isdigit() and _has_units(row) else None
    return _with_lead([word for word in lead if word], row, unnamed + counts, line)


def _is_label(match: re.Match[str]) -> bool:
    """Whether the words before a number are its name: few of them, and a known unit where no sign tells so."""
    words = len(match["label"].split())
    told = match["sign"].strip() or (words <= _MOST_PLAIN_WORDS and unit_of(match["unit"] or "") is not None)
    return bool(told) and words <= _MOST_LABEL_WORDS


def _with_lead(lead: list[str], row: dict[str, str], unnamed: int, line: str) -> dict[str, str] | None:
    if len(row) < 2 and not (unnamed and lead and _has_units(row)):
        return None
    first, value = next(iter(row.items()))
    measure = measure_of(value)
    is_named = measure is not None and first != measure[1] and not line.strip()[0].isdigit()
    if unnamed and is_named and measure is not None:
        lead, rest = [*lead, first], {k: v for k, v in row.items() if k != first}
        row = {measure[1] or "value": value, **rest}
    elif not unnamed and not lead and (start := re.match(r"(.*\S)\s*:\s+(.+)", first)) is not None:
        lead, rest = [start[1]], {k: v for k, v in row.items() if k != first}
        row = {start[2]: value, **rest}
    elif not unnamed and not lead and all(_STATISTIC.fullmatch(slugged(k)) for k in list(row)[1:]):
        base, _, statistic = first.rpartition(" ")
        if base and _STATISTIC.fullmatch(slugged(statistic)):
            lead, row = [base], {statistic: value, **{k: v for k, v in row.items() if k != first}}
    words = " ".join(" ".join(lead).split())
    if len(words.split()) > _MOST_LABEL_WORDS // 2:
        return None
    row = {"": words, **row} if lead else row
    covered = sum(len(k) + len(v) for k, v in row.items())
    return row if covered >= 0.5 * len(" ".join(line.split())) else None


def _apart(line: str) -> str:
    """Return a line whose `name=value` pairs, and measures without a name, stand apart by commas."""
    line = _BEFORE_A_PAIR.sub(", ", line) if "=" in line else line
    line = _AFTER_A_MEASURE.sub(r"\1, ", line)
    return _TWO_MEASURES.sub(lambda m: m[0] if unit_of(m[2]) is None else f"{m[1]}, ", line)


def _one_at_the_end(lead: list[str], value: str) -> dict[str, str] | None:
    label = " ".join(word.strip("[]") for word in lead)
    name, unit = named(label)
    known = unit is not None or metric_named(name).better is not None
    return {label: value} if known and number(value) is not None and len(lead) <= 3 else None
