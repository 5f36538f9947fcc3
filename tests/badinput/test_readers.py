"""What readers refuse before it costs anything: pipes and devices, files kept elsewhere, nesting and sizes beyond all
bounds, damage; and all that is wrong with a deck at once."""
import os
import shutil
import subprocess

import refusal
from refusal import failed
from scree_program import check, check_in, findings, program, run_ok, scree
from small_deck import write_deck

RUNTIME_FAILURE = 1


def refused(*arguments, ranks=(2,), **options):
    refusal.refused(*arguments, ranks=ranks, **options)


CROWD = """\
[simulation]
dimension = 2
scheme = "crowd"
end_time = 1
[time]
step = "50 ms"
[walkable]
{plan}
[exits.door]
line = [[10, 2], [10, 3]]
[populations.all]
count = {count}
"""
HALL = "polygon = [[0, 0], [10, 0], [10, 5], [0, 5]]"


def crowd_deck(folder, plan=HALL, count=5, more="", name="crowd.toml"):
    (folder / name).write_text(CROWD.format(plan=plan, count=count) + more)
    return name


def test_pipes_devices_and_folders_are_refused_at_once(folder):
    os.mkfifo(folder / "pipe.toml")
    os.mkfifo(folder / "pipe.h5")
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.wkt")
    before = sorted(path.name for path in folder.iterdir())
    for arguments, words in ((("run", "pipe.toml"), ["pipe.toml", "pipe, not a file"]),
                             (("check", "/dev/zero"), ["/dev/zero", "device, not a file"]),
                             (("info", "pipe.h5"), ["pipe.h5", "pipe, not a file"]),
                             (("compare", "pipe.csv", "pipe.csv"), ["pipe.csv", "pipe, not a file"]),
                             (("restart", "/dev/null"), ["/dev/null", "device, not a file"])):
        failed(folder, *arguments, code=2, words=words, ranks=(2,))
    check(sorted(path.name for path in folder.iterdir()) == before, "no file is touched")
    crowd_deck(folder, plan='file = "pipe.wkt"')
    failed(folder, "check", "crowd.toml", code=2, words=["pipe.wkt", "pipe, not a file"], ranks=(2,))
    source = 'source = { type = "random", count = 120, region = { lower = [0, 0.2], upper = [6, 3.8] } }'
    write_deck(folder, (source, 'source = { type = "file", path = "pipe.csv" }'))
    failed(folder, "check", "small.toml", code=2, words=["pipe.csv", "pipe, not a file"], ranks=(2,))
    write_deck(folder, ('motion = { type = "rotate", center = [2, 1], rate = "2 rad/s" }',
                        'motion = { type = "table", path = "pipe.csv" }'))
    failed(folder, "check", "small.toml", code=2, words=["pipe.csv", "pipe, not a file"], ranks=(2,))


def test_what_cannot_be_printed_is_an_error(folder):
    deck = write_deck(folder)
    for arguments in (("check", deck), ("list",), ("info", deck), ("--version",)):
        with open("/dev/full", "w") as full:
            result = subprocess.run([program(), *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True,
                                    cwd=folder, timeout=60)
        check(result.returncode == RUNTIME_FAILURE, f"{arguments[0]} > /dev/full fails", result)
        check_in("cannot write to standard output: No space left on device", result.stderr, "the message")


def hdf5_with(folder, name, make):
    import h5py

    with h5py.File(folder / name, "w") as file:
        make(file, h5py)
    return name


def test_hdf5_files_that_lead_to_other_files_are_refused(folder):
    (folder / "secret").write_bytes(bytes(800))
    with_dataset = hdf5_with(folder, "other.h5", lambda file, h5py: file.create_dataset("x", data=[1.0]))

    def external_link(file, h5py):
        file["fclib_global/M"] = h5py.ExternalLink(with_dataset, "/x")

    def external_storage(file, h5py):
        file.create_dataset("h5md/x", (100,), "f8", external=[("secret", 0, 800)])

    def virtual(file, h5py):
        layout = h5py.VirtualLayout(shape=(1,), dtype="f8")
        layout[:] = h5py.VirtualSource(str(folder / with_dataset), "x", shape=(1,))
        file.create_virtual_dataset("h5md/x", layout)

    def deep(file, h5py):
        file.create_group("/".join(["g"] * 500))

    for make, words in ((external_link, ["/fclib_global/M is a link to another file"]),
                        (external_storage, ["/h5md/x is kept in another file"]),
                        (virtual, ["/h5md/x is kept in another file"]),
                        (deep, ["lies in more than 64 groups"])):
        name = hdf5_with(folder, "bad.h5", make)
        refused(folder, "info", name, words=[name, *words])
        refused(folder, name, words=[name, *words], name="scree_replay", ranks=(2,))


def test_sizes_that_no_memory_holds_are_refused(folder):
    def huge(file, h5py):
        file.create_dataset("fclib_local/spacedim", data=[3], dtype="i4")
        file.create_dataset("fclib_local/W/m", data=[3], dtype="i4")
        file.create_dataset("fclib_local/W/n", data=[3], dtype="i4")
        file.create_dataset("fclib_local/W/nzmax", data=[1 << 50], dtype="i8")
        file.create_dataset("fclib_local/W/nz", data=[1 << 50], dtype="i8")
        for key, kind in (("i", "i4"), ("p", "i4"), ("x", "f8")):
            file.create_dataset(f"fclib_local/W/{key}", (1 << 50,), kind, chunks=(1024,))

    name = hdf5_with(folder, "huge.h5", huge)
    refused(folder, "info", name, words=[name, "GiB of memory"])


def test_nesting_beyond_all_bounds(folder):
    deep = 100000
    (folder / "plan.geojson").write_text('{"a":' * deep + "1" + "}" * deep)
    crowd_deck(folder, plan='file = "plan.geojson"')
    refused(folder, "check", "crowd.toml", words=["plan.geojson", "nested 100000 deep"])
    (folder / "plan.wkt").write_text("GEOMETRYCOLLECTION(" * deep + ")" * deep)
    crowd_deck(folder, plan='file = "plan.wkt"')
    refused(folder, "check", "crowd.toml", words=["plan.wkt", "nested 100000 deep"])
    (folder / "dots.toml").write_text("a." * deep + "a = 1\n")
    refused(folder, "check", "dots.toml", words=["dots.toml", "nested 100000 deep"])
    (folder / "lists.toml").write_text("a = " + "[" * deep + "]" * deep + "\n")
    refused(folder, "check", "lists.toml", words=["lists.toml", "nested 100000 deep"])


def test_numbers_that_ask_for_too_much(folder):
    deck = write_deck(folder)
    for setting, words in (("time.step=1e-300", ["1e-300 s", "steps", "at most 9e+15"]),
                           ("particles.grains.source.count=1000000000", ["1000000000 bodies", "times the volume"]),
                           ("particles.grains.source.count=9000000000000000000", ["times the volume"])):
        refused(folder, "check", deck, "--set", setting, words=words, ranks=(1, 3))
    tiny = ['particles.grains.radius={ distribution = "constant", value = 1e-9 }', "particles.grains.source.count=100000000000"]
    refused(folder, "check", deck, "--set", tiny[0], "--set", tiny[1], words=["GiB of memory"])
    lattice = 'particles.grains.source={ type = "lattice", spacing = 1e-12 }'
    refused(folder, "check", deck, "--set", lattice, words=["spacing of 1e-12 m", "sites"])
    crowd_deck(folder, more="[navigation]\ncell = 1e-6\n")
    refused(folder, "check", "crowd.toml", words=["cells of 1e-06 m", "GiB of memory"])


def test_the_misspelt_key_is_named_and_no_other(folder):
    write_deck(folder, ("dimension = 2", "dimensionx = 2"))
    refused(folder, "check", "small.toml", words=["small.toml:3:1", "unknown key 'dimensionx'", "did you mean 'dimension'"])
    write_deck(folder, ("dimension = 2", 'dimension = "two"'))
    refused(folder, "check", "small.toml", words=["small.toml:3", "'dimension'", '"two"'])


def test_all_errors_of_a_deck_are_told_at_once(folder):
    write_deck(folder, ('step = "20 ms"', 'step = "20 mm"'), ("sweeps = 3", "sweps = 3"), ("seed = 3", "seed = 3.5"),
               ('type = "rotate"', 'type = "rotat"'), ("keep = 20", "keep = 0"), more="[measure.x]\na = 1\n")
    refused(folder, "check", "small.toml",
            words=["6 errors in small.toml", "'seed'", "20 mm", "'sweps'", "did you mean 'sweeps'", "rotat", "'keep'",
                   "unknown table 'measure'"])
    result = scree("check", "small.toml", folder=folder)
    places = [tuple(map(int, line.split(":")[1:3])) for line in result.stderr.splitlines() if line.startswith("  small.toml:")]
    check(len(places) == 6 and places == sorted(places), "in the order of the deck", result)
    result = scree("check", "small.toml", "--set", "simulation.seed=x", "--set", "time.step=x", folder=folder)
    reported = [line.split(":")[0] for line in result.stderr.splitlines() if line.startswith(("  small.toml:", "  --set "))]
    check(reported == 4 * ["  small.toml"] + ["  --set simulation.seed", "  --set time.step"], "overrides come last", result)
    # What misses because of a misspelt name is not reported beside it, nor what cannot be judged any more.
    write_deck(folder, ("upper = [6, 4]", "uper = [6, 4]"), ("point = [0.5, 0.3]", "pont = [0.5, 0.3]"))
    result = scree("check", "small.toml", folder=folder)
    check(result.code == 2, "exit code", result)
    check_in("2 errors in small.toml", result.stderr, "the message")
    check("missing" not in result.stderr, "nothing follows from the misspelt keys", result)
    # Several missing keys, and no end of errors.
    write_deck(folder, ("a = [2, 0.5]\n", ""), ("b = [2, 1.5]\n", ""), ("normal = [0, 1]\n", ""))
    refused(folder, "check", "small.toml", words=["3 errors", "'normal'", "'a'", "'b'"])
    write_deck(folder, more="".join(f"[wrong{i}]\n" for i in range(50)))
    refused(folder, "check", "small.toml", words=["50 errors", "wrong19", "and 30 more"])
    # The same wherever the deck is read.
    write_deck(folder, ("sweeps = 3", "sweps = 3"), ("keep = 20", "keep = 0"))
    refused(folder, "run", "small.toml", words=["2 errors"])
    refused(folder, "info", "small.toml", words=["2 errors"])


def test_check_tells_what_a_deck_may_not_mean(folder):
    deck = write_deck(folder)
    reported = findings(deck, folder=folder)
    check(len(reported) == 1 and "upper y" in reported[0] and "lower" not in reported[0], "only the open face is reported", reported)
    check(findings(deck, folder=folder, ranks=3) == reported, "the same on 3 ranks", reported)
    roof = '[obstacles.roof]\ntype = "plane"\npoint = [0, 4]\nnormal = [0, -1]\n'
    deck = write_deck(folder, more=roof)
    check(findings(deck, folder=folder) == [], "a closed domain with output needs no word", findings(deck, folder=folder))
    far = '[obstacles.far]\ntype = "segment"\na = [50, 60]\nb = [52, 61]\n'
    reported = findings(write_deck(folder, more=roof + far), folder=folder)
    check(len(reported) == 1 and "[obstacles.far]" in reported[0] and "outside of the domain" in reported[0], "far obstacle", reported)
    across = '[obstacles.across]\ntype = "plane"\npoint = [0, -1]\nnormal = [0.1, 1]\n'
    deck = write_deck(folder, ("region = { lower = [0, 0.2]", "region = { lower = [0, 0.8]"), ("count = 120", "count = 60"),
                      more=roof + across.replace("-1]", "0.2]").replace("0.1, 1", "-0.05, 1"))
    refused = scree("check", deck, folder=folder)
    check(refused.code == 2 and 'obstacle "across"' in refused.stderr and "periodic axis x" in refused.stderr, "cut obstacle", refused)
    silent = [('[output.vtk]\nevery = "0.1 s"\n', ""), ('[output.h5md]\nevery = "0.1 s"\n', ""),
              ('[analysis]\nevery = "0.04 s"\n', "")]
    reported = findings(write_deck(folder, *silent, more=roof), folder=folder)
    check(len(reported) == 1 and "[measures] are never written" in reported[0], "measures without rows", reported)


def test_an_obstacle_that_takes_the_whole_region_is_named(folder):
    write_deck(folder, ("normal = [0, 1]", "normal = [0, -1]"))
    refused(folder, "check", "small.toml", words=["0 of 120 bodies", "[obstacles.floor]", "normal"])


def test_a_bit_flipped_in_the_deck_of_a_checkpoint_is_found_out(folder):
    run_ok("-q", "run", write_deck(folder), "--set", "simulation.end_time=0.3", folder=folder)
    checkpoint = sorted((folder / "results/small/checkpoint").glob("*.scree"))[-1]
    content = bytearray(checkpoint.read_bytes())
    place = content.index(b"rate = 0.8")
    content[place + 7] ^= 1
    (folder / "bad.scree").write_bytes(content)
    shutil.rmtree(folder / "results")
    refused(folder, "restart", "bad.scree", words=["bad.scree", "damaged", "deck"])
    refused(folder, "info", "bad.scree", words=["bad.scree", "damaged", "deck"])


def test_fclib_files_of_scree_carry_checksums(folder):
    import h5py

    run_ok("--generate", "wall", "--size", "3", "-o", "w.hdf5", name="scree_replay", folder=folder)
    with h5py.File(folder / "w.hdf5") as file:
        without = []
        file.visititems(lambda name, item: without.append(name) if isinstance(item, h5py.Dataset)
                        and item.dtype.kind in "if" and item.size > 0 and not item.fletcher32 else None)
        values = file["fclib_global/M/x"][:]
        place = file["fclib_global/M/x"].id.get_chunk_info(0).byte_offset
    check(not without, "every dataset of numbers has a checksum", without)
    check(len(values) > 0, "serial HDF5 reads them")
    content = bytearray((folder / "w.hdf5").read_bytes())
    content[place + 3] ^= 16
    (folder / "w.hdf5").write_bytes(content)
    refused(folder, "info", "w.hdf5", words=["w.hdf5", "/fclib_global/M/x"])
