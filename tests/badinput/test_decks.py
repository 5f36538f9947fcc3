"""Whatever is wrong with a deck or a command line: one message that names it, the right exit code, on any number of
ranks, without hanging and without touching a file."""
from refusal import BAD_INPUT, refused
from scree_program import check, scree
from small_deck import content_of, write_deck


def refused_deck(folder, *changes, words, more="", ranks=(3,)):
    deck = write_deck(folder, *changes, more=more)
    refused(folder, "run", deck, words=words, ranks=ranks)


def place_of(folder, text):
    """small.toml:line:column: of the first character of `text`."""
    lines = (folder / "small.toml").read_text().splitlines()
    line = next(i for i, content in enumerate(lines) if text in content)
    return f"small.toml:{line + 1}:{lines[line].index(text) + 1}"


def test_missing_deck(folder):
    refused(folder, "run", "nothing.toml", words=["nothing.toml", "No such file"])


def test_deck_that_is_a_folder_or_no_toml(folder):
    (folder / "sub.toml").mkdir()
    refused(folder, "run", "sub.toml", words=["sub.toml"])
    (folder / "broken.toml").write_text("[simulation\ndimension = 2\n")
    refused(folder, "run", "broken.toml", words=["broken.toml:1"])
    (folder / "empty.toml").write_text("")
    refused(folder, "check", "empty.toml", words=["missing table 'simulation'"])
    (folder / "bytes.toml").write_bytes(bytes(range(256)))
    refused(folder, "check", "bytes.toml", words=["bytes.toml"])


def test_misspelt_key_table_and_kind(folder):
    refused_deck(folder, ("sweeps = 3", "sweps = 3"), words=["sweps", "sweeps"])
    refused(folder, "run", "small.toml", words=[place_of(folder, "sweps")])
    refused_deck(folder, ("[neighbors]", "[neighbours]"), words=["neighbours", "neighbors"])
    refused_deck(folder, ('type = "attraction"', 'type = "atraction"'), words=["atraction", "attraction"])
    refused_deck(folder, ('type = "rotate"', 'type = "rotat"'), words=["rotat", "rotate", "translate"])
    refused_deck(folder, more='[measures.more]\ntype = "overlaps"\n', words=["overlaps", "overlap"])
    deck = write_deck(folder, more='[measures.more]\ntype = "overlaps"\nzzz = 1\n')
    result = scree("check", deck, folder=folder)
    valid = next(line for line in result.stderr.splitlines() if "'zzz'" in line).split("valid: ")[1].split(", ")
    check(len(valid) > 5 and len(valid) == len(set(valid)), "each valid key once, though several kinds have it", result)


def test_words_without_end_are_told_by_their_beginning(folder):
    for name in ("x" * 30000, "\u00fc" * 30000):
        deck = write_deck(folder, ('type = "attraction"', f'type = "{name}"'), more=f'[stages."{name}"]\n')
        for ranks in (1, 3):
            result = scree("check", deck, ranks=ranks, folder=folder)
            check(result.code == BAD_INPUT and len(result.stderr) < 6000, "a message that can be read", result)
            check(f"{name[:100]}" in result.stderr and "characters)" in result.stderr, "the beginning of the word", result)


def test_name_with_a_line_break(folder):
    refused_deck(folder, more='[measures."a\\nb"]\ntype = "count"\n', words=["a name in [measures] has a control character"], ranks=(1,))


def test_measure_that_does_not_suit_the_run(folder):
    refused_deck(folder, more='[measures.more]\ntype = "stress"\n', words=["stress", "no inertia"])
    refused(folder, "run", "small.toml", words=[place_of(folder, 'type = "stress"')])
    refused_deck(folder, more='[measures.more]\ntype = "wall_force"\nobstacles = ["roof"]\n', words=["roof", "the deck has"])


def test_wrong_type_unit_and_range(folder):
    refused_deck(folder, ("sweeps = 3", 'sweeps = "three"'), words=["sweeps", "three"])
    refused_deck(folder, ("seed = 3", "seed = 3.5"), words=["seed"])
    refused_deck(folder, ("upper = [6, 4]", "upper = [6, 4, 2]"), words=["upper"])
    refused_deck(folder, ('step = "20 ms"', 'step = "20 mm"'), words=["step", "20 mm", "ms"])
    refused_deck(folder, ('min = "8 cm"', 'min = "-8 cm"'), words=["min", "> 0"])
    refused_deck(folder, ('step = "20 ms"', "step = 0"), words=["step", "> 0"])
    refused_deck(folder, ('step = "20 ms"', 'step = "-20 ms"'), words=["step", "> 0"])
    refused_deck(folder, ('step = "20 ms"', "step = nan"), words=["step"])
    refused_deck(folder, ("end_time = 1\n", "end_time = inf\n"), words=["end_time"])
    refused_deck(folder, ("dimension = 2", "dimension = 4"), words=["dimension"])
    refused_deck(folder, ("warm_start = 0.9", "warm_start = 1.1"), words=["warm_start"])
    refused_deck(folder, ("upper = [6, 4]", "upper = [6, -4]"), words=["upper", "lower"])


def test_missing_keys_and_tables(folder):
    refused_deck(folder, ("end_time = 1\n", ""), words=["end_time"])
    refused_deck(folder, ('[time]\nstep = "20 ms"\n', ""), words=["missing table 'time'"])
    refused_deck(folder, ("dimension = 2\n", ""), words=["dimension"])


def test_methods_that_pbd_is_compared_with_are_not_there(folder):
    for method in ("pgs", "pgs_dual", "penalty", "jacobi"):
        refused_deck(folder, ("sweeps = 3", f'sweeps = 3\nmethod = "{method}"'), words=["method", method, '"pbd"'])
    refused_deck(folder, ("sweeps = 3", "sweeps = 3\npenalty_rate = 5"), words=["penalty_rate"])


def test_keys_without_effect_or_against_each_other(folder):
    refused_deck(folder, ('every = "0.04 s"', 'every = "0.04 s"\nevery_steps = 2'), words=["every"])


def test_periodic_box_too_small(folder):
    refused_deck(folder, ("upper = [6, 4]", "upper = [0.302, 4]"), ("upper = [6, 3.8]", "upper = [0.302, 3.8]"),
                 ('{ distribution = "uniform", min = "8 cm", max = "15 cm" }',
                  '{ distribution = "constant", value = "15 cm" }'),
                 ("count = 120", "count = 1"), words=["0.302 m long along periodic axis x", "0.306"])


def test_tolerance_of_a_measure_beyond_that_of_the_contacts_that_are_found(folder):
    refused_deck(folder, more='[measures.near]\ntype = "overlap"\ntolerance = "0.1 m"\n',
                 words=['"near"', "tolerance = 0.1 m", "analysis.contact_tolerance = 0.001"])


def test_contact_tolerance_beyond_its_range(folder):
    refused_deck(folder, ("[analysis]\n", "[analysis]\ncontact_tolerance = 5\n"), words=["contact_tolerance", "1"])


def test_no_bodies(folder):
    text = write_deck(folder).read_text()
    start, end = text.index("[particles"), text.index("[obstacles.floor]")
    (folder / "small.toml").write_text(text[:start] + text[end:])
    refused(folder, "run", "small.toml", words=["[particles."])
    (folder / "none.csv").write_text("x,y,radius\n")
    (folder / "small.toml").write_text(
        text[:start] + '[particles.none]\nsource = { type = "file", path = "none.csv" }\n' + text[end:])
    refused(folder, "run", "small.toml", words=["none.csv"])


def file_deck(folder, rows, columns="x,y,radius"):
    """The deck with bodies from a table."""
    text = write_deck(folder).read_text()
    start, end = text.index("[particles"), text.index("[obstacles.floor]")
    (folder / "bodies.csv").write_text("\n".join([columns, *rows]) + "\n")
    (folder / "small.toml").write_text(
        text[:start] + '[particles.grains]\nsource = { type = "file", path = "bodies.csv" }\n' + text[end:])
    return folder / "small.toml"


def test_overlap_at_the_start_names_both_bodies(folder):
    deck = file_deck(folder, ["1,1,0.2", "3,2,0.2", "5,3,0.2", "3.3,2,0.2", "3,3,0.1"])
    refused(folder, "run", deck, words=["body 1", "body 3", "grains", "0.1 m", "allow_overlap"])
    # Through the periodic face, and of a body with an obstacle.
    deck = file_deck(folder, ["3,1,0.2", "0.1,2,0.2", "5.9,2,0.2"])
    refused(folder, "run", deck, words=["body 1", "body 2", "grains"])
    deck = file_deck(folder, ["4,2,0.2", "3,0.1,0.2", "5,2,0.2"])
    refused(folder, "run", deck, words=["body 1", "floor", "grains"])


def test_body_outside_at_the_start(folder):
    deck = file_deck(folder, ["1,1,0.2", "3,2,0.2", "3,4.5,0.2"])
    refused(folder, "run", deck, words=["grains", "4.5"])


def test_body_file_that_is_missing_or_damaged(folder):
    deck = file_deck(folder, ["1,1,0.2", "3,two,0.2"])
    refused(folder, "run", deck, words=["bodies.csv", "two"])
    deck = file_deck(folder, ["1,1,-0.2"])
    refused(folder, "run", deck, words=["bodies.csv"])
    deck = file_deck(folder, ["1,1,nan"])
    refused(folder, "run", deck, words=["bodies.csv"])
    (folder / "bodies.csv").unlink()
    refused(folder, "run", deck, words=["bodies.csv"])


def test_more_bodies_than_fit(folder):
    refused_deck(folder, ("count = 120", "count = 5000"), words=["5000"])


def test_unknown_petsc_option(folder):
    refused_deck(folder, ("seed = 3", 'seed = 3\npetsc_options = "-scree_kps_type cg"'), words=["-scree_kps_type"])
    refused_deck(folder, ("seed = 3", 'seed = 3\npetsc_options = "cg"'), words=["cg"])


def test_bad_overrides(folder):
    deck = write_deck(folder)
    for override, word in (("time.step", "time.step"), ("time.stepp=1", "step"), ("=1", "=1"), ("time.step=", "time.step"),
                           ("time.step=-1", "> 0"), ("time=3", "time"), ("pbd.sweeps.more=3", "sweeps"),
                           ("time.step=[1", "time.step"), ("a..b=1", "a..b")):
        refused(folder, "run", deck, "--set", override, words=[word], ranks=(1,))
    refused(folder, "run", deck, "--set", "pbd.sweps=3", words=["sweps", "sweeps"])


def test_bad_command_lines(folder):
    write_deck(folder)
    for arguments, word in (((), "subcommand"), (("frobnicate",), "subcommand"), (("run",), "deck"),
                            (("run", "small.toml", "--frob"), "--frob"), (("restart",), "checkpoint"),
                            (("compare", "small.toml"), "required"), (("run", "small.toml", "--set"), "--set"),
                            (("run", "small.toml", "--max-wall-time", "soon"), "soon")):
        for ranks in (1, 3):
            result = scree(*arguments, ranks=ranks, folder=folder, timeout=60)
            check(result.code == BAD_INPUT, "exit code 2", result)
            check(result.stderr.count("Run with --help") == 1 and word in result.stderr, f"one message, with {word}",
                  result)
    check(sorted(content_of(folder)) == ["small.toml"], "nothing was written")
    refused(folder, "list", "frobs", words=["frobs", "schemes"])
    refused(folder, "info", words=["--schema"])


def test_help_is_told_once_and_is_no_error(folder):
    result = scree("--help", ranks=3)
    check(result.code == 0 and result.stdout.count("run a deck") == 1, "--help", result)
