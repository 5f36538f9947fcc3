"""What a picture shows and how."""
import math
from dataclasses import dataclass

import matplotlib

from scree import style
from scree.errors import RenderError


@dataclass
class Look:
    """field      what colours the bodies: a field of the files, "speed", or "none"; "auto": speed, or none beside
               contacts
    range      values of the two ends of the colours; None: the least and the largest of all frames drawn
    colours    a colour map of matplotlib
    contacts   whether contacts are drawn as tubes, thick and dark by force; bodies are pale then
    weakest    contacts below this share of the mean force are left out
    obstacles  whether walls are drawn
    fit        what fills the picture: "domain" or "bodies"
    view       direction of sight in space, azimuth and elevation [deg]; 0, 0 looks along +y
    size       width and height [pixel]
    """
    field: str = "auto"
    range: tuple | None = None
    colours: str = style.FIELD_COLOURS
    contacts: bool = False
    weakest: float = 0.5
    obstacles: bool = True
    fit: str = "domain"
    view: tuple = (30, 20)
    size: tuple = (1200, 900)

    def __post_init__(self):
        if self.field == "auto":
            self.field = "none" if self.contacts else "speed"
        if self.colours not in matplotlib.colormaps:
            raise RenderError(f"there is no colour map {self.colours!r}; try viridis, cividis, plasma, RdBu_r")
        if self.fit not in ("domain", "bodies"):
            raise RenderError(f"fit is \"domain\" or \"bodies\", not {self.fit!r}")
        if min(self.size) < 16:
            raise RenderError("the size has to be at least 16 by 16 pixels")
        if self.range is not None and not -math.inf < self.range[0] < self.range[1] < math.inf:
            raise RenderError(f"the range of colours {self.range[0]:g} to {self.range[1]:g} is empty")
        if not self.weakest >= 0:
            raise RenderError("the weakest contact is a share of the mean force, 0 or more")
