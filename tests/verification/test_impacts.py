"""The decks of impacts give their closed forms, the same on 1 and 3 ranks."""
import math

from decks import toml
from scree_program import check, check_close, read_arrays, rows_of, run_ok, source_folder


def _end(folder, deck):
    """Runs a deck on 1 and 3 ranks; returns times, positions and velocities, bodies in the order of ids."""
    path = source_folder() / "inputs/verification" / f"{deck}.toml"
    for ranks in (1, 3):
        run_ok("run", path, "--set", f"output.directory={folder}/on{ranks}", ranks=ranks)
    files = [folder / f"on{ranks}" / deck / f"{deck}.h5" for ranks in (1, 3)]
    run_ok("compare", *files)
    arrays = read_arrays(files[0])
    time = next(values for name, values in arrays.items() if name.endswith("/time"))    # all outputs have the same
    return time, arrays["particles/all/position/value"], arrays["particles/all/velocity/value"]


def test_a_disk_in_a_corner(folder):
    _, _, velocity = _end(folder, "corner")
    check_close(velocity[-1][0][0], -0.933, "v_x after the impact", absolute=5e-4)
    check_close(velocity[-1][0][1], -0.180, "v_y after the impact", absolute=5e-4)


def test_newtons_cradle(folder):
    _, _, velocity = _end(folder, "cradle")
    speeds = [v[0] for v in velocity[-1]]
    check_close(max(speeds), 1, "one sphere has all of the velocity", absolute=1e-6)
    check(sum(abs(v) > 1e-6 for v in speeds) == 1 and abs(speeds[-1]) < 1e-6, "it is not the one that came", speeds)


def test_newtons_cradle_in_rigid_contact(folder):
    """Five spheres joined by springs F = K d^1.5, integrated in time; n = 50 sub-steps are within 1e-3 of it."""
    _, _, velocity = _end(folder, "cradle_wave")
    speeds = sorted(v[0] for v in velocity[-1])
    for found, expected in zip(speeds, (-0.07109, -0.03027, -0.01446, 0.12704, 0.98878)):
        check_close(found, expected, "speed of a sphere", absolute=1e-3)
    check_close(sum(v * v for v in speeds), 1, "energy over that at the start", absolute=1e-12)
    check_close(sum(speeds), 1, "momentum over that at the start", absolute=1e-12)


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


def test_the_gain_of_newtons_law_at_a_corner_is_reported(folder):
    """A plank hits a floor with one corner and sticks: the energy that (E.7) of docs/method.md says is won, in the balance and in the certificate."""
    a, b, turn, e, fall = 0.16, 0.1, 0.5, 1.0, 1.0
    mass, inertia = 1000 * a * b, 1000 * a * b * (a * a + b * b) / 12
    corners = [((sx * a * math.cos(turn) - sy * b * math.sin(turn)) / 2, (sx * a * math.sin(turn) + sy * b * math.cos(turn)) / 2)
               for sx in (-1, 1) for sy in (-1, 1)]
    x, y = min(corners, key=lambda corner: corner[1])   # as seen from the centre; there u_N = v_y + w x, u_T = v_x - w y
    w_nn, w_nt, w_tt = 1 / mass + x * x / inertia, -x * y / inertia, 1 / mass + y * y / inertia
    k2 = w_nt**2 / (w_nn * w_tt)
    slide = -fall * w_nt / w_nn                         # the slip that gains most
    gain = fall**2 / (2 * w_nn) * (e * e - 1 + k2) / (1 - k2)
    (folder / "plank.csv").write_text(f"x,y,vx,vy\n0,{1e-8 - y},{slide},{-fall}\n")
    deck = {"simulation": {"dimension": 2, "scheme": "nonsmooth", "end_time": 4e-3}, "time": {"step": 1e-3},
            "domain": {"lower": [-1, -1], "upper": [1, 1]}, "materials": {"m": {"density": 1000}},
            "pairs": {"m-m": {"friction": 5.0, "restitution": e}}, "solver": {"type": "nsgs", "tolerance": 1e-12},
            "obstacles": {"floor": {"type": "plane", "point": [0, 0], "normal": [0, 1], "material": "m"}},
            "shapes": {"plank": {"type": "box", "size": [a, b], "rounding_radius": 1e-8}},
            "particles": {"planks": {"material": "m", "shape": "plank", "angle": turn,
                                     "source": {"type": "file", "path": "plank.csv"}}},
            "analysis": {"every_steps": 1}, "output": {"certificate": {"every_steps": 1}}, "measures": {"energy": {"type": "energy", "balance": True}}}
    (folder / "deck.toml").write_text(toml(deck))
    run_ok("-q", "run", "deck.toml", folder=folder)
    last = {name: rows_of(folder / f"results/deck/deck.{name}.csv") for name in ("scalars", "certificate")}
    check(gain > 0.05 * mass * fall**2, "there is something to win", gain)
    check_close(last["scalars"][-1]["energy_kinetic"] - last["scalars"][0]["energy_kinetic"], gain, "energy won", relative=1e-6)
    check_close(-last["scalars"][-1]["energy_friction"] - last["scalars"][-1]["energy_impact"], gain, "of the balance", relative=1e-6)
    check_close(max(row["contact_gain"] for row in last["certificate"]), gain, "of the certificate", relative=1e-6)
