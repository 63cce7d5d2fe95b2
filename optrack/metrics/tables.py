"""Tables in text, of whatever tool: delimited, framed or in markdown, and aligned by spaces."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from optrack.metrics.output import Output, number
from optrack.model.metrics import unit_of

MOST_ROWS = 10_000
"""At most so many rows of a table, the last ones, are read."""
_DELIMITERS = ("\t", ",", ";", "|")
_BARS = re.compile("[│┃|║]")
_RULE = re.compile(r"[-+=:|│┃║━┏┓┗┛┳┻╋┡┩╇┷┯┿─┼├┤┌┐└┘┬┴╭╮╰╯\s]+")
_UNITS = ("unit", "units")
_TOPS = "┌┏╭╔"
"""What begins a framed table."""
_MOST_CELLS = 60
_CELL_CHARS = 80
_MOSTLY = 0.6
_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_AMOUNT = re.compile(r"[-+]?\d[\d.,]*(?:\s+\S.*|[a-zµμ]{1,3}(?:/\w+)?)|.*[:=]\s?\d.*")
_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(\d+(?:\.\d+)?)s")
"""A duration of several units, `2m43.5s`."""
_PREFIX = re.compile(r"\[[A-Za-z]{1,10}\]\s+|[\w-]{1,20}: [a-z]{1,8}: +\[\d{1,9}\] +|#\s*")
"""What some programs put before each line of a table."""
_MEASURE = re.compile(
    rf"[<>~≈]?\s*({_NUMBER})\s*([A-Za-zµμ%#][\w/%µμ ]{{0,20}}?)?(?:\s*(?:±|\+/?-)\s*({_NUMBER}).{{0,20}})?"
)


@dataclass(frozen=True)
class TextTable:
    """A table's column names and its rows, each as long as the names; `lines` are the numbers of its lines."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: frozenset[int] = frozenset()

    def records(self) -> list[dict[str, str]]:
        """Return the rows by column."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


def table_rows(output: Output) -> list[dict[str, str]]:
    """Return the last rows of delimited text by column; the first line with two columns or more is the header."""
    cells = _delimited(output)
    start = next((i for i, row in enumerate(cells) if len(row) > 1), None)
    if start is None:
        return []
    header = cells[start]
    rows = [row for row in cells[start + 1 :] if len(row) == len(header)][-MOST_ROWS:]
    return [dict(zip(header, row, strict=True)) for row in rows]


def _delimited(output: Output) -> list[list[str]]:
    lines = [line for line in output.lines if line.strip()]
    sample = "\n".join(lines[:5])
    delimiter = max(_DELIMITERS, key=sample.count)
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    except csv.Error:
        return []
    return [[cell.strip() for cell in row] for row in rows]


def is_header(cells: list[str]) -> bool:
    """Whether these cells can be the names of columns: none is a measure (but for `50%`), and no two are the same."""
    named = [cell for cell in cells if cell]
    return not any(_AMOUNT.fullmatch(cell) for cell in named) and (
        len(named) >= len(cells) - 1
        and len(set(named)) == len(named)
        and not any(number(cell.removesuffix("%")) is not None and not cell.endswith("%") for cell in named)
        and all(len(cell) <= _CELL_CHARS for cell in named)
    )


def delimited_table(output: Output) -> TextTable | None:
    """Return the table that delimited text is, with what stands in rows of another length left out.

    None where the text isn't mostly one, or its first row can't be a header.
    """
    cells = _delimited(output)
    start = next((i for i, row in enumerate(cells) if len(row) > 1), None)
    if start is None or not is_header(cells[start]) or not all(cells[start]):
        return None
    width = len(cells[start])
    rows = [row for row in cells[start + 1 :] if len(row) == width]
    if not rows or len(rows) + 1 < _MOSTLY * len(cells):
        return None
    return TextTable(header=tuple(cells[start]), rows=tuple(map(tuple, rows[-MOST_ROWS:])))


def has_no_header(output: Output) -> bool:
    """Whether the text is delimited throughout, with numbers in the row where the names would stand.

    Rows of words before one number, or with units in them, are no such table, but names and values.
    """
    cells = [row for row in _delimited(output) if row]
    if all(len(row) > 2 and number(row[-1]) is not None and not any(map(number, row[:-1])) for row in cells):
        return False
    widths = {len(row) for row in cells}
    if any((measure := measure_of(cell)) is not None and measure[1] for row in cells[:1] for cell in row):
        return False
    numbers = [number(cell) for cell in cells[0]] if cells else []
    return len(widths) == 1 and max(widths) > 2 and any(value is not None for value in numbers)


def framed_tables(output: Output, *, continued: bool = False) -> Iterator[TextTable]:
    """Yield the tables whose rows are between bars: of markdown, and framed ones.

    With `continued`, a row that has its first cell alone goes on with the label of the row before, and one that
    lacks it with that row's other cells.
    """
    block: list[list[str]] = []
    at: list[int] = []
    for index, line in enumerate((*output.lines, "")):
        text = line.strip()
        cells = (
            _BARS.split(text)[1:-1] if text[:1] in "│┃|║" and text[-1:] in "│┃|║" and len(text) > 2 else []
        )
        if (block and text[:1] in _TOPS) or (len(block) > 1 and cells[:1] == block[0][:1]):
            yield from _framed(_joined(block) if continued else block, at)
            block, at = [], []
        if cells and len(cells) <= _MOST_CELLS:
            at.append(index)
            if not _RULE.fullmatch(text):
                block.append([cell.strip().strip("*`") for cell in cells])
        elif not (text and _RULE.fullmatch(text)):
            yield from _framed(_joined(block) if continued else block, at)
            block, at = [], []


def _joined(block: list[list[str]]) -> list[list[str]]:
    rows: list[list[str]] = []
    for cells in block:
        if len(rows) > 1 and not any(cells[1:]):
            rows[-1] = [f"{rows[-1][0]} {cells[0]}".strip(), *rows[-1][1:]]
        elif len(rows) > 1 and not cells[0] and len(cells) == len(rows[-1]):
            rows[-1] = [f"{a}{b}" for a, b in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows


def _framed(block: list[list[str]], at: list[int]) -> Iterator[TextTable]:
    if len(block) < 2 or not is_header(block[0]):
        return
    rows = [row for row in block[1:] if len(row) == len(block[0])][-MOST_ROWS:]
    if rows:
        yield TextTable(header=tuple(block[0]), rows=tuple(map(tuple, rows)), lines=frozenset(at))


def aligned_tables(output: Output) -> Iterator[TextTable]:
    """Yield the tables whose columns are apart by spaces alone: a line of names over lines mostly of numbers.

    The first column may have no name.
    """
    lines, index = output.lines, 0
    while index < len(lines) - 1:
        table = _aligned(lines, index)
        if table is not None:
            yield table
            index = max(table.lines)
        index += 1


def _aligned(lines: tuple[str, ...], start: int) -> TextTable | None:
    for split in (str.split, _by_gaps):
        header = split(_unprefixed(lines[start]))
        if (
            not 1 < len(header) <= _MOST_CELLS
            or not is_header(header)
            or any(h.endswith(":") for h in header)
        ):
            continue
        at, rows = [start], list[list[str]]()
        for index in range(start + 1, len(lines)):
            row = split(_unprefixed(lines[index]))
            if (row and _RULE.fullmatch(lines[index])) or (not rows and _units_below(header, row)):
                at.append(index)
            elif len(row) in (len(header), len(header) + 1) and _is_numeric(row, header):
                rows.append(row)
                at.append(index)
            else:
                break
        widths = {len(row) for row in rows}
        has_unit = any(
            unit_of(unit) is not None for unit in re.findall(r"\(([^()]{1,30})\)", " ".join(header))
        )
        if len(widths) == 1 and (max(widths) > 2 or has_unit):
            names = header if widths == {len(header)} else ["", *header]
            return TextTable(header=tuple(names), rows=tuple(map(tuple, rows)), lines=frozenset(at))
    return None


def _unprefixed(line: str) -> str:
    """Return a table's line without what its program puts before each, and an uncertainty as one word."""
    prefix = _PREFIX.match(line.lstrip())
    text = line.lstrip()[prefix.end() :] if prefix is not None else line
    return re.sub(r"±\s+", "±", text)


def _units_below(header: list[str], row: list[str]) -> bool:
    """Whether a row has the units of the columns above, in brackets; they are joined to the last names then."""
    if not row or len(row) > len(header) or not all(re.fullmatch(r"[(\[].{1,30}[)\]]", cell) for cell in row):
        return False
    for index, unit in enumerate(row, start=len(header) - len(row)):
        header[index] += f" {unit}"
    return True


def matrices(output: Output) -> Iterator[tuple[str, list[tuple[str, str, float]], frozenset[int]]]:
    """Yield the tables whose columns and rows are numbered, as a measure between pairs is printed.

    Each with the line above it, its cells as row, column and value, and the numbers of its lines.
    """
    lines, index = output.lines, 1
    while index < len(lines) - 1:
        columns = lines[index].split()
        columns = columns[1:] if columns and not columns[0].isdecimal() else columns
        end, cells = index + 1, []
        if 1 < len(columns) <= _MOST_CELLS and columns == [str(n) for n in range(len(columns))]:
            while (
                end < len(lines) and len(row := lines[end].split()) == len(columns) + 1 and row[0].isdecimal()
            ):
                values = zip(columns, map(number, row[1:]), strict=True)
                cells += [(row[0], column, value) for column, value in values if value is not None]
                end += 1
        if cells:
            yield lines[index - 1].strip(), cells, frozenset(range(index - 1, end))
        index = max(end, index + 1) if cells else index + 1


def _by_gaps(line: str) -> list[str]:
    return re.split(r"\s\s+", line.strip()) if line.strip() else []


def _is_numeric(row: list[str], header: list[str]) -> bool:
    """Whether a row is mostly measures (and their units, where a column is for them), with words before them, or
    nothing else."""
    units = {index for index, name in enumerate(header, len(row) - len(header)) if name.casefold() in _UNITS}
    measures = sum(_MEASURE.fullmatch(cell.lstrip("±")) is not None for cell in row) + len(units)
    return (number(row[0]) is None and 2 * measures >= len(row)) or measures == len(row)


def measure_of(cell: str) -> tuple[float, str, float | None] | None:
    """Return the number in a cell, the text of its unit and its deviation: `12.5 ms`, `1,204 ± 3`; None if none."""
    if len(cell) > _CELL_CHARS:
        return None
    if (span := _SPAN.fullmatch(cell.strip())) is not None and (span[1] or span[2]):
        return int(span[1] or 0) * 3600 + int(span[2] or 0) * 60 + float(span[3]), "s", None
    if (match := _MEASURE.fullmatch(cell.strip())) is None:
        return None
    value = number(match[1])
    return None if value is None else (value, (match[2] or "").strip(), number(match[3] or ""))
