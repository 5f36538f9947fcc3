"""Pages that Python makes of what programs say about themselves (scree.pages): that those in the tree are what the programs print is
said by tests/regression/test_docs.py and test_install.py."""
from scree.pages.command_line import bash_completion, man_page
from scree.pages.reference import deck_reference
from scree.pages.schema import deck_schema
from scree_program import check, check_in


def key(name, meaning, **rest):
    return {"name": name, "form": "real", "where": "", "for_laboratory": False, "required": False, "meaning": meaning, "hint": meaning,
            "type": "number", "default": "none", "value": "", "range": "", "unit": "", "count": [-1, -1], "choices": [], **rest}


def table(name, meaning, members, **rest):
    return {"name": name, "form": "table", "where": "", "for_laboratory": False, "required": False, "meaning": meaning,
            "hint": meaning, "members": members, **rest}


def kind(name, summary, members, **rest):
    return {"name": name, "summary": summary, "where": "", "for_laboratory": False, "members": members, **rest}


def page(keys, laboratory=False):
    return deck_reference({"units": [{"quantity": "length", "symbol": "m", "names": "m, mm"}], "keys": keys}, laboratory)


def check_once(part, text):
    check(text.count(part) == 1, f"it has {part!r} once", text)


def test_the_reference_has_each_key_once_and_tells_how_tables_are_opened():
    disk = kind("disk", "a disk", [key("radius", "The radius.", default="required", unit="m"), table("surface", "The rim.", [])])
    text = page([
        table("simulation", "The run.", [key("pull", "Pulls | down.", type="2D: 2 numbers; 3D: 3 numbers", default="`1.5`", range="> 0"),
                                         key("height", "Upwards.", where=" (3D only)")], required=True),
        table("output", "Files.", [], form="optional_table"),
        table("particles", "A body", [key("type", "What it is.", form="kind", kinds=[disk])], form="tables"),
        table("stages", "Steps.", [table("until", "Its end.", [])], form="list", required=True)])
    check_once("## `[simulation]`\n\nThe run. Required.\n", text)
    check_once("| `pull` | 2D: 2 numbers; 3D: 3 numbers | `1.5` | > 0 | Pulls \\| down. |", text)
    check_once("| `height` | number | none |  | Upwards. (3D only) |", text)
    check_once("## `[output]`\n\nFiles. Has an effect only if it is given.\n", text)
    check_once("## `[particles.NAME]`\n\nA body. Any number of tables, each with a name of your choice.\n", text)
    check_once("| `type` | one of the kinds below |", text)
    check_once("### `[particles.NAME]` with `type = \"disk\"`\n\nA disk.\n", text)
    check_once("#### `[particles.NAME.surface]`\n", text)
    check_once("## `[[stages]]`\n\nSteps. Any number of tables, in order; at least one is required.\n", text)
    check_once("### `[stages.until]`\n", text)
    check_once("| length | m | m, mm |", text)


def test_keys_of_the_laboratory_are_on_a_page_of_their_own_and_only_there():
    keys = [table("solve", "A solver.", [key("tolerance", "When it ends."), key("start", "Where.", for_laboratory=True)]),
            table("trial", "A trial.", [key("limit", "Of it.")], for_laboratory=True)]
    users, laboratory = page(keys), page(keys, True)
    for part in ("| `start` |", "## `[trial]`", "| `limit` |"):
        check(part not in users, "not for users", part)
        check_in(part, laboratory, "for the laboratory")
    check_in("| `tolerance` |", users, "for users")
    check("| `tolerance` |" not in laboratory and "## `[solve]`" in laboratory, "the table stands with its keys for the laboratory alone")


def test_tables_with_the_same_kinds_refer_to_the_first_with_their_own_unit():
    def amount(name, unit):
        constant = kind("constant", "one value", [key("value", "How much.", type=f"number [{unit}]", unit=unit)])
        return table(name, "A number.", [key("type", "Kind of it.", form="kind", kinds=[constant])])

    text = page([amount("size", "m"), amount("pace", "m/s"), amount("depth", "m")])
    check_once("### `[size]` with `type = \"constant\"`", text)
    check_once("Kinds, with their keys: those of [`[size]`](#size), in m/s.\n", text)
    check_once("Kinds, with their keys: those of [`[size]`](#size).\n", text)
    check("`[pace]` with" not in text, "kinds stand once")


def test_the_schema_has_names_types_ranges_and_the_keys_of_a_kind():
    plane, disk = kind("plane", "a plane", []), kind("disk", "a disk", [key("radius", "The radius.", required=True, unit="m")])
    schema = deck_schema([
        table("simulation", "The run.", [key("dimension", "Of space.", form="integer", min=2, max=3),
                                         key("end", "Of time.", form="real_or_word", above=0, unit="s", choices=["never"]),
                                         key("gravity", "Pulls.", form="reals", count=[2, 3]),
                                         key("start", "Where.", for_laboratory=True)], required=True),
        table("particles", "A body.", [key("type", "It.", form="kind", value='"plane"', kinds=[plane, disk])], form="tables"),
        table("stages", "Steps.", [table("until", "Its end.", [key("energy", "Left.", required=True)])], form="list", required=True),
        table("space", "In 3D.", [], required=True, where=" (3D only)")])
    check(schema["required"] == ["simulation", "stages"] and schema["unevaluatedProperties"] is False, "what each deck has", schema)
    run = schema["properties"]["simulation"]["properties"]
    check(run["dimension"] == {"type": "integer", "minimum": 2, "maximum": 3, "description": "Of space."}, "an integer", run)
    check(run["end"]["anyOf"][0]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0}, "a number, a text with a unit, or a word", run)
    check(run["end"]["anyOf"][1] == {"enum": ["never"]}, "or a word", run)
    check((run["gravity"]["minItems"], run["gravity"]["maxItems"]) == (2, 3), "as many as dimensions", run)
    check(run["start"]["doNotSuggest"] is True and "doNotSuggest" not in run["end"], "editors do not offer what is for the laboratory", run)
    group = schema["properties"]["particles"]["additionalProperties"]
    check(group["properties"]["type"]["enum"] == ["plane", "disk"], "kinds", group)
    check("required" not in group["allOf"][0]["if"] and group["allOf"][1]["if"]["required"] == ["type"], "but the default is named", group)
    check(group["allOf"][1]["then"]["required"] == ["radius"], "with their keys", group)
    stages = schema["properties"]["stages"]
    check(stages["type"] == "array" and stages["minItems"] == 1, "a list", stages)
    check(stages["items"]["properties"]["until"]["required"] == ["energy"], "of tables", stages)


def option(name, about, **rest):
    names = [] if not name.startswith("-") else [name]
    return {"name": name, "names": names, "is_by_place": not names, "is_required": False, "takes_value": True, "type": "TEXT",
            "about": about, **rest}


def app(name, about, options, **rest):
    return {"name": name, "about": about, "footer": "", "needs_verb": False, "is_answered_elsewhere": False, "options": options,
            "verbs": [], **rest}


SAMPLE = app("", "mill: grinds", [option("--help", "Print this", takes_value=False)], footer="'Example'", verbs=[
    app("run", "run a deck", [option("deck", "a file", is_required=True), option("--form", "of it", type="TEXT:{local,global}"),
                              option("--size", "of it", type="INT in [2 - 3]")]),
    app("bench", "measure", [option("--help", "Print this", takes_value=False)], is_answered_elsewhere=True)])


def test_a_manual_has_options_values_and_commands_in_roff():
    text = man_page(SAMPLE)
    check_once('.TH MILL 1 "" scree "User commands"\n.SH NAME\nmill \\- grinds\n', text)
    check_in("\\fBmill run\\fR [\\fIOPTION\\fR]... \\fIdeck\\fR", text, "what a command takes")
    check_once(".TP\n\\fB\\-\\-form\\fR \\fIlocal|global\\fR\nof it\n", text)
    check_once(".TP\n\\fB\\-\\-size\\fR \\fINUMBER in [2 \\- 3]\\fR\nof it\n", text)
    check_once("\\fBmill bench \\-\\-help\\fR has its options.\n", text)
    check_once(".nf\n\\&'Example'\n.fi\n", text)


def test_a_completion_has_words_files_and_what_another_program_answers():
    text = bash_completion(SAMPLE)
    check_in("    run:--form) words='local global' ;;\n", text, "the words of an option")
    check_in("        'run') files='*.toml' ;;\n", text, "files by place")
    check_in("        'bench') files='*' ;;\n", text, "a verb of another program")
    check_in("        '') words='run bench' ;;\n", text, "verbs")
    check_in("complete -F _mill mill\n", text, "the end")
