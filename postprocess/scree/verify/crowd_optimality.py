"""Optimality of every step of a crowd, recomputed from places, velocities and multipliers over all pairs and walls."""
from dataclasses import dataclass, fields

import numpy as np

from scree.verify.crowd_decks import Steps, crowd_deck, record_steps, run_quietly

DT = 0.05                                   # [s]
WIDTH, PASSAGE, SHUT = 5, 60, 8             # of the room; length that nobody gets to the end of, and up to the narrowest place [m]
COLUMNS, RADIUS = ((8, 0), (8, 5)), 2.2     # that leave a passage of 0.6 m [m]


@dataclass
class Optimality:
    """How good one step is, or the worst of several."""
    stationarity: float = 0.0       # max |V - U - sum of l n| [m/s]
    overlap: float = 0.0            # linearised, after the step, of all pairs and walls there are [m]
    complementarity: float = 0.0    # max |min(l, u)| dt [m]
    uncertified: float = 0.0        # of it, beyond the residual of the certificate [m]
    duality_gap: float = 0.0        # over half the sum of |U|^2 [-]
    imbalance: float = 0.0          # |sum of V - U + sum over walls of l n| over the sum over walls of l [-]
    wall_load: float = 0.0          # sum over walls of l [m/s]
    slowed: float = 0.0             # half the sum of |V - U|^2 over half that of |U|^2 [-]

    @classmethod
    def worst(cls, steps):
        return cls(*(np.max([getattr(step, field.name) for step in steps]) for field in fields(cls)))


def walls_met(places, length):
    """What people meet of four straight walls and the columns: distances (people, 6) of their places, and normals (people, 6, 2)
    towards them [m]. Their smallest is that of the nearest wall, as a room without corners to walk around has it."""
    x, y = places.T
    inward = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], float)
    from_columns = places[:, None] - np.array(COLUMNS, float)
    reach = np.linalg.norm(from_columns, axis=2)
    distance = np.column_stack([x, length - x, y, WIDTH - y, reach - RADIUS])
    return distance, np.concatenate([np.broadcast_to(inward, (len(places), 4, 2)), from_columns / reach[..., None]], axis=1)


class Judge:
    """Of a run with speed_law "none", where U is known. Neither lists of neighbours nor what the scheme thinks of itself are used,
    except that the residual is compared with the certificate. O(people^2) a step."""

    def __init__(self, course, length):
        self.run, self.length = Steps(course), length
        agents = course.results.agents
        order = np.argsort(agents["id"])
        self.desired = np.outer(agents["desired_speed"][order], [1.0, 0.0])
        self.certified = course.certificate["residual"]
        self.pairs = np.triu_indices(len(self.desired), 1)

    @property
    def n_steps(self):
        return len(self.run.position) - 1

    def step(self, number):
        """Optimality of the step that ends in this frame."""
        before, velocity = self.run.position[number - 1], self.run.velocity[number]
        pair_loads, (who, points, on_walls) = self.run.loads(number)

        a, b = self.pairs
        between = before[b] - before[a]
        distance = np.linalg.norm(between, axis=1)
        normal = between / distance[:, None]
        load = np.array([pair_loads.get(pair, 0.0) for pair in zip(a.tolist(), b.tolist())])
        parting = (distance - self.run.radius[a] - self.run.radius[b]) / DT + (normal * (velocity[b] - velocity[a])).sum(axis=1)
        reached = self.desired.copy()       # U + sum of l n
        np.subtract.at(reached, a, load[:, None] * normal)
        np.add.at(reached, b, load[:, None] * normal)

        from_walls, wall_normal = walls_met(before, self.length)
        wall_load = np.zeros(from_walls.shape)
        # A contact is with the wall that its point lies on.
        np.add.at(wall_load, (who, np.abs(walls_met(points, self.length)[0]).argmin(axis=1)), on_walls)
        leaving = (from_walls - self.run.radius[:, None]) / DT + (wall_normal * velocity[:, None]).sum(axis=2)
        of_walls = (wall_load[..., None] * wall_normal).sum(axis=1)
        reached += of_walls

        u, loads = np.concatenate([parting, leaving.ravel()]), np.concatenate([load, wall_load.ravel()])
        changed, squares = velocity - self.desired, (self.desired**2).sum()
        complementarity = np.abs(np.minimum(loads, u)).max() * DT
        pressed = wall_load.sum()
        # With V = U + sum of l n the value of the problem less that of its dual is sum of l u.
        return Optimality(
            stationarity=np.linalg.norm(velocity - reached, axis=1).max(), overlap=np.maximum(0, -u.min() * DT),
            complementarity=complementarity, uncertified=np.maximum(0, complementarity - self.certified[number]),
            duality_gap=abs((loads * u).sum()) / (squares / 2), wall_load=pressed, slowed=(changed**2).sum() / squares,
            imbalance=np.linalg.norm(changed.sum(axis=0) - of_walls.sum(axis=0)) / pressed if pressed > 0 else 0.0)


def pushing_deck(length, steps, **crowd):
    """100 people who push along x, without any headway, for the passage between the columns."""
    deck = crowd_deck(DT, steps, [[0, 0], [length, 0], [length, WIDTH], [0, WIDTH]],
                      crowd={"speed_law": "none", "direction": [1, 0], "max_sweeps": 100000} | crowd,
                      populations={"crowd": {"count": 100, "region": [[0.3, 0.3], [7.5, 0.3], [7.5, 4.7], [0.3, 4.7]]}})
    deck["walkable"]["obstacles"] = {"columns": {"circles": [[*centre, RADIUS] for centre in COLUMNS]}}
    deck["simulation"]["seed"] = 3
    return record_steps(deck, contacts_up_to=1)


def verify_optimality(laboratory, table):
    """The sweeps of the scheme, and solvers of contact problems."""
    variants = (("own sweeps, 1e-6 m", 1e-6, None), ("own sweeps, 1e-9 m", 1e-9, None),
                ("nsgs, 1e-8 m", 1e-8, {"type": "nsgs", "max_sweeps": 100000}),
                ("admm, 1e-8 m", 1e-8, {"type": "admm", "max_iterations": 100000}), ("ipm, 1e-8 m", 1e-8, {"type": "ipm"}))
    decks = [pushing_deck(PASSAGE, 400, tolerance=tolerance, **({"solver": solver} if solver else {})) for _, tolerance, solver in variants]
    for (name, tolerance, _), course in zip(variants, run_quietly(laboratory, table, decks)):
        judge = Judge(course, PASSAGE)
        worst = Optimality.worst([judge.step(number) for number in range(1, judge.n_steps + 1)])
        which = name + ": "
        table.at_most("s4", which + "|V - U - sum l n| [m/s]", worst.stationarity, 1e-12)
        table.at_most("s4", which + "overlap after a step [m]", worst.overlap, tolerance)
        table.at_most("s4", which + "|min(l, u)| dt [m]", worst.complementarity, tolerance)
        table.at_most("s4", which + "the same, beyond what is certified [m]", worst.uncertified, 1e-12)
        # Most of l u is from few contacts, with u up to tolerance / dt and l of some people's speeds.
        table.at_most("s4", which + "duality gap over sum |U|^2 / 2 [-]", worst.duality_gap, 100 * tolerance)
        table.within("s4", which + "largest sum |V - U|^2 over sum |U|^2 [-]", worst.slowed, 0.1, 1)


def verify_wall_balance(laboratory, table):
    """The same room, shut."""
    steps, until_jam = 240, 160
    judge = Judge(run_quietly(laboratory, table, [pushing_deck(SHUT, steps)])[0], SHUT)
    judged = [judge.step(number) for number in range(1, steps + 1)]
    table.at_most("s7", "imbalance over load of walls [-]", Optimality.worst(judged).imbalance, 1e-12)
    table.within("s7", "least load of walls in the jam [m/s]", np.min([step.wall_load for step in judged[until_jam:]]), 100, 1000)
