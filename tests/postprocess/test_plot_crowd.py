"""Pictures of crowds show what is in the files: curves, paths, maps, diagrams, frames."""
import shutil
import subprocess

import h5py
import matplotlib.image
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

from scree.errors import ResultsError
from scree_program import check, check_close, check_in, python_command
from scree.results import Results, read_fields, read_wkt

HALL = "POLYGON ((0 0, 10 0, 10 6, 0 6, 0 0), (4 2, 4 4, 6 4, 6 2, 4 2))"
AGENTS = ("id[-],population[-],agent_type[-],radius[m],desired_speed[m/s],entered[s],premovement_end[s],left[s],exit[-],walked[m]\n"
          "2,crowd,adult,0.2,1.3,0,0,4,east,4.1\n"
          "0,crowd,adult,0.18,1.2,0,1,5.5,west,5.0\n"
          "1,train,\"child, small\",0.15,1.0,2,2,8,east,6.0\n")


def make_run(folder, name="hall"):
    """Four people of whom one never leaves, walking along x at 1 m/s, ten frames a second."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.agents.csv").write_text(AGENTS)
    until = {0: 55, 1: 80, 2: 40, 3: 100}
    begin = {0: 0, 1: 20, 2: 0, 3: 0}
    rows = [(k, person, 0.5 + 0.1 * (k - begin[person]) % 9, 1 + person, 0)
            for k in range(101) for person in range(4) if begin[person] <= k <= until[person]]
    layout = np.dtype([("frame", "u4"), ("id", "u4"), ("x", "f8"), ("y", "f8"), ("z", "f8")])
    with h5py.File(folder / f"{name}.trajectory.h5", "w") as file:
        file["trajectory"] = np.array(rows, dtype=layout)
        file["trajectory"].attrs["fps"] = 10.0
        file.attrs["wkt_geometry"] = HALL
    times = np.arange(0, 10.5, 0.5)
    table = ["time[s],step[-],door_net[-],door_flow[1/s],front_density[1/m2],front_speed[m/s],file_density[1/m],file_speed[m/s]"]
    table += [f"{t},{round(20 * t)},{t},{0.4},{1 + 0.1 * t},{'nan' if t == 0 else 1.2 - 0.05 * t},1.5,0.3" for t in times]
    (folder / f"{name}.scalars.csv").write_text("\n".join(table) + "\n")


def make_maps(folder, name="hall"):
    """Two maps of 20 x 12 cells: density rises along x, then is twice as high."""
    (folder / "vtk" / "fields").mkdir(parents=True)
    entries = ""
    for k in (1, 2):
        image = vtkImageData()
        image.SetOrigin(0, 0, 0)
        image.SetSpacing(0.5, 0.5, 1)
        image.SetDimensions(21, 13, 1)
        density = np.tile(np.linspace(0.1, 2.0, 20), (12, 1)) * k
        flux = np.stack([density, -density, 0 * density], axis=2)
        for title, values in (("density", density.reshape(-1)), ("flux", flux.reshape(-1, 3))):
            array = numpy_to_vtk(values.astype(np.float32), deep=True)
            array.SetName(title)
            image.GetCellData().AddArray(array)
        path = folder / "vtk" / "fields" / f"{name}_fields_{k}.vti"
        writer = vtkXMLImageDataWriter()
        writer.SetFileName(str(path))
        writer.SetInputData(image)
        writer.Write()
        entries += f'<DataSet timestep="{k}" part="0" file="fields/{path.name}"/>'
    (folder / "vtk" / f"{name}_fields.pvd").write_text(
        f'<VTKFile type="Collection" version="0.1"><Collection>{entries}</Collection></VTKFile>\n')


def test_pictures_of_a_run_without_other_outputs(folder):
    run = folder / "plain"
    make_run(run)
    (run / "hall.scalars.csv").unlink()
    (run / "hall.trajectory.h5").unlink()
    (run / "hall.evacuation.csv").write_text("time[s],inside[-],came[-],left[-],left_east[-],left_west[-]\n"
                                             "0,3,0,0,0,0\n2,4,1,0,0,0\n4,3,1,1,1,0\n5.5,2,1,2,1,1\n8,1,1,3,2,1\n")
    check(Results(run).name == "hall" and list(Results(run).evacuation["inside"]) == [3, 4, 3, 2, 1], "N(t) is read")
    _, paths, _ = pictures_of("plot evacuation", run)
    check(len(paths) == 1, "there are no paths to draw", paths)
    pictures_of("plot flow", run)
    for ending in (".evacuation.csv", ".certificate.csv"):
        alone = folder / ending.strip(".")
        alone.mkdir()
        (alone / f"hall{ending}").write_text("time[s]\n")
        check(Results(alone).name == "hall", f"{ending} has the name of a run")


def run_script(name, *arguments):
    return subprocess.run(python_command(*name.split(), *arguments), text=True,
                          capture_output=True, timeout=300)


def pictures_of(name, *arguments):
    result = run_script(name, *arguments)
    check(result.returncode == 0, f"{name} ends with exit code 0", result.stderr)
    check(not result.stderr, f"{name} does not complain", result.stderr)
    paths = [line for line in result.stdout.splitlines() if line.endswith(".png")]
    check(paths, f"{name} names its pictures", result.stdout)
    pictures = [matplotlib.image.imread(path)[..., :3] for path in paths]
    check(all(picture.std() > 0.02 for picture in pictures), "the pictures are not blank")
    return pictures, paths, result.stdout


def share_of(picture, colour, tolerance=0.06):
    return (np.abs(picture - np.array(colour)).max(axis=2) < tolerance).mean()


def test_readers_of_crowds(folder):
    make_run(folder)
    make_maps(folder)
    results = Results(folder)
    check(results.name == "hall", "name", results.name)
    paths = results.paths
    check(paths.fps == 10 and paths.frames[-1] == 100, "frames", paths.frames)
    ids, positions = paths.frame(41)
    check(ids.tolist() == [0, 1, 3], "who is there in frame 41", ids)
    check_close(positions[1][0], 0.5 + 2.1, "where", absolute=1e-12)
    tracks = {person: (times, places) for person, times, places in paths.tracks()}
    check(len(tracks[1][0]) == 61 and tracks[1][0][0] == 2.0, "the path of one who came later", tracks[1][0])
    # Back through the face after 9 m: no speed; everywhere else 1 m/s.
    speed = paths.speed_of_row
    check(np.isnan(speed).sum() == 1, "the jump of person 3 has no speed", speed[np.isnan(speed)])
    check(np.allclose(speed[np.isfinite(speed)], 1.0), "speed from places", speed)
    agents = results.agents
    check(agents["agent_type"] == ["adult", "adult", "child, small"], "text in quotes", agents["agent_type"])
    check(agents.units["desired_speed"] == "m/s", "unit", agents.units)
    check({name: times.tolist() for name, times in agents.exits().items()} == {"east": [4, 8], "west": [5.5]},
          "departures by exit", agents.exits())
    fields = read_fields(results.vtk_frames("fields")[1][1])
    check(fields["density"].shape == (12, 20) and fields["flux"].shape == (12, 20, 3), "shapes", fields.names)
    check_close(float(fields["density"][3, 19]), 4.0, "value of a cell", relative=1e-6)
    check(fields.upper.tolist() == [10, 6], "corner of the map", fields.upper)
    try:
        fields["densty"]
    except ResultsError as error:
        check_in("density, flux", str(error), "the fields there are")
    else:
        check(False, "a ResultsError is raised")


def test_floor_plans_as_text(folder):
    holes = lambda text: [is_hole for is_hole, _ in read_wkt(text)]
    check(holes(HALL) == [False, True], "a hole", holes(HALL))
    check(len(read_wkt(HALL)[0][1]) == 4, "rings are not closed", read_wkt(HALL))
    many = "MULTIPOLYGON (((0 0,1 0,1 1,0 0),(.2 .1,.4 .1,.4 .3,.2 .1)), ((5 5 0,6 5 0,6 6 0,5 5 0)))"
    check(holes(many) == [False, True, False], "several polygons", holes(many))
    check(read_wkt(many)[2][1].tolist() == [[5, 5], [6, 5], [6, 6]], "z is left out", read_wkt(many)[2])
    check(holes("GEOMETRYCOLLECTION (POLYGON ((0 0,1 0,1 1,0 0)), POLYGON((0 0,1 0,1e0 -1.5,0 0)))") == [False, False],
          "a collection")
    check(read_wkt("") == [], "no plan")


def test_evacuation(folder):
    make_run(folder)
    pictures, paths, _ = pictures_of("plot evacuation", folder)
    check([path.rsplit("/", 1)[1] for path in paths] == ["hall_evacuation.png", "hall_paths.png"], "names", paths)
    # The hole in the hall is white, the floor around it is not.
    check(share_of(pictures[1], (0.965, 0.968, 0.975), 0.004) > 0.2, "the floor is drawn")


def test_evacuation_of_an_ensemble(folder):
    for seed in (7, 8, 9):
        make_run(folder / f"seed_{seed}")
    (folder / "seed_9" / "hall.trajectory.h5").unlink()     # of one run only departures are known
    pictures, paths, _ = pictures_of("plot evacuation", folder, "--paths", "0", "--output", folder / "all.png")
    check(len(paths) == 1 and paths[0].endswith("all.png"), "one picture", paths)
    (folder / "seed_7" / "hall.agents.csv").unlink()
    result = run_script("plot evacuation", folder)
    check(result.returncode == 2, "a table is missing", result)
    check_in("hall.agents.csv does not exist", result.stderr, "the message names the file")


def test_flow(folder):
    make_run(folder)
    pictures_of("plot flow", folder)
    pictures_of("plot flow", folder, "--columns", "door_*", "--output", folder / "door.png")
    result = run_script("plot flow", folder, "--columns", "dor*")
    check(result.returncode == 2, "a column that is not there", result)
    check_in("there are: time, step, door_net", result.stderr, "the message names the columns")
    # 101 people leave at 2 per second: 80 of them between the 10th and the 90th percentile.
    rows = "".join(f"{k},crowd,adult,0.2,1.3,0,0,{0.5 * k},east,4\n" for k in range(101))
    (folder / "hall.agents.csv").write_text(AGENTS.splitlines()[0] + "\n" + rows)
    _, _, text = pictures_of("plot flow", folder, "--widths", "1.25", "--output", folder / "width.png")
    check_in("width 1.25 m, flow 2 1/s, 1.6 1/(m s)", text, "the flow through the door")
    _, _, text = pictures_of("plot flow", folder, "--widths", "2", "--columns", "door_flow", "--from", "2")
    check_in("flow 0.4 1/s", text, "the mean of a column")
    result = run_script("plot flow", folder, "--widths", "1", "2")
    check(result.returncode == 2, "as many widths as folders", result)
    doors = folder / "doors.csv"
    doors.write_text('case,what,measured,required,holds\ns1,"gap [m]",0,"<= 1e-12",yes\n'
                     'doors,"door 0.5 m wide, 0.4 m deep: flow [1/s]",1.1,"0.8 to 1.3",yes\n'
                     'doors,"door 3 m wide, 1 m deep: flow [1/s]",6.5,"6 to 7.3",yes\n')
    result = run_script("plot flow", "--doors", doors)
    check(result.returncode == 0 and "2 doors" in result.stdout and doors.with_suffix(".png").exists(),
          "a table of scree verify is drawn", result)
    result = run_script("plot flow", folder, "--doors", doors)
    check(result.returncode == 2, "folders or a table, not both", result)
    doors.write_text("case,what,measured,required,holds\n")
    result = run_script("plot flow", "--doors", doors)
    check(result.returncode == 2 and "no doors" in result.stderr, "a table without doors is refused", result)


def test_maps(folder):
    make_run(folder)
    make_maps(folder)
    _, paths, text = pictures_of("plot density", folder)
    check(paths[0].endswith("hall_density.png"), "name", paths)
    check_in("largest value: 3", text, "mean of 2 and 4")
    check_in("largest value: 4", pictures_of("plot density", folder, "--time", "7")[2], "the last frame")
    length = pictures_of("plot density", folder, "--field", "flux", "--between", "0", "1.5")[2]
    check_in(f"largest value: {2 * 2**0.5:.4g}", length, "length of a vector of the first frame")
    picture = pictures_of("plot density", folder, "--levels", "--time", "1")[0][0]
    level = {name: share_of(picture, tuple(int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)), 0.02)
             for name, colour in zip("AE", ("#2c7bb6", "#f28a52"))}
    # Of 20 columns of cells with 0.1, 0.2, ... 2.0 persons per m2, 3 are of level A and 10 of level E; the colour bar
    # has both alike.
    check(level["E"] > 2 * level["A"] > 0, "areas of the levels", level)
    result = run_script("plot density", folder, "--field", "lod")
    check(result.returncode == 2 and "density, flux" in result.stderr, "a field that is not there", result)
    result = run_script("plot density", folder, "--field", "flux", "--levels")
    check(result.returncode == 2, "levels are of densities", result)


def test_fundamental_diagram(folder):
    make_run(folder)
    _, paths, text = pictures_of("plot fundamental-diagram", folder, "--measures", "front", "--from", "5")
    check(paths[0].endswith("fundamental_diagram.png"), "name", paths)
    check_in("density 1.75 1/m2, speed 0.825 m/s", text, "means of the rows from 5 s on")
    pictures_of("plot fundamental-diagram", folder, "--measures", "file")
    result = run_script("plot fundamental-diagram", folder)
    check(result.returncode == 2 and "choose with --measures" in result.stderr, "1/m and 1/m2 do not mix", result)
    result = run_script("plot fundamental-diagram", folder, "--measures", "frnt")
    check_in("measures with both: front, file", result.stderr, "the measures there are")


def test_published_curves():
    from scree.commands.crowd_drawing import reference
    from scree.commands.plot.fundamental_diagram import weidmann

    for density, speed in ((0.5, 1.298), (1, 1.058), (1.75, 0.700), (3, 0.331), (5, 0.037)):
        check_close(float(weidmann(density)), speed, f"Weidmann's speed at {density} per m2", absolute=6e-4)
    runs = reference("corridor_runs")
    check(np.allclose(runs["flow[1/s]"] / 1.8, runs["specific_flow[1/(m s)]"], atol=0.01), "flow over the width", runs)
    for name in ("single_file", "corridor_unidirectional"):
        table = reference(name)
        check((table["speed_p10[m/s]"] <= table["speed_p50[m/s]"]).all() and
              (table["speed_p50[m/s]"] <= table["speed_p90[m/s]"]).all(), f"percentiles of {name} rise", table)
    table = reference("bottleneck_flow")
    steep = np.polyfit(table["width[m]"], table["flow[1/s]"], 1)[0]
    check(1.6 < steep < 2.4, "the flow grows by about 1.9 per second and metre", steep)


def test_frames(folder):
    make_run(folder)
    pictures, paths, _ = pictures_of("animate", folder, "--every", "20", "--between", "0", "9")
    check([path.rsplit("/", 1)[1] for path in paths] == [f"hall_000{k}.png" for k in range(5)], "numbered names", paths)
    check((np.abs(pictures[0] - pictures[2]).max(axis=2) > 0.2).any(), "people move")
    pictures_of("animate", folder, "--every", "50", "--colour", "exit", "--output", folder / "by_exit")
    result = run_script("animate", folder, "--every", "25", "--gif")
    check(result.returncode == 0, "a GIF is written", result.stderr)
    check((folder / "hall.gif").read_bytes()[:4] == b"GIF8", "it is one")
    if shutil.which("ffmpeg"):
        path = folder / "hall.mp4"
        result = run_script("animate", folder, "--every", "25", "--film", path)
        said = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries", "stream=nb_read_frames", path],
                              capture_output=True, text=True).stdout.strip()
        check(result.returncode == 0 and said == "5", "a film of five pictures", (result.stderr, said))
    result = run_script("animate", folder, "--between", "50", "60")
    check(result.returncode == 2 and "no frame between" in result.stderr, "nothing to draw", result)
