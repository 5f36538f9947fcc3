"""Generated friction problems (scree.problems): what their sizes and seeds mean, solutions that are known, and that each problem has
one, as scree_replay finds it."""
import json
import math

import h5py
import numpy as np
import pytest

from scree.problems.families import FAMILIES, generate
from scree.problems.fclib import write_fclib
from scree.problems.problem import SPEED, Problem, unit_vector
from scree.problems.solutions import ill_conditioned, manufacture, manufactured
from scree_program import check, scree

MADE_FROM_SOLUTION = ("manufactured", "ill_conditioned")
STANDS = set(FAMILIES) - {*MADE_FROM_SOLUTION, "sliding", "jammed"}
IN_SPACE = ("tower", "kapla")
LEAST = {"mass_ratio": 2, "redundant": 2, "arch": 3, "ill_conditioned": 2}     # others: 1
EACH = [(family, dimension) for family in FAMILIES for dimension in (2, 3) if dimension == 3 or family not in IN_SPACE]


def numbers(problem):
    """All that a problem consists of."""
    return (problem.position, problem.mass, problem.free_velocity, problem.pairs, problem.jacobian, problem.bias, problem.mu)


def solve(folder, problems, tolerance):
    """(residual, velocities of bodies) that scree_replay finds for each problem."""
    names = [f"{k}.hdf5" for k in range(len(problems))]
    for name, problem in zip(names, problems):
        write_fclib(problem, folder / name, "test", "")
    result = scree(*names, "--solver", "auto", "--measure", "natural", "--tolerance", str(tolerance), "--write-solution", "--force",
                   "--json", "out.json", name="scree_replay", folder=folder)
    check(result.code in (0, 3), "solved, or not", result)

    solves = json.loads((folder / "out.json").read_text())["solves"]
    velocities = []
    for name in names:
        with h5py.File(folder / name) as file:
            velocities.append(file["solution/v"][()])
    return [(row["residual"]["natural"], v) for row, v in zip(solves, velocities, strict=True)]


def relative_velocity(problem, v):
    """H v of each contact."""
    u = np.zeros((len(problem.pairs), problem.dimension))
    for c, pair in enumerate(problem.pairs):
        for body, rows in zip(pair, problem.jacobian[c]):
            if body >= 0:
                u[c] += np.array(rows) @ v[body]
    return u


def momentum(problem, r):
    """H^T r of each body."""
    p = np.zeros((len(problem.mass), problem.q))
    for c, pair in enumerate(problem.pairs):
        for body, rows in zip(pair, problem.jacobian[c]):
            if body >= 0:
                p[body] += np.array(rows).T @ r[c]
    return p


def masses(problem):
    return np.array(problem.mass).reshape(-1, problem.q, problem.q)


def kinetic_difference(problem, v, w):
    """Root of twice the kinetic energy of the difference, over that of a free step."""
    M, free = masses(problem), np.array(problem.free_velocity)
    x = np.asarray(v).reshape(free.shape) - w
    return math.sqrt(np.einsum("bi,bij,bj", x, M, x) / np.einsum("bi,bij,bj", free, M, free))


def test_sizes_are_what_they_say():
    def sizes(family, size):
        problem = generate(family, 3, size)
        return len(problem.mass), len(problem.pairs)

    assert sizes("stack", 10) == (10, 40)
    assert sizes("redundant", 10) == (1, 100)
    assert sizes("arch", 10) == (10, 44)
    # Courses of 2 and 3 bricks: 1 and 2 upright joints, 2 on the ground, 4 overlaps; 4 contacts each.
    assert sizes("wall", 2) == (2 + 3, 4 * (1 + 2 + 2 + 4))
    assert sizes("kapla", 3) == (6, 4 * (2 + 4 + 4))
    assert sizes("tower", 3) == (36, 36 * 12)
    # 14 sites; a site has 12 neighbours: 36 pairs; 6 faces of 5.
    assert sizes("jammed", 1) == (14, 36 + 30)
    assert sizes("manufactured", 50)[0] == 50
    assert sizes("ill_conditioned", 10) == (10, 90)


@pytest.mark.parametrize("family,dimension", EACH)
def test_largest_problems_have_less_than_three_million_contacts(family, dimension):
    """From how contacts grow with the size; some numbers are drawn."""
    largest = {"redundant": 1200 if dimension == 3 else 400_000, "wall": 400, "tower": 10_000, "kapla": 100_000,
               "jammed": 40 if dimension == 3 else 400, "ill_conditioned": 400_000 // 3}.get(family, 400_000)
    size = 8 if family == "jammed" else 20
    few, many = (len(generate(family, dimension, n, 4).pairs) for n in (size // 2, size))
    assert many * (largest / size)**round(math.log2(many / few)) < 3e6


@pytest.mark.parametrize("family,dimension", EACH)
def test_the_same_seed_gives_the_same_problem_another_one_another(family, dimension):
    for size in (LEAST.get(family, 1), 6):
        one, again, other = (generate(family, dimension, size, seed) for seed in (1, 1, 2))
        assert numbers(one) == numbers(again) and numbers(one) != numbers(other)
        assert family in MADE_FROM_SOLUTION or min(bias[0] for bias in one.bias) >= 0, "standing still closes no gap"


@pytest.mark.parametrize("dimension", (2, 3))
def test_each_has_a_solution_and_what_stands_stands(folder, dimension):
    cases = [(family, size, seed) for family, of in EACH if of == dimension
             for size in {LEAST.get(family, 1), LEAST.get(family, 1) + 1, 2 if family == "jammed" else 6} for seed in (1, 2)]
    for tolerance, chosen in ((1e-8, [case for case in cases if case[0] != "ill_conditioned"]),
                              (1e-4, [case for case in cases if case[0] == "ill_conditioned"])):    # made to be hard: known, not found
        found = solve(folder, [generate(family, dimension, size, seed) for family, size, seed in chosen], tolerance)
        for case, (residual, v) in zip(chosen, found):
            assert residual <= tolerance, case
            assert case[0] not in STANDS or np.abs(v).max() < 1e-5 * SPEED, case


@pytest.mark.parametrize("dimension", (2, 3))
@pytest.mark.parametrize("make", (manufactured, ill_conditioned))
@pytest.mark.parametrize("size", (2, 30))
def test_known_solutions_obey_all_equations_to_round_off(make, dimension, size):
    solved = make(dimension, size, 3)
    problem, v, r, u = solved.problem, *map(np.array, solved[1:])
    largest = np.zeros(len(problem.mass))
    for pair, impulse in zip(problem.pairs, r):
        for body in pair:
            if body >= 0:
                largest[body] = max(largest[body], impulse[0])
    rest = np.einsum("bij,bj->bi", masses(problem), v - problem.free_velocity) - momentum(problem, r)
    assert (np.abs(rest) <= 1e-13 * largest[:, None]).all(), "M (v - v_free) = H^T r against the largest impulse of the body"
    assert np.abs(relative_velocity(problem, v) + problem.bias - u).max() < 1e-14
    mu, kinds = np.array(problem.mu), [0, 0, 0]     # open, stick, slip
    for c in range(len(mu)):
        push, slip = np.linalg.norm(r[c, 1:]), np.linalg.norm(u[c, 1:])
        kinds[0 if r[c, 0] == 0 else 2 if slip > 0 else 1] += 1
        round_off = 1e-15 * (1 + r[c, 0])
        if r[c, 0] == 0:
            assert u[c, 0] > 0.1 * SPEED and push == 0, "open"
        else:
            assert u[c, 0] == 0 and push <= mu[c] * r[c, 0] + round_off, "in the cone"
            assert slip == 0 or abs(r[c, 1:] @ u[c, 1:] + mu[c] * r[c, 0] * slip) <= round_off, "opposite to the slip"
            assert slip > 0 or mu[c] == 0 or push < 0.95 * mu[c] * r[c, 0], "strictly inside"
    assert size == 2 or min(kinds) > len(mu) // 10


@pytest.mark.parametrize("dimension", (2, 3))
def test_the_judge_of_all_solvers_says_so_too(folder, dimension):
    """Known impulses as the start: none of the solvers needs to do anything."""

    for make in (manufactured, ill_conditioned):
        solved = make(dimension, 30, 3)
        write_fclib(solved.problem, folder / "known.hdf5", "test", "")
        with h5py.File(folder / "known.hdf5") as file:
            order = file["scree/contact_key"][:, 2]
        with h5py.File(folder / "known.hdf5", "a") as file:
            file["solution/r"] = np.array(solved.r)[order].ravel()
        result = scree("known.hdf5", "--start", "solution", "--measure", "natural", "--tolerance", "1e-9", "--json", "out.json",
                       name="scree_replay", folder=folder)
        check(result.code in (0, 3), "masses that span decades round the file's own residual off", result)
        row, = json.loads((folder / "out.json").read_text())["solves"]
        assert row["residual"]["natural"] < 1e-9
        assert row["counts"]["sweeps"] + row["counts"]["iterations"] + row["counts"]["newton_steps"] == 0


@pytest.mark.parametrize("dimension", (2, 3))
def test_without_friction_the_velocity_known_is_the_one_found(folder, dimension):
    """Unique, since W is semidefinite, whatever contacts are redundant."""
    problem = generate("wall", dimension, 3)
    problem.mu = [0.0] * len(problem.mu)
    solved = manufacture(problem, 5)
    (residual, v), = solve(folder, [problem], 1e-10)
    assert residual <= 1e-10 and kinetic_difference(problem, v, solved.v) < 1e-7


def chain(dimension, mu):
    """Five bodies, each on one leaning contact with the one below; and the condition number of W = H M^-1 H^T."""
    problem = Problem(dimension)
    for i in range(5):
        mass = 5.0 - i
        inertia = [0.4 * mass] if dimension == 2 else [0.4 * mass * (k in (0, 4, 8)) for k in range(9)]
        problem.add_body(unit_vector(dimension, dimension - 1, 2.0 * i + 1), mass, inertia, [0.0] * problem.q)
        leaning = unit_vector(dimension, dimension - 1, 0.8)
        leaning[i % (dimension - 1)] += 0.6 if i % 2 == 0 else -0.6
        point = [0.3 * x for x in leaning]
        point[-1] += 2.0 * i
        problem.add_contact(i - 1, i, point, leaning, mu)
    H = np.array([momentum(problem, np.eye(5 * dimension)[k].reshape(5, dimension)).ravel() for k in range(5 * dimension)])
    diagonal = np.concatenate([block.diagonal() for block in masses(problem)])
    return problem, np.linalg.cond(H / diagonal @ H.T)


@pytest.mark.parametrize("dimension", (2, 3))
def test_with_little_friction_the_velocity_known_is_the_one_found(folder, dimension):
    """Two solutions would differ by x = W^(1/2) (r - r') with |x|^2 <= mu cond(W)^(1/2) |x|^2: none if below 1."""
    condition = chain(dimension, 0.0)[1]
    assert condition < 1000
    solved = [manufacture(chain(dimension, 0.95 / math.sqrt(condition))[0], seed) for seed in range(1, 6)]
    for known, (residual, v) in zip(solved, solve(folder, [known.problem for known in solved], 1e-10), strict=True):
        assert residual <= 1e-10 and kinetic_difference(known.problem, v, known.v) < 1e-7


def test_ill_conditioned_in_masses_and_impulses_but_with_modest_velocities():
    for size in (2, 8, 20):
        problem = ill_conditioned(3, size, 1).problem
        of_bodies = [block[0] for block in problem.mass]
        assert max(of_bodies) / min(of_bodies) == pytest.approx(10**min(size / 2, 6))
        assert (of_bodies == sorted(of_bodies)) != (size > 2)
        assert np.abs(np.array(problem.free_velocity)[:, :3]).max() < 10 * SPEED
