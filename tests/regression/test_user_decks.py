"""Decks of inputs/granular/ that a new user would try, shortened: they run to their ends, the same on 1 and on 3 ranks, bit by
bit; and what they are about happens."""
import json

from scree_program import check, check_in, run_ok, source_folder
from scree.results import Results


def run_on_1_and_3(folder, name, *changes):
    """Results of one rank, after a comparison with three."""
    deck = source_folder() / "inputs/granular" / f"{name}.toml"
    for n in (1, 3):
        run_ok("-q", "run", deck, "--set", f"output.directory=on{n}", *changes, ranks=n, folder=folder)
    result = run_ok("compare", folder / "on1" / name, folder / "on3" / name, folder=folder)
    check_in("bitwise equal", result.stdout, f"{name}: the same on 1 and 3 ranks")
    results = Results(folder / "on1" / name)
    check(results.summary["status"] == "done", f"{name} gets to its end", json.dumps(results.summary)[:500])
    return results


def test_drum_with_two_sizes(folder):
    results = run_on_1_and_3(folder, "drum_two_sizes", "simulation.end_time=0.4")
    check(results.scalars["drum_torque_drum"][-1] < 0, "the bed hangs back: its torque is against the turn",
          results.scalars["drum_torque_drum"][-5:])


def test_funnel_with_a_plate(folder):
    results = run_on_1_and_3(folder, "funnel", "simulation.end_time=0.9", "inlets.spout.count=120", "inlets.spout.rate=600",
                             "obstacles.plate.motion.times=[0, 0.45, 0.5, 0.7, 0.75, 10]")
    time, passed = results.scalars["time"], results.scalars["outlet_n_bodies"]
    check(passed[time < 0.45].max() == 0, "nothing comes out while the plate is closed", passed[time < 0.45])
    check(10 < passed[-1] < 120, "some come out while it is open", passed[-1])
    late = passed[time > 0.85]
    check(late[-1] - late[0] <= 1, "it closes again", late)


def test_compression(folder):
    results = run_on_1_and_3(folder, "compression", "simulation.end_time=0.3", "particles.grains.source.count=100",
                             "obstacles.lid.motion.times=[0, 0.1, 0.25, 0.3]",
                             "obstacles.lid.motion.positions=[[0, 0], [0, 0], [0, -0.157], [0, -0.166]]")
    force = results.scalars["lid_force_lid_y"]
    check(force.max() > 100, "the lid meets resistance", force)


def test_heap(folder):
    results = run_on_1_and_3(folder, "heap2d", "inlets.spout.count=60", "stages.0.duration=0.5", "stages.1.until.max_time=0.5")
    # 50 on the line and 60 poured, of which a few may bounce off its end (1 and 2 have been seen).
    check(results.scalars["n_bodies"][-1] >= 107, "line and inlet: next to nothing leaves so small a heap",
          results.scalars["n_bodies"][-1])


def test_shear_of_a_thin_slab(folder):
    results = run_on_1_and_3(folder, "shear_slab", "simulation.end_time=0.05", "analysis.every=0.005",
                             "obstacles.plate.motion.times=[0, 0.01, 0.03, 1.03]")
    drag = results.scalars["plate_force_plate_x"]
    check(drag[-1] < 0, "the bed holds back the plate that slides over it", drag)


def test_oedometer(folder):
    results = run_on_1_and_3(folder, "oedometer", "particles.grains.source.count=120", "stages.0.duration=0.05",
                             *(f"stages.{stage}.until.max_time=0.03" for stage in (2, 3, 4)), "stages.1.until.max_time=0.15",
                             "particles.grains.source.region.upper=[0.03, 0.03, 0.018]", "obstacles.plate.point=[0, 0, 0.02]")
    load, target = (results.scalars[f"plate_{what}_plate"] for what in ("load", "target"))
    for asked in (4.5, 9, 18):
        near = abs(load[abs(target - asked) < 1e-9] / asked - 1)
        check(near.size > 0 and near.min() < 0.05, f"the plate comes to carry {asked} N", (asked, load, target))


def test_triaxial(folder):
    results = run_on_1_and_3(folder, "triaxial", "particles.grains.source.count=100", "stages.1.duration=0.01",
                             *(f"obstacles.{wall}.motion.max_speed=0.2" for wall in ("left", "right", "front", "back", "bottom", "top")),
                             "stages.0.until.max_time=0.1")
    late = results.scalars["stage"] == 0
    for wall in ("left", "right", "front", "back", "bottom", "top"):
        load, target = (results.scalars[f"walls_{what}_{wall}"][late][-1] for what in ("load", "target"))
        check(abs(load / target - 1) < 0.02, f"{wall} carries its pressure before the shear", (load, target))


def test_rheology(folder):
    results = run_on_1_and_3(folder, "rheology", "domain.upper=[0.006, 0.006, 0.006]", "stages.0.duration=0.01", "stages.1.duration=0.01",
                             "stages.2.duration=0.004", "stages.3.duration=0.004")
    scalars = results.scalars
    first = (scalars["time"] > 0.006) & (scalars["time"] < 0.01)
    stress = scalars["stress_contact_yy"] + scalars["stress_kinetic_yy"]
    check(500 < stress[first].mean() < 1500, "the domain holds about 1 kPa", stress[first])
    check(abs(scalars["cell_shear_rate"][-1] - 15) < 0.1, "the last stage shears at its rate", scalars["cell_shear_rate"][-1])
    check(scalars["solid_solid_fraction"][-1] > 0.5, "the domain has become denser", scalars["solid_solid_fraction"][-1])


def test_shear_cell(folder):
    results = run_on_1_and_3(folder, "shear_cell", "stages.1.duration=0.05", "particles.grains.source.count=150",
                             "obstacles.lid.motion.max_speed=1")
    load = results.scalars["lid_load_lid"]
    check(abs(load[results.scalars["time"] > 0.28][0] / 3000 - 1) < 0.02, "the lid carries 10 kPa on 0.3 m2", load)
    check(results.scalars["walls_force_floor_x"][-1] < 0, "grains hold back the floor that slides", load)
