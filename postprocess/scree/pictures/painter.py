"""Draws frames with VTK: one window and one set of actors for all frames of a film; a frame only changes their data."""
import numpy as np
import vtkmodules.vtkRenderingOpenGL2   # noqa: F401  draws everything
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLookupTable, vtkPoints, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkTubeFilter
from vtkmodules.vtkRenderingCore import (vtkActor, vtkPointGaussianMapper, vtkPolyDataMapper, vtkRenderer,
                                         vtkRenderWindow)

from scree import style
from scree.pictures.survey import strong_contacts

SUPERSAMPLING = 2                   # the picture is drawn this much larger and shrunk: smooth edges everywhere
PLAIN_BODY = (0.33, 0.53, 0.70)     # bodies without a field
PALE_BODY = (0.80, 0.84, 0.88)      # the same beside contacts
SEEN_THROUGH = 0.10                 # opacity of bodies around contacts in space

# The mapper draws a square around each point and gives the distance of a pixel from the centre, in radii. These lines
# make it a flat disk with a darker edge, or a sphere lit from the upper left. A sphere has the depth of its centre:
# in parallel projection that hides the right parts of all spheres that do not overlap.
DISK_SHADER = """//VTK::Color::Impl
float squared_distance = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (squared_distance > 1.0) discard;
float brightness = squared_distance > 0.80 ? 0.45 : 1.0;
ambientColor *= brightness;
diffuseColor *= brightness;
"""
SPHERE_SHADER = """//VTK::Color::Impl
float squared_distance = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (squared_distance > 1.0) discard;
vec3 normal = vec3(offsetVCVSOutput.xy, sqrt(1.0 - squared_distance));
float light = max(dot(normal, normalize(vec3(-0.4, 0.6, 0.9))), 0.0);
float brightness = 0.30 + 0.75 * light;
ambientColor *= brightness;
diffuseColor *= brightness;
"""


class Painter:
    """A window that shows one frame after another. `survey`: what all frames share; `look`: what is drawn and how."""

    def __init__(self, run, survey, look):
        self.run, self.survey, self.look = run, survey, look
        self.lift = 1e-3 * float(np.linalg.norm(survey.upper - survey.lower)) if survey.planar else 0.0
        self.renderer = vtkRenderer()
        self.renderer.SetBackground(1.0, 1.0, 1.0)
        self.window = vtkRenderWindow()
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(0)
        self.window.SetSize(*(SUPERSAMPLING * pixels for pixels in look.size))
        self.window.AddRenderer(self.renderer)
        if run.box is not None:
            self._add_frame_of_domain()
        self.balls = self._bodies_actor(vtkPointGaussianMapper())
        self.surfaces = self._bodies_actor(vtkPolyDataMapper())
        self._set_up_balls(self.balls.GetMapper())
        self._set_up_surfaces(self.surfaces.GetProperty())
        self.walls = self._wall_actor()
        self.tubes = self._tubes_actor()
        survey.view.aim(self.renderer.GetActiveCamera())

    def pixels(self, number):
        """The picture of a frame without text: (height, width, 3), uint8."""
        bodies = self.run.bodies(number)
        surfaces = self.run.surfaces(number, bodies) if len(bodies) else None
        for actor in (self.balls, self.surfaces):
            actor.SetVisibility(False)
        if surfaces is not None:
            self._show_surfaces(surfaces, bodies)
        elif len(bodies):
            self._show_balls(bodies)
        if self.look.obstacles:
            self._show_walls(self.run.walls(number))
        if self.look.contacts:
            self._show_contacts(self.run.contacts(number))
        self.renderer.ResetCameraClippingRange()
        self.window.Render()
        return self._grab()

    def close(self):
        """Before the X server goes, which would end this process."""
        self.window.Finalize()

    def _grab(self):
        width, height = self.window.GetSize()
        data = vtkUnsignedCharArray()
        self.window.GetPixelData(0, 0, width - 1, height - 1, 0, data, 0)
        large = vtk_to_numpy(data).reshape(height, width, 3)[::-1].astype(np.uint16)
        parts = [large[i::SUPERSAMPLING, k::SUPERSAMPLING] for i in range(SUPERSAMPLING) for k in range(SUPERSAMPLING)]
        return (sum(parts) // len(parts)).astype(np.uint8)

    def _add(self, mapper):
        actor = vtkActor()
        actor.SetMapper(mapper)
        self.renderer.AddActor(actor)
        return actor

    def _add_frame_of_domain(self):
        sides = zip(self.survey.box_lower, self.survey.box_upper)
        corners = np.array(np.meshgrid(*sides, indexing="ij")).reshape(3, -1).T
        edges = [(i, j) for i in range(8) for j in range(i) if bin(i ^ j).count("1") == 1]
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(poly_data(corners, lines=np.array(edges)))
        self._add(mapper)
        look = self.renderer.GetActors().GetLastActor().GetProperty()
        look.SetColor(*style.PALE_INK)
        look.SetLineWidth(SUPERSAMPLING)

    def _bodies_actor(self, mapper):
        actor = self._add(mapper)
        if self.look.field == "none":
            mapper.ScalarVisibilityOff()
            actor.GetProperty().SetColor(*(PALE_BODY if self.look.contacts else PLAIN_BODY))
        else:
            mapper.SelectColorArray("drawn field")
            mapper.SetLookupTable(lookup_table(self.look.colours, self.survey.colour_range))
            mapper.UseLookupTableScalarRangeOn()
        if self.look.contacts and not self.survey.planar:
            actor.GetProperty().SetOpacity(SEEN_THROUGH)
        return actor

    def _set_up_balls(self, mapper):
        """Disks or spheres made by the graphics pipeline from centre and radius."""
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SetSplatShaderCode(DISK_SHADER if self.survey.planar else SPHERE_SHADER)
        mapper.SetTriangleScale(2.0)    # a triangle of this scale holds the disk of unit radius
        mapper.SetScaleFactor(1.0)
        mapper.EmissiveOff()
        mapper.SetScaleArray("drawn radius")

    def _set_up_surfaces(self, look):
        self.surfaces.GetMapper().SetScalarModeToUseCellFieldData()
        look.SetInterpolationToFlat()
        if self.survey.planar:
            look.LightingOff()
        look.SetAmbient(0.35)
        look.SetDiffuse(0.7)

    def _wall_actor(self):
        actor = self._add(vtkPolyDataMapper())
        actor.SetPosition(0, 0, 2 * self.lift)
        actor.GetProperty().SetColor(*style.INK)
        actor.GetProperty().SetLineWidth(2.5 * SUPERSAMPLING)
        actor.GetProperty().SetOpacity(1.0 if self.survey.planar else 0.25)
        actor.VisibilityOff()
        return actor

    def _tubes_actor(self):
        self.tube_filter = vtkTubeFilter()
        self.tube_filter.SetNumberOfSides(12)
        self.tube_filter.CappingOn()
        self.tube_filter.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
        mapper = vtkPolyDataMapper()
        mapper.SetInputConnection(self.tube_filter.GetOutputPort())
        actor = self._add(mapper)
        actor.SetPosition(0, 0, self.lift)
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray("force")
        mapper.SetLookupTable(lookup_table(style.FORCE_COLOURS, (0.0, self.survey.top_force)))
        mapper.UseLookupTableScalarRangeOn()
        if self.survey.planar:
            actor.GetProperty().LightingOff()
        actor.GetProperty().SetAmbient(0.35)
        actor.GetProperty().SetDiffuse(0.7)
        actor.VisibilityOff()
        return actor

    def _show_balls(self, bodies):
        fields = {"drawn radius": bodies.radii}
        if self.look.field != "none":
            fields["drawn field"] = bodies.values(self.look.field)
        order = slice(None)
        if self.look.contacts and not self.survey.planar:   # what is seen through has to be drawn from the back
            order = np.argsort(bodies.positions @ self.survey.view.towards)
        fields = {name: values[order] for name, values in fields.items()}
        self.balls.GetMapper().SetInputData(poly_data(bodies.positions[order], point_fields=fields))
        self.balls.VisibilityOn()

    def _show_surfaces(self, surfaces, bodies):
        fields = {}
        if self.look.field != "none":
            fields["drawn field"] = bodies.values(self.look.field)[surfaces.cell_fields["body"]]
        data = poly_data(surfaces.points, triangles=surfaces.triangles, cell_fields=fields)
        self.surfaces.GetMapper().SetInputData(data)
        self.surfaces.VisibilityOn()

    def _show_walls(self, walls):
        self.walls.SetVisibility(walls is not None)
        if walls is not None:
            self.walls.GetMapper().SetInputData(poly_data(walls.points, walls.lines, walls.triangles))

    def _show_contacts(self, contacts):
        ends, force = strong_contacts(contacts, self.survey.least_force)
        self.tubes.SetVisibility(len(ends) > 0)
        if len(ends):
            thickness = np.clip(force / self.survey.top_force, 0.15, 1.0) * self.survey.tube_radius
            data = poly_data(ends.reshape(-1, 3), lines=np.arange(2 * len(ends)).reshape(-1, 2),
                             point_fields={"force": np.repeat(force, 2), "thickness": np.repeat(thickness, 2)})
            data.GetPointData().SetActiveScalars("thickness")
            self.tube_filter.SetInputData(data)


def poly_data(points, lines=(), triangles=(), point_fields=None, cell_fields=None):
    """Points, cells and fields as VTK draws them."""
    data, vertices = vtkPolyData(), vtkPoints()
    vertices.SetData(numpy_to_vtk(np.ascontiguousarray(points, dtype=np.float32), deep=True))
    data.SetPoints(vertices)
    for cells, add in ((lines, data.SetLines), (triangles, data.SetPolys)):
        if len(cells):
            array = vtkCellArray()
            offsets, corners = np.arange(0, cells.size + 1, cells.shape[1]), cells.ravel()
            array.SetData(*(numpy_to_vtkIdTypeArray(part.astype(np.int64), deep=True) for part in (offsets, corners)))
            add(array)
    for fields, holder in ((point_fields, data.GetPointData()), (cell_fields, data.GetCellData())):
        for name, values in (fields or {}).items():
            array = numpy_to_vtk(np.ascontiguousarray(values, dtype=np.float32), deep=True)
            array.SetName(name)
            holder.AddArray(array)
    return data


def lookup_table(colours, ends):
    """A colour map over the values between two ends."""
    rows = style.colour_map(colours)(np.linspace(0, 1, 256))
    table = vtkLookupTable()
    table.SetNumberOfTableValues(len(rows))
    for k, colour in enumerate(rows):
        table.SetTableValue(k, *colour)
    table.SetTableRange(*ends)
    return table
