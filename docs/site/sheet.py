"""A sheet to draw on, with the few strokes that the drawings of the reference consist of."""
import matplotlib
import numpy as np

matplotlib.use("svg")
from matplotlib import pyplot as plt  # noqa: E402  the backend comes first
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, FancyBboxPatch, Polygon  # noqa: E402

WALL, EDGE, BODY, KEY = "#c3ccd6", "#33485e", "#e8a33d", "#a3211f"


class Sheet:
    """Axes with the few strokes that all drawings consist of."""

    def __init__(self, width=3.6, height=2.2):
        self.figure, self.axes = plt.subplots(figsize=(width, height))
        self.axes.set_aspect("equal")
        self.axes.axis("off")

    def solid(self, points, **more):
        look = {"facecolor": WALL, "edgecolor": EDGE, "linewidth": 1.6}
        self.axes.add_patch(Polygon(points, **look | more))

    def line(self, points, **more):
        look = {"color": EDGE, "linewidth": 2.4, "solid_capstyle": "round"}
        self.axes.plot(*np.transpose(points), **look | more)

    def disk(self, x, y, radius, **more):
        look = {"facecolor": BODY, "edgecolor": "white", "linewidth": 0.8}
        self.axes.add_patch(Circle((x, y), radius, **look | more))

    def rounded(self, x, y, width, height, rounding):
        self.axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=f"round,pad=0,rounding_size={rounding}",
                                           facecolor=BODY, edgecolor=EDGE))

    def bodies(self, places, radius=0.12):
        for x, y in places:
            self.disk(x, y, radius)

    def key(self, x, y, text, **more):
        look = {"family": "monospace", "size": 8.5, "color": KEY, "ha": "center", "va": "center"}
        self.axes.text(x, y, text, **look | more)

    def point(self, x, y, text, dx=0.0, dy=-0.17, **more):
        self.axes.plot([x], [y], "o", color=KEY, markersize=3.5, zorder=5)
        self.key(x + dx, y + dy, text, **more)

    def arrow(self, start, end, text="", dx=0.0, dy=0.0, curve=0.0, style="-|>"):
        self.axes.add_patch(FancyArrowPatch(start, end, arrowstyle=style, mutation_scale=11, color=KEY, linewidth=1.3,
                                            connectionstyle=f"arc3,rad={curve}", shrinkA=0, shrinkB=0, zorder=4))
        if text:
            self.key((start[0] + end[0]) / 2 + dx, (start[1] + end[1]) / 2 + dy, text)

    def ellipse(self, x, y, width, height, **more):
        look = {"facecolor": "none", "edgecolor": EDGE, "linewidth": 1.6}
        self.axes.add_patch(Ellipse((x, y), width, height, **look | more))

    def view(self, left, right, bottom, top):
        self.axes.set_xlim(left, right)
        self.axes.set_ylim(bottom, top)

    def save(self, path):
        self.figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
        plt.close(self.figure)
