"""The picture of what scree verify flows writes, and the law that scripts/flows-lammps.py hands to LAMMPS."""
import importlib.util
import re
import subprocess
import sys

import matplotlib.image

from scree_program import check, check_close, check_in, source_folder


def _plot(*arguments):
    return subprocess.run([sys.executable, source_folder() / "docs/figures/plot_flows.py", *arguments], text=True,
                          capture_output=True, timeout=300)


def test_picture(folder):
    rows = ["case,law,seed,quantity,value,seconds"]
    for law, value in (("rigid", 0.3), ("elastic", 0.4), ("dem", 0.5), ("dem 4k", 0.45), ("dem 16k", 0.43), ("dem 64k", 0.42)):
        rows += [f"chute,{law},{seed},speed [m/s],{value + 0.01 * seed},1" for seed in (1, 2, 3)]
    table = folder / "flows.csv"
    table.write_text("\n".join(rows) + "\n")
    result = _plot(table)
    check(result.returncode == 0, "exit code 0", result.stderr)
    check(matplotlib.image.imread(table.with_suffix(".png"))[..., :3].std() > 0.02, "the picture is not blank")


def test_tables_of_another_kind(folder):
    (folder / "other.csv").write_text("time[s],overlap\n0,1\n")
    (folder / "alone.csv").write_text("case,law,seed,quantity,value,seconds\nbreak,dem,1,v,1,1\n")
    for table, words in (("other.csv", "not the columns"), ("nowhere.csv", "does not exist"), ("alone.csv", "no quantity")):
        result = _plot(folder / table)
        check(result.returncode == 1, "exit code 1", result)
        check_in(words, result.stderr, "the message")


def test_law_for_lammps(folder):
    """Damping: the number that LAMMPS is given becomes gamma / sqrt(m k) by a polynomial; an impact followed in small steps, until the
    force falls to 0, leaves with the restitution."""
    path = source_folder() / "scripts/flows-lammps.py"
    spec = importlib.util.spec_from_file_location("flows_lammps", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    words = module.law(6500, 0.5, 0.3).split()
    check(words[0] == "hooke" and float(words[1]) == 6500, "the stiffness", words)
    e = float(words[2])
    alpha = sum(c * e**k for k, c in enumerate((1.2728, -4.2783, 11.087, -22.348, 27.467, -18.022, 4.8218)))
    overlap, speed, dt = 0.0, 1.0, 1e-5
    while overlap + alpha * speed > 0 or speed > 0:
        speed -= dt * (overlap + alpha * speed)
        overlap += dt * speed
    check_close(-speed, 0.5, "restitution of an impact", absolute=1e-4)
    check_close(float(words[5]), 6500 * 2 / 7, "tangential stiffness", absolute=1e-6)
    check(words[7] == "0.3" and words[-2:] == ["tsuji", "limit_damping"], "friction and damping", words)
    check("tsuji" not in module.law(6500, 1, 0), "no damping for e = 1")
    check(re.search("^collapse 4", "\n".join(module.CASES), re.M), "cases have the names of the table")
