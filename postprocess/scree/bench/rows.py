"""Rows of a benchmark, as scree_bench prints them in JSON (docs/benchmarks.md, "What the numbers mean")."""
import math
from typing import NamedTuple

ROLES = {"keys": "key", "size": "size", "values": "result"}    # part of a row: what its columns are


class Column(NamedTuple):
    """One value of a row under its name."""
    name: str
    value: object       # int, float or str; infinities are texts
    unit: str
    role: str           # key: what was measured; size: work of all ranks; result
    spread: float | None
    in_table: bool      # False: for files only


def columns_of(row):
    """The columns of a row in the order in which its case names them."""
    columns = []
    for name, unit in row["units"].items():
        part = next(part for part in ROLES if name in row[part])
        columns.append(Column(name, row[part][name], unit, ROLES[part], row["spreads"].get(name), name not in row["only_in_files"]))
    return columns


def spread_of(row):
    """(largest - least) / median of the seconds; None if there was one timing."""
    spread = row.get("spread")
    return spread if isinstance(spread, (int, float)) else None


def work_size(row):
    """The work of all ranks; 1 if the row has no size."""
    return next(iter(row["size"].values()), 1)


def rate_per_rank(row):
    """Work per second and rank, in units of work."""
    return work_size(row) / float(row["seconds"]) / row["ranks"]


def with_comparison(row, base):
    """The row with speed_up and efficiency before its other results: rates of work per rank over that of `base`."""
    efficiency = rate_per_rank(row) / rate_per_rank(base)
    added = {"speed_up": efficiency * row["ranks"] / base["ranks"], "efficiency": efficiency}
    return row | {"values": added | row["values"], "units": dict.fromkeys(added, "-") | row["units"]}


def compare_ranks(rows):
    """The rows, those of different numbers of ranks side by side and with speed_up and efficiency over the fewest ranks.

    Rows of a case belong together if they have the same place among the rows of their number of ranks; they are
    compared if their keys agree and all are complete.
    """
    cases = list(dict.fromkeys(row["case"] for row in rows))
    count, groups = {}, {}
    for row in rows:
        place = count[row["case"], row["ranks"]] = count.get((row["case"], row["ranks"]), -1) + 1
        groups.setdefault((cases.index(row["case"]), place), []).append(row)
    compared = []
    for _, group in sorted(groups.items()):
        group.sort(key=lambda row: row["ranks"])
        base = group[0]
        agree = len(group) > 1 and all(row.get("complete", True) and row["keys"] == base["keys"] for row in group)
        compared += [with_comparison(row, base) if agree and min(float(base["seconds"]), float(row["seconds"])) > 0 else row
                     for row in group]
    return compared


def number_text(value):
    """All digits of a value, in the shortest form that reads back as the same number."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def is_finite(value):
    return isinstance(value, float) and math.isfinite(value)
