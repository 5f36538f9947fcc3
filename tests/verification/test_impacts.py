"""The decks of impacts give their closed forms, the same on 1 and 3 ranks."""
import math

from scree_program import check, check_close, read_arrays, run_ok, source_folder


def _end(folder, deck):
    """Runs a deck on 1 and 3 ranks; returns times, positions and velocities, bodies in the order of ids."""
    path = source_folder() / "inputs/verification" / f"{deck}.toml"
    for ranks in (1, 3):
        run_ok("run", path, "--set", f"output.directory={folder}/on{ranks}", ranks=ranks)
    files = [folder / f"on{ranks}" / deck / f"{deck}.h5" for ranks in (1, 3)]
    run_ok("compare", *files)
    arrays = read_arrays(files[0])
    return tuple(arrays[name] for name in ("observables/count/time", "particles/all/position/value",
                                           "particles/all/velocity/value"))


def test_a_disk_in_a_corner(folder):
    _, _, velocity = _end(folder, "corner")
    check_close(velocity[-1][0][0], -0.933, "v_x after the impact", absolute=5e-4)
    check_close(velocity[-1][0][1], -0.180, "v_y after the impact", absolute=5e-4)


def test_newtons_cradle(folder):
    _, _, velocity = _end(folder, "cradle")
    speeds = [v[0] for v in velocity[-1]]
    check_close(max(speeds), 1, "one sphere has all of the velocity", absolute=1e-6)
    check(sum(abs(v) > 1e-6 for v in speeds) == 1 and abs(speeds[-1]) < 1e-6, "it is not the one that came", speeds)


def test_a_bouncing_disk(folder):
    time, position, _ = _end(folder, "bouncing_ball")
    fall = math.sqrt(2 / 10)
    for t, x in zip(time, position):
        # Which flight is it, and how high is the disk then?
        start, e, n = fall, 0.8, 1
        if t <= fall:
            height = 1 - 5 * t * t
        else:
            while n < 60 and t > start + 2 * fall * e**n:
                start, n = start + 2 * fall * e**n, n + 1
            s = t - start
            height = 0 if n == 60 else 10 * fall * e**n * s - 5 * s * s
        check_close(x[0][1] - 0.1, height, f"height at {t} s", absolute=1e-5)
