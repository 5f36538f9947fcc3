"""Files that scree_replay cannot use: one message with file, dataset and place, exit code 2, nothing written."""
import shutil

import h5py
import numpy as np

from refusal import refused
from scree_program import check, run_ok


def generate(folder, form):
    run_ok("--generate", "stack", "--size", "3", "--form", form, "-o", "good.hdf5", name="scree_replay", folder=folder)


def refused_file(folder, change, words, ranks=(1, 2)):
    """The changed copy is refused, and the good file before it gets no solution."""
    shutil.copy(folder / "good.hdf5", folder / "bad.hdf5")
    with h5py.File(folder / "bad.hdf5", "a") as file:
        change(file)
    refused(folder, "good.hdf5", "bad.hdf5", "--write-solution", "--csv", "rows.csv", "--json", "rows.json",
            words=["bad.hdf5", *words], ranks=ranks, name="scree_replay")


def places_of(matrix):
    """Row and column of each entry of a stored matrix."""
    p, i = matrix["p"][:], matrix["i"][:]
    nz = matrix["nz"][0]
    if nz >= 0:
        return i, p
    lists = np.repeat(np.arange(len(p) - 1), np.diff(p))
    return (i, lists) if nz == -1 else (lists, i)


def set_entries(matrix, chosen, value):
    x = matrix["x"][:]
    check(np.any(chosen), "the file has such entries")
    x[chosen] = value
    matrix["x"][:] = x


def test_a_file_that_is_cut_off(folder):
    generate(folder, "global")
    content = (folder / "good.hdf5").read_bytes()
    (folder / "bad.hdf5").write_bytes(content[:len(content) * 2 // 3])
    refused(folder, "good.hdf5", "bad.hdf5", "--write-solution", words=["bad.hdf5", "truncated"], ranks=(1, 2),
            name="scree_replay")


def test_groups_and_dimensions(folder):
    generate(folder, "global")

    def shorten(name):
        def change(file):
            values = file[name][:]
            del file[name]
            file[name] = values[:-1]
        return change

    refused_file(folder, lambda file: file.move("fclib_global", "fclib_globe"),
                 ["neither /fclib_local nor /fclib_global", "/fclib_globe"])
    refused_file(folder, shorten("fclib_global/vectors/w"), ["/fclib_global/vectors/w has 35 numbers, not 36"])
    refused_file(folder, shorten("fclib_global/vectors/f"), ["/fclib_global/vectors/f has 17 numbers, not 18"],
                 ranks=(1,))
    refused_file(folder, shorten("fclib_global/H/x"), ["/fclib_global/H/i has "])


def test_numbers(folder):
    generate(folder, "global")

    def put(name, place, value):
        def change(file):
            file[name][place] = value
        return change

    refused_file(folder, put("fclib_global/H/x", 7, np.nan), ["/fclib_global/H/x[7] is nan"])
    refused_file(folder, put("fclib_global/vectors/f", 17, np.inf), ["/fclib_global/vectors/f[17] is inf"], ranks=(1,))
    refused_file(folder, put("fclib_global/vectors/mu", 9, -0.5), ["/fclib_global/vectors/mu[9] is -0.5, negative"])


def test_matrices(folder):
    generate(folder, "global")

    def without_body(file):
        matrix = file["fclib_global/H"]
        set_entries(matrix, places_of(matrix)[1] == 7, 0)

    def indefinite_mass(file):
        # Two velocities of body 1 as if they were one: [a, 2 a; 2 a, a].
        matrix = file["fclib_global/M"]
        row, column = places_of(matrix)
        x = matrix["x"][:]
        entries = {(i, j): value for i, j, value in zip(row, column, x)}
        entries[6, 7] = entries[7, 6] = 2 * entries[6, 6]
        i, j = np.array(sorted(entries), dtype=np.int32).T
        for name, value in (("i", i), ("p", j), ("x", np.array([entries[at] for at in zip(i, j)])),
                            ("nz", np.int32([len(i)])), ("nzmax", np.int32([len(i)]))):
            del matrix[name]
            matrix[name] = value

    refused_file(folder, without_body, ["/fclib_global/H: column 7, of contact 2, is zero"])
    refused_file(folder, indefinite_mass, ["/fclib_global/M: the block of rows 6 to 11, of body 1, is not positive"])

    local_folder = folder / "local"
    local_folder.mkdir()
    generate(local_folder, "local")

    def unsymmetric(file):
        matrix = file["fclib_local/W"]
        row, column = places_of(matrix)
        diagonal = matrix["x"][:][(row == 3) & (column == 3)]
        set_entries(matrix, (row == 3) & (column == 15), 3 * diagonal)

    def singular_block(file):
        matrix = file["fclib_local/W"]
        row, column = places_of(matrix)
        set_entries(matrix, (row == 4) | (column == 4), 0)

    refused_file(local_folder, unsymmetric, ["/fclib_local/W is not symmetric: /fclib_local/W(3, 15) is "])
    refused_file(local_folder, singular_block,
                 ["/fclib_local/W: the block of rows 3 to 5, of contact 1, is not positive"])


def test_what_only_files_of_scree_have(folder):
    generate(folder, "global")

    def compliance(value):
        def change(file):
            values = np.zeros((12, 2))
            values[10, 1] = value
            file["scree/compliance"] = values
        return change

    def attribute(name, value):
        def change(file):
            file["scree"].attrs[name] = value
        return change

    refused_file(folder, compliance(-1e-3), ["/scree/compliance[10, 1] is -0.001, negative"])
    refused_file(folder, compliance(np.nan), ["/scree/compliance[10, 1] is nan"])
    refused_file(folder, attribute("time_step", -0.01), ["the attribute time_step of /scree is -0.01"])
    refused_file(folder, attribute("time_step", np.nan), ["the attribute time_step of /scree is nan"], ranks=(1,))


def test_texts_that_cannot_be_read_stop_nothing(folder):
    generate(folder, "global")
    with h5py.File(folder / "good.hdf5", "a") as file:
        info = file["fclib_global/info"]
        for name in list(info):
            del info[name]
        info["title"] = np.array([b"one", b"two"])
        info["description"] = np.array([3.5])
        info.create_group("math_info")
    for ranks in (1, 2):
        run_ok("good.hdf5", ranks=ranks, name="scree_replay", folder=folder)
