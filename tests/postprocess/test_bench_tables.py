"""Tables, CSV and comparisons that scree.bench makes of rows of scree_bench."""
import re

from pytest import approx

from scree.bench.rows import compare_ranks
from scree.bench.tables import format_rows, rows_as_csv, wrapped


def row_of(ranks, seconds, bodies, law="hertz"):
    return {"case": "dem", "mode": "strong", "ranks": ranks, "work": "step", "seconds": seconds, "complete": True,
            "keys": {"law": law}, "size": {"bodies": bodies}, "values": {"rate": 1 / seconds},
            "units": {"law": "-", "bodies": "-", "rate": "1/s"}, "spreads": {}, "phases": {}, "only_in_files": [], "notes": []}


def squeezed(text):
    """The text with one blank where there are several."""
    return re.sub(" +", " ", text)


def test_rows_of_a_case_are_compared_by_rates_of_work_per_rank():
    """The second row of four ranks has 3 times the work of that on one."""
    rows = compare_ranks([row_of(4, 1, 1000), row_of(4, 2, 3000), row_of(1, 2, 1000), row_of(1, 1, 1000)])
    assert [row["ranks"] for row in rows] == [1, 4, 1, 4]
    assert [row["values"]["efficiency"] for row in rows] == approx([1, 1 / 2, 1, 3 / 8])
    assert [row["values"]["speed_up"] for row in rows] == approx([1, 2, 1, 3 / 2])
    assert list(rows[0]["values"]) == ["speed_up", "efficiency", "rate"], "before the other results"


def test_rows_with_different_keys_or_alone_are_not_compared():
    incomplete = row_of(2, 1, 10) | {"complete": False}
    for rows in ([row_of(1, 1, 10, "linear"), row_of(2, 1, 10)], [row_of(1, 1, 10), incomplete], [row_of(2, 1, 10)]):
        assert all("speed_up" not in row["values"] for row in compare_ranks(rows))


def test_csv_has_the_columns_of_all_rows():
    first, second = row_of(1, 0.5, 10), row_of(2, 0.25, 10)
    second["spread"] = 0.125
    second["values"]["comment"], second["units"]["comment"] = "one, two", "-"
    first["phases"] = {"free motion": 0.25}
    assert rows_as_csv([first, second], "fast, 2 cores") == (
        "case,mode,ranks,law,bodies,seconds,spread,rate,comment,share_free_motion,processor\n"
        'dem,strong,1,hertz,10,0.5,,2,,0.25,"fast, 2 cores"\n'
        'dem,strong,2,hertz,10,0.25,0.125,4,"one, two",,"fast, 2 cores"\n')


def test_infinite_numbers_and_spreads_of_timings_in_csv():
    row = row_of(3, 0.25, 12)
    row["values"] |= {"write": 0.1, "stiffness": "inf"}
    row["units"] |= {"write": "s", "stiffness": "N/m"}
    row["spreads"], row["only_in_files"] = {"write": 0.01}, ["stiffness"]
    assert rows_as_csv([row], "") == ("case,mode,ranks,law,bodies,seconds,rate,write,write_spread,stiffness,processor\n"
                                      "dem,strong,3,hertz,12,0.25,4,0.1,0.01,inf,\n")
    assert "stiffness" not in format_rows([row], "")


def test_tables_scale_units_by_column_or_by_cell_where_numbers_differ_much():
    first, second = row_of(1, 2e-3, 1000), row_of(2, 4e-3, 1000)
    first["notes"] = ["a note"]
    text = format_rows([first, second], "Some Processor, 2 cores")
    assert text.startswith("on Some Processor, 2 cores\n")
    for words in ("law bodies ranks per step rate\n", " ms 1/s\n", "hertz 1000 1 2 500\n", " a note\n", "hertz 1000 2 4 250\n"):
        assert words in squeezed(text)
    second["seconds"] = 4e-8
    text = format_rows([first, second], "")
    assert "2 ms" in text and "40 ns" in text


def test_columns_that_do_not_fit_side_by_side_follow_each_other():
    row = row_of(1, 2e-3, 1000)
    for k in range(30):
        row["values"]["x" * 12 + str(k)], row["units"]["x" * 12 + str(k)] = 1.5, "-"
    lines = format_rows([row], "").splitlines()
    assert max(map(len, lines)) <= 118
    assert sum(line.startswith("hertz") for line in lines) > 1, "keys begin each block"


def test_long_notes_go_on_in_further_lines():
    assert wrapped("one two three", "  ", 7) == "  one two\n  three\n"
    assert wrapped("onetwothree four", "", 7) == "onetwothree\nfour\n", "a word that is too long stays whole"
    assert wrapped("", "  ", 7) == ""
