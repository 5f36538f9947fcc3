"""The manual page and the completion in bash of a program, docs/man/ and packaging/completions/, from what `PROGRAM --describe` prints.
The text about a program starts with its name and a colon."""

AFTER_OPTIONS = r""".SH ENVIRONMENT
.TP
\fBSCREE_PLUGINS\fR
shared objects with further shapes, forces, measures, ..., separated by colons
.SH EXIT STATUS
.TP
0
done
.TP
1
a failure while running
.TP
2
bad input
.TP
3
the solver failed, or bodies overlap too deeply
.TP
4
stopped by a signal or by \-\-max\-wall\-time; a checkpoint is written
.TP
5
people of a crowd are locked, and [crowd.lock] says to stop
.SH SEE ALSO
\fBscree\fR(1), \fBscree_bench\fR(1), \fBscree_replay\fR(1), \fBmpirun\fR(1)
"""
FIND_VERB = """\
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {}) verb=$word; break ;; esac
  done
"""
COMPLETION = """\
# Completion of {0} in bash. Made by {0} --completion.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= word= words= files=
{1}  case $verb:$previous in
{2}    *) case $current in
      -*) case $verb in
{3}        esac ;;
      *) case $verb in
{4}        esac ;;
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <({{ compgen -f -X "!$files" -- "$current"; compgen -d -- "$current"; }} | sort -u)
  fi
}}
complete -F _{0} {0}
"""
# The files that arguments name, as patterns of the shell.
FILES = {"deck": "*.toml", "checkpoint": "*.scree", "--from": "*.scree",
         **dict.fromkeys(("file", "files", "a", "b", "--csv", "--json", "--output", "--source"), "*")}


def man_page(app) -> str:
    """The page in roff, section 1."""
    name, purpose = app["about"].split(": ", 1)
    verbs = app["verbs"]
    lines = [_synopsis(f"{name} {verb['name']}", verb) for verb in verbs]
    if not verbs or not app["needs_verb"]:
        lines.insert(0, _synopsis(name, app))
    synopsis = "\n.br\n".join(lines)
    text = (f'.\\" Made by {name} --man.\n.TH {name.upper()} 1 "" scree "User commands"\n.SH NAME\n{name} \\- {_roff(purpose)}\n'
            f".SH SYNOPSIS\n{synopsis}\n.SH OPTIONS\n{_described(app)}")
    if verbs:
        text += ".SH COMMANDS\n"
    for verb in verbs:
        text += f".SS {_synopsis(f'{name} ' + verb['name'], verb)}\n{_roff(verb['about'])}\n"
        if verb["is_answered_elsewhere"]:
            text += f".br\n\\fB{_roff(name)} {_roff(verb['name'])} \\-\\-help\\fR has its options.\n"
        else:
            text += _described(verb)
    if app["footer"]:
        text += f".SH NOTES\n.nf\n{_roff(app['footer'])}\n.fi\n"
    return text + AFTER_OPTIONS


def bash_completion(app) -> str:
    """A script that completes verbs, options, their values and names of files."""
    values, options, places, elsewhere = "", "", "", []
    for line in (app, *app["verbs"]):
        verb = "" if line is app else line["name"]
        words = []
        for option in _options_of(line, False):
            words += option["names"]
            if option["takes_value"]:
                values += f"    {verb}:" + f" | {verb}:".join(option["names"]) + f") {_completes(option)} ;;\n"
        if line["is_answered_elsewhere"]:
            elsewhere.append(f"'{verb}'")
        else:
            options += f"        '{verb}') {_of_words(words)} ;;\n"
        by_place = _options_of(line, True)
        first = _completes(by_place[0]) if by_place else ""
        if first:
            places += f"        '{verb}') {first} ;;\n"
    if elsewhere:
        verbs = "        " + " | ".join(elsewhere)
        places += verbs + ") files='*' ;;\n"
        options += verbs + """) words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*') ;;\n"""
    names = [verb["name"] for verb in app["verbs"]]
    find_verb = FIND_VERB.format(" | ".join(names)) if names else ""
    if names:
        places += f"        '') {_of_words(names)} ;;\n"
    return COMPLETION.format(app["about"].split(": ", 1)[0], find_verb, values, options, places)


def _options_of(line, by_place) -> list:
    return [option for option in line["options"] if option["is_by_place"] == by_place]


def _choices_of(option) -> list:
    """The words that an option takes; empty if it takes others, too."""
    _, brace, rest = option["type"].partition("{")
    words, end, _ = rest.partition("}")
    return words.split(",") if brace and end else []


def _value_of(option) -> str:
    """What stands for the value of an option."""
    if "{" in option["type"]:
        return "|".join(_choices_of(option))
    _, within, limits = option["type"].partition(" in [")
    return f"NUMBER{within}{limits}" if within else option["type"].split(":", 1)[0]


def _roff(text) -> str:
    """Text as roff takes it: dashes that can be copied, no line that is a request."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def _synopsis(command, line) -> str:
    text = f"\\fB{_roff(command)}\\fR [\\fIOPTION\\fR]..."
    for place in _options_of(line, True):
        name = f"\\fI{_roff(place['name'])}\\fR"
        text += f" {name}" if place["is_required"] else f" [{name}]"
    return text


def _described(line) -> str:
    text = ""
    for option in _options_of(line, True) + _options_of(line, False):
        by_place = option["is_by_place"]
        tag = f"\\fI{_roff(option['name'])}\\fR" if by_place else f"\\fB{_roff(', '.join(option['names']))}\\fR"
        if option["takes_value"] and (not by_place or _choices_of(option)):
            tag += f" \\fI{_roff(_value_of(option))}\\fR"
        text += f".TP\n{tag}\n{_roff(option['about'])}\n"
    return text


def _of_words(words) -> str:
    return f"words='{' '.join(words)}'"


def _completes(option) -> str:
    """What completes an argument; empty if nothing does."""
    if choices := _choices_of(option):
        return _of_words(choices)
    files = FILES.get(option["name"], "")
    return f"files='{files}'" if files else ""
