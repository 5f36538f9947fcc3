"""When sources of Vadere bring how many people: spawners of release 2 and the keys of older releases."""
import math
from dataclasses import dataclass

SHORT = 0.05     # s in which the people of one event come: the step of the deck


def distribution_of(given):
    """Mean of a distribution of times [s], None where it is not known, and whether all values are equal."""
    kind = _kind(given.get("type", ""))
    if kind == "Constant":
        return _number(given.get("updateFrequency", given.get("value"))), True
    if kind in ("NegativeExponential", "Normal"):
        return _number(given.get("mean")), False
    if kind == "Poisson":
        rate = _number(given.get("numberPedsPerSecond"))
        return 1 / rate if rate else None, False
    return None, False


def _number(value):
    return None if value is None else float(value)


def _kind(name):
    return name.rsplit(".", 1)[-1].removeprefix("Attributes").removesuffix("Distribution")


@dataclass
class Spawner:
    """`count` people in each event from `start` to `until` [s], `most` in all (0: no limit); `every`: the mean time between
    events [s]. A series has `schedule` instead."""
    count: int
    start: float
    until: float
    most: int
    every: float = None
    schedule: list = None
    remark: str = ""
    own_people: bool = False

    @classmethod
    def of(cls, source):
        given = source.get("spawner")
        if given is None:
            return cls._old(source)
        found = cls(int(given.get("eventElementCount", 1)), float(given.get("constraintsTimeStart", 0)),
                    float(given.get("constraintsTimeEnd", 0)), max(0, int(given.get("constraintsElementsMax", -1))),
                    own_people=given.get("eventElement") is not None)
        distribution = given.get("distribution") or {}
        if _kind(distribution.get("type", "")) == "TimeSeries" and not found.is_single():
            length = float(distribution["intervalLength"])
            found.schedule = [[found.start + k * length, n / length] for k, n in enumerate(distribution["spawnsPerInterval"])]
            found.schedule.append([found.start + length * len(found.schedule), 0.0])
            return found
        return found._with(*distribution_of(distribution), _kind(distribution.get("type", "")))

    @classmethod
    def _old(cls, source):
        """Keys of releases before the spawners: the parameters of the distribution are a list."""
        found = cls(int(source.get("spawnNumber", 1)), float(source.get("startTime", 0)), float(source.get("endTime", 0)),
                    max(0, int(source.get("maxSpawnNumberTotal", -1))))
        kind = _kind(str(source.get("interSpawnTimeDistribution", "Constant")))
        values = source.get("distributionParameters") or [1.0]
        values = list(values.values()) if isinstance(values, dict) else values
        is_exact = kind in ("Constant", "constant")
        return found._with(float(values[0]) if is_exact or kind == "NegativeExponential" else None, is_exact, kind)

    def _with(self, every, is_exact, kind):
        if every is not None and every > 0:
            self.every = float(every)
            if not is_exact and not self.is_single():
                self.remark = f"spread of arrival times ({kind}): their mean is taken"
        elif not self.is_single():
            self.remark = f"source with the distribution {kind or 'without a name'}"
        return self

    def is_single(self):
        return self.until <= self.start

    def is_known(self):
        """Whether it is known when people come."""
        return self.is_single() or self.schedule is not None or self.every is not None

    @property
    def rate(self):
        """Persons per second; None where it is not known."""
        if self.schedule is not None:
            return max(rate for _, rate in self.schedule)
        return None if self.every is None else self.count / self.every

    def total(self):
        """People in all; a mean where times are random."""
        if self.schedule is not None:
            n = round(sum(rate * (after - t) for (t, rate), (after, _) in zip(self.schedule, self.schedule[1:])))
        elif self.is_single() or self.every is None:
            n = self.count
        else:
            n = self.count * (math.floor((self.until - self.start) / self.every * (1 + 1e-12)) + 1)
        return min(n, self.most) if self.most else n

    def table(self):
        """Keys of a source. Events of several people become a steady rate, from one interval before the first event on
        if there is time: the last one then comes when his event is due."""
        limit = {"limit": self.total()}
        if self.is_single():
            return {"schedule": [[self.start, self.count / SHORT], [self.start + 2 * SHORT, 0.0]]} | limit
        if self.schedule is not None:
            return {"schedule": self.schedule} | limit
        start = max(0.0, self.start - self.every)
        return {"rate": self.rate, "start": start, "until": start + (self.total() + 0.5) / self.rate} | limit
