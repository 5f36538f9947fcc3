"""`scree verify flows`: its quick cases hold, and its decks lead to the same bits on 1, 2 and 3 ranks."""
import pytest

from scree_program import check, check_close, check_in, run_ok, source_folder, verified, verify
from scree.results import Results

RIGID = ("simulation.scheme=nonsmooth", "pairs.glass-glass.stiffness=rigid", "time.step=0.002")
ELASTIC = ("simulation.scheme=nonsmooth", "time.step=0.0005")
# Long enough for contacts to form, and for the events of a deck: the gate and the floor that are taken away, the floor that sinks.
SHORT = {"layers": ["simulation.end_time=0.2"],
         "chute": ["simulation.end_time=0.15"],
         "collapse": ["stages.0.duration=0.1", "stages.1.duration=0.06", "particles.grains.source.count=400",
                      "particles.grains.source.region.upper=[0.2, 0.05, 0.08]"],
         "drum": ["simulation.end_time=0.25"],
         "silo": ["stages.0.duration=0.12", "stages.1.duration=0.06", "particles.grains.source.count=800"],
         "shear": ["simulation.end_time=0.2"],
         "janssen": ["simulation.end_time=0.15", "obstacles.floor.motion.start=0.1", "obstacles.floor.motion.stop=0.15",
                     "particles.grains.source.count=500"]}


def test_every_deck_is_tried(folder):
    decks = {path.stem for path in (source_folder() / "inputs/flows").glob("*.toml")}
    check(decks == set(SHORT), "inputs/flows has these decks", decks)


@pytest.mark.parametrize("deck", SHORT)
def test_same_bits_on_1_2_and_3_ranks(folder, deck):
    path = source_folder() / "inputs/flows" / f"{deck}.toml"
    for law, settings, several in (("rigid", RIGID, (3,)), ("elastic", ELASTIC, (2,))):
        for ranks in (1, *several):
            run_ok("-q", "run", path, "--set", f"output.directory={law}{ranks}", *settings, *SHORT[deck], ranks=ranks, folder=folder)
        for ranks in several:
            result = run_ok("compare", folder / f"{law}1" / deck, folder / f"{law}{ranks}" / deck, folder=folder)
            check_in("bitwise equal", result.stdout, f"{deck}, {law}: the same on 1 and {ranks} ranks")
        worst = Results(folder / f"{law}1" / deck).summary["certificate_worst"]
        check(worst["contacts"]["value"] > 50, f"{deck}, {law}: there are contacts", worst)


def test_quick_cases_hold(folder):
    rows = {(row["case"], row["law"], row["quantity"]): float(row["value"]) for row in verified(folder / "flows.csv", "flows", "--quick")}
    check({case for case, _, _ in rows} == {"binary", "ternary", "break", "cradle", "layers", "collapse 0.5"},
          "these are the quick cases", rows.keys())
    # One ball at 1 m/s on four that touch, e = 1: with p the impulse over the mass, p/4 - (1 - p) = 1, p = 8/5.
    check_close(rows["cradle", "rigid", "v of 1 [m/s]"], 8 / 5 - 1, "the first ball of the cradle, rigid", absolute=1e-8)
    check_close(rows["cradle", "rigid", "v of 5 [m/s]"], -2 / 5, "the last ball of the cradle, rigid", absolute=1e-8)
    for law in ("rigid", "dem"):
        check_close(rows["binary", law, "v of 2 [m/s]"], -0.75, f"the ball that is hit, {law}", absolute=1e-3)
    # Linear contact keeps energy and momentum with e = 1.
    cradle = [rows["cradle", "dem", f"v of {i} [m/s]"] for i in range(1, 6)]
    check_close(sum(cradle), -1, "momentum of the soft cradle", absolute=1e-9)
    check_close(sum(v * v for v in cradle), 1, "its energy", absolute=1e-3)


def test_a_number_that_lammps_does_not_have_fails(folder):
    """A reference that is off by more than the band is seen."""
    for name in ("inputs/verification", "inputs/flows"):
        (folder / name).mkdir(parents=True)
    reference = folder / "tests/reference/flows/lammps.csv"
    reference.parent.mkdir(parents=True)
    text = (source_folder() / "tests/reference/flows/lammps.csv").read_text()
    wrong = text.replace("ternary,1,v of 3 [m/s],0.16", "ternary,1,v of 3 [m/s],0.17")
    check(wrong != text, "the reference has the row that is changed")
    reference.write_text(wrong)
    result = verify("flows", "--case", "impacts", "--source", folder)
    check(result.code == 1, "a check fails", result)
    check_in("FAILED ternary, v of 3 [m/s]: dem 0.161, LAMMPS 0.171", result.stdout, "and is named")
