"""Smoke and familiarity that cannot be: one message with the place and what would do, on any number of ranks."""
from crowd_hall import ONE_DOOR
from refusal import refused

DECK = ONE_DOOR + "[populations.crowd]\ncount = 5\n"
GRID = "t,x,y,K,CO\n0,0,0,1,0\n0,10,0,1,0\n0,0,8,1,0\n0,10,8,1,0\n"


def _refused(folder, more, words, smoke=GRID):
    (folder / "smoke.csv").write_text(smoke)
    path = folder / "hall.toml"
    path.write_text(DECK + more)
    refused(folder, "check", path, words=words)


def test_fields(folder):
    file = '[hazard]\nfile = "smoke.csv"\n'
    _refused(folder, file, ["smoke.csv", "not a grid", "x = 10 m, y = 8 m"], smoke=GRID[:GRID.rindex("0,10,8")])
    _refused(folder, file, ["smoke.csv", "x = 0 to 4 m", "from 0 to 10 m"], smoke="x,y,K\n0,0,1\n4,0,1\n0,8,1\n4,8,1\n")
    _refused(folder, file, ["smoke.csv:5", "ppm"], smoke=GRID.replace("10,8,1,0", "10,8,1,5000"))
    _refused(folder, file, ["smoke.csv:2", "less than 0"], smoke=GRID.replace("0,0,0,1,0", "0,0,0,-1,0"))
    _refused(folder, file, ["smoke.csv:1", "there is no column", "CO2"], smoke=GRID.replace("CO", "C02"))
    _refused(folder, file + "carbon_monoxide = 0.1\n", ["hall.toml:15:", "remove one of them"])
    _refused(folder, '[hazard]\nfile = "none.csv"\n', ["hall.toml:14:", "none.csv"])


def test_constants_and_closings(folder):
    _refused(folder, "[hazard]\ncarbon_monoxide = 5000\n", ["hall.toml:14:", "ppm"])
    _refused(folder, "[hazard]\noxygen = 18\n", ["hall.toml:14:", "percent"])
    _refused(folder, "[hazard]\nextinction = -1\n", ["hall.toml:14:", "extinction"])
    _refused(folder, '[hazard]\nfallen = "stay"\n', ["[hazard] needs file"])
    _refused(folder, "[hazard]\nextinction = 1\n[hazard.closes.est]\nextinction = 2\n", ["est", "east"])
    _refused(folder, "[hazard]\nextinction = 1\n[hazard.closes.a]\nconnector = \"b\"\nextinction = 2\n", ["hall.toml:16:", "connectors.b"])
    _refused(folder, "[hazard]\nextinction = 1\n[hazard.closes.east]\nexit = \"east\"\nconnector = \"b\"\nextinction = 2\n",
             ["hall.toml:17:", "remove one"])
    _refused(folder, "[hazard]\nextinction = 1\n[hazard.closes.east]\ntemperature = 60\n", ["says nothing of temperature"])
    _refused(folder, "[hazard]\nextinction = 1\n[crowd.solver]\ntype = \"nsgs\"\n", ["hall.toml:", "fallen"])


def test_familiarity(folder):
    _refused(folder, '[agents.guest]\nknows = ["exits.est"]\n', ["hall.toml:14:", "est", "east"])
    _refused(folder, '[agents.guest]\nfollows = "wardn"\n[agents.warden]\n', ["hall.toml:14:", "wardn", "warden"])
    _refused(folder, "[agents.guest]\nnotices = 3\n", ["hall.toml:14:", "goes with knows"])
