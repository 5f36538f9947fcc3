#!/usr/bin/python3
"""No Python modules import each other in a circle, directly or through others: the package scree, its scripts, helpers of tests. An
import inside of a function counts: it would only hide the circle."""
import ast

from repository import files, report, source_folder

FOLDERS = ("postprocess", "docs", "scripts", "tests/support", "tests/campaign", "tests/style")    # where imports of ours are looked for


def modules_of(root):
    """Name of each module -> its path. A module is named by its path below the first of FOLDERS that holds it."""
    modules = {}
    for path in files(root, {".py"}):
        folder = next((folder for folder in FOLDERS if path.as_posix().startswith(folder + "/")), None)
        if folder is not None:
            parts = path.relative_to(folder).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports_of(text, name, is_package, modules):
    """Modules of ours that a module imports: {name: line}. `from a import b` imports a.b where that is a module, else a."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = name.split(".")[:len(name.split(".")) - node.level + is_package] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        else:
            continue
        for imported in names:
            if imported in modules:
                found.setdefault(imported, node.lineno)
    return found


def circles(graph):
    """Shortest circles of a graph {node: nodes it points to}, one through each node that lies on one, each of them once."""
    found = {}
    for start in sorted(graph):
        before, queue = {start: None}, [start]
        for node in queue:
            if start in graph[node]:
                way = [node]
                while before[way[-1]] is not None:
                    way.append(before[way[-1]])
                found.setdefault(frozenset(way), way[::-1])
                break
            for following in sorted(graph[node]):
                if following not in before:
                    before[following] = node
                    queue.append(following)
    return list(found.values())


def main():
    root = source_folder()
    modules = modules_of(root)
    graph = {name: imports_of((root / path).read_text(), name, path.name == "__init__.py", modules) for name, path in modules.items()}
    problems = []
    for circle in circles(graph):
        steps = [f"{modules[name]}:{graph[name][following]} imports {following}" for name, following in zip(circle, circle[1:] + circle[:1])]
        problems.append("a circle of imports: " + "; ".join(steps))
    report(problems, len(modules), "Python modules")


main()
