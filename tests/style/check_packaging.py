#!/usr/bin/python3
"""What a release consists of: one version everywhere; recipes for Spack, conda and Debian with the options and dependencies
of CMake; presets that packaging/ names; a citation file with the required keys; forms for issues that can be shown.

The Spack recipe is executed with stand-ins for Spack's own modules, which note what it declares. Whether the packages that it
names exist is not checked here."""
import itertools
import json
import re
import sys
import tomllib
import types
from contextlib import contextmanager

import yaml

from repository import files, report, source_folder, text_of

SPACK = "packaging/spack_repo/scree/packages/scree/package.py"
CONDA = "packaging/conda/recipe.yaml"

# A dependency by its name in CMake: package of Spack, of conda-forge, of Debian.
PACKAGES = {
    "MPI": ("mpi", "openmpi", "libopenmpi-dev"),
    "HDF5": ("hdf5", "hdf5", "libhdf5-openmpi-dev"),
    "PETSc": ("petsc", "petsc", "libpetsc-real-dev"),
    "VTK": ("vtk", "vtk-base", "libvtk9-dev"),
    "GEOS": ("geos", "geos", "libgeos-dev"),
    "PNG": ("libpng", "libpng", "libpng-dev"),
    "Boost": ("boost", "libboost-headers", "libboost-dev"),
    "Qhull": ("qhull", "qhull", "libqhull-dev"),
    "tomlplusplus": ("tomlplusplus", "tomlplusplus", "libtomlplusplus-dev"),
    "CLI11": ("cli11", "cli11", "libcli11-dev"),
    "fmt": ("fmt", "fmt", "libfmt-dev"),
    "spdlog": ("spdlog", "spdlog", "libspdlog-dev"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann-json3-dev"),
    "PkgConfig": ("pkgconfig", "pkg-config", "pkg-config"),
    "CMake": ("cmake", "cmake", "cmake"),
}
# Where packages count versions otherwise than CMake: Qhull's releases have years; an MPI is no version of the standard.
OTHER_VERSION = {("qhull", "8"): "2020.1", ("openmpi", "3.1"): ""}
# Not for those who install.
FOR_DEVELOPERS = {"SCREE_SANITIZE", "SCREE_FUZZ", "SCREE_ASSERTS", "SCREE_QUICK_BUILD"}


def dependencies_of_cmake(root):
    """{name in CMake: (least version or "", option it belongs to or "")}"""
    found, option = {}, ""
    least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())
    found["CMake"] = least[1], ""
    for line in (root / "scripts/cmake/dependencies.cmake").read_text().splitlines():
        if begin := re.match(r"if\((SCREE_\w+)\)", line):
            option = begin[1]
        elif line.startswith("endif"):
            option = ""
        elif package := re.match(r"\s*find_package\((\w+)(?: ([\d.]+))?", line):
            found[package[1]] = package[2] or "", option
        elif module := re.match(r"\s*pkg_check_modules\(.* (\w+)>=([\d.]+)\)", line):
            found[module[1]] = module[2], option
    return found


def options_of_cmake(root):
    text = "".join((root / path).read_text() for path in ("CMakeLists.txt", "scripts/cmake/flags.cmake"))
    return set(re.findall(r"^option\((SCREE_\w+)", text, re.MULTILINE)) - FOR_DEVELOPERS


def spack_recipe(root):
    """The class in package.py, and what it declares: [(directive, arguments, keywords with the conditions around it)]."""
    declared, conditions = [], []

    def directive(name):
        def note(*arguments, **keywords):
            when = " ".join([*conditions, *filter(None, [keywords.pop("when", "")])])
            declared.append((name, arguments, keywords | {"when": when}))
        return note

    @contextmanager
    def when(condition):
        conditions.append(condition)
        yield
        conditions.pop()

    class CMakePackage:
        def define(self, name, value):
            return name, value

        def define_from_variant(self, name, variant):
            return name, self.variants[variant]

    package, cmake = types.ModuleType("spack.package"), types.ModuleType("spack_repo.builtin.build_systems.cmake")
    for name in ("version", "variant", "depends_on", "license", "maintainers", "conflicts", "requires", "patch"):
        setattr(package, name, directive(name))
    package.when = when
    cmake.CMakePackage, cmake.generator = CMakePackage, directive("generator")
    stand_ins = {"spack": types.ModuleType("spack"), "spack.package": package, cmake.__name__: cmake}
    for depth in range(1, 4):
        name = ".".join(cmake.__name__.split(".")[:depth])
        stand_ins[name] = types.ModuleType(name)
    sys.modules.update(stand_ins)
    content = {}
    exec(compile((root / SPACK).read_text(), SPACK, "exec"), content)
    return content["Scree"], declared


def check_spack(root, version, needed, options):
    recipe, declared = spack_recipe(root)
    problems = [f"{SPACK}: version {arguments[0]}, but CMake says {version}"
                for name, arguments, _ in declared if name == "version" and arguments[0] != version]
    variants = {arguments[0] for name, arguments, _ in declared if name == "variant"}
    for values in itertools.product((True, False), repeat=len(variants)):
        package = recipe()
        package.variants, package.run_tests = dict(zip(sorted(variants), values)), False
        given = dict(package.cmake_args())
        problems += [f"{SPACK}: cmake_args() gives {name}, which is no option of CMake"
                     for name in given if name.startswith("SCREE_") and name not in options]
        problems += [f"{SPACK}: cmake_args() leaves out {name}" for name in options - given.keys()]
        problems += [f"{SPACK}: {name} does not follow the variant {variant}" for name, value in given.items()
                     if (variant := name.removeprefix("SCREE_").lower()) in variants and value != package.variants[variant]]
    found = {}
    for name, arguments, keywords in declared:
        if name == "depends_on" and keywords.get("type") not in ("run", "test"):
            package, least = re.fullmatch(r"([\w-]+?)(?:@([\d.]+):[\d.]*)?(?:[+~].*)?", arguments[0]).groups()
            if package not in ("c", "cxx"):
                found[package] = least or "", keywords["when"]
    wanted = {}
    for name, (least, option) in needed.items():
        package = PACKAGES[name][0]
        wanted[package] = OTHER_VERSION.get((package, least), least), option and "+" + option.removeprefix("SCREE_").lower()
    return sorted(set(problems)) + differences(SPACK, found, wanted)


def check_conda(root, version, needed, options):
    recipe = yaml.safe_load((root / CONDA).read_text())
    problems = [] if recipe["context"]["version"] == version else [f"{CONDA}: another version than CMake's {version}"]
    given = set(re.findall(r"-D(SCREE_\w+)=", " ".join(recipe["build"]["script"])))
    problems += [f"{CONDA}: {name} is no option of CMake" for name in given - options]
    problems += [f"{CONDA}: -D{name} is missing" for name in options - given]
    found = {}
    for line in recipe["requirements"]["build"] + recipe["requirements"]["host"]:
        if not line.startswith("${{"):
            name, *rest = line.split()
            found[name] = rest[0].removeprefix(">=") if rest else "", ""
    found.pop("ninja")
    wanted = {PACKAGES[name][1]: (OTHER_VERSION.get((PACKAGES[name][1], least), least), "")
              for name, (least, _) in needed.items()}
    return problems + differences(CONDA, found, wanted)


def differences(path, found, wanted):
    """Packages are {name: (least version, condition)}."""
    problems = [f"{path}: {name} is missing; CMake needs it" for name in wanted.keys() - found.keys()]
    problems += [f"{path}: {name} is nothing that CMake looks for" for name in found.keys() - wanted.keys()]
    problems += [f"{path}: {name} has version and condition {found[name]}; CMake's are {wanted[name]}"
                 for name in found.keys() & wanted.keys() if found[name] != wanted[name]]
    return sorted(problems)


def check_debian(root, needed):
    listed = set((root / "scripts/install-deps.sh").read_text().replace('"', " ").split())
    return [f"scripts/install-deps.sh: {PACKAGES[name][2]} is missing; CMake needs {name}" for name in needed
            if PACKAGES[name][2] not in listed]


def check_versions(root, version):
    """Of files that are packages themselves, and of package files that any text names."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    project = tomllib.loads((root / "postprocess/pyproject.toml").read_text())["project"]
    problems = [f"{path}: version {found}, but CMakeLists.txt says {version}"
                for path, found in (("CITATION.cff", citation["version"]), ("postprocess/pyproject.toml", project["version"]))
                if found != version]
    for path in files(root):
        if path.parts[0] in ("packaging", "docs", "scripts") and (text := text_of(root / path)) is not None:
            problems += [f"{path}: names scree {named}, but CMakeLists.txt says {version}"
                         for named in re.findall(r"\bscree[_-](\d+\.\d+\.\d+)", text) if named != version]
    return problems


def check_presets(root):
    known = {preset["name"] for preset in json.loads((root / "CMakePresets.json").read_text())["configurePresets"]}
    return [f"{path}: there is no preset {name}" for path in files(root / "packaging")
            for name in re.findall(r"--preset (\w+)", text_of(root / "packaging" / path) or "") if name not in known]


def check_citation(root):
    """The required keys of the Citation File Format 1.2.0, and those that a release has."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    problems = [f"CITATION.cff: {key} is missing" for key in ("cff-version", "message", "title", "authors", "version", "license")
                if not citation.get(key)]
    if str(citation.get("cff-version")) != "1.2.0":
        problems.append("CITATION.cff: cff-version is not 1.2.0")
    problems += [f"CITATION.cff: an author without a name: {author}" for author in citation.get("authors", [])
                 if not {"name", "family-names", "given-names", "alias"} & set(author)]
    return problems


def check_forms(root):
    """.github/ISSUE_TEMPLATE: what the hosting site demands of a form."""
    problems, folder = [], root / ".github/ISSUE_TEMPLATE"
    for path in sorted(folder.glob("*.yml")):
        form, where = yaml.safe_load(path.read_text()), path.relative_to(root)
        if path.stem == "config":
            continue
        problems += [f"{where}: {key} is missing" for key in ("name", "description", "body") if not form.get(key)]
        ids = [entry["id"] for entry in form.get("body", []) if "id" in entry]
        problems += [f"{where}: two entries have the id {name}" for name in {name for name in ids if ids.count(name) > 1}]
        for entry in form.get("body", []):
            kind, attributes = entry.get("type"), entry.get("attributes", {})
            demanded = {"markdown": ["value"], "textarea": ["label"], "input": ["label"], "dropdown": ["label", "options"],
                        "checkboxes": ["label", "options"]}
            problems += [f"{where}: unknown type {kind}"] if kind not in demanded else [
                f"{where}: {kind} without {key}" for key in demanded[kind] if not attributes.get(key)]
    return problems


def main():
    root = source_folder()
    version = re.search(r"project\(scree VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    needed, options = dependencies_of_cmake(root), options_of_cmake(root)
    problems = [f"scripts/cmake/dependencies.cmake: {name} has no package names in tests/style/check_packaging.py"
                for name in needed.keys() - PACKAGES.keys()]
    needed = {name: what for name, what in needed.items() if name in PACKAGES}
    problems += check_versions(root, version)
    problems += check_spack(root, version, needed, options)
    problems += check_conda(root, version, needed, options)
    problems += check_debian(root, needed) + check_presets(root) + check_citation(root) + check_forms(root)
    report(problems, len(needed) + len(options), "dependencies and options")


main()
