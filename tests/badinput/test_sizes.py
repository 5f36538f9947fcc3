"""Sieve curves and size classes that cannot be end with one message that names the place, and exit code 2."""
from decks import edited
from refusal import refused
from scree_program import run_ok

DECK = """\
[simulation]
dimension = 3
scheme = "dem"
end_time = "20 us"

[domain]
lower = [0, 0, 0]
upper = ["20 mm", "20 mm", "20 mm"]

[time]
step = "10 us"

[neighbors]
classes = "auto"

[dem]
law = "hertz"

[materials.sand]
density = 2650
young_modulus = "5 MPa"
poisson_ratio = 0.25

[pairs]
"sand-sand" = { friction = 0.5, restitution = 0.3 }

[particles.sand]
material = "sand"
radius = { distribution = "sieve", sizes = ["1 mm", "2 mm", "4 mm"], fractions = [0.4, 0.6] }
source = { type = "random", count = 20 }
"""
TABLE = 'sizes = ["1 mm", "2 mm", "4 mm"], fractions = [0.4, 0.6]'
CURVE = "# sieved\nsize,passing\n0.001,0\n0.002,0.4\n0.004,1\n"


def refused_deck(folder, *changes, words, ranks=(3,)):
    (folder / "sizes.toml").write_text(edited(DECK, *changes))
    refused(folder, "run", "sizes.toml", words=words, ranks=ranks)


def refused_table(folder, table, words, ranks=(3,)):
    refused_deck(folder, (TABLE, table), words=["sizes.toml:29", *words], ranks=ranks)


def test_the_deck_runs_with_the_table_and_from_a_file(folder):
    (folder / "sizes.toml").write_text(DECK)
    run_ok("run", "sizes.toml", folder=folder)
    (folder / "curve.csv").write_text(CURVE)
    (folder / "sizes.toml").write_text(edited(DECK, (TABLE, 'path = "curve.csv"')))
    run_ok("run", "sizes.toml", "--force", folder=folder)


def test_classes_out_of_range(folder):
    for value in ("0", "9", "-1"):
        refused_deck(folder, ('classes = "auto"', f"classes = {value}"), words=["sizes.toml:14", "classes", "[1, 8]"],
                     ranks=(1, 3))
    refused_deck(folder, ('classes = "auto"', 'classes = "many"'), words=["classes", "auto"])


def test_sieve_tables_that_cannot_be(folder):
    refused_table(folder, "sizes = [1e-3, 4e-3, 2e-3], fractions = [0.4, 0.6]", ["sizes must rise"], ranks=(1, 3))
    refused_table(folder, "sizes = [1e-3, 1e-3, 2e-3], fractions = [0.4, 0.6]", ["sizes must rise"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], fractions = [0.4, 0.5]", ["fractions sum to 0.9"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], fractions = [1.4, -0.4]", ["fractions", ">= 0"])
    refused_table(folder, "sizes = [-1e-3, 2e-3, 4e-3], fractions = [0.4, 0.6]", ["sizes", "> 0"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], fractions = [1]", ["fractions has 1 shares for 3 sizes"])
    refused_table(folder, "sizes = [1e-3], fractions = [1]", ["two sizes at least"])
    refused_table(folder, "fractions = [1]", ["two sizes at least"])
    refused_table(folder, "sizes = [1e-3, 2e-3]", ["fractions", "passing"])
    refused_table(folder, "sizes = [1e-3, 2e-3], fractions = [1], passing = [0, 1]", ["either fractions"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], passing = [0, 0.6, 0.5]", ["passing must not fall"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], passing = [0.1, 0.6, 1]", ["from 0.1 to 1"])
    refused_table(folder, "sizes = [1e-3, 2e-3, 4e-3], passing = [0, 0.6, 0.9]", ["from 0 to 0.9"])


def test_sieve_files_that_cannot_be_read(folder):
    refused_table(folder, 'path = "curve.csv"', ["curve.csv", "No such file"], ranks=(1, 3))
    for text, words in ((CURVE.replace("size,passing", "d,p"), ["curve.csv:2", "size,passing"]),
                        (CURVE.replace("0.002,0.4", "0.002,x"), ["curve.csv:4", "'x' is not a number (passing)"]),
                        (CURVE.replace("0.002,0.4", "0.002,1.4"), ["curve.csv:4", "[0, 1]"]),
                        (CURVE.replace("0.002,0.4", "-0.002,0.4"), ["curve.csv:4", "positive"]),
                        (CURVE.replace("0.002,0.4", "0.005,0.4"), ["must rise"]),
                        ("", ["the columns must be size,passing"]),
                        ("size,passing\n0.001,0\n", ["two sizes at least"])):
        (folder / "curve.csv").write_text(text)
        refused_table(folder, 'path = "curve.csv"', ["curve.csv", *words])
    (folder / "curve.csv").write_text(CURVE)
    refused_table(folder, 'path = "curve.csv", sizes = [1e-3, 2e-3]', ["sizes", "read from a file"])
