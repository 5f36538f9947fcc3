"""A run that starts from a frame of another run's trajectory has people where they were, and goes on like it."""
import numpy as np

from crowd_runs import crowd_deck, rectangle, run_crowd, wkt
from scree_program import check, check_close


def _deck(**tables):
    return crowd_deck(wkt(rectangle(0, 0, 12, 8)), end_time=60.0, fps=20,
                      exits={"east": {"line": [[12, 3], [12, 4.2]]}}, **tables)


def test_start_from_a_trajectory(folder):
    """People of frame 0 and of frame 160 (8 s, at the door many touch) are at the same bits of x and y; from frame 0 the
    whole run is the same, as radii and speeds are drawn by id and seed."""
    first = run_crowd(folder, _deck(populations={"crowd": {"count": 120, "region": rectangle(0.5, 0.5, 8, 7.5)}}), name="first")
    paths = first.path("trajectory.h5")
    for frame in (0, 160):
        again = run_crowd(folder, _deck(populations={"crowd": {"file": str(paths), "frame": frame}}), name=f"from{frame}")
        ids, places = first.paths.frame(frame)
        ids_again, places_again = again.paths.frame(0)
        check(len(ids) > 30, "people are there", len(ids))
        check(np.array_equal(ids, ids_again), "the same people start", (ids, ids_again))
        check(np.array_equal(places, places_again), "at the same places", np.abs(places - places_again).max())
        if frame == 0:
            check(np.array_equal(first.agents["left"], again.agents["left"]), "and leave at the same times")
        else:
            check_close(again.last_left, first.last_left - 8, "the last one leaves 8 s earlier", absolute=5)


def test_an_archive_text_starts_a_run(folder):
    """A text in the layout of the archive: 75 people in cm, at most so near that they have to be moved a little."""
    random = np.random.default_rng(3)
    lines = ["# description: 75 people before a door", "# framerate: 25.00", "# id\tframe\tx/cm\ty/cm\tz/cm"]
    for k in range(75):
        x, y = 60 + 36 * (k % 15), 150 + 36 * (k // 15)
        for frame in range(3):
            lines.append(f"{k + 1}\t{frame}\t{x + 4 * random.random() + frame:.4f}\t{y + 4 * random.random():.4f}\t176.0000")
    (folder / "paths.txt").write_text("\n".join(lines) + "\n")
    run = run_crowd(folder, _deck(populations={"crowd": {"file": "paths.txt", "frame": 2, "separate": True,
                                                         "separate_limit": 0.1}}))
    ids, places = run.paths.frame(0)
    check(list(ids) == list(range(1, 76)), "the ids of the file", ids)
    found = {int(line.split()[0]): [0.01 * float(word) for word in line.split()[2:4]]
             for line in lines if line.split()[1:2] == ["2"]}
    moved = [np.hypot(*(np.array(found[int(k)]) - place[:2])) for k, place in zip(ids, places)]
    check(max(moved) <= 0.1, "nobody is moved by more than the limit", max(moved))
    check(len(run.agents["left"]) == 75, "75 leave", len(run.agents["left"]))
