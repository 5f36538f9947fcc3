"""Tables for the terminal and as CSV."""
import csv
import io
import math
import re

from .rows import columns_of, is_finite, number_text, spread_of

TABLE_WIDTH = 118
WIDE = 1e4          # numbers of a column that differ by more get a unit each
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"))


def short_text(value):
    """Three digits, without a power of ten where that takes no more room."""
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return f"{value:g}"
    if size >= 1e6 or size < 1e-3:
        return f"{value:.1e}"
    return f"{value:.0f}" if size >= 100 else f"{value:.3g}"


def percent(share):
    return f"{100 * share:.0f} %"


def wrapped(text, margin, most):
    """The text in lines of at most `most` characters where words allow it."""
    lines = ""
    while text:
        end = len(text)
        if end > most:
            end = text.rfind(" ", 0, most + 1)
            if end <= 0:
                end = text.find(" ", most)
                end = len(text) if end < 0 else end
        lines += f"{margin}{text[:end]}\n"
        text = text[end + 1:]
    return lines


def takes_prefix(unit):
    return unit in ("s", "B") or unit.endswith("/s")


def prefix_of(value, unit):
    """Factor and sign of the prefix that brings a number near 1."""
    if not takes_prefix(unit) or value == 0 or not math.isfinite(value):
        return 1, ""
    for factor, sign in PREFIXES:
        if abs(value) >= factor and (unit != "s" or factor <= 1):
            return factor, sign
    return (1e-9, "n") if unit == "s" else (1, "")


def with_prefix(sign, unit):
    return sign + (unit[1:] if sign and unit.startswith("1/") else unit)


class TableColumn:
    """A column of a table: its head in lines, its unit, a cell per row."""

    def __init__(self, head, unit, cells, is_key=False):
        self.head, self.unit, self.cells, self.is_key = head, unit, cells, is_key
        self.width = max(map(len, [unit, *head, *cells]))


def head_of(name, cells):
    """The words of a name in lines about as wide as the column."""
    width = max(8, *map(len, cells))
    lines = []
    for word in re.split("[_ ]", name):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def table_column(name, unit, values, is_key=False):
    """A column of numbers or texts; None: missing. Numbers of very different sizes get units of their own."""
    sizes = sorted(abs(value) for value in values if is_finite(value) and value != 0)
    factor, sign = prefix_of(sizes[len(sizes) // 2] if sizes else 0, unit)
    is_wide = takes_prefix(unit) and bool(sizes) and sizes[-1] > WIDE * sizes[0]

    def cell(value):
        if value is None:
            return ""
        if not isinstance(value, float):
            return number_text(value) or "-"
        if not is_wide:
            return short_text(value / factor)
        own_factor, own_sign = prefix_of(value, unit)
        return f"{short_text(value / own_factor)} {with_prefix(own_sign, unit)}"

    cells = [cell(value) for value in values]
    return TableColumn(head_of(name, cells), "" if unit == "-" or is_wide else with_prefix(sign, unit), cells, is_key)


def all_columns(rows, chosen):
    """A column of each name as `chosen` says, in the order in which they first occur."""
    found = {}
    for row in rows:
        for column in columns_of(row):
            if chosen(column):
                found.setdefault(column.name, column)
    return list(found.values())


def is_key(column):
    return column.role != "result"


def table_columns(rows):
    def of_kind(keys):
        values = [{column.name: column.value for column in columns_of(row)} for row in rows]
        return [table_column(column.name, column.unit, [of_row.get(column.name) for of_row in values], keys)
                for column in all_columns(rows, lambda column: column.in_table and is_key(column) == keys)]

    work = rows[0]["work"]
    table = [*of_kind(True), table_column("ranks", "-", [row["ranks"] for row in rows], True),
             table_column(f"per {work}" if work else "seconds", "s", [float(row["seconds"]) for row in rows])]
    spreads = [spread_of(row) for row in rows]
    if any(spread is not None for spread in spreads):
        table.append(TableColumn(["spread"], "", ["" if spread is None else percent(spread) for spread in spreads]))
    return table + of_kind(False)


def format_block(columns, rows, with_notes):
    """Columns side by side; shares of phases and notes below each row if asked for."""
    def line(cells):
        return "  ".join(f"{cell:>{column.width}}" for cell, column in zip(cells, columns)).rstrip(" ") + "\n"

    height = max(len(column.head) for column in columns)
    text = "".join(line([([""] * (height - len(column.head)) + column.head)[level] for column in columns])
                   for level in range(height))
    if any(column.unit for column in columns):
        text += line([column.unit for column in columns])
    for number, row in enumerate(rows):
        text += line([column.cells[number] for column in columns])
        if with_notes:
            phases = ", ".join(f"{name} {percent(share)}" for name, share in row["phases"].items())
            text += "".join(wrapped(note, "    ", TABLE_WIDTH - 4) for note in [phases, *row["notes"]])
    return text


def format_rows(rows, processor):
    """A table: the processor (empty: not known), then keys, ranks, seconds and results, phases and notes below each row.

    Blocks of columns that do not fit side by side follow each other.
    """
    if not rows:
        return ""
    columns = table_columns(rows)
    keys = [column for column in columns if column.is_key]
    width_of_keys = sum(column.width + 2 for column in keys)
    blocks, width = [list(keys)], width_of_keys
    for column in columns:
        if column.is_key:
            continue
        if width + column.width > TABLE_WIDTH and len(blocks[-1]) > len(keys):
            blocks.append(list(keys))
            width = width_of_keys
        blocks[-1].append(column)
        width += column.width + 2
    text = "".join(format_block(block, rows, number == 0) for number, block in enumerate(blocks))
    return (f"on {processor}\n" if processor else "") + text


def rows_as_csv(rows, processor):
    """All columns that any row has, shares of phases as share_NAME, the processor last (RFC 4180, line ends as in Unix)."""
    def measured(value):
        return f"{value:.4g}" if isinstance(value, (int, float)) else ""

    headings = all_columns(rows, is_key), all_columns(rows, lambda column: not is_key(column))
    phases = list(dict.fromkeys(name for row in rows for name in row["phases"]))
    has_spread = any(spread_of(row) is not None for row in rows)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    for number, row in enumerate(rows):
        of_row = {column.name: column for column in columns_of(row)}

        def cells(columns):
            found = {}
            for heading in columns:
                column = of_row.get(heading.name)
                found[heading.name] = number_text(column.value) if column else ""
                if heading.spread is not None:
                    found[heading.name + "_spread"] = measured(column.spread if column else None)
            return found

        line = {"case": row["case"], "mode": row["mode"], "ranks": row["ranks"]} | cells(headings[0])
        line["seconds"] = number_text(row["seconds"])
        if has_spread:
            line["spread"] = measured(spread_of(row))
        line |= cells(headings[1])
        line |= {"share_" + name.replace(" ", "_"): measured(row["phases"].get(name)) for name in phases}
        line["processor"] = processor
        if number == 0:
            writer.writerow(line)
        writer.writerow(line.values())
    return table.getvalue()
