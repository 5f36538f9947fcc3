"""What crowds did silently wrong in the middle of version 0.3: groups of people who fall, wait on escalators or start across a periodic face; people who
start in exits, or on both sides of a line between two floors. Right values follow from the decks."""
import numpy as np
import pytest

from crowd_runs import crowd_deck, rectangle, run_crowd, wkt
from scree_program import check, check_close

ADULT = {"adult": {"radius": {"distribution": "constant", "value": 0.2}, "speed": {"distribution": "constant", "value": 1.0}}}
HALL = wkt(rectangle(0, 0, 20, 10))


def put(folder, name, rows):
    (folder / name).write_text("\n".join(rows) + "\n")
    return {"file": name}


def rows_by_id(run):
    return {int(person): k for k, person in enumerate(run.agents["id"])}


@pytest.mark.parametrize("fallen", ("stay", "vanish"))
def test_waits_of_those_who_fall_count(folder, fallen):
    """The group waits for its slow members until all fall at 14.3 s: the summary has the sum of the table, whether they stay or vanish."""
    slow = {"radius": ADULT["adult"]["radius"], "speed": {"distribution": "constant", "value": 0.4}}
    deck = crowd_deck(HALL, end_time=40.0, agents=ADULT | {"slow": slow}, exits={"door": {"line": [[20, 4], [20, 6]]}},
                      hazard={"carbon_monoxide": 0.1, "fallen": fallen},
                      populations={"all": {"count": 12, "agents": ["adult", "slow"], "region": rectangle(2, 2, 8, 8),
                                           "groups": {"sizes": [3], "wait": True, "reach": 0.5, "stay": "none"}}})
    for ranks in (1, 2):
        run = run_crowd(folder, deck, ranks=ranks, empty=False)
        waited = run.agents["group_waited"]
        check(run.evacuation["hazard"]["incapacitated"] == 12 and sum(waited) > 10, "all fall, and some waited", run.evacuation)
        check_close(run.evacuation["groups"]["waited_s"], sum(waited), "the sum of waiting", absolute=1e-4)
        check_close(run.evacuation["groups"]["longest_s"], max(waited), "the longest wait", absolute=1e-5)


def test_nobody_leaves_by_a_region_before_the_start(folder):
    """Four people, two of them in the region of the exit: with premovement 10 s nobody leaves before."""
    rows = ["id,x,y,premovement", "0,19,5,10", "1,5,3,3", "2,19,4,0", "3,10,5,10"]
    deck = crowd_deck(HALL, end_time=40.0, agents=ADULT, exits={"door": {"polygon": rectangle(18, 3, 20, 7)}}, populations={"all": put(folder, "all.csv", rows)})
    run = run_crowd(folder, deck)
    left = {person: run.agents["left"][k] for person, k in rows_by_id(run).items()}
    check(left[2] <= 0.1 and 10 <= left[0] <= 10.1 and left[1] > 3 + 12.9 and left[3] > 10 + 7.9, "when they leave", left)


def house(folder, people, **more):
    """Two floors and a bridge of 4 m between them, the exit beyond."""
    return crowd_deck(None, end_time=60.0, agents=ADULT,
                      floors={"a": {"elevation": 0.0, "walkable": {"polygon": rectangle(8, 0, 20, 10)}},
                              "b": {"elevation": 0.0, "walkable": {"polygon": rectangle(0, 0, 4, 10)}}},
                      connectors={"t": {"type": "level", "polygon": rectangle(4, 4, 8, 6), "bottom": {"floor": "a", "line": [[8, 4], [8, 6]]},
                                        "top": {"floor": "b", "line": [[4, 4], [4, 6]]}}},
                      exits={"door": {"floor": "a", "line": [[20, 4], [20, 6]]}}, populations=people, **more)


def test_a_source_at_a_line_waits_for_those_across(folder):
    """Somebody stands 0.1 m before the line for 20 s: who is due 0.05 m behind it after 2 s comes when there is room."""
    here = put(folder, "here.csv", ["x,y,floor,premovement", "3.9,5,b,20"])
    there = put(folder, "there.csv", ["time,x,y,floor,premovement", "2,4.05,5,t,1"])
    run = run_crowd(folder, house(folder, {"here": here}, sources={"there": there}))
    came = max(run.agents["entered"])
    check(20 < came < 22, "it comes once the other has gone", came)


def test_populations_on_both_sides_of_a_line(folder):
    people = {"here": {"floor": "b", "region": rectangle(2.5, 4, 4, 6), "density": 3.0}, "there": {"floor": "t", "region": rectangle(4, 4, 6, 6), "density": 3.0}}
    for ranks in (1, 2):
        run_crowd(folder, house(folder, people), ranks=ranks)
    crowded = put(folder, "crowded.csv", ["x,y,floor", "3.9,5,b", "4.1,5,t"]) | {"separate": True}
    run_crowd(folder, house(folder, {"crowded": crowded}), name="apart")


@pytest.mark.parametrize("who", ("waits", "is slow"))
def test_the_steps_of_an_escalator_wait_for_nobody(folder, who):
    """4 m in plan at 0.5 m/s along a slope of 3 m in 4: 10 s, though the other one of the group is far behind, or slow before the foot."""
    rows = ["id,x,y,floor,speed,group", "0,7.5,5,b,1,1", "1,1,5,b,0.5,1" if who == "waits" else "1,6.6,5,b,0.3,1"]
    deck = crowd_deck(None, end_time=60.0, fps=20, agents=ADULT,
                      floors={"a": {"elevation": 0.0, "walkable": {"polygon": rectangle(12, 0, 20, 10)}},
                              "b": {"elevation": 3.0, "walkable": {"polygon": rectangle(0, 0, 8, 10)}}},
                      connectors={"down": {"type": "escalator", "speed": 0.5, "direction": "down", "polygon": rectangle(8, 4, 12, 6),
                                           "bottom": {"floor": "a", "line": [[12, 4], [12, 6]]}, "top": {"floor": "b", "line": [[8, 4], [8, 6]]}}},
                      exits={"door": {"floor": "a", "line": [[20, 4], [20, 6]]}}, populations={"two": put(folder, "two.csv", rows) | {"groups": {"reach": 2.0}}})
    run = run_crowd(folder, deck, empty=False)
    times, x = run.tracks[0]
    on_it = times[(x[:, 0] > 8) & (x[:, 0] < 12)]
    check_close(on_it[-1] - on_it[0], 10, "time on the escalator", absolute=0.15)


def test_groups_across_a_periodic_face(folder):
    """The first of three, 1 m behind the others across the face, walks up to them: nobody is ahead by more than 2 m."""
    rows = ["id,x,y,speed,group", "0,19.5,1,1.2,1", "1,0.5,2,1,1", "2,0.2,3,1,1"]
    deck = crowd_deck(wkt(rectangle(-5, 0, 25, 4)), end_time=10.0, agents=ADULT, domain={"lower": [0, -1], "upper": [20, 5], "periodic": [True, False]},
                      crowd={"direction": [1, 0]}, populations={"all": put(folder, "all.csv", rows) | {"groups": {"reach": 2.0}}})
    runs = [run_crowd(folder, deck, ranks=ranks, empty=False) for ranks in (1, 2)]
    check(runs[0].summary["state_hash"] == runs[1].summary["state_hash"], "the same on two ranks", runs[0].folder)
    agents = runs[0].agents
    check(np.all(agents["group_waited"] == 0), "nobody waits", agents["group_waited"])
    check_close(np.ptp(agents["walked"]), 0, "all walk 10 m", absolute=0.5)
