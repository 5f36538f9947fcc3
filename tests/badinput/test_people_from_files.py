"""Files of people that cannot be: one message with the row and what would do, on any number of ranks."""
import pytest
from crowd_hall import ONE_DOOR
from refusal import refused

DECK = ONE_DOOR + "[agents.adult]\n"


def _refused(folder, content, words, more="", name="start.csv", table="populations.all"):
    (folder / name).write_text(content)
    path = folder / "hall.toml"
    path.write_text(DECK + f'[{table}]\nfile = "{name}"\n{more}')
    refused(folder, "check", path, words=words)


def test_places(folder):
    _refused(folder, "id,x,y\n1,3,3\n5,10.5,1\n", ["person 5", "start.csv:3", "(10.5, 1)", "outside", "wall from"])
    _refused(folder, "id,x,y\n1,300,300\n2,1200,300\n", ["start.csv:3", "centimetres?"])
    _refused(folder, "id,x,y\n1,3,3\n2,3.1,3\n", ["person 1", "person 2", "overlap by", "separate = true"])
    _refused(folder, "id,x,y\n1,3,0.05\n", ["person 1", "overlaps a wall"])
    _refused(folder, "x,y\n" + "2,2\n" * 400, ["no places without overlap"], more="separate = true\nseparate_limit = 9\n"
             + "[walkable.obstacles.rest]\npolygon = [[3, 0], [10, 0], [10, 2.9], [3, 2.9]]\n")


def test_names_and_numbers(folder):
    _refused(folder, "x,y,kind\n3,3,adlt\n", ["start.csv:2", "adlt", "adult"])
    _refused(folder, "id,x,y\n4,3,3\n4,5,3\n", ["start.csv", "two bodies have the id 4"])
    _refused(folder, "x,y,radus\n3,3,0.2\n", ["start.csv:1", "radus", '"radius"'])
    _refused(folder, "x,y,leaves_at\n3,3,est\n", ["start.csv:2", "est", "east"])
    _refused(folder, "x,y,journey\n3,3,leaf\n", ["start.csv:2", "leaf", "leave"])
    _refused(folder, "x,y,speed\n3,3,\n4,3,fast\n", ["start.csv:3", "fast"])
    _refused(folder, "x,y\n", ["start.csv", "nobody"])


def test_trajectories(folder):
    text = "# id frame x/m y/m z/m\n1 4 3 3 0\n"
    _refused(folder, text, ["paths.txt", "nobody is in frame 9", "from 4 to 4"], more="frame = 9\n", name="paths.txt")
    _refused(folder, "1 4 3 3 0\n", ["paths.txt:1", "m or cm"], name="paths.txt")
    _refused(folder, "no file of this kind", ["paths.h5"], name="paths.h5")
    _refused(folder, "x,y\n3,3\n", ["hall.toml:14:", "frame is for trajectories"], more="frame = 0\n")


def test_groups(folder):
    two = "x,y,group,leaves_at\n2,2,7,east\n3,3,7,"
    steps = '[[journeys.leave.steps]]\nexits = ["east"]\n'
    _refused(folder, two + "\n", ["start.csv:3", "share their journey and exit", "group 7"])
    _refused(folder, "x,y,group\n2,2,a\n", ["start.csv:2", "group 'a'"])
    _refused(folder, "time,x,y,group\n1,2,2,1\n", ["start.csv:1", "people of a source come one by one"], table="sources.gate")
    groups = "[populations.all.groups]\n"
    _refused(folder, "x,y\n2,2\n", ["hall.toml:", "no row of the file has a group"], more=groups)
    _refused(folder, two + "east\n", ["hall.toml:", "remove sizes and shares"], more=groups + "sizes = [2]\n")
    _refused(folder, "x,y,group\n2,2,7\n3,3,7\n", ["start.csv:2", "share their exit", "weights"],
             more=steps + 'choice = "weights"\nweights = [1]\n')


def test_keys_that_do_not_go_together(folder):
    _refused(folder, "x,y\n3,3\n", ["hall.toml:14:", "count has no effect"], more="count = 4\n")
    _refused(folder, "time,x,y\n1,3,3\n", ["hall.toml:14:", "remove rate"], more="rate = 4\n", table="sources.gate")
    _refused(folder, "x,y\n3,3\n", ["start.csv:1", "no column time"], table="sources.gate")
    _refused(folder, "time\n3\n", ["a region"], table="sources.gate")
    _refused(folder, "time,x,y\n1,-3,3\n", ["start.csv:2", "nobody can come"], table="sources.gate")


def test_arrivals_where_they_never_fit(folder):
    """Nearer to a wall, or to a door that closes, than their radius, which is drawn if the file does not give it."""
    _refused(folder, "time,x,y\n1,3,3\n1,3,0.1\n", ["start.csv:3", "nobody can come at (3, 0.1) m", "radius of 0.1"], table="sources.gate")
    _refused(folder, "time,x,y\n1,0.1,4\n", ["start.csv:2", "nobody can come at (0.1, 4) m", "a door that closes"], table="sources.gate",
             more="[exits.west]\nline = [[0, 3], [0, 5]]\nopen_from = [5]\n")


FLOORS = """[simulation]
dimension = 2
scheme = "crowd"
end_time = 1
[time]
step = 0.05
[floors.low]
elevation = 0
[floors.low.walkable]
polygon = [[0, 0], [10, 0], [10, 4], [0, 4]]
[floors.high]
elevation = 3
[floors.high.walkable]
polygon = [[15, 0], [20, 0], [20, 4], [15, 4]]
[connectors.stair]
polygon = [[10, 1], [15, 1], [15, 3], [10, 3]]
bottom = { floor = "low", line = [[10, 1], [10, 3]] }
top = { floor = "high", line = [[15, 1], [15, 3]] }
[exits.out]
floor = "high"
line = [[20, 1], [20, 3]]
[agents.adult]
[populations.all]
file = "paths.h5"
"""


def test_floors_of_a_trajectory(folder):
    """The second person of a frame is on no floor."""
    np, h5py = pytest.importorskip("numpy"), pytest.importorskip("h5py")
    row = [("frame", "<u4"), ("id", "<u4"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8")]
    with h5py.File(folder / "paths.h5", "w") as file:
        file["trajectory"] = np.array([(0, 1, 3, 1, 0), (0, 2, 3, 3, 0)], dtype=row)
        file["trajectory"].attrs["fps"] = 1.0
        file["level"] = np.array([(0,), (0xffffffff,)], dtype=[("level", "<u4")])
    (folder / "floors.toml").write_text(FLOORS)
    refused(folder, "check", folder / "floors.toml", words=["paths.h5", "row 2", "on which floor?", "floors.toml:"])
