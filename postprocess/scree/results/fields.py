"""Maps on grids: files of [output.fields] and of continuum fields for ParaView."""
from pathlib import Path

import numpy as np

from scree.errors import ResultsError
from scree.results.files import existing


class Fields:
    """A map on a grid: arrays of nx * ny cells, row by row from the bottom, in space of layers of them."""

    def __init__(self, path):
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPImageDataReader

        path = existing(Path(path))
        reader = vtkXMLPImageDataReader() if path.suffix == ".pvti" else vtkXMLImageDataReader()
        reader.SetFileName(str(path))
        reader.Update()
        data = reader.GetOutput()
        # A map in the plane has no extent along z.
        n_axes = 3 if data.GetExtent()[5] > data.GetExtent()[4] else 2
        n_cells = [max(n - 1, 1) for n in data.GetDimensions()[:n_axes]]
        if data.GetNumberOfCells() != np.prod(n_cells):
            raise ResultsError(f"{path} is no map: {data.GetDimensions()} points")
        self.cell = np.array(data.GetSpacing()[:n_axes])
        lower = np.array(data.GetOrigin()[:n_axes]) + self.cell * data.GetExtent()[0:2 * n_axes:2]
        self.lower, self.upper = lower, lower + self.cell * n_cells
        arrays = data.GetCellData()
        self._arrays = {}
        for k in range(arrays.GetNumberOfArrays()):
            values = vtk_to_numpy(arrays.GetArray(k)).astype(float)
            self._arrays[arrays.GetArrayName(k)] = values.reshape(*reversed(n_cells), *values.shape[1:])
        self._path = path

    @property
    def names(self):
        return list(self._arrays)

    def middles(self, axis):
        """Middles of the cells along an axis, 0 for x [m]."""
        n = round((self.upper[axis] - self.lower[axis]) / self.cell[axis])
        return self.lower[axis] + (np.arange(n) + 0.5) * self.cell[axis]

    def __iter__(self):
        return iter(self._arrays)

    def __contains__(self, name):
        return name in self._arrays

    def __getitem__(self, name):
        """Values (ny, nx), in space (nz, ny, nx), then components of vectors (3) and tensors (9: xx, xy, ...)."""
        if name not in self._arrays:
            raise ResultsError(f"{self._path} has no field {name!r}; there are: {', '.join(self._arrays)}")
        return self._arrays[name]


def read_fields(path):
    return Fields(path)
