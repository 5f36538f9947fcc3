"""Pictures and films: a record looks like ParaView files, force chains go by force, text is vectors."""
import re
import shutil
import subprocess

import numpy as np
import pytest

import scree
from scree.pictures import shapes
from scree.pictures.frames import open_run
from scree.pictures.survey import survey
from drawn_runs import SIZE, make_run, needs_screen, picture_of, render, write_frame, write_index
from scree_program import check, check_close, check_in, program, source_folder

SPACE = {"simulation": {"dimension": 3, "scheme": "nonsmooth", "end_time": "0.02 s", "seed": 3},
         "domain": {"lower": [-1, -1, -0.1], "upper": [1, 1, 1.5]},
         "time": {"step": 0.01},
         "physics": {"gravity": [0, 0, -9.81]},
         "materials": {"glass": {"density": 2500}},
         "pairs": {"glass-glass": {"friction": 0.5, "restitution": 0}},
         "solver": {"type": "nsgs"},
         "shapes": {"brick": {"type": "box", "size": [0.4, 0.2, 0.1]},
                    "rod": {"type": "capsule", "length": 0.3, "width": 0.1},
                    "stone": {"type": "hull", "file": str(source_folder() / "inputs/convex/stone.stl"), "scale": 0.015,
                              "rounding_radius": 0.02, "accept_hull": "any"}},
         "obstacles": {"floor": {"type": "plane", "point": [0, 0, 0], "normal": [0.2, 0, 1], "material": "glass"},
                       "post": {"type": "cylinder", "a": [-0.8, 0.8, 0.2], "b": [-0.8, 0.8, 1.2], "radius": 0.1,
                                "material": "glass"},
                       "funnel": {"type": "cone", "a": [0.7, 0.7, 0.3], "b": [0.7, 0.7, 0.9], "radius_a": 0.05,
                                  "radius_b": 0.2, "material": "glass"},
                       "ring": {"type": "plate", "point": [0.6, -0.7, 1], "normal": [0, 0, 1], "hole_radius": 0.1,
                                "outer_radius": 0.2, "material": "glass"},
                       "ball": {"type": "sphere", "center": [-0.7, -0.7, 1.2], "radius": 0.15, "material": "glass"},
                       "crate": {"type": "box", "lower": [-0.9, -0.2, 0.3], "upper": [-0.6, 0.2, 0.6],
                                 "material": "glass"}},
         "particles": {"grains": {"material": "glass", "shapes": ["brick", "rod", "stone"], "orientation": "random",
                                  "random_speed": 0.5,
                                  "source": {"type": "lattice", "count": 8,
                                             "region": {"lower": [-0.4, -0.5, 0.3], "upper": [0.9, 0.5, 1.4]}}}},
         "output": {"h5md": {"every": 0.01}, "vtk": {"every": 0.01}}}
PLANE = SPACE | {
    "simulation": SPACE["simulation"] | {"dimension": 2},
    "domain": {"lower": [-1, -1], "upper": [1, 1]},
    "physics": {"gravity": [0, -9.81]},
    "shapes": {"brick": {"type": "box", "size": [0.3, 0.1]}, "rod": {"type": "capsule", "length": 0.2, "width": 0.08},
               "wedge": {"type": "polygon", "points": [[0, 0], [0.3, 0], [0, 0.15]], "rounding_radius": 0.02}},
    "obstacles": {"floor": {"type": "plane", "point": [0, -0.9], "normal": [0.1, 1], "material": "glass"},
                  "post": {"type": "disk", "center": [-0.7, 0.7], "radius": 0.2, "material": "glass"},
                  "bar": {"type": "segment", "a": [0.3, 0.9], "b": [0.9, 0.7], "material": "glass"},
                  "zigzag": {"type": "polyline", "points": [[0.9, 0.5], [0.7, 0.4], [0.9, 0.3]], "material": "glass"},
                  "hill": {"type": "polygon", "points": [[-0.9, -0.5], [-0.6, -0.5], [-0.7, -0.2]],
                           "material": "glass"}},
    "particles": {"grains": {"material": "glass", "shapes": ["brick", "rod", "wedge"], "orientation": "random",
                             "random_speed": 0.5,
                             "source": {"type": "lattice", "spacing": 0.4,
                                        "region": {"lower": [-0.4, -0.6], "upper": [0.6, 0.6]}}}}}


def run_and_strip(deck, folder, monkeypatch):
    """Results with ParaView files, and a copy that has the record only."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))
    results = scree.run(scree.Deck(deck), progress=False)
    alone = folder / "alone"
    shutil.copytree(results.folder, alone)
    shutil.rmtree(alone / "vtk")
    return results, alone


@pytest.mark.parametrize("deck", [SPACE, PLANE], ids=["space", "plane"])
def test_a_record_is_drawn_like_paraview_files(folder, monkeypatch, deck):
    """Bodies with shapes (from the checkpoint) and walls (from the deck) are where the program puts them: less than 0.3
    % of the pixels differ by more than a shade."""
    results, alone = run_and_strip(deck, folder, monkeypatch)
    ours, theirs = picture_of(alone), picture_of(results.folder)
    differs = np.abs(ours - theirs).max(axis=2) > 0.15
    check(differs.mean() < 0.003, "the same picture", differs.mean())
    without = picture_of(alone, "--no-obstacles")
    check((np.abs(ours - without).max(axis=2) > 0.15).mean() > 0.01, "walls are drawn")
    kinds = np.unique(scree.Results(alone).bodies(-1)["shape"])
    check(kinds.tolist() == [1, 2, 3], "all shapes were there", kinds)


def test_what_a_record_cannot_show_is_said(folder, monkeypatch):
    """Contacts are in ParaView files only, and so are walls that move; shapes need a checkpoint."""
    deck = scree.Deck(SPACE)
    deck["obstacles.post.motion"] = {"type": "translate", "velocity": [0, 0, 0.1]}
    _, alone = run_and_strip(deck.tables, folder, monkeypatch)
    shutil.rmtree(alone / "checkpoint")
    result = render(alone, "--contacts")
    check(result.returncode == 0, "it is drawn", result.stderr)
    for sentence in ("contacts are not drawn", "not drawn: post\n", "drawn as spheres around them"):
        check_in(sentence, result.stderr, "what is missing is named")


def test_hulls_are_closed_and_hold_all_points():
    """Also of points of which many lie in one plane or on one line."""
    box = np.array([[x, y, z] for x in range(4) for y in range(3) for z in range(3)], float)
    capsule = shapes.Shape(np.array([[-0.8, 0, 0], [0.8, 0, 0]]), [], 0.2).surface[0]
    for points, volume in ((box, 12.0), (capsule, None)):
        x, triangles = shapes.convex_hull(points)
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        check((np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), "each edge has two triangles")
        normals = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
        height = np.einsum("tk,ntk->nt", normals, points[:, None] - x[triangles[:, 0]])
        check(height.max() < 1e-5, "no point is outside", height.max())
        found = np.einsum("tk,tk->", normals, x[triangles[:, 0]]) / 6
        exact = volume or np.pi * (0.2**2 * 1.6 + 4 / 3 * 0.2**3)
        check_close(found, exact, "volume", relative=1e-5 if volume else 0.03)


def make_chain(folder):
    """Ten disks in a row, with forces that fall from 1 N to 0.1 N from left to right, and one of 1 mN across the
    last."""
    x = np.linspace(-1, 1, 11)
    make_run(folder, [[a, 0, 0] for a in x], [0.1] * 11, [[0, 0, 0]] * 11, mass=[1] * 11)
    lines = [(k, k + 1) for k in range(10)] + [(11, 12)]
    points = [[a, 0, 0] for a in x] + [[0, 0.05, 0], [0, 0.09, 0]]
    write_frame(folder / "vtk" / "contacts.vtp", points, lines, cells={"normal_force": [*np.linspace(1, 0.1, 10), 0.001]})
    write_index(folder / "vtk" / "case_contacts.pvd", [(0.25, "contacts.vtp")])


def test_contacts_of_the_version_before_have_the_names_of_now(folder, capfd):
    make_run(folder, [[0, 0, 0], [1, 0, 0]], [0.5] * 2, [[0, 0, 0]] * 2)
    for name in ("first.vtp", "second.vtp"):
        write_frame(folder / "vtk" / name, [[0, 0, 0], [1, 0, 0]], [(0, 1)], cells={"gap": [0], "force": [2], "friction": [[0, 3, 0]]})
    write_index(folder / "vtk" / "case_contacts.pvd", [(0.25, "first.vtp"), (0.5, "second.vtp")])
    for frame in (0, 1):
        contacts = scree.Results(folder).contacts(frame)
        check(list(contacts) == ["ends", "gap", "normal_force", "tangential_force"], "names", list(contacts))
        check(contacts["normal_force"].tolist() == [2] and contacts["tangential_force"].tolist() == [[0, 3, 0]], "values", contacts)
    said = capfd.readouterr().err.splitlines()
    check(len(said) == 2 and "'force' is now called 'normal_force'" in said[0], "a line for each name, not for each frame", said)


def test_force_chains_are_thick_and_dark_by_force(folder):
    needs_screen()
    make_chain(folder)
    look = {"size": SIZE, "contacts": True, "weakest": 0.1, "fit": "bodies"}
    image = scree.render(folder, **look).astype(float) / 255
    plain = scree.render(folder, size=SIZE, field="none", fit="bodies").astype(float) / 255
    tube = (np.ptp(image, axis=2) > 0.15) | (image.sum(axis=2) < 0.6)     # orange to black, on grey and white
    run = open_run(folder)
    found = survey(run, [0], scree.pictures.Look(**look))
    pixel = 2 * found.view.half_height / SIZE[1]
    middle = 0.84 * SIZE[0] / 2
    thickness, brightness = [], []
    for k in range(10):
        column = round(middle + (-0.9 + 0.2 * k) / pixel)
        rows = np.flatnonzero(tube[100:200, column]) + 100
        thickness.append(len(rows))
        brightness.append(image[rows, column].mean() if len(rows) else 1.0)
    check(thickness[0] > 2 * thickness[6] > 0, "1 N is more than twice as thick as 0.4 N", thickness)
    check(all(a >= b for a, b in zip(thickness, thickness[1:])), "thickness falls with the force", thickness)
    check_close(thickness[0] * pixel, 2 * 0.4 * 0.1, "the thickest is 0.4 radii in radius", absolute=2.5 * pixel)
    check(all(a < b + 0.02 for a, b in zip(brightness[:6], brightness[1:7])), "strong ones are darker", brightness)
    check(plain[150, round(middle)][2] > 0.5, "without contacts the bodies have their usual colour")
    weak = scree.render(folder, **{**look, "weakest": 0.0})
    check(np.any(weak != scree.render(folder, **look)), "the contact of 1 mN is left out, unless the share is 0")


def test_units_and_round_ticks_without_a_record(folder):
    """ParaView files say no unit. Text of .svg and .pdf stays text."""
    make_run(folder, [[-0.5, 0, 0], [0.5, 0, 0]], [0.4, 0.2], [[0, 0, 0], [1.668, 0, 0]])
    path = folder / "a/picture.svg"
    result = render(folder, "--output", path)
    check(result.returncode == 0, "drawn", result.stderr)
    words = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    check(words[0] == "t = 0.25 s" or "t = 0.25 s" in words, "time", words)
    ticks = [word for word in words if re.fullmatch(r"[\d.]+", word)]
    check(ticks == ["0.0", "0.5", "1.0", "1.5"], "ticks are round", words)
    check("speed [m/s]" in words and "200 mm" in words, "units and a scale bar of round length", words)
    path = folder / "picture.pdf"
    render(folder, "--output", path, "--contacts", "--field", "radius")
    check(path.read_bytes()[:5] == b"%PDF-" and b"/Font" in path.read_bytes(), "a .pdf with fonts")
    result = render(folder, "--output", folder / "picture.xyz")
    check(result.returncode == 2 and "no picture format" in result.stderr, "other endings are refused", result.stderr)


def test_the_scale_bar_is_as_long_as_it_says(folder):
    make_run(folder, [[-0.5, 0, 0], [0.5, 0, 0]], [0.4, 0.2], [[0, 0, 0], [3, 4, 0]])
    picture = picture_of(folder, "--colours", "jet")
    blue = (picture[..., 2] > 0.15) & (picture[..., 0] < 0.1) & (picture[..., 1] < 0.1)
    blue[:, int(0.84 * SIZE[0]):] = False
    pixel = 0.8 / np.ptp(np.nonzero(blue.any(axis=0))[0])
    foot = picture[round(0.972 * SIZE[1]) - 1:round(0.972 * SIZE[1]) + 2, SIZE[0] // 2:].min(axis=2).min(axis=0) < 0.5
    row = np.flatnonzero(foot)
    longest = max(np.split(row, np.flatnonzero(np.diff(row) > 1) + 1), key=len)
    check_close(len(longest) * pixel, 0.2, "200 mm", absolute=3 * pixel)


def make_film_run(folder):
    vtk = folder / "vtk"
    vtk.mkdir()
    for k in range(5):
        write_frame(vtk / f"{k}.vtp", [[k, 0, 0]], radius=[0.5], velocity=[[k, 0, 0]])
    write_index(vtk / "case_particles.pvd", [(0.5 * k, f"{k}.vtp") for k in range(5)])


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4_has_the_frames_asked_for(folder):
    make_film_run(folder)
    for options, n in (((), 5), (("--every", "2"), 3), (("--between", "0.4", "1.6"), 3)):
        path = folder / "film.mp4"
        result = render(folder, "--film", path, "--fps", "10", *options)
        check(result.returncode == 0 and result.stdout.strip() == str(path), "written", result.stderr)
        said = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-of", "csv=p=0",
                               "-show_entries", "stream=codec_name,width,height,pix_fmt,avg_frame_rate,nb_read_frames",
                               path], capture_output=True, text=True, check=True).stdout.strip()
        check(said == f"h264,{SIZE[0]},{SIZE[1]},yuv420p,10/1,{n}", "format and number of pictures", said)
    render(folder, "--film", path)
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    images = np.frombuffer(raw, np.uint8).reshape(5, SIZE[1], SIZE[0], 3)[:, 40:260, :320].astype(int)
    places = [np.nonzero(np.ptp(image, axis=2) > 50)[1].mean() for image in images]
    check(np.all(np.diff(places) > 20), "the body moves to the right from picture to picture", places)
    check((np.ptp(images[-1], axis=2) > 50).sum() > 300, "in the colours of one scale")


def test_a_gif_has_the_frames_asked_for(folder):
    from PIL import Image

    needs_screen()
    make_film_run(folder)
    check(scree.film(folder, folder / "film.gif", fps=20, every=2, size=SIZE) == 3, "three pictures")
    with Image.open(folder / "film.gif") as film:
        check((film.n_frames, film.info["duration"], film.size) == (3, 50, SIZE), "as they are in the file", film.info)
    with pytest.raises(scree.RenderError, match="an .mp4 or a .gif"):
        scree.film(folder, folder / "film.avi")
    with pytest.raises(scree.RenderError, match="no frame between 7 and 8"):
        scree.film(folder, folder / "film.gif", between=(7, 8))
    with pytest.raises(scree.RenderError, match="valid: none, speed, radius, velocity"):
        scree.film(folder, folder / "again.gif", field="sped")
    check(not (folder / "again.gif").exists(), "nothing is left of a film that failed")


def test_time_has_the_digits_that_tell_frames_apart():
    from scree.pictures.page import time_text

    for times, frames, expected in (([0, 0.25, 0.5], [1], "t = 0.25 s"), (np.arange(11) / 10, range(11), "t = 0.1 s"),
                                    ([0, 1e-6, 2e-6], [1, 2], "t = 1 µs"),
                                    (np.arange(9) * 0.02, range(9), "t = 0.02 s"),
                                    ([0.0], [0], "t = 0 s"), ([0, 5, 10, 15], [0, 1], "t = 5 s"),
                                    ([0, 0.01, 0.02], [0, 1, 2], "t = 10 ms")):
        check(time_text(times, list(frames))(times[min(1, len(times) - 1)]) == expected, expected)


def test_a_single_fast_body_does_not_take_all_colours(folder):
    """Colours end near the 99 % quantile if the largest value is more than twice that, and the bar has an arrow
    then."""
    needs_screen()
    speeds = np.linspace(0, 1, 300)
    speeds[-1] = 50.0
    points, velocity = (np.column_stack([x, np.zeros((300, 2))]) for x in (np.arange(300), speeds))
    make_run(folder, points, np.full(300, 0.4), velocity)
    run = open_run(folder)
    found = survey(run, [0], scree.pictures.Look())
    check(found.is_beyond and 0.98 < found.colour_range[1] < 1.0, "the others have colours", found.colour_range)
    found = survey(run, [0], scree.pictures.Look(range=(0, 50)))
    check(not found.is_beyond and found.colour_range == (0, 50), "a range that is given stays", found.colour_range)
