"""Pictures and films of crowds: exits with names, closed ones, floors, people where they are, films fast."""
import subprocess
import time

import matplotlib

matplotlib.use("Agg")
import numpy as np

from house_run import FPS, GROUND, N_UPPER, UPPER, left_at, make_house, place_of
from scree_program import check, check_close, check_in, python_command
from scree.crowd.film import Film, paint_disks, people_at
from scree.crowd.labels import connector_labels
from scree.crowd.pictures import draw_floor, floors_figure
from scree.crowd.exits import outward, without_pockets
from scree.crowd.plan import plan_of
from scree.exchange.outlines import area_of
from scree.results import Results

RED = (1.0, 0.0, 0.0)


def run_script(name, *arguments):
    result = subprocess.run(python_command(*name.split(), *arguments), text=True,
                            capture_output=True, timeout=300)
    check(result.returncode == 0 and not result.stderr, f"{name} ends with exit code 0 and does not complain", result.stderr)
    return result.stdout


def test_disks_have_their_place_and_area():
    pixels = np.full((60, 80, 3), 255, np.uint8)
    paint_disks(pixels, np.array([[20.3, 30.7]]), np.array([8.0]), np.array([RED]), rim=RED)
    cover = (255 - pixels[..., 1].astype(float)) / 255
    check_close(cover.sum(), np.pi * 64, "area", relative=0.01)
    rows, columns = np.mgrid[0:60, 0:80]
    check_close((cover * (columns + 0.5)).sum() / cover.sum(), 20.3, "middle along x", absolute=0.05)
    check_close((cover * (rows + 0.5)).sum() / cover.sum(), 30.7, "middle along y", absolute=0.05)
    before = pixels.copy()
    paint_disks(pixels, np.array([[-30.0, 5.0], [500, 5]]), np.array([8.0, 8.0]), np.array([RED, RED]))
    paint_disks(pixels, np.zeros((0, 2)), np.zeros(0), np.zeros((0, 3)))
    check((pixels == before).all(), "disks beside the picture are not seen")
    # Two that touch: what one covers whole is not thinned by the smooth edge of the other.
    paint_disks(pixels, np.array([[50.0, 30.0], [58.0, 30.0]]), np.array([4.0, 4.0]), np.array([RED, (0, 0, 1)]), rim=RED)
    check((pixels[30, 48] == (255, 0, 0)).all(), "the middle of the first is red", pixels[30, 48])


def test_people_between_frames(folder):
    make_house(folder)
    paths = Results(folder).paths
    ids, level, position, rows = people_at(paths, 1.0)
    check(ids.tolist() == list(range(N_UPPER)) and (level == UPPER).all(), "who is there", (ids, level))
    check(np.allclose(position, [place_of(k, 1.0)[1:] for k in ids]), "in a frame they are where it says")
    between = people_at(paths, 1.0 + 0.3 / FPS)[2]
    check(np.allclose(between[:, 0] - position[:, 0], 0.3 / FPS), "at 1 m/s they have gone 0.06 m after 0.06 s", between - position)
    last = left_at(0) - 1 / FPS
    check(np.allclose(people_at(paths, last + 0.1)[2][0], place_of(0, last)[1:]), "one who is gone in the next frame stays till then")
    check(len(people_at(paths, 1000)[0]) == 0, "nobody after the end")


def test_a_film_shows_people_on_their_floors(folder):
    make_house(folder)
    results = Results(folder)
    plan = plan_of(results.deck, results.paths)
    film = Film(plan, results.paths, lambda ids, _: np.tile(RED, (len(ids), 1)), lambda ids: np.full(len(ids), 0.3), width=900)

    def red(time):
        pixels = film.picture(time).astype(int)
        chosen = (pixels[..., 0] > 180) & (pixels[..., 1] < 60) & (pixels[..., 2] < 60)
        return chosen, pixels.shape

    (factor, offset), _ = film._background(0)[1]
    disk = np.pi * (0.3 * factor[0])**2
    for time in (0.0, 7.5, 12.0, 16.0):
        wanted = sum(place_of(k, time) is not None for k in range(N_UPPER))     # also on the stair they are seen once
        chosen, shape = red(time)
        check_close(chosen.sum() / disk, wanted, f"disks at {time} s", relative=0.3, absolute=0.3)
    # A cross of the closed exit is red too, but darker: (0.69, 0, 0.13).
    chosen, shape = red(12.0)
    at = place_of(0, 12.0)
    x, y = np.array(at[1:]) * factor + offset
    check(chosen[int(y), int(x)], "a person is at the pixel of its place", (x, y))
    check(film.picture(0.0).shape == film.picture(20.0).shape, "all pictures have one size")


def test_exits_are_named_and_crossed_out(folder):
    make_house(folder / "house")
    run_script("plot evacuation", folder / "house", "--output", folder / "house.svg")
    text = (folder / "house_paths.svg").read_text()
    for word in ("door", "back (closed)", "\N{UPWARDS ARROW} stair", "\N{DOWNWARDS ARROW} stair", "ground, 0 m", "upper, 3 m"):
        check_in(f">{word}<", text, "names are text in the picture")
    results = Results(folder / "house")
    plan = plan_of(results.deck, results.paths)
    figure, floors = floors_figure(plan)
    check(len(floors) == 2 and floors[0].get_xlim() == floors[1].get_xlim(), "floors side by side, at one scale")
    check(draw_floor(floors[0], plan, GROUND) is not None, "an outline to clip maps")
    lower, upper = plan.bounds()
    check(upper.tolist() == [14, 6] and lower.tolist() == [0, 0], "the closet that nobody reaches takes no room", (lower, upper))


def test_outside_of_an_exit():
    deck = {"exits": {"a": {"line": [[10, 2], [10, 4]]}, "b": {"line": [[0, 2], [0, 4]]}, "c": {"line": [[4, 6], [5, 6]]}}}
    area = np.array([[0, 0], [10, 0], [10, 2], [11, 2], [11, 4], [10, 4], [10, 6], [0, 6]], float)     # a pocket 1 m deep behind a
    for door, wanted, depth in zip(plan_of(deck).exits, ([1, 0], [-1, 0], [0, 1]), (1.0, 0.0, 0.0)):
        direction, found = outward(door, [(False, area)])
        check(np.allclose(direction, wanted), f"outside of exit {door.name}", direction)
        check_close(found, depth, f"depth behind exit {door.name}", absolute=0.26)


def test_pockets_behind_exits_are_hidden():
    doors = plan_of({"exits": {"a": {"line": [[10, 2], [10, 4]]}, "b": {"line": [[0, 4], [0, 2]]}}}).exits
    room = np.array([[0, 0], [10, 0], [10, 6], [0, 6]], float)
    pocket = np.array([[0, 0], [10, 0], [10, 2], [10.9, 2], [10.9, 4], [10, 4], [10, 6], [0, 6], [0, 4], [-0.9, 4], [-0.9, 2], [0, 2]], float)
    for shift in range(len(pocket)):
        (_, found), = without_pockets([(False, np.roll(pocket, shift, axis=0))], doors)
        check(found[:, 0].min() == 0 and found[:, 0].max() == 10, "no corner is behind a line", found)
        check_close(abs(area_of(found)), 60, "the area of the room", relative=1e-12)
    # The passage is as wide as its door: the ends of the line are no corners of the area.
    (_, found), = without_pockets([(False, np.array([[4, 2], [10.9, 2], [10.9, 4], [4, 4]], float))], doors[:1])
    check_close(abs(area_of(found)), 12, "the area of the passage", relative=1e-12)
    check(without_pockets([(False, room)], doors)[0][1] is room, "a room without pockets stays as it is")


def test_names_of_connectors_do_not_lie_on_each_other(folder):
    """Two flights above each other, as in a stair well, and one beside."""
    flight = {"polygon": [[2, 2], [6, 2], [6, 3], [2, 3]]}

    def connector(polygon, bottom, top):
        return {"polygon": polygon, "bottom": {"floor": bottom, "line": polygon[:2]}, "top": {"floor": top, "line": polygon[2:]}}

    beside = [[2, 3.5], [6, 3.5], [6, 4.5], [2, 4.5]]
    deck = {"floors": {name: {"elevation": 3.0 * k, "walkable": {"polygon": [[0, 0], [30, 0], [30, 9], [0, 9]]}}
                       for k, name in enumerate(("ground", "first", "second"))},
            "connectors": {"lower": connector(flight["polygon"], "ground", "first"), "upper": connector(flight["polygon"], "first", "second"),
                           "other": connector(beside, "ground", "first")}}
    plan = plan_of(deck)
    labels = [label for _, label in connector_labels(plan, 1, 0.6)]
    check([label.text for label in labels] == ["\N{DOWNWARDS ARROW} lower", "\N{UPWARDS ARROW} upper", "\N{DOWNWARDS ARROW} other"],
          "names and where they lead", labels)
    boxes = [label.box(0.6) for label in labels] + [(np.array(p).min(axis=0), np.array(p).max(axis=0)) for p in (flight["polygon"], beside)]
    for k, (low, high) in enumerate(boxes[:3]):
        for other_low, other_high in boxes[k + 1:]:
            check(not ((low < other_high).all() and (other_low < high).all()), f"the name {labels[k].text} lies on nothing", boxes)


def test_lifts_are_levels():
    deck = {"floors": {name: {"elevation": 3.0 * k, "walkable": {"polygon": [[0, 0], [10, 0], [10, 6], [0, 6]]}}
                       for k, name in enumerate(("ground", "first", "second"))},
            "lifts": {"east": {"cabin": [[10, 2], [12, 2], [12, 4], [10, 4]], "door": [[10, 2.5], [10, 3.5]],
                               "floors": ["second", "first", "ground"], "to": "ground", "speed": 1.5, "closed_from": 40.0}}}
    plan = plan_of(deck)
    check([level.kind for level in plan.levels] == ["floor"] * 3 + ["lift"] and len(plan.floors) == 3, "a level after the floors", plan.levels)
    check([plan.shown_on(floor) for floor in range(3)] == [[0, 3], [1], [2]], "people in it are drawn on the floor to which it goes")
    check([plan.connectors_of(floor) for floor in range(3)] == [[3]] * 3, "the cabin is drawn on all floors that it serves")
    for floor in range(3):
        (level, label), = connector_labels(plan, floor, 0.3)
        check(label.text == "\N{UP DOWN ARROW} east" and level.lines[floor].tolist() == [[10, 2.5], [10, 3.5]], "name and door", label)
    check(plan.levels[3].is_closed(40) and not plan.levels[3].is_closed(39), "it closes")


def test_density_from_the_trajectory(folder):
    make_house(folder / "house")
    said = run_script("plot density", folder / "house", "--time", "5", "--cell", "0.25", "--output", folder / "map.svg")
    # They walk 1.08 m apart, and their disks are 1.13 m wide: two overlap by a sliver, three never do.
    largest = float(said.split("largest value: ")[1])
    check(1 <= largest < 2, "disks of neighbours overlap", largest)
    check_in(">door<", (folder / "map.svg").read_text(), "exits have names")
    run_script("plot density", folder / "house", "--levels", "--output", folder / "levels.pdf")
    check((folder / "levels.pdf").read_bytes()[:5] == b"%PDF-", "a PDF")


def test_a_film_of_a_minute_takes_seconds(folder):
    """A film of 600 pictures of 500 people. Drawn by matplotlib alone it took minutes."""
    n, fps, seconds = 500, 5.0, 60
    generator = np.random.default_rng(1)

    class Walkers:
        walkable_of_level = [[(False, np.array([[0, 0], [60, 0], [60, 30], [0, 30]], float))]]
        frames = np.arange(int(fps * seconds) + 1)
        frame_of_row = np.repeat(frames, n)
        id_of_row = np.tile(np.arange(n), len(frames))
        level_of_row = np.zeros(len(frame_of_row), int)
        position_of_row = np.tile(generator.uniform(0, 1, (n, 2)) * [50, 30], (len(frames), 1))
        position_of_row[:, 0] += frame_of_row / fps * 0.15

        def rows(self, frame):
            return slice(*np.searchsorted(self.frame_of_row, (frame, frame + 1)))

    paths = Walkers()
    paths.fps = fps
    plan = plan_of({}, paths)
    film = Film(plan, paths, lambda ids, _: np.tile(RED, (len(ids), 1)), lambda ids: np.full(len(ids), 0.2))
    begin = time.process_time()
    count = sum(1 for _ in film.pictures(np.arange(0, seconds, 0.1)))
    spent = time.process_time() - begin
    check(count == 600 and spent < 30, "600 pictures take less than 30 s of processor time", spent)
