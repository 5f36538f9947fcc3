"""Walls that a force or a torque moves, in the scheme "nonsmooth", against closed forms (docs/method.md, D.17-D.18): alone, pushing, hit,
on columns and beds under up to 10 000 times their weight, on a hinge, on held bodies, rolled over, and as a box that shrinks."""
import math

import numpy as np
import pytest
from scree_program import check, check_close, read_arrays, rows_of, run_ok

DECK = """[simulation]
dimension = {dimension}
scheme = "nonsmooth"
end_time = {end}
[time]
step = {step}
[domain]
lower = {lower}
upper = {upper}
outside = "keep"
[physics]
gravity = {gravity}
[neighbors]
skin = {skin}
[solver]
tolerance = {tolerance}
[materials.m]
density = {density}
[materials.w]
density = 1
[pairs.m-m]
friction = {friction}
restitution = {restitution}
{springs}[pairs.m-w]
friction = {wall_friction}
restitution = {restitution}
{springs}{tables}
[analysis]
every_steps = 1
[measures.d]
type = "driven"
[measures.f]
type = "wall_force"
[measures.s]
type = "speed"
[measures.x]
type = "extent"
[measures.e]
type = "energy"
balance = true
[output]
certificate = {{ every_steps = 1 }}
"""
USUAL = {"dimension": 3, "end": 0.02, "step": 1e-3, "lower": [-0.5, -0.5, -0.5], "upper": [0.5, 0.5, 0.5], "gravity": [0, 0, 0],
         "skin": 0.02, "tolerance": 1e-10, "density": 2500, "friction": 0, "wall_friction": 0, "restitution": 0, "springs": ""}


def bodies(points, radius=5e-3, name="balls", more=""):
    """A group of bodies of the material m, from NAME.csv."""
    return f"[particles.{name}]\nmaterial = \"m\"\nradius = {{ distribution = \"constant\", value = {radius} }}\n" \
           f"source = {{ type = \"file\", path = \"{name}.csv\" }}\n{more}", (name, points)


def wall(name, motion="", **keys):
    lines = [f"[obstacles.{name}]", 'material = "w"']
    lines += [f"{key} = {value!r}".replace("'", '"') for key, value in keys.items()]
    return "\n".join(lines + ([f"motion = {{ type = \"driven\", {motion} }}"] if motion else [])) + "\n"


def run(folder, groups, walls, solved_from=0, **numbers):
    """Rows of scalars, and of the certificate without that of the start. Every step that ends after `solved_from` [s] is solved."""
    for _, (name, points) in groups:
        head = "x,y,z"[:2 * len(points[0]) - 1]
        (folder / f"{name}.csv").write_text("\n".join([head] + [",".join(repr(float(x)) for x in point) for point in points]) + "\n")
    values = USUAL | numbers
    (folder / "deck.toml").write_text(DECK.format(**values, tables="".join(text for text, _ in groups) + "".join(walls)))
    run_ok("-q", "run", "deck.toml", folder=folder)
    rows, steps = (rows_of(folder / f"results/deck/deck.{kind}.csv") for kind in ("scalars", "certificate"))
    check(all(step["solved"] == 1 for row, step in zip(rows[1:], steps[1:]) if row["time"] > solved_from), "every step is solved")
    return rows, steps[1:]


MASS = 2500 * 4 / 3 * math.pi * 5e-3**3     # of a ball of the usual radius and density


def test_plate_alone(folder):
    rows, _ = run(folder, [bodies([[0.3, 0.3, 0.3]])], [wall("plate", 'axis = [0, 0, 1], load = 5, control = "free", mass = 2, max_speed = 5',
                                                             type="plane", point=[0, 0, 0], normal=[0, 0, 1])])
    for row in rows:
        check_close(row["d_velocity_plate"], 2.5 * row["time"], "speed of the plate", relative=1e-14, absolute=1e-16)


def test_plate_pushes_a_ball(folder):
    load, mass = 0.5, 2
    rows, _ = run(folder, [bodies([[5e-3, 0, 0]])], [wall("plate", f'axis = [1, 0, 0], load = {load}, control = "free", mass = {mass}, max_speed = 5',
                                                          type="plane", point=[0, 0, 0], normal=[1, 0, 0])])
    for row in rows[1:]:
        together = load * row["time"] / (mass + MASS)
        check_close(row["d_velocity_plate"], together, "speed of the plate", relative=1e-12)
        check_close(row["s_mean_speed"], together, "speed of the ball", relative=1e-9)
        check_close(row["d_load_plate"], load * MASS / (mass + MASS), "what the ball needs", relative=1e-9)


@pytest.mark.parametrize("mass", [0.01, 1.0])
def test_ball_thrown_at_a_plate(folder, mass):
    rows, _ = run(folder, [bodies([[-9e-3, 0, 0]], more="velocity = [1, 0, 0]\n")],
                  [wall("plate", f'axis = [1, 0, 0], load = 0, control = "free", mass = {mass}, max_speed = 5',
                        type="plane", point=[0, 0, 0], normal=[-1, 0, 0])], restitution=0.5)
    last = rows[-1]
    of_plate, of_ball = MASS * 1.5 / (mass + MASS), (MASS - 0.5 * mass) / (mass + MASS)
    check_close(last["d_velocity_plate"], of_plate, "speed of the plate", relative=1e-9)
    check_close(last["s_mean_speed"], abs(of_ball), "speed of the ball", relative=1e-9)
    # The ball leaves with u, by how far it has gone since the impact, in the first step that closes the gap.
    momentum = mass * last["d_velocity_plate"] + MASS * math.copysign(last["s_mean_speed"], of_ball)
    check_close(momentum, MASS, "momentum", relative=1e-14)
    energy = 0.5 * mass * of_plate**2 + last["e_kinetic"]
    check_close(last["e_impact"], 0.5 * MASS - energy, "what the impact took", relative=1e-9)


# Loads of servos are met to 1e-12 of the load, which is 3e-11 m/s of such a ball: not below this tolerance.
ROUND_OFF = pytest.mark.xfail(strict=True, raises=AssertionError, reason="a servo under 10 000 times the weight ends at a residual of 3.5e-9")


@pytest.mark.parametrize("times, control", [(times, 'control = "free", mass = 1, ') for times in (1, 200, 10_000)] +
                         [(1, ""), (200, ""), pytest.param(10_000, "", marks=ROUND_OFF)])
def test_column_under_a_load(folder, times, control):
    """Ten balls in a tube without friction."""
    n, radius, g = 10, 5e-3, 9.81
    of_plate = 1 if control else 0
    load = times * n * MASS * g + of_plate * g
    tube = wall("tube", type="cylinder", side="inside", a=[0, 0, -0.1], b=[0, 0, 0.3], radius=1.001 * radius)
    rows, steps = run(folder, [bodies([[0, 0, (2 * k + 1) * radius] for k in range(n)])],
                      [tube, wall("floor", type="plane", point=[0, 0, 0], normal=[0, 0, 1]),
                       wall("plate", f"axis = [0, 0, -1], load = {load}, {control}max_speed = 0.5", type="plane", point=[0, 0, 2 * n * radius], normal=[0, 0, -1])],
                      gravity=[0, 0, -g], tolerance=1e-10 if control else 1e-9, skin=5e-3)
    print(f"{times} times, {control or 'servo'}: {max(step['sweeps'] for step in steps):.0f} sweeps at most, last {steps[-1]['sweeps']:.0f}")
    for row in rows[1:]:
        check_close(row["d_velocity_plate"], 0, "the plate rests", absolute=1e-10)
        check_close(row["d_load_plate"], load, "what it carries", relative=1e-6)
        check_close(-row["f_force_floor_z"], load + n * MASS * g, "what the floor carries", relative=1e-6)


# Steps of 1/50 to 3 of the contact time; where such a step ends in the contact with the floor is not asked for.
@pytest.mark.parametrize("restitution, step", [(e, step) for e in (0.1, 0.5, 0.9) for step in (1e-5, 1e-4)] + [(0.5, 1e-3)])
@pytest.mark.parametrize("held", [False, True])
def test_servo_comes_to_rest_on_springs(folder, restitution, step, held):
    """A ball between floor and servo, or held in place: both springs carry the load, and no energy comes from them."""
    load, stiffness = 1, 1e5
    rows, _ = run(folder, [bodies([[0, 0, 5e-3]], more="mobility = 0\n" if held else "")],
                  [wall("floor", type="plane", point=[0, 0, 0], normal=[0, 0, 1]),
                   wall("plate", f"axis = [0, 0, -1], load = {load}, max_speed = 0.5", type="plane", point=[0, 0, 1e-2], normal=[0, 0, -1])],
                  restitution=restitution, springs=f"stiffness = {stiffness}\n", step=step, end=max(0.02, 40 * step), tolerance=1e-8)
    last = rows[-1]
    slow = 1e-2 if restitution == 0.9 else 1e-6      # of the speed that the load gives to the ball in a contact time
    check_close(last["d_velocity_plate"], 0, "the plate rests", absolute=slow * load / math.sqrt(stiffness * MASS))
    check_close(last["d_position_plate"], (1 if held else 2) * load / stiffness, "where the plate rests", relative=max(slow, 1e-6))
    check_close(last["d_load_plate"], load, "what it carries", relative=1e-6)
    for row in rows:
        check(row["e_impact"] >= -1e-9 * load**2 / stiffness, "dampers take energy", row["e_impact"])


def test_servo_on_a_column_of_springs(folder):
    """Ten balls in a smooth tube, the restitution of which is high: the spring of the plate must not feed what the others damp."""
    n, radius, g, stiffness = 10, 5e-3, 9.81, 1e6
    weight = MASS * g
    load = 20 * n * weight
    rows, _ = run(folder, [bodies([[0, 0, (2 * k + 1) * radius] for k in range(n)])],
                  [wall("tube", type="cylinder", side="inside", a=[0, 0, -0.1], b=[0, 0, 0.3], radius=1.001 * radius),
                   wall("floor", type="plane", point=[0, 0, 0], normal=[0, 0, 1]),
                   wall("plate", f"axis = [0, 0, -1], load = {load}, max_speed = 0.5", type="plane", point=[0, 0, 2 * n * radius], normal=[0, 0, -1])],
                  restitution=0.7, springs=f"stiffness = {stiffness}\n", step=1e-4, end=0.3, gravity=[0, 0, -g], tolerance=1e-8, skin=5e-3)
    last = rows[-1]
    short_by = ((n + 1) * load + n * (n + 1) / 2 * weight) / stiffness
    check_close(last["d_position_plate"], short_by, "how far the column is pressed", relative=1e-5)
    check_close(-last["f_force_floor_z"], load + n * weight, "what the floor carries", relative=1e-5)
    # Springs with dampers count too much as stored in the first step, in which others push them together.
    check(min(row["e_impact"] for row in rows) >= -load * 1e-4 * 0.5 / 2, "no more than load dt v/2")
    taken = [row["e_impact"] for row in rows[1:]]
    check(min(b - a for a, b in zip(taken, taken[1:])) >= -1e-6 * max(taken) and taken[-1] > 0, "dampers take energy in every step")


@pytest.mark.parametrize("control", ['control = "free", mass = 1, ', ""])
@pytest.mark.parametrize("times", [1, 200, 10_000])
def test_bed_under_a_load(folder, full, times, control):
    """Balls that have fallen into a box with smooth walls, then a load of so many times their weight: met in each step of the second half.
    Steps of the shock may take more sweeps than there are to 1e-4, as those of the same balls under 200 times the gravity do."""
    if not full and times != 200:
        pytest.skip("minutes: --full")
    rows, steps, late, weight = bed_under_a_load(folder, times, control)
    for k in late:
        of_inertia = (rows[k]["d_velocity_plate"] - rows[k - 1]["d_velocity_plate"]) / 1e-3 if control else 0
        check_close(rows[k]["d_load_plate"] + of_inertia, times * weight, "the load is met", relative=1e-3)
        check(steps[k - 1]["max_overlap"] < 0.05 * 5e-3, "bodies hardly overlap", steps[k - 1]["max_overlap"])


@pytest.mark.parametrize("times, control", [
    *((times, 'control = "free", mass = 1, ') for times in (1, 200, 10_000)), (1, ""), (10_000, ""),
    pytest.param(200, "", marks=pytest.mark.xfail(strict=True, raises=AssertionError, reason="bodies still rearrange: two of 100 steps are not solved"))])
def test_late_steps_of_a_bed_under_a_load_are_solved(folder, full, times, control):
    """Six seeds of the servo under 200 times the weight leave 2, 0, 0, 2, 7 and 1 of 100 steps."""
    if not full and times != 200:
        pytest.skip("minutes: --full")
    _, steps, late, _ = bed_under_a_load(folder, times, control)
    check(all(steps[k - 1]["solved"] == 1 for k in late), "every step is solved")


def bed_under_a_load(folder, times, control):
    """Rows of scalars, the certificate, numbers of the rows of the second half, weight of the balls [N]."""
    n, g, edge = 150, 9.81, 0.06
    weight = n * MASS * g
    box = wall("box", type="box", side="inside", lower=[0, 0, 0], upper=[edge, edge, 0.4])
    stages = "".join(f'[[stages]]\nname = "{name}"\nduration = {time}\ndrive = [{{ obstacle = "plate", load = {load} }}]\n'
                     for name, time, load in (("settle", 0.3, weight), ("press", 0.2, times * weight)))
    text = '[particles.balls]\nmaterial = "m"\nradius = { distribution = "constant", value = 5e-3 }\n' \
           f'source = {{ type = "random", count = {n}, region = {{ lower = [0, 0, 0], upper = [{edge}, {edge}, 0.1] }} }}\n'
    rows, steps = run(folder, [(text, ("none", [[0, 0, 0]]))],
                      [box, wall("plate", f"axis = [0, 0, -1], load = {weight}, {control}max_speed = 0.5", type="plane", point=[0, 0, 0.105], normal=[0, 0, -1]), stages],
                      solved_from=math.inf, gravity=[0, 0, -g], tolerance=1e-4, friction=0.5, skin=5e-3, lower=[-0.05] * 3, upper=[0.1, 0.1, 0.5], end=0.5)
    late = [k for k, row in enumerate(rows) if row["time"] > 0.4]
    print(f"{times} times, {control or 'servo'}: sweeps {np.mean([steps[k - 1]['sweeps'] for k in late]):.0f}, "
          f"load residual {max(steps[k - 1]['load_residual'] for k in late):.2g}")
    return rows, steps, late, weight


def test_paddle_on_a_hinge(folder):
    inertia, torque, arm, mass = 1e-3, 0.02, 0.1, 0.05
    density = mass / (4 / 3 * math.pi * 5e-3**3)
    rows, _ = run(folder, [bodies([[arm, 10e-3, 0]])],
                  [wall("paddle", f'axis = [0, 0, 1], point = [0, 0, 0], torque = {torque}, control = "free", moment_of_inertia = {inertia}, max_rate = 20',
                        type="box", lower=[-0.15, -5e-3, -0.05], upper=[0.15, 5e-3, 0.05])], density=density, end=1e-3, step=1e-4)
    for row in rows[1:3]:
        check_close(row["d_velocity_paddle"] / row["time"], torque / (inertia + mass * arm**2), "angular acceleration", relative=1e-4)
        check_close(row["f_force_paddle_y"], -mass * arm * torque / (inertia + mass * arm**2), "push", relative=1e-4)
        check_close(row["d_load_paddle"], mass * arm**2 * torque / (inertia + mass * arm**2), "torque of the ball", relative=1e-4)


@pytest.mark.parametrize("wall_friction", [0, 0.5])
def test_flap_on_a_fixed_ball(folder, wall_friction):
    """0.5 kg, 0.2 m long, 30 degrees above the horizontal, on a ball below it at 0.15 m."""
    mass, length, at, angle, radius = 0.5, 0.2, 0.15, math.radians(30), 5e-3
    torque = -mass * 9.81 * length / 2 * math.cos(angle)
    along, normal = (math.cos(angle), math.sin(angle)), (math.sin(angle), -math.cos(angle))
    ball = [at * along[k] + radius * normal[k] for k in range(2)]
    rows, _ = run(folder, [bodies([ball], more="mobility = 0\n")],
                  [wall("flap", f'point = [0, 0], torque = {torque}, control = "free", moment_of_inertia = {mass * length**2 / 3}, max_rate = 20',
                        type="segment", a=[0, 0], b=[length * x for x in along])],
                  dimension=2, lower=[-0.5, -0.5], upper=[0.5, 0.5], gravity=[0, -9.81], wall_friction=wall_friction, end=0.05)
    for row in rows[1:]:
        check_close(row["d_position_flap"], 0, "it stays", absolute=1e-6)
        check_close(row["d_load_flap"], torque, "torque that the ball takes", relative=1e-5)
        check_close(math.hypot(row["f_force_flap_x"], row["f_force_flap_y"]), 2.831903, "force of the ball", relative=1e-5 if wall_friction == 0 else 1e-3)


# When the left and the right roller stop slipping [s]. Far apart both carry half: 1/(mu g (1 + m R^2/(2 I))) = 0.0970827 s, to the 0.3 % by
# which the slab goes on and friction tilts. Near each other the shares change on the way: from Newton's law of slab and rollers in steps of 1 us.
@pytest.mark.parametrize("apart, slips, within", [(0.2, (0.101409, 0.095020), 2e-4), (2, (0.0970827, 0.0970827), 5e-4)])
def test_box_on_two_free_rollers(folder, apart, slips, within):
    """Rims and box end with the speed v0/(1 + 2 I/(m R^2)), however the weight is shared."""
    rollers = [wall(name, f'point = [{x}, 0], torque = 0, control = "free", moment_of_inertia = 1e-3, max_rate = 100',
                    type="disk", center=[x, 0], radius=0.05) for name, x in (("left", -apart), ("right", apart))]
    length = 5 * apart
    slab = (f'[shapes.slab]\ntype = "box"\nsize = [{length}, 0.02]\n[particles.slab]\nmaterial = "m"\nshape = "slab"\nvelocity = [1, 0]\n'
            'source = { type = "file", path = "slab.csv" }\n', ("slab", [[-0.04, 0.06]]))
    rows, _ = run(folder, [slab], rollers, dimension=2, lower=[-10 * apart, -1], upper=[10 * apart, 1], gravity=[0, -9.81],
                  density=2 / (0.02 * length), wall_friction=0.3, end=0.15, step=1e-4, tolerance=1e-8, skin=0.05)
    last = rows[-1]
    check_close(last["s_mean_speed"], 0.7142857, "speed of the slab", relative=1e-3)
    for name, slip in zip(("left", "right"), slips):
        check_close(-0.05 * last[f"d_velocity_{name}"], 0.7142857, f"rim of the {name} roller", relative=1e-3)
        sticks = next(row["time"] for row in rows[1:] if abs(row["s_mean_speed"] + 0.05 * row[f"d_velocity_{name}"]) < 1e-4)
        check_close(sticks, slip, f"slip at the {name} roller [s]", absolute=within)
    check_close(last["e_friction"], 0.2857143, "what friction took", relative=5e-3)


@pytest.mark.parametrize("control", ['control = "free", mass = 0.3, ', ""])
def test_two_plates_on_one_ball(folder, control):
    plates = [wall(name, f"axis = [{-side}, 0, 0], load = 7, {control}max_speed = 0.5", type="plane", point=[5e-3 * side, 0, 0], normal=[-side, 0, 0])
              for name, side in (("left", -1), ("right", 1))]
    rows, _ = run(folder, [bodies([[0, 0, 0]])], plates)
    for row in rows[1:]:
        for name in ("left", "right"):
            check_close(row[f"d_velocity_{name}"], 0, "nothing moves", absolute=1e-10)
            check_close(row[f"d_load_{name}"], 7, "squeeze", relative=1e-8)


def test_box_that_shrinks(folder):
    """Six walls of equal mass under the same pressure around loose balls: no momentum comes from outside."""
    edge, mass = 0.06, 0.05
    sides = [(name, axis, side) for axis, names in enumerate((("left", "right"), ("front", "back"), ("bottom", "top"))) for name, side in zip(names, (-1, 1))]
    walls = []
    for name, axis, side in sides:
        inwards = [float(-side) if k == axis else 0.0 for k in range(3)]
        point = [edge if k == axis and side > 0 else 0.0 for k in range(3)]
        walls.append(wall(name, f'axis = {inwards}, load = 2, control = "free", mass = {mass}, max_speed = 3', type="plane", point=point, normal=inwards))
    text = '[particles.balls]\nmaterial = "m"\nradius = { distribution = "constant", value = 5e-3 }\n' \
           f'source = {{ type = "random", count = 60, region = {{ lower = [0, 0, 0], upper = [{edge}, {edge}, {edge}] }} }}\n'
    rows, _ = run(folder, [(text, ("none", [[0, 0, 0]]))], walls, tolerance=1e-8, skin=8e-3, end=0.1, step=5e-4, friction=0.3,
                  restitution=0.2, lower=[-0.05] * 3, upper=[0.12] * 3)
    velocity = np.reshape(read_arrays(sorted((folder / "results/deck/checkpoint").glob("*.scree"))[-1])["arrays/velocity"], (60, 3))
    last = rows[-1]
    check(max(last[f"d_position_{name}"] for name, *_ in sides) > 1e-3, "walls have come in")
    for axis, direction in enumerate("xyz"):
        of_walls = sum(-side * mass * last[f"d_velocity_{name}"] for name, of, side in sides if of == axis)
        check_close(of_walls + MASS * velocity[:, axis].sum(), 0, f"momentum along {direction}", absolute=1e-12)
