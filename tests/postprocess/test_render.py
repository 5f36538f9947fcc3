"""scree render draws what is in the files: right size, right place, right colours, in the plane and in space."""
import matplotlib.image
import numpy as np

from drawn_runs import SIZE, make_run, picture_of, render, write_frame, write_index
from scree_program import check, check_close, check_in


def test_two_disks_in_the_plane(folder):
    make_run(folder, [[-0.5, 0, 0], [0.5, 0, 0]], [0.4, 0.2], [[0, 0, 0], [3, 4, 0]])
    picture = picture_of(folder, "--colours", "jet")
    blue = (picture[..., 2] > 0.15) & (picture[..., 0] < 0.1) & (picture[..., 1] < 0.1)
    red = (picture[..., 0] > 0.15) & (picture[..., 1] < 0.1) & (picture[..., 2] < 0.1)
    red[:, int(0.84 * SIZE[0]):] = blue[:, int(0.84 * SIZE[0]):] = False    # the colour bar
    check(blue.any() and red.any(), "the slow disk is blue, the fast one red", (blue.sum(), red.sum()))
    # Areas are as the squares of the radii; the rim has the disk's hue too.
    check_close(blue.sum() / red.sum(), 4.0, "the areas of the disks are as 4 to 1", relative=0.08)
    rows, columns = np.nonzero(blue)
    pixels_per_metre = (columns.max() + 1 - columns.min()) / 0.8
    check_close(rows.max() - rows.min(), columns.max() - columns.min(), "a disk is round", absolute=2)
    distance = np.nonzero(red)[1].mean() - columns.mean()
    check_close(distance, pixels_per_metre, "the centres are 1 m apart", absolute=2)


def test_spheres_hide_each_other(folder):
    make_run(folder, [[0, -1, 0.5], [0, 1, 0.5]], [0.3, 0.28], [[1, 0, 0], [0, 0, 0]])
    picture = picture_of(folder, "--colours", "jet", "--view", "0", "0")    # along +y: the fast one is in front
    middle = picture[:, :int(0.8 * SIZE[0])]
    check(((middle[..., 0] > 0.3) & (middle[..., 2] < 0.1)).sum() > 1000, "the sphere in front is drawn")
    check(not ((middle[..., 2] > 0.3) & (middle[..., 0] < 0.1)).any(), "the sphere behind is hidden")


def test_obstacles_contacts_and_empty_frames(folder):
    make_run(folder, np.zeros((0, 3)), [], np.zeros((0, 3)))
    write_frame(folder / "vtk" / "walls.vtp", [[-1, -1, 0], [1, -1, 0]], lines=[(0, 1)])
    write_index(folder / "vtk" / "case_obstacles.pvd", [(0, "walls.vtp")])
    write_frame(folder / "vtk" / "contacts.vtp", [[-1, 1, 0], [1, 1, 0]], lines=[(0, 1)])
    write_index(folder / "vtk" / "case_contacts.pvd", [(0.25, "contacts.vtp")])
    with_all = picture_of(folder, "--field", "none", "--contacts")
    without = picture_of(folder, "--field", "none", "--no-obstacles")
    dark = lambda picture: (picture.sum(axis=2) < 1.5).sum()
    check(dark(with_all) > dark(without) + 200, "the wall is drawn though there are no bodies",
          (dark(with_all), dark(without)))


def test_a_film_has_one_scale(folder):
    vtk = folder / "vtk"
    vtk.mkdir()
    for k in range(3):
        write_frame(vtk / f"{k}.vtp", [[k, 0, 0]], radius=[0.5], velocity=[[k, 0, 0]])
    write_index(vtk / "case_particles.pvd", [(k, f"{k}.vtp") for k in range(3)])
    result = render(folder, "--all-frames")
    check(result.returncode == 0, "scree render ends with exit code 0", result.stderr)
    paths = result.stdout.split()
    check([path.rsplit("/", 1)[1] for path in paths] == [f"case_000{k}.png" for k in range(3)], "numbered names", paths)
    left, right = (matplotlib.image.imread(path)[:, :, :3] for path in (paths[0], paths[2]))
    coloured = [np.nonzero(np.ptp(picture[:, :300], axis=2) > 0.2)[1].mean() for picture in (left, right)]
    check(coloured[1] > coloured[0] + 100, "the body moves to the right through a fixed picture", coloured)


def test_a_wrong_field_is_named(folder):
    make_run(folder, [[0, 0, 0]], [1], [[0, 0, 0]])
    result = render(folder, "--field", "sped")
    check(result.returncode == 2, "exit code 1", result)
    check_in("valid: none, speed, radius, velocity", result.stderr, "the message names the fields there are")
    check("Traceback" not in result.stderr, "the message is for a user", result.stderr)
