"""performance-targets.py and performance.sh: programs in turn, medians, older numbers of the same processor, what is refused.
The programs are replaced by short ones that print what the test wants."""
import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys

import pytest

from scree_program import check, check_close, check_in, source_folder
from timings import TimingError, processor_folder, processor_text, step_seconds

MACHINE = {"processor": "Intel(R) Xeon(R) Processor @ 2.50GHz", "processor_family": 6, "processor_model": 85, "cores": 2,
           "caches": [{"level": 1, "type": "Data", "bytes": 32768}, {"level": 1, "type": "Instruction", "bytes": 32768},
                      {"level": 2, "type": "Unified", "bytes": 1048576}],
           "instruction_set": "avx512", "commit": "abc", "compiler": "GNU 12", "load_at_start": 0, "measured": []}
FOLDER = "intel-xeon-processor-2.50ghz-family-6-model-85"

# Tells its own name in a common log, and the next of its prescribed times.
BENCH = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
if "--machine" in sys.argv:
    print(json.dumps({{"machine": json.loads('''{machine}''')}}))
    sys.exit()
with open(here.parent / "log", "a") as log:
    log.write(f"{{here.name}} {{sys.argv[1]}}\\n")
times = json.loads((here / "times.json").read_text())
if not times:
    sys.exit("scree: this one is broken")
(here / "times.json").write_text(json.dumps(times[1:]))
path = pathlib.Path(sys.argv[sys.argv.index("--json") + 1])
keys = {{"compliance": 0}} if sys.argv[1] == "friction" else {{}}
rows = [dict(seconds=times[0], keys=keys, size=dict(bodies=1), values={{"seconds_to_0.0001": times[0], "seconds_to_1e-08": ""}})]
if keys:
    rows.append(rows[0] | dict(keys=dict(compliance=0.01)))
path.write_text(json.dumps(dict(format="scree benchmark", rows=rows)))
"""
SCREE = "#!/bin/sh\necho 'scree 0.1.0 (commit {commit}, GNU 12.2.0, Release)'\n"


def load_script():
    spec = importlib.util.spec_from_file_location("performance_targets", source_folder() / "scripts/performance-targets.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module    # dataclasses look for it
    spec.loader.exec_module(module)
    return module


def programs(folder, name, times):
    """A folder of programs that take these seconds, one after the other."""
    place = folder / name
    place.mkdir()
    (place / "scree_bench").write_text(BENCH.format(python=sys.executable, machine=json.dumps(MACHINE)))
    (place / "scree").write_text(SCREE.format(commit=name))
    for program in ("scree", "scree_bench"):
        (place / program).chmod(0o755)
    (place / "times.json").write_text(json.dumps(times))
    return place


def targets(folder, *words):
    """What the script prints, and its exit code."""
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        try:
            load_script().main(["--out", str(folder / "out"), "--stored", str(folder / "stored"), *map(str, words)])
        except SystemExit as stop:
            code = stop.code
    return said.getvalue(), code


def cells(text, target):
    line, = [line for line in text.splitlines() if line.startswith(f"| {target}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_processors_have_names(folder):
    check(processor_text(MACHINE) == "Intel(R) Xeon(R) Processor @ 2.50GHz (family 6, model 85), 2 cores, L1 32 KiB, L2 1024 KiB, "
          "avx512", "in one line", processor_text(MACHINE))
    check(processor_folder(MACHINE) == FOLDER, "and as a folder", processor_folder(MACHINE))
    check(processor_folder({"processor": "AMD EPYC"}) == "amd-epyc", "results without a family", processor_folder(MACHINE))


def test_builds_take_turns(folder):
    now, before = programs(folder, "now", [0.002, 0.001, 0.004]), programs(folder, "before", [0.006, 0.005, 0.016])
    text, code = targets(folder, "--bin", now, "--before", before, "--targets", "rest", "--repetitions", "3")
    check(code == 0, "exit code 0", text)
    check((folder / "log").read_text().split() == 3 * ["before", "nonsmooth", "now", "nonsmooth"], "in turn")
    check(cells(text, "bed of 4096 at rest") == ["bed of 4096 at rest (nonsmooth)", "1", "step", "6 ms", "183 %", "2 ms", "150 %",
                                                 "3.00", "4", "", ""], "medians, spreads, their ratio and its aim", text)
    for words in ("On Intel(R) Xeon(R) Processor @ 2.50GHz (family 6, model 85), 2 cores", "commit before", "commit now"):
        check_in(words, text, "what was measured where")
    rows = json.loads((folder / "out" / FOLDER / "targets.json").read_text())["rows"]
    check([(row["keys"]["program"], row["seconds"]) for row in rows] == [("before", 0.006), ("now", 0.002)], "rows are kept", rows)
    tables = subprocess.run([sys.executable, source_folder() / "scripts/benchmark_tables.py",
                             folder / "out" / FOLDER / "targets.json"], text=True, capture_output=True, timeout=60, check=False)
    check(tables.returncode == 0 and "| bed of 4096 at rest (nonsmooth) | now |" in tables.stdout, "as results of scree bench", tables)


def test_stored_numbers_of_this_processor(folder):
    now = programs(folder, "now", [0.002, 0.002])
    text, _ = targets(folder, "--bin", now, "--targets", "rest", "--repetitions", "1")
    check_in("No older numbers of this processor", text, "nothing is stored")
    check(cells(text, "bed of 4096 at rest")[3:5] == ["-", "-"], "so nothing stands beside", text)
    stored = json.loads((folder / "out" / FOLDER / "targets.json").read_text())
    stored["rows"][0]["seconds"] = 0.003
    stored["rows"][0]["values"]["commit"] = "older"
    (folder / "stored" / FOLDER).mkdir(parents=True)
    (folder / "stored" / FOLDER / "targets.json").write_text(json.dumps(stored))
    text, _ = targets(folder, "--bin", now, "--targets", "rest", "--repetitions", "1")
    check(cells(text, "bed of 4096 at rest")[3:8] == ["3 ms", "0 %", "2 ms", "0 %", "1.50"], "stored numbers stand beside", text)
    check_in("Before: commit older, as stored in", text, "and say where they are from")
    rows = json.loads((folder / "out" / FOLDER / "targets.json").read_text())["rows"]
    check([row["keys"]["program"] for row in rows] == ["before", "now"], "they are kept with the new ones", rows)


def test_what_is_not_reached_or_fails(folder):
    now, before = programs(folder, "now", [1.0, 1.0]), programs(folder, "before", [])
    text, code = targets(folder, "--bin", now, "--before", before, "--targets", "piles", "--repetitions", "1")
    check(code == 1, "an older build that fails is reported by the exit code", text)
    check(cells(text, "pile of 5000")[3:8] == ["-", "-", "1 s", "0 %", "-"], "the other one has its row", text)
    check(cells(text, "pile of 1000, rigid")[3:8] == ["-", "-", "not reached", "-", "-"], "a residual that was not reached", text)


def test_seconds_of_steps(folder):
    path = folder / "summary.json"
    timer = {"name": "step", "depth": 1, "max_s": 9.0}
    path.write_text(json.dumps({"timers": [timer, timer | {"depth": 0, "max_s": 2.5}]}))
    check_close(step_seconds(path), 2.5, "the outermost timer", absolute=0)
    path.write_text("{}")
    for missing in (path, folder / "none.json"):
        with pytest.raises(TimingError, match="no summary of a run"):
            step_seconds(missing)


def test_what_cannot_be_measured(folder):
    now = programs(folder, "now", [])
    for words, expected in ((["--bin", "nowhere"], "--bin: there is no scree"),
                            (["--bin", now, "--before", folder], "--before: there is no scree"),
                            (["--bin", now, "--repetitions", "0"], "--repetitions must be positive"),
                            (["--bin", now, "--targets", "pur"], "invalid choice: 'pur'")):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), pytest.raises(SystemExit) as stop:
            load_script().parse([str(word) for word in words])
        check(stop.value.code == 2 and expected in said.getvalue(), f"{words} are refused", said.getvalue())


def test_options_of_the_script(folder):
    now = programs(folder, "now", [])
    for words, expected in ((["--qick"], "unknown option --qick (valid: --quick"), (["--out"], "--out needs a folder"),
                            (["--before"], "--before needs a folder"), (["--quick", "--bin", "nowhere"], "no scree_bench in nowhere"),
                            (["--bin", now, "--before", "nowhere"], "no scree_bench in nowhere"),
                            (["--redraw", "--quick"], "--redraw measures nothing"),
                            (["--redraw", "--out", folder], "no results in")):
        result = subprocess.run(["bash", source_folder() / "scripts/performance.sh", *words], text=True, capture_output=True,
                                timeout=60, check=False, env=os.environ)
        check(result.returncode == 2, f"{words} are refused", result)
        check_in(expected, result.stderr, "the message")


def test_the_script_times_targets_and_nothing_else(folder):
    """With programs that know of the bed at rest alone: the other rows are empty, and the exit code says so."""
    now, before = programs(folder, "now", 99 * [0.002]), programs(folder, "before", 99 * [0.003])
    result = subprocess.run(["bash", source_folder() / "scripts/performance.sh", "--quick", "--bin", now, "--before", before, "--out",
                             folder / "out"], text=True, capture_output=True, timeout=300, check=False)
    check(result.returncode == 1, "rows are missing", result)
    check(cells(result.stdout, "bed of 4096 at rest")[3:8] == ["3 ms", "0 %", "2 ms", "0 %", "1.50"], "the table", result.stdout)
    check(cells(result.stdout, "filling silo")[3:8] == 5 * ["-"], "a run that prints nothing", result.stdout)
    check(sorted(path.name for path in (folder / "out" / FOLDER).iterdir()) == ["targets.json"], "a folder of the processor")
    check("pbd" in (folder / "log").read_text() and "--case" not in (folder / "log").read_text(), "no studies", result)
