"""Reads a file of tests/mpi/test_crowd_files.cpp as analysis tools of the pedestrian archive do. Exit code 77: no h5py."""
import sys

try:
    import h5py
except ImportError:
    sys.exit(77)

with h5py.File(sys.argv[1]) as file:
    rows = file["trajectory"]
    assert {"frame", "id", "x", "y", "z"} == set(rows.dtype.names), rows.dtype
    assert float(rows.attrs["fps"]) == 10
    assert isinstance(file.attrs["wkt_geometry"], str), type(file.attrs["wkt_geometry"])
    assert file.attrs["wkt_geometry"].startswith("POLYGON ((0 0")
    assert file.attrs["title"] == "hall"
    expected = [(k, i) for k, n in ((0, 7), (1, 7), (3, 2), (4, 2), (5, 2)) for i in range(k, k + n)]
    assert [(int(r["frame"]), int(r["id"])) for r in rows[:]] == expected, rows[:]
    assert all(r["x"] == 0.1 * int(r["id"]) and r["y"] == r["frame"] and r["z"] == 2.5 for r in rows[:])
