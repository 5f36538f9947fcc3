#!/usr/bin/python3
"""Who may include whom (docs/architecture.md): a folder of src/ sees itself and lower levels; drivers see app and
core. Also: which folders may see which library."""
import re

from repository import files, report, source_folder

LEVELS = {"core": 0, "geometry": 1, "friction": 1, "particles": 2, "comm": 3, "contact": 3, "state": 4, "neighbors": 5, "schemes": 6,
          "events": 7, "analysis": 7, "io": 8, "crowd": 9, "run": 10, "replay": 11, "bench": 12}
DRIVERS_SEE = {"run", "core", "replay", "bench"}

# Headers that start so -> the only folders that may include them; the first line that fits decides.
LIBRARIES = {
    "vtk": {"io"},
    "hdf5": {"core", "run"},                # run: the version number
    "petscversion": {"core", "comm", "run"},
    "petsc": {"core", "comm", "friction", "replay", "bench"},  # replay: the operator of a stored problem
    "geos_c": {"crowd"},
    "png": {"crowd"},
    "boost/math": {"crowd", "particles", "run"},
    "boost/polygon": {"crowd"},
    "toml++": {"core"},
    "nlohmann": {"core"},
    "spdlog": {"core"},
    "CLI/": {"core"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def problem_with_project_header(root, folder, header):
    other = header.split("/")[0]
    if folder == "drivers" and (root / "drivers" / header).is_file():
        return None
    if not (root / "src" / header).is_file():
        return f'"{header}" is not a path below src/'
    if folder == "drivers":
        if other not in DRIVERS_SEE:
            return f'drivers include only {", ".join(sorted(DRIVERS_SEE))}, not "{header}"'
    elif other != folder and LEVELS[other] >= LEVELS[folder]:
        return f'{folder} (level {LEVELS[folder]}) may not include {other} (level {LEVELS[other]}): "{header}"'
    return None


def problem_with_library_header(folder, header):
    for prefix, allowed in LIBRARIES.items():
        if header.startswith(prefix):
            return None if folder in allowed else f"<{header}> may be included by {', '.join(sorted(allowed))} only"
    return None


def main():
    root = source_folder()
    problems = []
    n_files = 0
    for path in files(root, {".cpp", ".hpp", ".def"}):
        if path.parts[0] == "drivers":
            folder = "drivers"
        elif path.parts[0] == "src":
            folder = path.parts[1]
        else:
            continue
        n_files += 1
        if folder != "drivers" and folder not in LEVELS:
            problems.append(f"{path}: the folder {folder} has no level in the table of check_layers.py")
            continue
        text = (root / path).read_text()
        for match in INCLUDE.finditer(text):
            header, library = match.groups()
            problem = (problem_with_project_header(root, folder, header) if header
                       else problem_with_library_header(folder, library))
            if problem:
                problems.append(f"{path}:{text.count(chr(10), 0, match.start(1 if header else 2)) + 1}: {problem}")
    report(problems, n_files, "files")


main()
