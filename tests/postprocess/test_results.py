"""The readers of postprocess/ give back what is in the files, and the plots are made of it."""
import contextlib
import io
import json
import subprocess
import sys

import h5py
import matplotlib.image
import numpy as np

from scree.errors import ResultsError
from scree_program import check, check_close, check_in, python_command, source_folder
from scree.results import Results, read_checkpoint
from scree.results.poly_data import read_poly_data


def make_run(folder):
    (folder / "case.scalars.csv").write_text(
        "time[s],overlap_max[m],bodies[-]\n0,1e-3,3\n0.5,2.5000000000000001e-4,3\n1,0,2\n")
    (folder / "summary.json").write_text('{"exit_status": 0}\n')
    with h5py.File(folder / "case.h5", "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
        bodies = file.create_group("particles/all")
        box = bodies.create_group("box")
        box["edges"] = np.array([2.0, 3.0])
        box.attrs.update({"dimension": 2, "boundary": ["periodic", "none"], "lower": [-1.0, 0.0]})
        position = bodies.create_group("position")
        position["step"], position["time"] = [0, 10], [0.0, 0.5]
        position["value"] = np.array([[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [np.nan, np.nan]]])
        position["value"].attrs["unit"] = "m"
        bodies.create_group("id")["value"] = np.array([[0, 1, 2**40], [0, 2**40, -1]])
        bodies["radius"] = np.array([0.1, 0.2, 0.3])


def run_words(words):
    return subprocess.run(words, text=True, capture_output=True, timeout=300)


def test_scalars_have_names_units_and_all_digits(folder):
    make_run(folder)
    scalars = Results(folder).scalars
    check(scalars.names == ["time", "overlap_max", "bodies"], "names without units", scalars.names)
    check(list(scalars) == scalars.names and len(scalars) == 3 and "bodies" in scalars, "it is like a dict", list(scalars))
    check([len(scalars[name]) for name in scalars] == [len(scalars["time"])] * 3, "loops go over the names")
    check(scalars.units == {"time": "s", "overlap_max": "m", "bodies": "-"}, "units", scalars.units)
    check(scalars["overlap_max"][1] == 2.5e-4, "values are read exactly", scalars["overlap_max"])
    check(Results(folder).summary["exit_status"] == 0, "the summary is read")


def test_old_names_are_read_as_the_new_ones(folder):
    make_run(folder)
    (folder / "summary.json").write_text(json.dumps({
        "feeders": {"rain": {"made": 3}}, "bodies_in_sinks": 2, "list_builds": 1, "load": {"pairs_by_phase": {"mean": 1.5}},
        "communication": {"hand_overs": {"messages": 4}}, "bodies": 7,
        "timers": [{"name": "start"}, {"name": "fill"}, {"name": "ways"}]}))
    (folder / "case.resolved.toml").write_text("[agents.slow]\npush_speed = 0.1\n[crowd.avoidance]\nside_room = 0.3\n")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        for results in (Results(folder), Results(folder)):
            check(results.summary == {"inlets": {"rain": {"made": 3}}, "bodies_in_outlets": 2, "list_rebuilds": 1, "bodies": 7,
                                      "load": {"pairs_by_colour": {"mean": 1.5}},
                                      "communication": {"halo_transfers": {"messages": 4}},
                                      "timers": [{"name": "start"}, {"name": "packing"}, {"name": "floor_field"}]}, "the summary", results.summary)
            check(results.deck == {"agents": {"slow": {"creep_speed": 0.1}}, "crowd": {"avoidance": {"lateral_clearance": 0.3}}},
                  "the deck", results.deck)
    lines = said.getvalue().splitlines()
    check(len(lines) == 9, "a line for each old name, once", lines)
    check(f"scree: {folder / 'summary.json'}: 'feeders' is now called 'inlets'; the next version will not know the old name" in lines,
          "it names file, old and new name", lines)


def test_old_columns_of_people_are_read_as_the_new_ones(folder):
    make_run(folder)
    (folder / "case.agents.csv").write_text("id[-],kind[-],walks_from[s],party[-],party_waited[s],state[-]\n3,adult,1.5,2,0.25,no way\n")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        agents = Results(folder).agents
    check(agents.names == ["id", "agent_type", "premovement_end", "group", "group_waited", "state"], "names", agents.names)
    check(agents["agent_type"] == ["adult"] and agents["premovement_end"][0] == 1.5, "texts and numbers", agents["agent_type"])
    check(agents.units["premovement_end"] == "s", "units", agents.units)
    check(agents["state"] == ["no route"], "a state", agents["state"])
    check(len(said.getvalue().splitlines()) == 5 and "'kind' is now called 'agent_type'" in said.getvalue(), "a line for each", said.getvalue())


def test_old_names_of_the_certificate_are_read_as_the_new_ones(folder):
    make_run(folder)
    (folder / "case.certificate.csv").write_text("time[s],held[-],pulled_off[-],max_overlap[m],driven_misfit[-]\n"
                                                 "0,5,2,1e-3,0.25\n")
    (folder / "summary.json").write_text(json.dumps({
        "certificate_of_last_step": {"held": {"value": 5}}, "certificate_worst": {"driven_misfit": {"value": 0.25}},
        "communication": {"ghosts_of_rank": {"mean": 1.5, "most": 3}, "neighbours_of_rank": {"mean": 1.0, "most": 1}, "most": 7}}))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        certificate, summary = Results(folder).certificate, Results(folder).summary
    check(certificate.names == ["time", "attracted", "detached", "max_overlap", "load_residual"], "columns", certificate.names)
    check([float(certificate[name][0]) for name in certificate] == [0, 5, 2, 1e-3, 0.25], "each with its values", certificate.names)
    check(summary == {
        "certificate_of_last_step": {"attracted": {"value": 5}}, "certificate_worst": {"load_residual": {"value": 0.25}},
        "communication": {"ghosts_of_rank": {"mean": 1.5, "max": 3}, "neighbours_of_rank": {"mean": 1.0, "max": 1}, "most": 7}},
          "the summary", summary)
    check(len(said.getvalue().splitlines()) == 6, "a line for each old name of a file", said.getvalue())


def frame_of_people(path, **fields):
    """A frame of two people for ParaView."""
    arrays = "".join(f'<DataArray type="Int32" Name="{name}" format="ascii">{a} {b}</DataArray>' for name, (a, b) in fields.items())
    path.write_text('<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian"><PolyData>'
                    '<Piece NumberOfPoints="2" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="0">'
                    f"<PointData>{arrays}</PointData><CellData/>"
                    '<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0</DataArray></Points>'
                    "</Piece></PolyData></VTKFile>\n")


def test_old_fields_of_bodies_are_read_as_the_new_ones(folder):
    make_run(folder)
    with h5py.File(folder / "case.h5", "r+") as file:
        file["particles/all/group"] = np.array([0, 1, 1])
        file["particles/all/group"].attrs["unit"] = "-"
    with h5py.File(folder / "old.scree", "w") as file:
        file["arrays/group"], file["arrays/party"], file["arrays/listed"] = [0, 0], [-1, 7], [[1.0, 2.0], [3.0, 4.0]]
        file["numbers/reals"], file["numbers/reals_names"] = [0.5, 2.0, 3.0], "time\nlisted_time\ndriven_0_listed_position\n"
    frame_of_people(folder / "old.vtp", group=(0, 1), kind=(2, 3), party=(4, 5), party_waited=(6, 7))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        trajectory = Results(folder).trajectory
        check("type" in trajectory.fields and "group" not in trajectory.fields, "names of the record", trajectory.fields)
        check(trajectory.field("type", 1).tolist() == [0, 1], "its values", trajectory.field("type", 1))
        check(trajectory.series("type").shape == (2, 3), "in all frames")
        check(trajectory.unit("type") == "-", "its unit")
        people = read_poly_data(folder / "old.vtp").point_fields
        check({name: values.tolist() for name, values in people.items()} ==
              {"type": [0, 1], "agent_type": [2, 3], "group": [4, 5], "group_waited": [6, 7]}, "of the frame", people)
        arrays, numbers = read_checkpoint(folder / "old.scree")
    check(arrays["arrays/type"].tolist() == [0, 0] and arrays["arrays/group"].tolist() == [-1, 7], "arrays of the checkpoint", arrays)
    check(arrays["arrays/reference_position"].shape == (2, 2) and "arrays/listed" not in arrays, "reference positions", arrays)
    check(numbers == {"numbers@time": 0.5, "numbers@reference_time": 2.0, "numbers@driven_0_reference_position": 3.0},
          "and numbers", numbers)
    check(len(said.getvalue().splitlines()) == 1 + 4 + 5, "a line for each old name of a file", said.getvalue())


def test_groups_of_people_are_not_taken_for_types(folder):
    frame_of_people(folder / "new.vtp", type=(0, 1), agent_type=(2, 3), group=(4, 5))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        people = read_poly_data(folder / "new.vtp").point_fields
    check({name: values.tolist() for name, values in people.items()} ==
          {"type": [0, 1], "agent_type": [2, 3], "group": [4, 5]}, "the frame", people)
    check(said.getvalue() == "", "nothing is said", said.getvalue())


def test_old_columns_of_scalars_are_found_by_the_new_names(folder):
    make_run(folder)
    (folder / "case.scalars.csv").write_text("time[s],n_bodies[-],door_bodies[-],box_bodies_inside[-],up_bodies_1[-],overlap[m]\n0,9,1,2,3,0.5\n")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        scalars = Results(folder).scalars
        found = [float(scalars[name][0]) for name in ("n_bodies", "door_n_bodies", "box_n_bodies", "up_n_bodies_1", "door_bodies", "max_overlap")]
    check(found == [9, 1, 2, 3, 1, 0.5], "columns by new and old names", found)
    check("door_n_bodies" in scalars and "up_n_bodies_0" not in scalars and scalars.label("door_n_bodies") == "door_n_bodies", "like a dict")
    lines = said.getvalue().splitlines()
    check(len(lines) == 4 and "'box_bodies_inside' is now called 'box_n_bodies'" in lines[2], "a line for each", lines)


def test_new_names_are_left_alone(folder):
    make_run(folder)
    (folder / "summary.json").write_text(json.dumps({"inlets": {"a": {}}, "feeders": 1, "load": [1]}))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        check(Results(folder).summary == {"inlets": {"a": {}}, "feeders": 1, "load": [1]}, "nothing is replaced")
    check(said.getvalue() == "", "and nothing said", said.getvalue())


def test_trajectory_leaves_out_bodies_that_are_gone(folder):
    make_run(folder)
    trajectory = Results(folder).trajectory
    check(trajectory.n_frames == 2, "two frames", trajectory.n_frames)
    check(trajectory.ids(0).tolist() == [0, 1, 2**40], "ids keep 64 bits", trajectory.ids(0))
    check(trajectory.ids(-1).tolist() == [0, 2**40], "one body left", trajectory.ids(-1))
    check(trajectory.positions(-1).tolist() == [[6, 7], [8, 9]], "its row is left out", trajectory.positions(-1))
    check(trajectory.unit("position") == "m", "unit", trajectory.unit("position"))
    check(trajectory.box.lower.tolist() == [-1, 0] and trajectory.box.upper.tolist() == [1, 3], "corners of the box",
          trajectory.box)
    check(trajectory.box.periodic == (True, False), "periodic axes", trajectory.box)
    check_close(trajectory.times[1], 0.5, "times")


def test_errors_name_the_path(folder):
    for make in (lambda: Results(folder / "nowhere"), lambda: Results(folder).name):
        try:
            make()
        except ResultsError as error:
            check_in(str(folder), str(error), "the message names the folder")
        else:
            check(False, "a ResultsError is raised")


def test_plot_of_scalars(folder):
    make_run(folder)
    result = run_words(python_command("plot", "scalars", folder, "--columns", "overlap*", "bodies"))
    check(result.returncode == 0, "exit code 0", result.stderr)
    picture = matplotlib.image.imread(result.stdout.strip())
    check(picture[..., :3].std() > 0.02, "the picture is not blank", picture.std())
    result = run_words(python_command("plot", "scalars", folder, "--columns", "energy"))
    check(result.returncode == 2, "a column that is not there", result)
    check_in("there are: time, overlap_max, bodies", result.stderr, "the message names the columns")


def test_plot_of_the_verification_table(folder):
    table = folder / "pbd.csv"
    rows = [f"ball,{method},{parameter},{h},{factor * h},{factor * h / 2},{int(4 / h)}"
            for method, parameter, factor in (("pbd", "-", 41.3), ("penalty", "1e3", 0.8)) for h in (1e-2, 1e-3, 1e-4)]
    table.write_text("case,method,parameter,h,error_max,error_end,evaluations\n" + "\n".join(rows) + "\n")
    result = run_words([sys.executable, source_folder() / "docs/figures/plot_pbd_verification.py", table])
    check(result.returncode == 0, "exit code 0", result.stderr)
    check(matplotlib.image.imread(folder / "pbd.png")[..., :3].std() > 0.02, "the picture is not blank")
    table.write_text("case,method,h\n")
    result = run_words([sys.executable, source_folder() / "docs/figures/plot_pbd_verification.py", table])
    check(result.returncode == 1, "a table of another kind", result)
    check_in("no column parameter, error_max", result.stderr, "the message names the columns that are missing")
