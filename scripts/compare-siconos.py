#!/usr/bin/python3
"""Solves stored contact problems with Siconos, as a baseline for scree_replay.

    compare-siconos.py ../shared/fclib/*.hdf5 --max-time 30 --results siconos.csv
    compare-siconos.py --results siconos.csv --scree replay.csv --times siconos_times.csv
    scree plot performance-profile replay.csv siconos_times.csv

The first command solves FCLIB files (3D, local and global) with solvers of Siconos, on one thread, each solve in a
process of its own that is ended after --max-time seconds of processor time. It appends to the CSV and skips rows
that are there already, so it can be stopped and started again. The second compares the result with the CSV of
`scree_replay --solver ... --tolerance ... --csv replay.csv`. --times writes rows in the format of scree_replay,
in which W_NAME is the NAME of global problems, so that the third can draw both together.

A solve counts if its impulse, not its own report, has both

    res = |r - P_K(r - u^)| / max(1, |q|)  and  rel = |r - P_K(r - u^)| / max(|q|, |r|, |u|),  u = W r + q,

at or below the tolerance, with u^ = u + mu |u_T| e_N and W, q of the local form. Siconos stops by a relative measure of
its own: it is asked for half the tolerance, and where it meets that but not these two, twice again for as much less as
they missed; only the wall seconds of the last of these solves count. NAME is a solver of the local form, W_NAME the
same on a global problem whose W was formed beforehand (not counted), G_NAME one of the global form.

Needs python3-siconos (Debian), which is no dependency of scree.
"""
import argparse
import csv
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

# One thread: before numpy and Siconos start any.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})

import numpy as np

try:
    import h5py
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components
    import siconos.numerics as siconos
    MISSING = ""
except ImportError as error:
    MISSING = str(error)

LOCAL = ("NSGS", "NSGS_FULL", "NSN_AC", "ADMM", "PROX")
GLOBAL = ("G_ADMM", "G_NSGS_WR", "G_NSN_AC_WR", "G_PROX_WR")
DEFAULT = LOCAL + GLOBAL + ("W_NSGS", "W_PROX")
COLUMNS = ("file", "form", "contacts", "velocities", "solver", "tolerance", "asked", "solved", "seconds", "cpu_seconds",
           "absolute", "relative", "iterations", "info", "preparation_seconds")
TIME = "seconds_to_"  # columns of scree_replay
SHARE = 0.5  # of the tolerance, asked for
ATTEMPTS = 3
MAX_ITERATIONS = 2**31 - 1  # the clock ends a solve
WALL_SECONDS_PER_SECOND = 20  # how long a process may wait for its processor


class Refusal(Exception):
    """A file that cannot be used, and why."""


def read_matrix(group):
    """A matrix of FCLIB: nz >= 0 triplets (i row, p column), -1 compressed columns, -2 compressed rows."""
    m, n, nz = (int(group[name][0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][:] for name in ("p", "i", "x"))
    if nz >= 0:
        return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n)).tocsc()
    if nz == -1:
        return sparse.csc_matrix((x, i, p), (m, n))
    return sparse.csr_matrix((x, i, p), (m, n)).tocsc()


def inverse(M):
    """M^-1, block by block of what M couples."""
    n_blocks, block = connected_components(M, directed=False)
    order = np.argsort(block, kind="stable")
    sizes = np.bincount(block, minlength=n_blocks)
    first = np.cumsum(sizes) - sizes  # of each block, in this order
    place = np.empty(M.shape[0], dtype=int)
    place[order] = np.arange(M.shape[0]) - first[block[order]]  # within the block
    entries = M.tocoo()
    rows, columns, values = [], [], []
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        number = np.full(n_blocks, -1)
        number[chosen] = np.arange(len(chosen))
        mine = number[block[entries.row]] >= 0
        row, column = entries.row[mine], entries.col[mine]
        dense = np.zeros((len(chosen), size, size))
        np.add.at(dense, (number[block[row]], place[row], place[column]), entries.data[mine])
        own = order[first[chosen][:, None] + np.arange(size)]
        rows.append(np.repeat(own, size, axis=1).ravel())
        columns.append(np.tile(own, (1, size)).ravel())
        values.append(np.linalg.inv(dense).ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_matrix(entries, M.shape).tocsc()


class Problem:
    """A problem of a file; `W` and `q` of the local form whatever the file has."""

    def __init__(self, path):
        self.path = str(path)
        with h5py.File(path, "r") as file:
            self.form = "local" if "fclib_local" in file else "global" if "fclib_global" in file else ""
            if not self.form:
                raise Refusal("neither /fclib_local nor /fclib_global is there")
            group = file["fclib_" + self.form]
            if int(group["spacedim"][0]) != 3:
                raise Refusal("not a problem in three dimensions")
            if "G" in group or "R" in group:
                raise Refusal("bilateral constraints")
            vectors = {name: values[:] for name, values in group["vectors"].items()}
            matrices = {name: read_matrix(group[name]) for name in ("W", "M", "H") if name in group}
        start = time.perf_counter()
        self.mu = vectors["mu"]
        if self.form == "local":
            self.W, self.q = matrices["W"], vectors["q"]
            self.velocities = ""
        else:
            self.M, self.H, self.f, self.w = matrices["M"], matrices["H"], vectors["f"], vectors["w"]
            by_mass = self.H.T @ inverse(self.M)
            self.W, self.q = (by_mass @ self.H).tocsc(), by_mass @ self.f + self.w
            self.velocities = self.M.shape[0]
        self.W.sum_duplicates()
        self.preparation_seconds = time.perf_counter() - start

    def residuals(self, r):
        """res and rel of the impulse r; infinite if it is not finite."""
        if not np.all(np.isfinite(r)):
            return np.inf, np.inf
        u = self.W @ r + self.q
        x = (r - u).reshape(-1, 3)
        x[:, 0] -= self.mu * np.linalg.norm(u.reshape(-1, 3)[:, 1:], axis=1)
        t = np.linalg.norm(x[:, 1:], axis=1)
        outside = (x[:, 0] < 0) | (t > self.mu * x[:, 0])
        in_polar = outside & (self.mu * t <= -x[:, 0])
        a = (x[:, 0] + self.mu * t) / (1 + self.mu**2)
        nearest = x.copy()
        nearest[outside, 0] = a[outside]
        nearest[outside, 1:] *= (self.mu * a / np.where(t > 0, t, 1))[outside, None]
        nearest[in_polar] = 0
        error = np.linalg.norm(r - nearest.ravel())
        size = np.linalg.norm(self.q)
        largest = max(size, np.linalg.norm(r), np.linalg.norm(u))
        return error / max(1, size), error / largest if largest > 0 else error


def can_solve(solver, problem):
    return solver.startswith(("G_", "W_")) == (problem.form == "global")


def solve(solver, problem, asked):
    """r, iterations, Siconos' own code, wall seconds and seconds of processor time."""
    n = len(problem.mu)
    r, u = np.zeros(3 * n), np.zeros(3 * n)
    is_global = solver.startswith("G_")
    name = solver.removeprefix("G_").removeprefix("W_")
    constant = ("SICONOS_GLOBAL_FRICTION_3D_" if is_global else "SICONOS_FRICTION_3D_") + name.removesuffix("_FULL")
    options = siconos.solver_options_create(getattr(siconos, constant))
    options.dparam[siconos.SICONOS_DPARAM_TOL] = asked
    options.iparam[siconos.SICONOS_IPARAM_MAX_ITER] = MAX_ITERATIONS
    if name == "NSGS_FULL":
        evaluation = siconos.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION
        options.iparam[evaluation] = siconos.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL
    if is_global:
        given = siconos.GlobalFrictionContactProblem()
        given.M, given.H, given.q, given.b = problem.M, problem.H, problem.f, problem.w
    else:
        given = siconos.FrictionContactProblem()
        # Gauss-Seidel is fastest on blocks, the others on columns.
        given.M = siconos.SBM_from_csparse(3, problem.W)[1] if name.startswith("NSGS") else problem.W
        given.q = problem.q
    given.dimension, given.numberOfContacts, given.mu = 3, n, problem.mu
    start, start_cpu = time.perf_counter(), time.process_time()
    if is_global:
        info = siconos.gfc3d_driver(given, r, u, np.zeros(len(problem.f)), options)
    else:
        info = siconos.fc3d_driver(given, r, u, options)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    return r, int(options.iparam[siconos.SICONOS_IPARAM_ITER_DONE]), info, seconds, cpu_seconds


def child(pipe, solver, problem, asked, max_seconds):
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    # Siconos has no time limit; the default action of the signal ends the process.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, max_seconds)
    result = solve(solver, problem, asked)
    signal.setitimer(signal.ITIMER_PROF, 0)
    pipe.send(result)


def solve_in_child(solver, problem, asked, max_seconds):
    """As solve(), or None if the time was up or Siconos ended the process."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(there, solver, problem, asked, max_seconds))
    process.start()
    there.close()
    result = None
    try:
        if here.poll(WALL_SECONDS_PER_SECOND * max_seconds + 60):
            result = here.recv()
    except EOFError:
        pass
    process.kill()
    process.join()
    return result


def row_of(problem, solver, tolerance, max_seconds):
    row = {"file": problem.path, "form": problem.form, "contacts": len(problem.mu), "velocities": problem.velocities,
           "solver": solver, "tolerance": f"{tolerance:g}", "solved": 0,
           "preparation_seconds": "" if solver.startswith("G_") else f"{problem.preparation_seconds:.4g}"}
    asked = SHARE * tolerance
    for _ in range(ATTEMPTS):
        row["asked"] = f"{asked:.3g}"
        result = solve_in_child(solver, problem, asked, max_seconds)
        if result is None:
            break
        r, row["iterations"], row["info"], seconds, cpu_seconds = result
        absolute, relative = problem.residuals(r)
        worst = max(absolute, relative)
        row.update(seconds=f"{seconds:.4g}", cpu_seconds=f"{cpu_seconds:.4g}", absolute=f"{absolute:.4g}",
                   relative=f"{relative:.4g}", solved=int(worst <= tolerance))
        if worst <= tolerance or row["info"] != 0 or not np.isfinite(worst):
            break
        asked = min(asked, relative) * SHARE * tolerance / worst
    return row


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def seconds_of(rows):
    """{tolerance: {solver: {file: seconds}}} of solved problems; files without their folders."""
    seconds = {}
    for row in rows:
        of_solver = seconds.setdefault(float(row["tolerance"]), {}).setdefault(row["solver"], {})
        if row["solved"] == "1":
            of_solver[Path(row["file"]).name] = float(row["seconds"])
    return seconds


def seconds_of_scree(rows):
    """The same of a CSV of scree_replay."""
    seconds = {}
    for row in rows:
        for column in filter(lambda name: name.startswith(TIME), row):
            of_solver = seconds.setdefault(float(column.removeprefix(TIME)), {}).setdefault(row["solver"], {})
            if row[column]:
                of_solver[Path(row["file"]).name] = float(row[column])
    return seconds


def write_times(path, rows):
    """One row for each file, without its folder as in rows of scree_replay, and solver; a column for each tolerance."""
    columns = {row["tolerance"]: f"{TIME}{float(row['tolerance']):g}" for row in rows}
    table = {}
    for row in rows:
        key = Path(row["file"]).name, row["solver"].removeprefix("W_")
        one = table.setdefault(key, {"file": key[0], "form": row["form"], "solver": key[1]})
        one[columns[row["tolerance"]]] = row["seconds"] if row["solved"] == "1" else ""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["file", "form", "solver", *columns.values()])
        writer.writeheader()
        writer.writerows(table.values())


def merged(of_solvers):
    """NAME and W_NAME as one solver of files of every form, where there are both."""
    return {solver: of | of_solvers["W_" + solver] for solver, of in of_solvers.items() if "W_" + solver in of_solvers}


def summary(rows, scree_rows):
    """Tables by form and tolerance: number of solved problems and, with results of scree, the time over those that both solve."""
    forms = {Path(row["file"]).name: row["form"] for row in rows}
    scree = seconds_of_scree(scree_rows)
    lines = []
    for tolerance, of_solvers in sorted(seconds_of(rows).items(), reverse=True):
        is_global = {solver: solver.startswith(("G_", "W_")) for solver in of_solvers}
        tables = {form: {solver: of for solver, of in of_solvers.items() if is_global[solver] == (form == "global")}
                  for form in ("local", "global")}
        if all(tables.values()):
            tables["both forms"] = merged(of_solvers)
        for form, found in tables.items():
            files = {file for file, of in forms.items() if form in (of, "both forms")}
            own = {solver: {file: s for file, s in of.items() if file in files}
                   for solver, of in scree.get(tolerance, {}).items()}
            if not found:
                continue
            lines += ["", f"{form}, {tolerance:g}: of {len(files)} files"]
            lines.append(f"{'solver':<16}{'solved':>8}{'seconds':>10}"
                         + "".join(f" | {'both':>4}{'seconds':>10}{'scree ' + name:>14}" for name in own))
            for solver, of in sorted(found.items(), key=lambda item: -len(item[1])):
                line = f"{solver:<16}{len(of):>8}{sum(of.values()):>10.3f}"
                for ours in own.values():
                    both = of.keys() & ours.keys()
                    line += f" | {len(both):>4}{sum(of[f] for f in both):>10.3f}{sum(ours[f] for f in both):>14.3f}"
                lines.append(line)
            anyone = set().union(*found.values())
            lines.append(f"{'any of these':<16}{len(anyone):>8}")
            for name, ours in own.items():
                lines.append(f"{'scree ' + name:<16}{len(ours):>8}{sum(ours.values()):>10.3f}")
                for words, others in (("alone", ours.keys() - anyone), ("not, but others", anyone - ours.keys())):
                    lines += [f"    {words}: {file}" for file in sorted(others)]
    return "\n".join(lines[1:])


def numbers(text):
    values = [float(part) for part in text.split(",")]
    if not all(0 < value < np.inf for value in values):
        raise ValueError
    return values


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="FCLIB files to solve; others are named")
    parser.add_argument("--results", type=Path, required=True, metavar="CSV", help="rows to add to, and to summarise")
    parser.add_argument("--scree", type=Path, metavar="CSV", help="rows of scree_replay to compare with")
    parser.add_argument("--times", type=Path, metavar="CSV", help="to write: rows of the kind of scree_replay")
    parser.add_argument("--solvers", default=",".join(DEFAULT), help="default: %(default)s")
    parser.add_argument("--tolerances", type=numbers, default="1e-4,1e-8", help="default: %(default)s")
    parser.add_argument("--max-time", type=float, default=10, metavar="S",
                        help="processor seconds of a solve (default: %(default)s)")
    options = parser.parse_args(arguments)
    options.solvers = options.solvers.split(",")
    valid = LOCAL + GLOBAL + tuple("W_" + name for name in LOCAL)
    for solver in options.solvers:
        if solver not in valid:
            parser.error(f"--solvers: there is no {solver}; there are {', '.join(valid)}")
    if not options.max_time > 0:
        parser.error("--max-time must be positive")
    for file in filter(None, [*options.files, options.scree, None if options.files else options.results]):
        if not file.is_file():
            parser.error(f"{file}: no such file")
    return options


def run(options):
    is_new = not options.results.exists()
    done = set() if is_new else {(row["file"], row["solver"], row["tolerance"]) for row in read_rows(options.results)}
    with open(options.results, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        for path in options.files:
            try:
                problem = Problem(path)
            except (Refusal, OSError, KeyError) as error:
                print(f"{path}: left out: {error}", file=sys.stderr)
                continue
            for solver in options.solvers:
                if not can_solve(solver, problem):
                    continue
                for tolerance in options.tolerances:
                    if (problem.path, solver, f"{tolerance:g}") in done:
                        continue
                    row = row_of(problem, solver, tolerance, options.max_time)
                    writer.writerow(row)
                    file.flush()
                    print(f"{path.name} {solver} {tolerance:g}: "
                          f"{'solved' if row['solved'] else 'not solved'}"
                          + (f" in {row['seconds']} s, res {row['absolute']}, rel {row['relative']}" if "info" in row
                             else ", ended"), flush=True)


def main(arguments=None):
    options = parse(arguments)
    if options.files:
        if MISSING:
            print(f"compare-siconos.py: nothing solved: {MISSING} (Debian: apt-get install python3-siconos)",
                  file=sys.stderr)
            return
        run(options)
    rows = read_rows(options.results)
    if options.times:
        write_times(options.times, rows)
    print(summary(rows, read_rows(options.scree) if options.scree else []))


if __name__ == "__main__":
    main()
