"""(b) Files that were damaged or crafted: checkpoints, H5MD, FCLIB, floor plans, tables. They are refused with one message, the
same on 1 and 2 ranks; or they are taken, and then what comes out of a checkpoint is what the good one gives."""
import json
import shutil
import struct
import zlib
from pathlib import Path

import h5py
import numpy as np

import random_decks
from decks import toml
from harness import BAD_INPUT, files_of, summary_of
from scree_program import run_ok

NAME = "damage"

SCHEMES = ("pbd", "nonsmooth", "dem", "event", "crowd")
END = 1.2           # a restart goes on to this share of the time that the base deck takes

PLAN_DECK = {"simulation": {"dimension": 2, "scheme": "crowd", "end_time": 0.2}, "time": {"step": 0.05},
             "navigation": {"cell": 0.25}, "exits": {"door": {"line": [[8, 2], [8, 3]]}},
             "populations": {"crowd": {"count": 10}}}
RING = [[0, 0], [8, 0], [8, 5], [0, 5], [0, 0]]
HOLE = [[2, 2], [3, 2], [3, 3], [2, 3], [2, 2]]
TABLE_DECK = {"simulation": {"dimension": 2, "scheme": "pbd", "end_time": 0.05}, "domain": {"lower": [0, 0], "upper": [6, 4]},
              "time": {"step": 0.01}, "velocity": {"type": "constant", "velocity": [0, -0.5]},
              "particles": {"grains": {"radius": {"distribution": "constant", "value": 0.1},
                                       "source": {"type": "file", "path": "grains.csv"}}},
              "obstacles": {"floor": {"type": "plane", "point": [0, 0], "normal": [0, 1]},
                            "paddle": {"type": "disk", "center": [3, 3.5], "radius": 0.2,
                                       "motion": {"type": "table", "path": "motion.csv"}}}}


def prepare(workshop):
    """Makes the good files, once."""
    global BASE
    BASE = workshop.folder("damage-base")
    for scheme in SCHEMES:
        deck = random_decks.plain(scheme)
        deck["output"] = {"directory": ".", "name": scheme, "checkpoint": {"every_steps": 5, "keep": 9}, "h5md": {"every_steps": 5}}
        if scheme == "nonsmooth":
            deck["output"]["fclib"] = {"every_steps": 10}
        (BASE / f"{scheme}.toml").write_text(toml(deck))
        run_ok("-q", "run", f"{scheme}.toml", folder=BASE)
    for form in ("global", "local"):
        run_ok("--generate", "stack", "--size", "3", "--form", form, "-o", f"{form}.hdf5", name="scree_replay", folder=BASE)
    for scheme in SCHEMES:
        file = sorted((BASE / scheme / "checkpoint").glob("*.scree"))[0]
        copy = shutil.copy(file, BASE / "sealed.scree")
        seal(copy)
        run_ok("info", copy)    # or every odd value would be refused for its checksum
    shutil.copy(sorted(BASE.glob("nonsmooth/*.fclib_*.hdf5"))[-1], BASE / "written.hdf5")
    rings = ", ".join(f"({', '.join(f'{x} {y}' for x, y in ring)})" for ring in (RING, HOLE))
    (BASE / "plan.wkt").write_text(f"POLYGON({rings})\n")
    geometry = {"type": "Polygon", "coordinates": [RING, HOLE]}
    (BASE / "plan.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {}, "geometry": geometry}]}))
    (BASE / "plan.png").write_bytes(png(32, 20))
    (BASE / "grains.csv").write_text("x,y,radius,id\n" + "".join(
        f"{0.3 * (k % 10) + 0.4},{0.3 * (k // 10) + 0.2},0.1,{k}\n" for k in range(40)))
    (BASE / "motion.csv").write_text("time,x,y,angle\n0,0,0,0\n0.02,0.01,0,0.1\n1,0.5,0.1,1\n")


def png(width, height):
    """An image of a room with a wall around it: grey, one filter byte a row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(255 if 0 < x < width else 0 for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# ---- damage of bytes

def flipped(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(rng, data):
    return data[:rng.choice([0, 1, rng.randrange(len(data)), rng.randrange(len(data)), len(data) - 1])]


def zeroed(rng, data):
    k, n = rng.randrange(len(data)), rng.choice([1, 8, 64, 512, 4096])
    return data[:k] + bytes(min(n, len(data) - k)) + data[k + n:]


def scrambled(rng, data):
    k, n = rng.randrange(len(data)), rng.choice([4, 8, 64, 1000])
    return data[:k] + rng.randbytes(min(n, len(data) - k)) + data[k + n:]


def swapped(rng, data):
    n = rng.choice([8, 64, 512])
    a, b = sorted(rng.randrange(max(1, len(data) - n)) for _ in range(2))
    if b < a + n:
        return data[:a] + data[b:] + data[a:b]
    return data[:a] + data[b:b + n] + data[a + n:b] + data[a:a + n] + data[b + n:]


def longer(rng, data):
    return data + rng.choice([b"\0", b"x", rng.randbytes(100), data])


BYTES = (flipped, flipped, cut, zeroed, scrambled, swapped, longer)


# ---- damage of what HDF5 files hold

ODD_INTEGERS = [-1, 0, 1, -2**31, 2**31 - 1, 2**31, 2**40, -2**62, 2**62, 2**63 - 1]
ODD_REALS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-320, 1e9]


def datasets_of(file):
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return sorted(found)


def replaced(file, name, values, **options):
    attributes = dict(file[name].attrs)
    del file[name]
    made = file.create_dataset(name, data=values, **options)
    for key, value in attributes.items():
        try:
            made.attrs[key] = value
        except (TypeError, ValueError, OSError):
            pass
    return made


def crafted(rng, path):
    """One thing in an HDF5 file changed by the library, so that the file itself stays sound."""
    with h5py.File(path, "a") as file:
        names = datasets_of(file)
        name = rng.choice(names)
        data = file[name]
        values = data[()]
        kind = rng.choice(["value", "value", "value", "value", "shape", "type", "delete", "rename", "swap", "attribute", "link",
                           "empty", "endless", "group"])
        if kind == "value":
            if isinstance(values, np.ndarray) and values.size and values.dtype.kind in "iuf":
                odd = rng.choice(ODD_REALS if values.dtype.kind == "f" else ODD_INTEGERS)
                flat = values.reshape(-1).copy()
                where = rng.choice([slice(None), slice(rng.randrange(flat.size), None), rng.randrange(flat.size)])
                with np.errstate(all="ignore"):
                    flat[where] = np.array(odd).astype(flat.dtype) if flat.dtype.kind == "f" else \
                        np.array([max(min(odd, np.iinfo(flat.dtype).max), np.iinfo(flat.dtype).min)]).astype(flat.dtype)[0]
                data[()] = flat.reshape(values.shape)
            elif np.isscalar(values) or isinstance(values, (bytes, str)) or values.size == 1:
                text = values if isinstance(values, (bytes, str)) else np.asarray(values).reshape(-1)[0]
                text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
                replaced(file, name, rng.choice([text[:len(text) // 2], text.replace("1", "7"), "", text * 2, "\x1b[31m" + text]))
        elif kind == "shape" and isinstance(values, np.ndarray) and values.ndim:
            replaced(file, name, rng.choice([values[:-1], values[:0], np.concatenate([values, values[-1:]]), values.reshape(-1),
                                             values[..., None]]))
        elif kind == "type" and isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            replaced(file, name, rng.choice([values.astype("f4"), values.astype("f8"), values.astype("i1"),
                                             np.array([b"text"] * max(1, len(values.reshape(-1))))]))
        elif kind == "delete":
            del file[name]
        elif kind == "rename":
            file.move(name, name + "_")
        elif kind == "swap":
            others = [other for other in names if other != name and file[other].shape == data.shape]
            if others:
                other = rng.choice(others)
                file.move(name, "swap_")
                file.move(other, name)
                file.move("swap_", other)
        elif kind == "attribute":
            holders = [item for item in (file, data, data.parent) if len(item.attrs)]
            if holders:
                item = rng.choice(holders)
                key = rng.choice(sorted(item.attrs))
                item.attrs[key] = rng.choice([-1, 1e300, "text", [1, 2, 3], 10**9])
        elif kind == "link":
            del file[name]
            file[name] = rng.choice([h5py.SoftLink("/nowhere"), h5py.SoftLink("/" + name), h5py.ExternalLink(str(path), "/" + name),
                                     h5py.ExternalLink("other.h5", "/x")])
        elif kind == "empty":
            del file[name]
            file[name] = h5py.Empty("f8")
        elif kind == "endless":
            dtype, shape = data.dtype, data.shape
            del file[name]
            # Chunks that were never written take no room: a length that memory cannot hold, in a small file.
            shape = (2**40, *shape[1:]) if shape else (2**40,)
            file.create_dataset(name, shape, dtype=dtype if dtype.kind in "iuf" else "f8", chunks=(1024, *shape[1:]))
        elif kind == "group":
            del file[name]
            file.create_group(name)
    return kind


# ---- checkpoints with odd values whose checksums are right, as nobody but a program could make them

def mixed(word):
    """As in src/io/array_file.cpp."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return word ^ (word >> np.uint64(31))


def hash_sum(data, width):
    words = np.zeros((len(data) // width, 8), dtype=np.uint8)
    words[:, :width] = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)
    places = np.arange(len(words), dtype=np.uint64) + np.uint64(0x9e3779b97f4a7c15)
    with np.errstate(over="ignore"):
        return np.sum(mixed(words.reshape(-1).view(np.uint64) + mixed(places)), dtype=np.uint64)


def share(kind, name, content):
    with np.errstate(over="ignore"):
        return mixed(hash_sum(f"{kind}\n{name}\n{content}".encode(), 1))


def numbers_of(file, kind) -> list:
    """Name and value of each number of a checkpoint that is one of the "integers" or "reals"."""
    if f"numbers/{kind}" not in file:
        return []
    return list(zip(file[f"numbers/{kind}_names"][()].decode().split("\n")[:-1], file[f"numbers/{kind}"][()]))


def seal(path):
    """Gives a checkpoint the checksums of what is in it."""
    types = {"float64": 0, "float32": 1, "int64": 2, "int32": 3}    # hdf5::Type
    with h5py.File(path, "a") as file, np.errstate(over="ignore"):
        def text(value):
            return value.decode() if isinstance(value, bytes) else str(value)

        total = share("file", text(file.attrs["kind"]), int(np.asarray(file.attrs["version"]).reshape(-1)[0]))
        for name, number in numbers_of(file, "integers") + numbers_of(file, "reals"):
            total += share("integer", name, int(number)) if number.dtype.kind == "i" else \
                share("real", name, f"{number.view(np.uint64):016x}")
        for name, data in file["arrays"].items():
            values = data[()]
            data.attrs["checksum"] = f"{hash_sum(values.tobytes(), values.dtype.itemsize):016x}"
            components = values.shape[1] if values.ndim == 2 else 1
            total += share("array", name, f"{text(data.attrs['unit'])}\n{types[values.dtype.name]} {len(values)} {components} "
                           f"{data.attrs['checksum']}")
        for group in ("texts", "provenance"):
            for name, data in file[group].items():
                content = data[()]
                content = content if isinstance(content, bytes) else str(content).encode()
                data.attrs["checksum"] = f"{hash_sum(content, 1):016x}"
                total += share("text", f"/{group}/{name}", data.attrs["checksum"])
        file.attrs["checksum"] = f"{total:016x}"


def odd_number(rng, path):
    """One number or array of a checkpoint made odd."""
    with h5py.File(path, "a") as file:
        if rng.random() < 0.5:
            kind, place, name = rng.choice([(kind, place, name) for kind in ("integers", "reals")
                                            for place, (name, _) in enumerate(numbers_of(file, kind))])
            file[f"numbers/{kind}"][place] = rng.choice(ODD_REALS if kind == "reals" else ODD_INTEGERS)
        else:
            name = rng.choice(sorted(file["arrays"]))
            values = file["arrays"][name][()]
            if values.size:
                odd = rng.choice(ODD_REALS if values.dtype.kind == "f" else
                                 [k for k in ODD_INTEGERS if np.iinfo(values.dtype).min <= k <= np.iinfo(values.dtype).max])
                flat = values.reshape(-1)
                flat[rng.choice([slice(None), rng.randrange(flat.size)])] = odd
                file["arrays"][name][()] = flat.reshape(values.shape)
    return name


# ---- what a damaged file is given to

def damaged(case, good, bad, is_hdf5):
    """Writes a damaged copy; returns how it was made."""
    rng = case.random
    if is_hdf5 and rng.random() < 0.5:
        shutil.copy(good, bad)
        return "crafted " + crafted(rng, bad)
    way = rng.choice(BYTES)
    Path(bad).write_bytes(way(rng, Path(good).read_bytes()))
    return way.__name__


def on_both(case, *arguments, name="scree"):
    """The same on 1 and 2 ranks: one message, and the same."""
    results = [case.run(*arguments, ranks=n, name=name) for n in (1, 2)]
    case.same(*results, "1 and 2 ranks")
    return results


def run_on_both(case, *arguments):
    """A run on 1 and on 2 ranks, each with results of its own."""
    results = [case.run("-q", *arguments, "--set", f"output.directory=on{n}", "--max-wall-time", "10", ranks=n) for n in (1, 2)]
    case.same(*results, "1 and 2 ranks")
    return results


def verdict(results):
    return "refused" if any(result.code == BAD_INPUT for result in results) else "ok"


def checkpoint(case):
    scheme = case.random.choice(SCHEMES)
    good = sorted((BASE / scheme / "checkpoint").glob("*.scree"))[0]
    damaged(case, good, case.folder / "bad.scree", True)
    case.run("info", "bad.scree", bare=True)
    # In a folder of its own: the damaged file is none of a run's checkpoints.
    results = run_on_both(case, "restart", "bad.scree")
    if all(result.code == 0 for result in results):
        shutil.copy(good, case.folder / "good.scree")
        run_ok("-q", "restart", "good.scree", "--set", "output.directory=good", folder=case.folder)
        expected = [summary_of(path.parent).get("state_hash") for path in case.folder.glob("good/*/summary.json")]
        found = [summary_of(path.parent).get("state_hash") for path in case.folder.glob("on*/*/summary.json")]
        if not found or set(found) != set(expected):
            case.finding("a damaged checkpoint is taken and leads elsewhere", f"{found}, good: {expected}")
    elif any(result.code not in (0, BAD_INPUT) for result in results):
        case.finding(f"a damaged checkpoint ends with exit code {max(result.code for result in results)}", results[0])
    return verdict(results)


def sealed(case):
    """An odd value under a right checksum: refused by what it is, or run; whatever the run then comes to, in good order."""
    scheme = case.random.choice(SCHEMES)
    good = sorted((BASE / scheme / "checkpoint").glob("*.scree"))[0]
    bad = case.folder / "bad.scree"
    shutil.copy(good, bad)
    odd_number(case.random, bad)
    seal(bad)
    case.run("info", "bad.scree", bare=True)
    return verdict(run_on_both(case, "restart", "bad.scree"))


def h5md(case):
    rng = case.random
    scheme = rng.choice(SCHEMES)
    good = BASE / scheme / f"{scheme}.h5"
    damaged(case, good, case.folder / "bad.h5", True)
    shutil.copy(good, case.folder / "good.h5")
    results = [case.run("info", "bad.h5", bare=True), *on_both(case, "compare", "good.h5", "bad.h5")]
    deck = random_decks.plain("pbd")
    deck["particles"] = {"grains": {"source": {"type": "file", "path": "bad.h5"}}}
    deck["simulation"].update(dimension=2, end_time=2 * deck["time"]["step"], allow_overlap=True)
    (case.folder / "deck.toml").write_text(toml(deck))
    return verdict([*results, *run_on_both(case, "run", "deck.toml")])


def fclib(case):
    good = BASE / case.random.choice(["global.hdf5", "local.hdf5", "written.hdf5", "written.hdf5"])
    damaged(case, good, case.folder / "bad.hdf5", True)
    return verdict(on_both(case, "bad.hdf5", "--tolerance", "1e-4", "--max-time", "5", name="scree_replay"))


def plan(case):
    kind = case.random.choice(["wkt", "geojson", "png"])
    damaged(case, BASE / f"plan.{kind}", case.folder / f"plan.{kind}", False)
    deck = json.loads(json.dumps(PLAN_DECK)) | {"walkable": {"file": f"plan.{kind}"}}
    if kind == "png":
        deck["walkable"]["pixel"] = 0.25
        deck["exits"]["door"] = {"polygon": [[7, 2], [7.5, 2], [7.5, 3], [7, 3]]}
    (case.folder / "deck.toml").write_text(toml(deck))
    checked = case.run("-q", "check", "deck.toml", bare=True)
    results = run_on_both(case, "run", "deck.toml")
    if (checked.code == BAD_INPUT) != (results[0].code == BAD_INPUT):
        case.finding(f"check ends with {checked.code}, run with {results[0].code}", f"{checked}\n{results[0]}")
    return verdict(results)


def table(case):
    bad = case.random.choice(["grains.csv", "motion.csv"])
    for name in ("grains.csv", "motion.csv"):
        shutil.copy(BASE / name, case.folder)
    damaged(case, BASE / bad, case.folder / bad, False)
    (case.folder / "deck.toml").write_text(toml(TABLE_DECK))
    return verdict(run_on_both(case, "run", "deck.toml"))


def results(case):
    """A results folder with one damaged file: `compare` says that it differs, or what is wrong with it."""
    scheme = case.random.choice(SCHEMES)
    shutil.copytree(BASE / scheme, case.folder / "good")
    shutil.copytree(BASE / scheme, case.folder / "bad")
    files = [path for path in sorted((case.folder / "bad").rglob("*")) if path.suffix in (".csv", ".h5", ".scree")]
    target = case.random.choice(files)
    how = damaged(case, target, target, False)
    outcomes = on_both(case, "compare", "good", "bad")
    same = files_of(case.folder / "good") == files_of(case.folder / "bad")
    if target.suffix == ".csv" and not same and outcomes[0].code == 0:
        case.finding("compare calls a damaged table equal", f"{target.name}: {how}\n{outcomes[0]}")
    return "ok" if outcomes[0].code == 0 else "refused"


KINDS = {"checkpoint": (checkpoint, 4), "sealed": (sealed, 4), "h5md": (h5md, 2), "fclib": (fclib, 2), "plan": (plan, 3), "table": (table, 2),
         "results": (results, 1)}


def attempt(case):
    names = list(KINDS)
    case.kind = case.random.choices(names, [KINDS[name][1] for name in names])[0]
    return KINDS[case.kind][0](case)
