"""Tables, CSV and comparisons that scree.bench makes of rows of scree_bench."""
import csv
import math
import re

from pytest import approx, raises

from scree.bench.beds import RADIUS, mixture
from scree.bench.decks import Asked, bed_sizes, crowd
from scree.bench.launch import InputError
from scree.bench.rows import compare_ranks
from scree.bench.steps import row_of_steps
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


def found_steps(**more):
    """What scree_bench found in ten steps of 2 ms of a thousand bodies on two ranks."""
    return {"mode": "fixed", "ranks": 2, "seconds": 2e-3, "spread": 0.1, "bodies": 1000.0, "steps": 10, "wall": 0.02,
            "warm_up": {"steps": 5, "seconds": 0.5}, "timers": {"forces": 0.01, "exchange": 0.002, "move": 0.001, "nsgs sweep": 0.005},
            "phases": {"forces": 0.5}, "certificate": {"contacts": {"sum": 20e3, "max": 2100.0}, "sweeps": {"sum": 300.0, "max": 40.0},
                                                       "overlap_met": {"sum": 1.0, "max": 0.2}},
            "solved": 9.0, "rebuilds": 0, "contacts": 1500, "pairs": 4000, "lanes": 4400, "blocks": 12, "imbalance": 1.1, "bytes": 100000,
            "memory_of_rank": 1e8, "run_time": 3600.0} | more


def test_rows_of_steps_share_times_of_all_ranks_among_bodies_and_steps():
    dem = row_of_steps(found_steps(case="dem", row={"law": "hertz"}))
    assert dem["keys"] == {"law": "hertz"} and dem["size"] == {"bodies": 1000} and dem["phases"] == {"forces": 0.5}
    assert dem["values"]["forces_ns_per_body"] == approx((0.01 - 0.002 - 0.001) * 1e9 * 2 / 10 / 1000), "without exchange and motion"
    assert dem["values"]["contacts_per_body"] == 1.5 and dem["values"]["steps_per_rebuild"] == 0, "no list was made"
    cubes = row_of_steps(found_steps(case="convex", row={"shape": "box"}))["values"]
    assert cubes["pour_us_per_body_step"] == approx(0.5e6 * 2 / 5 / 1000) and cubes["share_of_steps_solved"] == 0.9
    assert cubes["ns_per_contact_sweep"] == approx(1e9 * 0.005 * 2 / 2000 / 300)
    people = row_of_steps(found_steps(case="crowd", row={"model": "pbd", "density": 1.0, "columns": 4, "step": 0.05}))
    assert people["values"]["real_time_factor"] == approx(10 * 0.05 / 0.02) and people["values"]["worst_overlap_m"] == 0.2
    deck = row_of_steps(found_steps(case="deck", row={"deck": "pile", "warm_up": 5}))["values"]
    assert deck["contacts"] == 2000 and deck["hours_of_run"] == 1 and deck["us_per_body_step"] == approx(4)


def test_residuals_that_are_not_finite_stay_so():
    for text in ("inf", "nan"):
        row = row_of_steps(found_steps(case="convex", row={"shape": "box"}, certificate={
            "contacts": {"sum": 20e3, "max": 2100.0}, "residual": {"sum": text, "max": text}}))
        assert row["values"]["worst_residual"] == text
        assert f",{text}," in rows_as_csv([row], "")
        people = row_of_steps(found_steps(case="crowd", row={"model": "pbd", "density": 1.0, "columns": 4, "step": 0.05}, certificate={
            "overlap": {"sum": 1.0, "max": 0.1}, "overlap_met": {"sum": text, "max": text}}))["values"]
        assert people["worst_overlap_m"] == text, "beside another that is finite"


def test_a_mixture_has_about_as_much_volume_of_each_size_and_no_overlap(tmp_path):
    edge, count, n_large = mixture(tmp_path / "balls.csv", 2000, 4)
    with open(tmp_path / "balls.csv", newline="", encoding="utf-8") as file:
        balls = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    large = [ball for ball in balls if ball["radius"] > RADIUS]
    small = [ball for ball in balls if ball["radius"] == RADIUS]
    assert (len(balls), len(large)) == (count, n_large) and n_large == 27, "the cube that comes nearest to 2000 / 4^3"
    assert 0.6 * n_large * 4**3 < len(small) < n_large * 4**3, "some have no room near large ones"
    place = [[ball[axis] for axis in "xyz"] for ball in balls]
    assert all(ball["radius"] <= x <= edge - ball["radius"] for ball, at in zip(balls, place) for x in at), "inside the walls"
    for ball in large:
        at = [ball[axis] for axis in "xyz"]
        nearest = min(math.dist(at, other) - ball["radius"] - body["radius"] for body, other in zip(balls, place) if body is not ball)
        assert nearest >= -1e-12


def test_sizes_of_beds_are_whole_tiles():
    request = {"options": {"bodies": ["9000"]}, "folder": "", "program": "", "is_study": True}
    assert bed_sizes(Asked(request)) == [8192], "the nearest, where a study asks for a size"
    with raises(InputError, match="multiple of 4096"):
        bed_sizes(Asked(request | {"is_study": False}))


def test_a_case_has_a_deck_for_each_combination():
    request = {"options": {"agents": ["60"], "densities": ["1", "3"], "columns": ["0", "4"], "model": ["pbd"], "tolerance": ["1e-6"],
                        "step": ["0.05"], "warm-up": ["1"], "steps": ["2"], "repetitions": ["3"]},
            "folder": "", "program": "", "is_study": False}
    measurements = list(crowd(Asked(request)))
    assert [(m["row"]["density"], m["row"]["columns"]) for m in measurements] == [(1, 0), (1, 4), (3, 0), (3, 4)]
    assert all(m["steps"] == {"steps": 2, "repetitions": 3, "warm_up": 1} for m in measurements)
    assert [m["deck"].count("0.15]") for m in measurements] == [0, 4, 0, 4]
