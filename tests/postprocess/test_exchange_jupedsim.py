"""Trajectories of JuPedSim and of the Juelich archive as crowd plans: areas and people in
SQLite, HDF5 and text. The files are written here in the layout of those programs."""
import csv
import re
import sqlite3
import subprocess

import h5py
import numpy as np
import pytest

import scree
from scree import exchange
from scree.exchange.outlines import area_of_polygons
from scree_program import check, check_close, check_in, program, python_command

HALL = "POLYGON ((0 0, 12 0, 12 8, 0 8, 0 0), (5 3, 5 5, 7 5, 7 3, 5 3))"
ROWS = [(0, 1, 1.5, 2.25), (0, 2, 3.0, 2.0), (0, 7, 9.125, 6.5), (1, 1, 1.6, 2.3), (1, 2, 3.1, 2.0), (1, 9, 10.0, 1.0)]

ROOM = """<geometry version="0.8" unit="m"><rooms><room id="0"><subroom id="0" class="subroom" A_x="0" B_y="0" C_z="0">
<polygon><vertex px="14" py="4"/><vertex px="14" py="8"/><vertex px="0" py="8"/><vertex px="0" py="0"/><vertex px="14" py="0"/><vertex px="14" py="2"/>
</polygon></subroom></room></rooms><transitions><transition id="1" caption="main exit" room1_id="0" subroom1_id="0" room2_id="-1" subroom2_id="-1">
<vertex px="14" py="2"/><vertex px="14" py="4"/></transition></transitions></geometry>
"""


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def write_sqlite(path, rows=ROWS, areas=(HALL,), version=3):
    """The tables of JuPedSim 2.0; version 1 has orientations and no table of the area of each frame."""
    with sqlite3.connect(path) as file:
        more, marks = (", ori_x REAL, ori_y REAL", ", 0, 0") if version == 1 else ("", "")
        file.execute(f"CREATE TABLE trajectory_data (frame INTEGER NOT NULL, id INTEGER NOT NULL, pos_x REAL, pos_y REAL{more})")
        file.executemany(f"INSERT INTO trajectory_data VALUES (?, ?, ?, ?{marks})", rows)
        file.execute("CREATE TABLE metadata (key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL)")
        file.executemany("INSERT INTO metadata VALUES (?, ?)", [("version", version), ("fps", 10.0)])
        if version == 1:
            file.execute("CREATE TABLE geometry (wkt TEXT NOT NULL)")
            file.execute("INSERT INTO geometry VALUES (?)", areas)
        else:
            file.execute("CREATE TABLE geometry (hash INTEGER NOT NULL, wkt TEXT NOT NULL)")
            file.executemany("INSERT INTO geometry VALUES (?, ?)", enumerate(areas))
            file.execute("CREATE TABLE frame_data (frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL)")
            file.executemany("INSERT INTO frame_data VALUES (?, ?)", [(0, 0), (1, len(areas) - 1)])
    file.close()


def write_hdf5(path, rows=ROWS, area=HALL):
    table = np.zeros(len(rows), [("frame", "<u4"), ("id", "<u4"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8")])
    for name, values in zip(("frame", "id", "x", "y"), zip(*rows)):
        table[name] = values
    with h5py.File(path, "w") as file:
        file.create_dataset("trajectory", data=table).attrs["fps"] = 10.0
        if area:
            file.attrs["wkt_geometry"] = area


def text_of(rows, scale=1.0, head="# id frame x/m y/m z/m"):
    return "\n".join([head, *(f"{key} {frame} {scale * x:.4f} {scale * y:.4f} 170.00" for frame, key, x, y in rows)]) + "\n"


def check_people(plan, rows=ROWS[:3]):
    got = [tuple(map(float, row)) for row in zip(plan.people["id"], plan.people["x"], plan.people["y"])]
    check(np.allclose(got, [row[1:] for row in rows], rtol=0, atol=1e-12), "the people of the frame", got)


@pytest.mark.parametrize("kind", ["sqlite", "sqlite of version 1", "hdf5"])
def test_area_and_first_frame_of_a_trajectory(folder, kind):
    if kind == "hdf5":
        write_hdf5("run.h5")
    else:
        write_sqlite("run.sqlite", version=1 if "1" in kind else 3)
    name = "run.h5" if kind == "hdf5" else "run.sqlite"
    plan = exchange.read(name)
    check_people(plan)
    check_close(area_of_polygons(plan.walkable), 92, "area without the hole", relative=1e-9)
    check(plan.left_out["people who are not in the frame", "frame 0"] == 1, "who comes later", plan.left_out)
    check(plan.left_out["frame", "of 0 to 1, 10 in a second"] == 1, "other frames", plan.left_out)
    check_people(exchange.read(name, frame=1), ROWS[3:])
    exchange.write_plan(plan, folder / "file")
    rows = list(csv.reader((folder / "file/run_start.csv").open()))
    check(rows == [["id", "x", "y"], ["1", "1.5", "2.25"], ["2", "3.0", "2.0"], ["7", "9.125", "6.5"]], "the table", rows)
    named = scree.Deck(folder / "file/run.toml")["populations.start"]
    check(named == {"file": "run_start.csv", "separate": True}, "the deck names it; radii are not of the file", named)
    said = subprocess.run([program(), "check", exchange.write_plan(plan, folder, "count")], capture_output=True, text=True)
    check(said.returncode == 0, "people by count: the deck is good", said)
    check_in("3 bodies in 2D", said.stdout, "as many people")


def test_people_of_a_frame_start_at_their_places(folder):
    if "file" not in scree.Deck().known_keys("populations.start"):
        pytest.skip("this program has no people from files")
    write_sqlite("run.sqlite")
    deck = scree.Deck(exchange.write_plan(exchange.read("run.sqlite"), folder))
    deck["simulation.end_time"] = 0.1
    start = exchange.read(next(scree.run(deck, progress=False).folder.glob("*.trajectory.h5")))
    check_people(start)


def test_what_scree_writes_is_read_again(folder):
    deck = scree.Deck({"simulation": {"dimension": 2, "scheme": "crowd", "seed": 3, "end_time": 1.0}, "time": {"step": 0.05},
                       "walkable": {"wkt": HALL}, "exits": {"door": {"line": [[12, 2], [12, 4]]}},
                       "populations": {"all": {"count": 30}}, "output": {"trajectory": {"fps": 4}}})
    deck.write("hall.toml")
    results = scree.run("hall.toml", progress=False)
    plan = exchange.read(next(results.folder.glob("*.trajectory.h5")))
    check(len(plan.people["x"]) == 30, "everybody", plan.people)
    check(area_of_polygons(plan.walkable) >= 92, "the area, and what is behind the door", plan.walkable)
    last = exchange.read(next(results.folder.glob("*.trajectory.h5")), frame=4)
    both = np.isin(plan.people["id"], last.people["id"])
    moved = np.hypot(last.people["x"] - plan.people["x"][both], last.people["y"] - plan.people["y"][both])
    check(both.sum() == len(last.people["x"]) > 20 and 0.1 < moved.max() < 2.3, "those who are left have moved", moved)


@pytest.mark.parametrize("head, scale", [("# id frame x/m y/m z/m", 1), ("#ID\tFR\tX\tY\tZ", 1), ("# PersID Frame X Y Z", 1),
                                         ("# id frame x/cm y/cm z/cm", 100), ("# id frame x[cm] y[cm] z[cm]", 100),
                                         ("#framerate: 16 fps\n# x, y and z in cm", 100), ("# framerate: 25.00", 1)])
def test_text_of_the_archive(folder, head, scale):
    (folder / "traj.txt").write_text(text_of(ROWS, scale, head))
    plan = exchange.read("traj.txt")
    check_people(plan)
    lower, upper = plan.walkable[0][0].min(0), plan.walkable[0][0].max(0)
    check(np.allclose([*lower, *upper], [1.2, 0.7, 10.3, 6.8]), "without an area: around all places of all frames", plan.walkable)
    check(any(note.startswith("walkable area: the file has none") for note in plan.notes), "that is reported", plan.notes)


def test_columns_by_their_names_and_units_by_option(folder):
    rows = "\n".join(f"{frame} {x} {key} {y} 9" for frame, key, x, y in ROWS)
    (folder / "traj.txt").write_text("#framerate: 16\n#FR X ID Y COLOR\n" + rows)
    plan = exchange.read("traj.txt")
    check_people(plan)
    check(plan.left_out["column color", ""] == 1, "other columns", plan.left_out)
    (folder / "traj.txt").write_text(text_of([(f, k, x + 1000, y) for f, k, x, y in ROWS], head="# framerate: 16"))
    with pytest.raises(exchange.ExchangeError, match=r"traj.txt: places up to 1010, and the header has no unit: cm\?"):
        exchange.read("traj.txt")
    check_close(float(exchange.read("traj.txt", unit="cm").people["x"][0]), 10.015, "in cm", absolute=1e-12)


def test_text_without_a_header(folder):
    """As in older files of the archive: rows of each person one after the other, in cm."""
    rows = [(3 + k, key, 1.0 + 0.07 * k, 2.0 * key) for key in (1, 2) for k in range(12)]
    (folder / "traj.txt").write_text(text_of(rows, 100, "").lstrip())
    with pytest.raises(exchange.ExchangeError, match="people move by 7 from frame to frame, and the header has no unit: cm"):
        exchange.read("traj.txt")
    plan = exchange.read("traj.txt", unit="cm", frame=4)
    check_people(plan, [(4, 1, 1.07, 2.0), (4, 2, 1.07, 4.0)])
    (folder / "traj.txt").write_text(text_of(rows, 1, "").lstrip())
    check_people(exchange.read("traj.txt"), [(3, 1, 1.0, 2.0), (3, 2, 1.0, 4.0)])


def test_people_of_a_text_file_in_the_plan_of_another(folder):
    """The area and the exit are those of the other file; people leave through it."""
    (folder / "traj.txt").write_text(text_of(ROWS))
    (folder / "geometry.xml").write_text(ROOM)
    script = python_command("exchange", "import", "traj.txt")
    said = subprocess.run([*script, "--plan", "geometry.xml", "--people", "count"], capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout == "traj.toml\n", "the deck is named", said)
    deck = scree.Deck("traj.toml")
    check(deck["exits.main_exit.line"] == [[14.0, 2.0], [14.0, 4.0]], "its exit", deck)
    deck["simulation.end_time"] = 60.0
    inside = scree.run(deck, progress=False).scalars["inside_n_bodies"]
    check(inside[0] == 3 and inside[-1] == 0, "everybody leaves", inside)


@pytest.mark.parametrize("text, options, message", [
    ("# id frame x/m y/m\n1 0 2\n", {}, "traj.txt:2: id, frame, x, y are wanted, not '1 0 2'"),
    ("# id frame x/m y/m\n1 0 2 no\n", {}, "traj.txt:2: numbers are wanted, not '1 0 2 no'"),
    ("# id frame x/m y/m\n", {}, "traj.txt: no rows in the file"),
    ("# id frame x/ft y/ft\n1 0 2000 1\n# id frame x/pix y/pix\n", {}, "the header has places in 'pix'"),
    ("# id frame x/m y/m\n1 0 2 1\n1 0 3 3\n", {}, "traj.txt: person 1 is twice in the frame"),
    ("# id frame x/m y/m\n1 3 2 1\n2 5 3 3\n", {"frame": 4}, "traj.txt: nobody in frame 4; there are frames 3 to 5")])
def test_trajectories_that_are_wrong(folder, text, options, message):
    (folder / "traj.txt").write_text(text)
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)):
        exchange.read("traj.txt", **options)


def test_databases_that_are_no_trajectories(folder):
    write_sqlite("run.sqlite", rows=[])
    with pytest.raises(exchange.ExchangeError, match="run.sqlite: nobody in the file"):
        exchange.read("run.sqlite")
    write_sqlite("two.sqlite", areas=(HALL, "POLYGON ((0 0, 20 0, 20 8, 0 8, 0 0))"))
    plan = exchange.read("two.sqlite")
    check(plan.left_out["area that other frames have", "1 of them"] == 1, "areas of other frames", plan.left_out)
    write_sqlite("lines.sqlite", areas=("LINESTRING (0 0, 1 1)",))
    with pytest.raises(exchange.ExchangeError, match="lines.sqlite: LINESTRING is no area"):
        exchange.read("lines.sqlite")
    write_hdf5("none.h5", rows=[(0, 4, float("nan"), 1.0)])
    with pytest.raises(exchange.ExchangeError, match="none.h5: person 4 has no place in frame 0"):
        exchange.read("none.h5")
    with sqlite3.connect("other.sqlite") as file:
        file.execute("CREATE TABLE a (b)")
    file.close()
    with pytest.raises(exchange.ExchangeError, match="other.sqlite: no tables trajectory_data and geometry"):
        exchange.read("other.sqlite")
    with h5py.File("other.h5", "w") as file:
        file["x"] = [1, 2]
    with pytest.raises(exchange.ExchangeError, match="other.h5: no dataset trajectory with id, frame, x and y"):
        exchange.read("other.h5")
    write_hdf5("far.h5", area="POLYGON ((0 0, 1 0, 1 1, 0 0))")
    check(any("3 people stand outside of the walkable area, the first is 1 at (1.5, 2.25)" in note
              for note in exchange.read("far.h5").notes), "people outside are reported")
