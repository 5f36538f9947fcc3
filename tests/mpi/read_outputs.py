"""Reads an H5MD file and a checkpoint with h5py: read_outputs.py run.h5 checkpoint.scree. Exit code 77: no h5py."""
import os
import sys
import xml.etree.ElementTree as xml

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

n_frames, n = 3, 101
with h5py.File(sys.argv[1], "r") as file:
    assert list(file["h5md"].attrs["version"]) == [1, 1]
    assert file["h5md/creator"].attrs["name"] == b"scree"
    bodies = file["particles/all"]
    position = bodies["position"]
    assert position["value"].shape == (n_frames, n, 3)
    assert position["value"].dtype == np.float64
    assert position["value"].attrs["unit"] == b"m"
    # Hard links: the same object under each name.
    for name in ["velocity", "id"]:
        assert bodies[name + "/step"] == position["step"]
        assert bodies[name + "/time"] == position["time"]
    assert file["observables/count/step"] == position["step"]
    assert bodies["velocity/value"].attrs["unit"] == b"m s-1"
    assert list(position["step"]) == [0, 10, 20]
    assert list(position["time"]) == [0, 0.5, 1]
    assert list(file["observables/count/value"]) == [n - 2, n - 1, n]
    ids = bodies["id/value"][...]
    expected = 2**53 + 1 + 2 * np.arange(n, dtype=np.int64)
    for frame in range(n_frames):
        count = n - 2 + frame
        assert (ids[frame, :count] == expected[:count]).all()
        assert (ids[frame, count:] == -1).all()
        assert (position["value"][frame, :count, 0] == np.arange(count) / 8).all()
        assert np.isnan(position["value"][frame, count:]).all()
    assert bodies["box"].attrs["dimension"] == 3
    assert list(bodies["box"].attrs["boundary"]) == [b"periodic", b"none", b"none"]
    assert list(bodies["box/edges"]) == [20, 1, 1]
    assert file["parameters/deck"][()] == b"[simulation]\n"


def hyperslab(item):
    """What a DataItem of the .xdmf beside the H5MD file refers to."""
    selection, heavy = item.findall("DataItem")
    numbers = np.array(selection.text.split(), dtype=int).reshape(3, -1)
    assert selection.attrib["Dimensions"] == f"3 {numbers.shape[1]}"
    name, dataset = heavy.text.split(":")
    with h5py.File(os.path.join(os.path.dirname(sys.argv[1]), name), "r") as file:
        assert heavy.attrib["Dimensions"].split() == [str(n) for n in file[dataset].shape]
        assert int(heavy.attrib["Precision"]) == file[dataset].dtype.itemsize
        start, stride, count = numbers
        assert (stride == 1).all() and item.attrib["Dimensions"].split() == [str(n) for n in count]
        return file[dataset][tuple(slice(s, s + c) for s, c in zip(start, count))]


grids = xml.parse(os.path.splitext(sys.argv[1])[0] + ".xdmf").findall("./Domain/Grid/Grid")
assert [float(grid.find("Time").attrib["Value"]) for grid in grids] == [0, 0.5, 1]
for frame, grid in enumerate(grids):
    count = n - 2 + frame
    assert int(grid.find("Topology").attrib["NumberOfElements"]) == count
    points = hyperslab(grid.find("Geometry/DataItem"))
    assert points.size == 3 * count and (points.reshape(-1, 3)[:, 0] == np.arange(count) / 8).all()
    of_name = {a.attrib["Name"]: a for a in grid.findall("Attribute")}
    assert of_name["velocity"].attrib["AttributeType"] == "Vector"
    assert (hyperslab(of_name["id"].find("DataItem")).ravel() == expected[:count]).all()

with h5py.File(sys.argv[2], "r") as file:
    assert file.attrs["kind"] == b"checkpoint" and file.attrs["version"] == 1
    assert (file["arrays/id"][...] == expected).all()
    assert file["arrays/position"].shape == (n, 3)
    assert (file["arrays/position"][:, 0] == np.arange(n) / 8).all()
    assert dict(zip(file["numbers/reals_names"][()].decode().split(), file["numbers/reals"]))["time"] == 1.0
