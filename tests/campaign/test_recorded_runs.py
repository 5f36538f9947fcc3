"""What scripts/state-hashes.sh compares: a difference of each kind is found, and a change of words is none with the right table only."""
import json
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from recorded_runs import Renames, differences
from scree_program import program, source_folder

FRAME = """<?xml version="1.0"?>
<VTKFile type="PolyData"><PointData>
<DataArray type="Int64" Name="id" format="binary">AQAAAAAA</DataArray>
<DataArray type="Float32" Name="radius" format="binary">gD4AAAAA</DataArray>
</PointData></VTKFile>
"""
SUMMARY = {"name": "run", "state_hash": "0123", "wall_s": 1.5, "feeders": {"left": {"made": 3}}, "load": {"pairs_by_phase": {"mean": 1.0}, "body_s": 0.1},
           "timers": [{"name": "fill", "depth": 0, "calls": 1, "max_s": 0.2}], "provenance": {"version": "1"}}


def results(folder):
    """A run by hand, with a file of each kind."""
    (folder / "run/vtk").mkdir(parents=True)
    (folder / "end.json").write_text(json.dumps({"code": 0, "message": "warning: the feeder left waits"}))
    run = folder / "run"
    (run / "run.scalars.csv").write_text("time[s],feeder_made[-],wall_step[s],state[-]\n0,1,0.25,free\n0.1,2,0.5,held\n")
    (run / "run.queues.csv").write_text("time[s],waiting[-]\n0,4\n")
    (run / "summary.json").write_text(json.dumps(SUMMARY))
    (run / "run.resolved.toml").write_text('[feeders.left]\nrate = 2.0\nkind = "feeder"\n')
    (run / "run.log").write_text("started at 12:00\n")
    (run / "vtk/run_000.vtp").write_text(FRAME)
    (run / "vtk/run.pvd").write_text('<VTKFile><Collection><DataSet timestep="0" file="run_000.vtp"/></Collection></VTKFile>\n')
    (run / "run.xdmf").write_text('<Xdmf>\n<Attribute Name="held">run.h5:/particles/all/held</Attribute>\n<Attribute Name="id">run.h5:/particles/all/id'
                                  "</Attribute>\n</Xdmf>\n")
    with h5py.File(run / "run.h5", "w") as file:
        file["particles/all/id"] = np.arange(3)
        file["particles/all/held"] = np.array([0.0, 0.5, 1.0])
        file["particles/all/held"].attrs["unit"] = "m"
        file.create_group("parameters").attrs["command_line"] = "scree run"
        file["numbers/reals"], file["numbers/reals_names"] = np.array([0.25, 2.0]), "time\nlast_dt\n"


def edit(name, old, new):
    def apply(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    return apply


def in_hdf5(change):
    def apply(folder):
        with h5py.File(folder / "run/run.h5", "r+") as file:
            change(file)
    return apply


def value(name, index, number):
    def apply(file):
        file[name][index] = number
    return in_hdf5(apply)


def other_type(file):
    values = file["particles/all/held"][()].astype("float32")
    del file["particles/all/held"]
    file["particles/all/held"] = values
    file["particles/all/held"].attrs["unit"] = "m"


def rename_number(file):
    del file["numbers/reals_names"]
    file["numbers/reals_names"] = "time\nlast_step\n"


TINY = np.nextafter(0.5, 1)
PLANTED = {
    "exit code": (edit("end.json", '"code": 0', '"code": 3'), "exit code 0 before, 3 now"),
    "message": (edit("end.json", "waits", "stops"), "another message"),
    "cell": (edit("run/run.scalars.csv", "0.1,2", "0.1,3"), "run.scalars.csv: feeder_made[-]: row 1 of 2 before and 2 now: ['2'] before, ['3'] now"),
    "row": (edit("run/run.scalars.csv", "0.1,2,0.5,held\n", ""), "run.scalars.csv: time[s]: row 1 of 2 before and 1 now"),
    "unit": (edit("run/run.scalars.csv", "time[s]", "time[ms]"), "run.scalars.csv: time[ms]: only now"),
    "title": (edit("run/run.scalars.csv", "feeder_made", "inlet_made"), "run.scalars.csv: feeder_made[-]: only before"),
    "order": (lambda folder: (folder / "run/run.queues.csv").write_text("waiting[-],time[s]\n4,0\n"), "run.queues.csv: columns in another order"),
    "summary": (edit("run/summary.json", '"0123"', '"0124"'), "summary.json: state_hash: '0123' before, '0124' now"),
    "key of the summary": (edit("run/summary.json", "feeders", "inlets"), "summary.json: feeders.left.made: only before"),
    "measured key": (edit("run/summary.json", "wall_s", "seconds"), "summary.json: wall_s: only before"),
    "timer": (edit("run/summary.json", '"fill"', '"packing"'), "summary.json: timers.0.name: 'fill' before, 'packing' now"),
    "deck": (edit("run/run.resolved.toml", "2.0", "2.5"), "run.resolved.toml: feeders.left.rate: 2.0 before, 2.5 now"),
    "frame": (edit("run/vtk/run_000.vtp", "gD4AAAAA", "gD4BAAAA"), "run_000.vtp: line 4"),
    "array of a frame": (edit("run/vtk/run_000.vtp", '"radius"', '"size"'), "run_000.vtp: line 4"),
    "list of frames": (edit("run/vtk/run.pvd", 'timestep="0"', 'timestep="1"'), "run.pvd: line 1"),
    "last bit": (value("particles/all/held", 1, TINY), f"run.h5: /particles/all/held: [1] is 0.5 before, {TINY} now"),
    "minus zero": (value("particles/all/held", 0, -0.0), "run.h5: /particles/all/held: [0] is 0.0 before, -0.0 now"),
    "whole number": (value("particles/all/id", 2, 7), "run.h5: /particles/all/id: [2] is 2 before, 7 now"),
    "number": (value("numbers/reals", 1, 3.0), "run.h5: /numbers/last_dt: [] is 2.0 before, 3.0 now"),
    "type": (in_hdf5(other_type), "run.h5: /particles/all/held: float64(3,) before, float32(3,) now"),
    "unit of a field": (in_hdf5(lambda file: file["particles/all/held"].attrs.__setitem__("unit", "mm")), "run.h5: /particles/all/held@unit: 'm' before"),
    "field": (in_hdf5(lambda file: file.move("particles/all/held", "particles/all/fixed")), "run.h5: /particles/all/fixed: only now"),
    "missing file": (lambda folder: (folder / "run/run.queues.csv").unlink(), "run/run.queues.csv: only before"),
    "new file": (lambda folder: (folder / "run/more.csv").write_text("a\n1\n"), "run/more.csv: only now"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_difference_is_found(folder, kind):
    change, words = PLANTED[kind]
    results(folder / "before")
    shutil.copytree(folder / "before", folder / "now")
    change(folder / "now")
    found = differences(folder / "before", folder / "now", Renames())
    assert any(words in line for line in found), found


def test_what_clocks_and_hosts_say_is_no_difference(folder):
    results(folder / "before")
    shutil.copytree(folder / "before", folder / "now")
    for name, old, new in (("run/run.log", "12:00", "13:00"), ("run/run.scalars.csv", "0.25", "0.3"), ("run/summary.json", "1.5", "1.7"),
                           ("run/summary.json", '"version": "1"', '"version": "2"'), ("run/summary.json", '"max_s": 0.2', '"max_s": 0.3'),
                           ("run/summary.json", '"timers": [', '"timers": [{"name": "frames", "depth": 0}, ')):
        edit(name, old, new)(folder / "now")
    in_hdf5(lambda file: file["parameters"].attrs.__setitem__("command_line", "mpirun scree run"))(folder / "now")
    assert not differences(folder / "before", folder / "now", Renames())


# What a change of words does to the run, and the row that says so.
WORDS = {
    "columns": (edit("run/run.scalars.csv", "feeder_made", "inlet_made"), "feeder_*", "inlet_*"),
    "fields": (lambda folder: [in_hdf5(lambda file: file.move("particles/all/held", "particles/all/fixed"))(folder),
                               (folder / "run/run.xdmf").write_text('<Xdmf>\n<Attribute Name="fixed">run.h5:/particles/all/fixed</Attribute>\n'
                                                                    '<Attribute Name="id">run.h5:/particles/all/id</Attribute>\n</Xdmf>\n')],
               "held", "fixed"),
    "fields of numbers": (in_hdf5(rename_number), "last_dt", "last_step"),
    "fields of a file": (edit("run/vtk/run_000.vtp", "radius", "size"), "run/vtk/*.vtp::radius", "size"),
    "summary": (edit("run/summary.json", "pairs_by_phase", "pairs_by_colour"), "load.pairs_by_phase.mean", "load.pairs_by_colour.mean"),
    "files": (lambda folder: (folder / "run/run.queues.csv").rename(folder / "run/run.lines.csv"), "*/*.queues.csv", "*/*.lines.csv"),
    "deck": (edit("run/run.resolved.toml", "[feeders.left]", "[inlets.left]"), "feeders", "inlets"),
    "words": (lambda folder: [edit("end.json", "feeder left", "inlet left")(folder), edit("run/run.resolved.toml", '"feeder"', '"inlet"')(folder)],
              "feeder", "inlet"),
}


@pytest.mark.parametrize("place", WORDS)
def test_a_change_of_words_needs_its_row(folder, place):
    change, old, new = WORDS[place]
    results(folder / "before")
    shutil.copytree(folder / "before", folder / "now")
    change(folder / "now")
    place = place.partition(" ")[0]
    right = Renames({place: {old: new}})
    assert differences(folder / "before", folder / "now", Renames())
    assert not differences(folder / "before", folder / "now", right) and not right.unused()
    # Not renamed after all; another name than the table says; a row for nothing.
    assert differences(folder / "before", folder / "before", right)
    assert differences(folder / "before", folder / "now", Renames({place: {old: new + "x"}}))
    idle = Renames({place: {old: new, "nothing": "something"}})
    differences(folder / "before", folder / "now", idle)
    assert idle.unused() == [f"[{place}] nothing: nothing recorded has this name"]


def test_two_names_that_become_one_are_found(folder):
    results(folder / "before")
    edit("run/run.scalars.csv", "state[-]", "inlet_made[-]")(folder / "before")
    shutil.copytree(folder / "before", folder / "now")
    found = differences(folder / "before", folder / "now", Renames({"columns": {"feeder_made": "inlet_made"}}))
    assert any("two names become inlet_made[-]" in line for line in found), found


def test_the_table_of_this_version_can_be_read():
    renames = Renames.read(source_folder() / "tests/campaign/renames.toml")
    names = [renames.name("fields", name) for name in ("/arrays/group", "/arrays/party", "/arrays/kind", "", "/numbers/cell_listed_lower_x")]
    assert names == ["/arrays/type", "/arrays/group", "/arrays/agent_type", "", "/numbers/cell_reference_lower_x"]
    assert renames.name("summary", "certificate_worst.held.value") == "certificate_worst.attracted.value"


def test_an_unknown_place_is_refused():
    with pytest.raises(ValueError, match=r"no table of renames is \[column\]; there are: columns"):
        Renames({"column": {"a": "b"}})


def test_the_tool_records_and_compares_runs(folder):
    """A run equals itself; a value changed in what was recorded, in a frame, is named with its place."""
    tool = [sys.executable, source_folder() / "tests/campaign/state_hashes.py"]
    words = ["--only", "verification/cradle.toml", "--bin", program().parent, "--source", source_folder()]

    def ended(action, *more):
        done = subprocess.run([*tool, action, folder / "recorded", *words, *more], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    assert ended("record") == (0, f"1 runs recorded in {folder}/recorded\n")
    assert ended("compare") == (0, "1 runs, 0 differ\n")
    record = next((folder / "recorded/verification/cradle.toml").glob("*/*.h5"))
    with h5py.File(record, "r+") as file:
        velocity = file["particles/all/velocity/value"]
        velocity[1, 0, 0] = np.nextafter(velocity[1, 0, 0], 9)
    code, said = ended("compare")
    assert code == 1 and "/particles/all/velocity/value: [1, 0, 0] is " in said and said.endswith("1 runs, 1 differ\n"), said
