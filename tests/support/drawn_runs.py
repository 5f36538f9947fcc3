"""Runs as scree render finds them, made by hand, and pictures of them."""
import os
import shutil
import subprocess

import matplotlib.image
import numpy as np
import pytest
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from scree_program import check, python_command

SIZE = (400, 300)


def write_frame(path, points, lines=(), cells=None, **arrays):
    data = vtkPolyData()
    vertices = vtkPoints()
    vertices.SetData(numpy_to_vtk(np.array(points, dtype=np.float32), deep=True))
    data.SetPoints(vertices)
    for name, values in arrays.items():
        array = numpy_to_vtk(np.array(values, dtype=np.float32), deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    if lines:
        polylines = vtkCellArray()
        for line in lines:
            polylines.InsertNextCell(len(line))
            for point in line:
                polylines.InsertCellPoint(point)
        data.SetLines(polylines)
    for name, values in (cells or {}).items():
        array = numpy_to_vtk(np.array(values, dtype=np.float32), deep=True)
        array.SetName(name)
        data.GetCellData().AddArray(array)
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(data)
    writer.SetDataModeToBinary()
    writer.Write()


def write_index(path, entries):
    rows = "".join(f'<DataSet timestep="{time}" part="0" file="{name}"/>' for time, name in entries)
    path.write_text(f'<VTKFile type="Collection" version="0.1"><Collection>{rows}</Collection></VTKFile>\n')


def make_run(folder, points, radius, velocity, **arrays):
    vtk = folder / "vtk"
    vtk.mkdir()
    write_frame(vtk / "frame.vtp", points, radius=radius, velocity=velocity, **arrays)
    write_index(vtk / "case_particles.pvd", [(0.25, "frame.vtp")])


def needs_screen():
    if shutil.which("Xvfb") is None and not os.environ.get("DISPLAY"):
        pytest.skip("neither Xvfb nor a screen: scripts/install-deps.sh installs xvfb")


def render(folder, *options):
    needs_screen()
    return subprocess.run(python_command("render", folder,
                           "--size", *map(str, SIZE), *options), text=True, capture_output=True, timeout=300)


def picture_of(folder, *options):
    result = render(folder, *options)
    check(result.returncode == 0, "scree render ends with exit code 0", result.stderr)
    picture = matplotlib.image.imread(result.stdout.split()[-1])[:, :, :3]
    check(picture.shape == (SIZE[1], SIZE[0], 3), "the picture has the size asked for", picture.shape)
    return picture
