"""(a) Shipped decks with something wrong in them: each is run, or refused with one message; the same on 1 and 2 ranks; what
`check` says is what `run` does; nothing is written but in the results folder, and nothing at all by a deck that is refused."""
import re
import shutil
import string
import tomllib

from harness import BAD_INPUT, files_of, message_of, summary_of
from scree_program import source_folder

NAME = "decks"

BODIES = 80          # a shipped deck is cut down to about so many bodies
STEPS = 3            # ... and to so many steps
SECONDS = {"s": 1, "ms": 1e-3, "us": 1e-6, "min": 60, "h": 3600}

NUMBERS = ["0", "-0.0", "1", "-1", "2", "3", "0.5", "1e-3", "1e3", "1e6", "1e-9", "1e9", "1e-300", "1e-320", "1e300", "1.7e308",
           "-1e300", "nan", "+nan", "inf", "-inf", "200000", "2147483647", "2147483648", "-2147483649", "4294967296",
           "1000000000", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0x7f", "0b11", "1_000", "1e400"]
OTHERS = ['""', '" "', '"foo"', "true", "false", "[]", "[[]]", "{}", "[1]", "[1, 2, 3, 4]", "[0, 0]", "[0, 0, 0]", '["a", "b"]',
          "[nan, 1]", "[inf, inf, inf]", "[[1, 2], [3]]", "[[0, 0], [0, 0]]", "1979-05-27T07:32:00Z", "07:32:00", "{ a = 1 }",
          '{ type = "random" }', '"auto"', '"none"', '"rigid"', '"never"', '"converged"', '"last"', "[true, true]",
          "[true, true, true]", '"../x"', '"a/b"', '"."', '".."', '"x\\ny"', '"x\\u0000y"', '"\\u001b[31mred"', '"\\u0007"',
          '"gr\\u00f6\\u00dfe"', '"\\U0001F600"', '"-x"', '"%s%n"', '"$HOME"', '"a b"', '"."', '"nothing.csv"', "'''\nlines\n'''"]
UNITS = ["m", "mm", "km", "s", "ms", "kg", "m/s", "m/s2", "rad", "deg", "Pa", "MPa", "N", "N/m", "1/s", "Hz", "kg/m3", "furlong",
         "", "m m", "mm/"]
VALUE = re.compile(r"^(\s*(?:\[\[?)?[\w.\"-]+(?:\]\]?)?\s*=\s*)(.*)$")
KEY = re.compile(r"^(\s*)([\w-]+|\"[^\"]*\")(\s*=.*)$", re.DOTALL)
HEADER = re.compile(r"^\s*\[")


def seconds(text):
    """Of a number or a string with a unit."""
    match = re.fullmatch(r'"?\s*([\d.eE+-]+)\s*([a-z]*)\s*"?', text.strip())
    return float(match[1]) * SECONDS[match[2] or "s"]


def cut_down(text, bodies=BODIES, steps=STEPS):
    """The deck, small and short."""
    step = seconds(re.search(r"^step = ([^#\n]+)", text, re.MULTILINE)[1])
    text = re.sub(r"^(end_time|max_time|duration) = [^#\n]+", rf"\1 = {steps * step:.9g}", text, flags=re.MULTILINE)
    text = re.sub(r"max_time = \"?[\d.]+( s)?\"?", f"max_time = {steps * step:.9g}", text)
    text = re.sub(r"\bcount = (\d+)", lambda m: f"count = {min(int(m[1]), bodies)}", text)
    text = re.sub(r"(\[navigation\]\ncell = )[^\n]+", r"\g<1>2", text)
    return text


def shipped(bodies=BODIES, steps=STEPS):
    """The shipped decks, cut down: name below inputs/ -> text."""
    inputs = source_folder() / "inputs"
    return {str(path.relative_to(inputs)): cut_down(path.read_text(), bodies, steps) for path in sorted(inputs.glob("*/*.toml"))}


def copy_files_beside(name, folder):
    """What a shipped deck reads lies beside it."""
    for beside in (source_folder() / "inputs" / name).parent.iterdir():
        if beside.suffix not in (".toml", ""):
            shutil.copy(beside, folder)


def prepare(workshop):
    """Reads what is mutated."""
    global DECKS
    DECKS = shipped()


# ---- mutations: each takes random numbers and lines, and returns lines

def with_value(rng, lines, value):
    """A value of the deck replaced; `value` is made of the old one."""
    places = [k for k, line in enumerate(lines) if VALUE.match(line) and not HEADER.match(line)]
    k = rng.choice(places)
    head, old = VALUE.match(lines[k]).groups()
    # A number inside of a list or of an inline table, as often as the whole.
    inner = list(re.finditer(r"(?<![\w.\"])-?\d[\d.eE+-]*|\"[^\"]*\"", old))
    if inner and rng.random() < 0.5:
        match = rng.choice(inner)
        new = old[:match.start()] + value(match[0]) + old[match.end():]
    else:
        new = value(old)
    return lines[:k] + [head + new] + lines[k + 1:]


def extreme(rng, lines):
    return with_value(rng, lines, lambda old: rng.choice(NUMBERS))


def other_type(rng, lines):
    return with_value(rng, lines, lambda old: rng.choice(OTHERS))


def scaled(rng, lines):
    def value(old):
        match = re.search(r"-?\d+\.?\d*(?:[eE][+-]?\d+)?", old)
        if not match:
            return "-" + old
        return old[:match.start()] + repr(float(match[0]) * rng.choice([-1, 0, 0.1, 0.5, 0.9, 1.1, 1.5, 2, 10, 1e3, 1e-3, 1e6])) + old[match.end():]
    return with_value(rng, lines, value)


def borrowed(rng, lines):
    """The value that another deck gives a key of the same name."""
    places = [k for k, line in enumerate(lines) if VALUE.match(line) and not HEADER.match(line)]
    rng.shuffle(places)
    for k in places:
        head, old = VALUE.match(lines[k]).groups()
        values = {VALUE.match(line)[2] for text in DECKS.values() for line in text.split("\n")
                  if VALUE.match(line) and line.split("=")[0].strip() == head.split("=")[0].strip()} - {old}
        if values:
            return lines[:k] + [head + rng.choice(sorted(values))] + lines[k + 1:]
    return lines


def other_unit(rng, lines):
    def value(old):
        number = re.search(r"-?[\d.]+(?:[eE][+-]?\d+)?", old)
        return f'"{number[0] if number else 1} {rng.choice(UNITS)}"'
    return with_value(rng, lines, value)


def huge(rng, lines):
    def value(old):
        kind = rng.choice(["list", "points", "deep", "text", "digits", "tables"])
        n = rng.choice([300, 3000, 30000])
        return {"list": lambda: "[" + ", ".join(["1"] * n) + "]", "points": lambda: "[" + ", ".join(["[0, 1]"] * n) + "]",
                "deep": lambda: "[" * n + "1" + "]" * n, "text": lambda: '"' + "x" * n + '"', "digits": lambda: "1" * n,
                "tables": lambda: "{ a = " * n + "1" + " }" * n}[kind]()
    return with_value(rng, lines, value)


def any_line(rng, lines, only=lambda line: line.strip() != ""):
    return rng.choice([k for k, line in enumerate(lines) if only(line)])


def deleted(rng, lines):
    k = any_line(rng, lines)
    return lines[:k] + lines[k + 1:]


def duplicated(rng, lines):
    k, to = any_line(rng, lines), rng.randrange(len(lines))
    return lines[:to] + [lines[k]] + lines[to:]


def moved(rng, lines):
    k = any_line(rng, lines)
    rest = lines[:k] + lines[k + 1:]
    to = rng.randrange(len(rest) + 1)
    return rest[:to] + [lines[k]] + rest[to:]


def typo(rng, lines):
    k = any_line(rng, lines, lambda line: KEY.match(line) or HEADER.match(line))
    letters = [i for i, c in enumerate(lines[k].split("=")[0]) if c.isalnum()]
    if not letters:
        return lines
    i = rng.choice(letters)
    line = lines[k]
    new = rng.choice([line[:i] + line[i + 1:], line[:i] + line[i] * 2 + line[i + 1:], line[:i] + rng.choice(string.printable[:94])
                      + line[i + 1:], line[:i] + line[i].swapcase() + line[i + 1:], line[:i] + "\u00e9" + line[i + 1:]])
    return lines[:k] + [new] + lines[k + 1:]


def without_section(rng, lines):
    starts = [k for k, line in enumerate(lines) if HEADER.match(line)]
    k = rng.choice(starts)
    end = next((j for j in starts if j > k), len(lines))
    return lines[:k] + lines[end:]


def from_another(rng, lines):
    """A section of another deck, beside those of this one or in place of that of the same name."""
    other = rng.choice(sorted(DECKS.values())).splitlines()
    starts = [k for k, line in enumerate(other) if HEADER.match(line)]
    k = rng.choice(starts)
    section = other[k:next((j for j in starts if j > k), len(other))]
    mine = [j for j, line in enumerate(lines) if line.strip() == section[0].strip()]
    if mine and rng.random() < 0.8:
        start = mine[0]
        end = next((j for j, line in enumerate(lines) if j > start and HEADER.match(line)), len(lines))
        return lines[:start] + section + lines[end:]
    return lines + section


def new_section(rng, lines):
    deep = "a." * rng.choice([3, 100, 5000]) + "a"
    return lines + rng.choice([["[nothing]"], ["[simulation]"], [f"[{deep}]"], [f"{deep} = 1"], ["[[stages]]", 'name = "x"'],
                               ["[[stages]]", 'name = "x"', "duration = 1e-9"], ["[output.vtk]", "every_steps = 1"],
                               ["[output.h5md]", "every_steps = 1"], ["[output.checkpoint]", "every_steps = 1"],
                               ["[neighbors]", f"skin = {rng.choice(NUMBERS)}"], ["[decomposition]", "block_cells = 32"],
                               ["[domain]", "lower = [0, 0]", "upper = [1, 1]"],
                               [f"[obstacles.o{rng.randrange(9)}]", 'type = "plane"', "point = [0, 0, 0]", "normal = [0, 0, 0]"],
                               ["[obstacles.disk9]", 'type = "disk"', "center = [0, 0]", "radius = 1e9"]])


def bytes_changed(rng, lines):
    """Bytes that no text has, or that end it."""
    data = bytearray("\n".join(lines).encode())
    for _ in range(rng.choice([1, 1, 3])):
        k = rng.randrange(len(data))
        what = rng.choice(["flip", "insert", "cut", "zeros", "bom", "cr"])
        if what == "flip":
            data[k] ^= 1 << rng.randrange(8)
        elif what == "insert":
            data[k:k] = rng.choice([b"\0", b"\x01", b"\x1b[2J", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\r", b"\x0c"])
        elif what == "cut":
            del data[max(k, 1):]
        elif what == "zeros":
            data[k:k + 20] = bytes(20)
        elif what == "bom":
            data[0:0] = b"\xef\xbb\xbf"
        else:
            data = bytearray(bytes(data).replace(b"\n", b"\r\n" if rng.random() < 0.5 else b"\r"))
    return bytes(data)


MUTATIONS = {"value": (extreme, 6), "type": (other_type, 4), "scaled": (scaled, 7), "borrowed": (borrowed, 4), "unit": (other_unit, 2), "huge": (huge, 1),
             "deleted": (deleted, 2), "duplicated": (duplicated, 1), "moved": (moved, 1), "typo": (typo, 3),
             "section": (without_section, 2), "crossed": (from_another, 2), "added": (new_section, 1), "bytes": (bytes_changed, 2)}


def mutated(rng, text):
    """A deck's bytes, one to three times mutated, and the name of the first mutation."""
    names, weights = list(MUTATIONS), [weight for _, weight in MUTATIONS.values()]
    kinds = rng.choices(names, weights, k=rng.choices([1, 2, 3], [7, 2, 1])[0])
    lines = text.split("\n")
    for kind in kinds:
        if isinstance(lines, bytes):
            break
        lines = MUTATIONS[kind][0](rng, lines) if len(lines) > 3 else lines
    return kinds[0], lines if isinstance(lines, bytes) else "\n".join(lines).encode("utf-8", "surrogatepass")


# ---- judging

def results_of(data, deck_name):
    """The results folder that a deck asks for, as far as it can be read."""
    try:
        output = tomllib.loads(data.decode()).get("output", {})
        return f"{output.get('directory', 'results')}/{output.get('name', deck_name)}"
    except (ValueError, AttributeError, RecursionError):
        return f"results/{deck_name}"


def same_bits_promised(data):
    """Whether the deck asks for nothing whose bits depend on the number of ranks (docs/how-to/contact-problems.md)."""
    text = data.decode(errors="replace")
    solvers = re.findall(r'type = "(admm|auto|ipm|newton|proximal)"', text)
    return not solvers and '"dae"' not in text and "max_time" not in text


def attempt(case):
    rng = case.random
    source = rng.choice(sorted(DECKS))
    case.kind, data = mutated(rng, DECKS[source])
    folders = {}
    for n in (1, 2):
        # Two levels down: "../x" in a deck still lies within the case.
        folder = folders[n] = case.folder / f"on{n}" / "a" / "b"
        folder.mkdir(parents=True)
        copy_files_beside(source, folder)
        (folder / "deck.toml").write_bytes(data)
    before = {n: files_of(case.folder / f"on{n}") for n in folders}
    n_checks = rng.choice([1, 2])
    checked = case.run("-q", "check", "deck.toml", ranks=n_checks, folder=folders[n_checks])
    if files_of(case.folder / f"on{n_checks}").keys() != before[n_checks].keys():
        case.finding("check writes files", checked)
    runs = {n: case.run("-q", "run", "deck.toml", "--max-wall-time", "5", ranks=n, folder=folders[n]) for n in folders}
    if any(result.timed_out for result in (checked, *runs.values())):
        return "ok"
    case.same(runs[1], runs[2], "1 and 2 ranks")
    # A deck whose first step fails: `check`, which tries it, ends as the run does.
    if checked.code not in (0, BAD_INPUT) and (checked.code != runs[n_checks].code
                                               or "the first step fails" not in message_of(checked)):
        case.finding(f"check ends with exit code {checked.code}", checked)
    if (checked.code == BAD_INPUT) != (runs[n_checks].code == BAD_INPUT):
        case.finding(f"check ends with {checked.code}, run with {runs[n_checks].code}", f"{checked}\n{runs[n_checks]}")
    for n, result in runs.items():
        judge_files(case, data, result, before[n], files_of(case.folder / f"on{n}"))
    if runs[1].code == runs[2].code == 0 and same_bits_promised(data):
        hashes = {n: [json_hash(path) for path in sorted(folders[n].rglob("summary.json"))] for n in folders}
        if hashes[1] != hashes[2]:
            case.finding("other bits on 2 ranks", hashes)
    return "refused" if runs[1].code == BAD_INPUT else "ok"


def json_hash(path):
    return summary_of(path.parent).get("state_hash")


def judge_files(case, data, result, before, after):
    new = {name for name in after if after[name] != before.get(name)}
    if result.code == BAD_INPUT and new:
        case.finding("a deck that is refused leaves files", f"{sorted(new)}\n{result}")
    inside = "a/b/" + results_of(data, "deck") + "/"
    parts = []
    for part in inside.split("/"):      # as the operating system reads it
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    outside = [name for name in new if not name.startswith("/".join(parts) + "/")]
    if outside and result.code != BAD_INPUT:
        case.finding("files outside of the results folder", f"{outside}\n{result}")
