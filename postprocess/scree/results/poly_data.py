"""Frames for ParaView: points, lines and triangles with fields."""
from dataclasses import dataclass, field

import numpy as np

from scree.errors import ResultsError
from scree.results.old_names import BODIES, CONTACTS, names_of_now


@dataclass
class PolyData:
    """Points (n, 3), lines between two of them (k, 2), triangles (m, 3), fields of points and of cells by name."""
    points: np.ndarray
    lines: np.ndarray = field(default_factory=lambda: np.empty((0, 2), int))
    triangles: np.ndarray = field(default_factory=lambda: np.empty((0, 3), int))
    point_fields: dict = field(default_factory=dict)
    cell_fields: dict = field(default_factory=dict)


def read_poly_data(path):
    """A frame of bodies, contacts, obstacles or surfaces for ParaView: a .vtp or .pvtp file as PolyData."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPPolyDataReader

    if not path.is_file():
        raise ResultsError(f"{path} does not exist")
    reader = vtkXMLPPolyDataReader() if path.suffix == ".pvtp" else vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()

    def fields(arrays):
        return _with_new_names({arrays.GetArrayName(k): vtk_to_numpy(arrays.GetArray(k)).copy()
                                for k in range(arrays.GetNumberOfArrays())}, BODIES, path)

    def cells(array, corners):
        if array.GetNumberOfCells() == 0:
            return np.empty((0, corners), int)
        if array.IsHomogeneous() != corners:
            raise ResultsError(f"{path} has lines of more than two points, or polygons that are no triangles")
        return vtk_to_numpy(array.GetConnectivityArray()).reshape(-1, corners).copy()

    points = vtk_to_numpy(data.GetPoints().GetData()).astype(float) if data.GetNumberOfPoints() else np.empty((0, 3))
    return PolyData(points, cells(data.GetLines(), 2), cells(data.GetPolys(), 3), fields(data.GetPointData()),
                    fields(data.GetCellData()))


def read_contacts(path):
    """One frame of contacts as arrays by name, see Results.contacts."""
    data = read_poly_data(path)
    fields = _with_new_names(data.cell_fields, CONTACTS, path)
    return {"ends": data.points[data.lines], **(fields if len(data.lines) else {})}


def _with_new_names(fields, renames, path):
    """Fields by name; what is said of old names is said once for all frames of a folder."""
    return {now: fields[name] for now, name in names_of_now(fields, renames, path.parent).items()}
