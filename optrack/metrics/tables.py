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
_MOST_CELLS = 60
_CELL_CHARS = 80
_MOSTLY = 0.6
_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
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
    """Whether these cells can be the names of columns: none is a number, and no two are the same."""
    named = [cell for cell in cells if cell]
    return (
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
    """Whether the text is delimited throughout, with numbers in the row where the names would stand."""
    cells = [row for row in _delimited(output) if row]
    widths = {len(row) for row in cells}
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
        header = split(lines[start].removeprefix("#"))
        if not 1 < len(header) <= _MOST_CELLS or not is_header(header):
            continue
        at, rows = [start], []
        for index in range(start + 1, len(lines)):
            row = split(lines[index])
            if row and _RULE.fullmatch(lines[index]):
                at.append(index)
            elif len(row) in (len(header), len(header) + 1) and _is_numeric(row):
                rows.append(row)
                at.append(index)
            else:
                break
        widths = {len(row) for row in rows}
        has_unit = any(unit_of(unit) is not None for unit in re.findall(r"\(([^()]{1,30})\)", lines[start]))
        if len(widths) == 1 and (max(widths) > 2 or has_unit):
            names = header if widths == {len(header)} else ["", *header]
            return TextTable(header=tuple(names), rows=tuple(map(tuple, rows)), lines=frozenset(at))
    return None


def _by_gaps(line: str) -> list[str]:
    return re.split(r"\s\s+", line.strip()) if line.strip() else []


def _is_numeric(row: list[str]) -> bool:
    measures = sum(_MEASURE.fullmatch(cell) is not None for cell in row)
    return (number(row[0]) is None and 2 * measures >= len(row)) or measures == len(row)


def measure_of(cell: str) -> tuple[float, str, float | None] | None:
    """Return the number in a cell, the text of its unit and its deviation: `12.5 ms`, `1,204 ± 3`; None if none."""
    if len(cell) > _CELL_CHARS or (match := _MEASURE.fullmatch(cell.strip())) is None:
        return None
    value = number(match[1])
    return None if value is None else (value, (match[2] or "").strip(), number(match[3] or ""))
