"""Files that cannot be read or written: one message, the right exit code on any number of ranks, nothing overwritten."""
import os
import shutil
import subprocess

import pytest

from refusal import BAD_INPUT, failed, refused
from scree_program import check, scree
from small_deck import write_deck

RUNTIME_FAILURE, SOLVER_FAILURE = 1, 3


def run(folder, *arguments, ranks=1, code=0):
    result = scree("-q", *arguments, ranks=ranks, folder=folder, timeout=120)
    check(result.code == code, f"exit code {code} on {ranks} ranks", result)
    return result


def fails(folder, *arguments, code, words, ranks=(1, 3), untouched=True):
    """Ends with `code` and one message with all `words`; files stay as they were if `untouched`."""
    (refused if untouched else failed)(folder, "-q", *arguments, code=code, words=words, ranks=ranks)


def finished(folder):
    """A finished run; returns its folder and its latest checkpoint."""
    run(folder, "run", write_deck(folder), ranks=2)
    results = folder / "results/small"
    return results, sorted(results.glob("checkpoint/*.scree"))[-1]


def test_existing_results_are_refused_and_replaced_by_force(folder):
    results, _ = finished(folder)
    (results / "notes.txt").write_text("mine")
    fails(folder, "run", "small.toml", code=BAD_INPUT, words=["results/small", "--force", "--resume"])
    run(folder, "run", "small.toml", "--force", "--set", "simulation.end_time=0.1", ranks=2)
    check((results / "notes.txt").read_text() == "mine", "--force removes only what a run writes")
    check([path.name for path in (results / "checkpoint").iterdir()] == ["small_000000005.scree"],
          "old checkpoints are gone")


def test_a_deck_that_cannot_run_leaves_existing_results_alone(folder):
    finished(folder)
    fails(folder, "run", "small.toml", "--force", "--set", "time.step=-1", code=BAD_INPUT, words=["step"])
    fails(folder, "run", "small.toml", "--force", "--set", "particles.grains.source.count=5000", code=BAD_INPUT,
          words=["5000"])


def test_restart_files_that_are_no_checkpoints(folder):
    results, checkpoint = finished(folder)
    bytes_of_it = checkpoint.read_bytes()
    files = {"half": bytes_of_it[:len(bytes_of_it) // 2], "head": bytes_of_it[:64], "empty": b"", "text": b"no HDF5\n"}
    for name, content in files.items():
        (folder / f"{name}.scree").write_bytes(content)
        fails(folder, "restart", f"{name}.scree", code=BAD_INPUT, words=[f"{name}.scree"], ranks=(3,))
    fails(folder, "restart", "missing.scree", code=BAD_INPUT, words=["missing.scree", "No such file"])
    fails(folder, "restart", "results", code=BAD_INPUT, words=["results", "folder"])
    fails(folder, "restart", results / "small.h5", code=BAD_INPUT, words=["small.h5", "checkpoint"])


def test_a_checkpoint_with_a_flipped_bit_is_found_out(folder):
    import h5py

    _, checkpoint = finished(folder)
    damaged = folder / "damaged.scree"
    shutil.copy(checkpoint, damaged)
    names = []
    with h5py.File(damaged, "r+") as file:
        file.visititems(lambda name, item: names.append(name) if name.split("/")[-1] == "position" else None)
        values = file[names[0]][()]
        values[17, 0] *= 1 + 2.3e-16
        file[names[0]][...] = values
    fails(folder, "restart", damaged, code=BAD_INPUT, words=["damaged.scree", "position", "checksum"])


def test_overrides_that_a_restart_does_not_take(folder):
    _, checkpoint = finished(folder)
    for override in ("time.step=0.01", "pbd.sweeps=1", "particles.grains.source.count=3", "decomposition.block_cells=4",
                     "neighbors.skin=0.2", "simulation.seed=4"):
        fails(folder, "restart", checkpoint, "--set", override, code=BAD_INPUT, words=[f"--set {override.split('=')[0]}: ", "end_time"],
              ranks=(2,))
    fails(folder, "restart", checkpoint, "--set", "output.vkt.every=1", code=BAD_INPUT, words=["vkt", "vtk"])


def test_a_restart_does_not_mix_with_results_of_another_run(folder):
    _, checkpoint = finished(folder)
    run(folder, "run", "small.toml", "--set", "output.name=other", "--set", "simulation.end_time=0.1")
    fails(folder, "restart", checkpoint, "--set", "output.name=other", code=BAD_INPUT, words=["other", "output.name"])


def test_output_folder_that_cannot_be_made(folder):
    deck = write_deck(folder)
    (folder / "results").mkdir()
    (folder / "results/small").write_text("a file")
    fails(folder, "run", deck, code=BAD_INPUT, words=["results/small", "is a file"])
    fails(folder, "run", deck, "--force", code=BAD_INPUT, words=["results/small", "is a file"])
    fails(folder, "run", deck, "--set", "output.directory=small.toml", code=BAD_INPUT, words=["small.toml/small"])
    fails(folder, "run", deck, "--set", "output.directory=/proc/nothing", code=BAD_INPUT, words=["/proc/nothing"])


def mounted(folder, options):
    """A small file system of its own at folder/mount, unmounted by unmount()."""
    mount = folder / "mount"
    mount.mkdir(exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "scree_test", mount], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {made.stderr.strip()}")
    return mount


def unmount(folder):
    # Lazy: a rank that was ended may still hold a file for a moment.
    subprocess.run(["umount", "--lazy", folder / "mount"], check=True)


def test_read_only_file_system(folder):
    deck = write_deck(folder)
    mounted(folder, "size=64k,ro")
    try:
        fails(folder, "run", deck, "--set", "output.directory=mount", code=BAD_INPUT,
              words=["mount/small", "Read-only file system"])
    finally:
        unmount(folder)


def test_disk_full_ends_the_run_with_a_message(folder):
    """At every size the run ends, and what has its final name is complete."""
    deck = write_deck(folder)
    reached = set()
    for size in ("8k", "200k", "500k", "900k", "1200k"):
        for ranks in (1, 3):
            mount = mounted(folder, f"size={size}")
            try:
                result = scree("-q", "run", deck, "--set", "output.directory=mount", ranks=ranks, folder=folder, timeout=60)
                lines = [line for line in result.stderr.splitlines() if line.startswith("scree: ")]
                check(result.code in (RUNTIME_FAILURE, BAD_INPUT), f"{size}, {ranks} ranks: the run fails", result)
                check(len(lines) == 1 and "No space left on device" in lines[0], f"{size}, {ranks} ranks: one reason", result)
                reached.add(lines[0].split(" to ")[-1].split(" ")[0].split("/")[-1])
                checkpoints = sorted(mount.rglob("*.scree"))
                if checkpoints:
                    run(folder, "info", checkpoints[-1])
                check(not list(mount.rglob("*.part")), "no half-written file stays", list(mount.rglob("*")))
            finally:
                unmount(folder)
    check(len(reached) > 1, "different files were the first that did not fit", reached)


def test_a_body_that_leaves_is_named(folder):
    text = write_deck(folder).read_text()
    start, end = text.index("[particles"), text.index("[obstacles.floor]")
    (folder / "bodies.csv").write_text("x,y,radius\n1,1,0.2\n3,2,0.2\n3,3.7,0.2\n")
    text = text[:start] + '[particles.grains]\nsource = { type = "file", path = "bodies.csv" }\n' + text[end:]
    text = text.replace('type = "attraction"\npoint = [0.5, 0.3]\nrate = "0.8 1/s"', 'type = "constant"\nvelocity = [0, 2]')
    (folder / "small.toml").write_text(text)
    for ranks in (1, 3):
        shutil.rmtree(folder / "results", ignore_errors=True)
        fails(folder, "run", "small.toml", code=RUNTIME_FAILURE, words=["body 2", "left the domain", "outside"],
              ranks=(ranks,), untouched=False)


def test_overlap_that_ends_the_run(folder):
    deck = write_deck(folder, ("overlap_limit = 0", 'overlap_limit = 0.001\non_overlap = "stop"'))
    for ranks in (1, 3):
        shutil.rmtree(folder / "results", ignore_errors=True)
        fails(folder, "run", deck, code=SOLVER_FAILURE, words=["step", "overlap", "overlap_limit"], ranks=(ranks,),
              untouched=False)


def test_compare_unlike_things(folder):
    results, checkpoint = finished(folder)
    fails(folder, "compare", checkpoint, results / "small.h5", code=BAD_INPUT, words=["cannot compare"])
    fails(folder, "compare", results, checkpoint, code=BAD_INPUT, words=["folder"])
    fails(folder, "compare", "nothing", checkpoint, code=BAD_INPUT, words=["nothing"])
    fails(folder, "compare", "small.toml", "small.toml", code=BAD_INPUT, words=["small.toml"])
    (folder / "empty").mkdir()
    fails(folder, "compare", "empty", "empty", code=BAD_INPUT, words=["empty"])


def test_info_of_unreadable_files(folder):
    _, checkpoint = finished(folder)
    (folder / "half.scree").write_bytes(checkpoint.read_bytes()[:5000])
    fails(folder, "info", "half.scree", code=BAD_INPUT, words=["half.scree"])
    fails(folder, "info", "missing.h5", code=BAD_INPUT, words=["missing.h5"])
    (folder / "odd.pvd").write_text("<?xml version='1.0'?>\n<Nothing/>\n")
    fails(folder, "info", "odd.pvd", code=BAD_INPUT, words=["odd.pvd"])


def test_a_folder_without_permission(folder):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    deck = write_deck(folder)
    (folder / "results").mkdir(mode=0o555)
    fails(folder, "run", deck, code=BAD_INPUT, words=["results", "Permission denied"])
