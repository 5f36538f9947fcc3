"""What C++ files are made of, as far as sizes go: functions with their lines, classes with their members of data."""
import re
from dataclasses import dataclass

# Comments, raw texts, texts and characters; a ' between digits is part of a number.
_QUOTED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_CLASS = re.compile(r"\b(?:class|struct|union)\b(?!.*\benum\b)")
_NO_MEMBER = re.compile(r"^(?:using|friend|static|typedef|template|enum|class|struct|union|public|private|protected)\b")


@dataclass
class Function:
    name: str
    lines: int


@dataclass
class Class:
    name: str
    members: int


def _blank(match):
    """White space of the same number of lines."""
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text) -> str:
    """The text without comments, what is in quotes and the preprocessor's lines; lines stay where they are."""
    return _PREPROCESSOR.sub(_blank, _QUOTED.sub(_blank, text))


def _without(text, opening, closing) -> str:
    """The text without what is between balanced brackets."""
    kept, depth = [], 0
    for c in text:
        if c == opening:
            depth += 1
        elif c == closing and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(c)
    return "".join(kept)


def _plain(text) -> str:
    """Without arguments of templates, of which `->` and operators are no part."""
    text = re.sub(r"->|<=|>=|<<|operator\s*[<>]+", " ", text)
    return " ".join(_without(text, "<", ">").split())


def _kind_of(header, parent):
    """What the block behind this header is, with its name: namespace, class, function or something else."""
    plain = _plain(header)
    plain = re.sub(r"\[\[.*?\]\]", "", plain).strip()
    if re.search(r"\bnamespace\b|^extern\b", plain) and "(" not in plain:
        return "namespace", ""
    if parent not in ("namespace", "class") or re.search(r"\benum\b", plain):
        return "other", ""
    if _CLASS.search(plain) and "(" not in plain.split(":")[0].replace("::", ""):
        return "class", re.sub(r".*\b(?:class|struct|union)\b\s*", "", plain).split(":")[0].replace("final", "").strip() or "unnamed"
    name = re.match(r"(?:.*?[\s*&])??(~?[\w:]+|operator\s*\S+?)\s*\(", plain)
    if name and not re.search(r"=\s*$", _without(plain, "(", ")")):
        return "function", name.group(1)
    return "other", ""


def _n_data(statement) -> int:
    """Members of data that a statement of a class declares."""
    plain = _plain(re.sub(r"^\s*(?:public|private|protected)\s*:", "", statement)).strip()
    plain = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", plain)
    if not plain or _NO_MEMBER.match(plain):
        return 0
    before = re.split(r"[={]", plain)[0]
    if "(" in before:
        return 0
    return 1 + _without(_without(_without(plain, "{", "}"), "(", ")"), "[", "]").count(",")


def parts_of(text):
    """The functions and classes of a file."""
    code = code_of(text)
    functions, classes = [], []
    blocks = [["namespace", "", 0, 0]]    # kind, name, first line, members of data
    start, line, first = 0, 1, 1          # of the statement that is being read: its text begins at `start`, on line `first`
    for at, c in enumerate(code):
        if c == "\n":
            line += 1
        if c == "{":
            kind, name = _kind_of(code[start:at], blocks[-1][0])
            if not code[at - 1].isspace() or (kind == "other" and blocks[-1][0] == "class"):
                kind = "value"    # of a member or a base: its statement goes on
            blocks.append([kind, name, first, 0])
            if kind == "value":
                continue
        elif c == "}":
            kind, name, begin, n_data = blocks.pop()
            if kind == "function":
                functions.append(Function(name, line - begin + 1))
            elif kind == "class":
                classes.append(Class(name, n_data))
            elif kind == "value":
                continue
        elif c == ";" and blocks[-1][0] == "class":
            blocks[-1][3] += _n_data(code[start:at])
        if c in "{};" and blocks[-1][0] != "value":
            start, first = at + 1, line
        elif start < at and not code[start:at].strip() and not c.isspace():
            first = line
    return functions, classes
