"""The JSON Schema (draft 2020-12) of decks, for editors, from what `scree info --keys` prints."""
BOUNDS = {"min": "minimum", "above": "exclusiveMinimum", "max": "maximum", "below": "exclusiveMaximum"}
SIMPLE = {"boolean": {"type": "boolean"}, "text": {"type": "string"}, "texts": {"type": "array", "items": {"type": "string"}}}


def deck_schema(keys) -> dict:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "scree deck", **_object(keys)}


def _number(key, kind) -> dict:
    return {"type": kind, **{word: key[bound] for bound, word in BOUNDS.items() if bound in key}}


def _quantity(key) -> dict:
    """A number or, where it has a unit, a string that carries one."""
    number = _number(key, "number")
    return {"anyOf": [number, {"type": "string", "pattern": "^ *[-+]?[0-9.]"}]} if key["unit"] else number


def _array(key, items) -> dict:
    min_items, max_items = key["count"]
    return {"type": "array", "items": items, **({"minItems": min_items, "maxItems": max_items} if min_items >= 0 else {})}


def _value(key) -> dict:
    form = key["form"]
    if form in SIMPLE:
        return SIMPLE[form]
    match form:
        case "real":
            return _quantity(key)
        case "integer":
            return _number(key, "integer")
        case "reals":
            return _array(key, _quantity(key))
        case "booleans":
            return _array(key, SIMPLE["boolean"])
        case "points":
            return {"type": "array", "items": _array(key, _quantity(key))}
        case "choice":
            return {"enum": key["choices"]}
        case "integer_or_word":
            return {"anyOf": [_number(key, "integer"), {"enum": key["choices"]}]}
        case "real_or_word":
            return {"anyOf": [_quantity(key), {"enum": key["choices"]}]}
        case "kind":
            return {"enum": [kind["name"] for kind in key["kinds"]]}
        case "tables":
            return {"type": "object", "additionalProperties": _object(key["members"])}
        case "list":
            return {"type": "array", "items": _object(key["members"]), **({"minItems": 1} if key["required"] else {})}
        case _:
            return _object(key["members"])


def _object(members) -> dict:
    """The members of a table; the keys of a kind apply if the kind is chosen."""
    properties, required, conditions = {}, [], []
    for key in members:
        properties[key["name"]] = _value(key) | {"description": key["hint"] + key["where"]}
        # Editors accept these keys, but do not offer them: the first is a word of VS Code, the second of taplo.
        if key["for_laboratory"]:
            properties[key["name"]] |= {"doNotSuggest": True, "x-taplo": {"hidden": True}}
        if key["required"] and not key["where"]:
            required.append(key["name"])
        for kind in key.get("kinds", []):
            branch = {word: rule for word, rule in _object(kind["members"]).items() if word not in ("type", "unevaluatedProperties")}
            condition = {"properties": {key["name"]: {"const": kind["name"]}}}
            if f'"{kind["name"]}"' != key["value"]:
                condition["required"] = [key["name"]]
            conditions.append({"if": condition, "then": branch})
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if conditions:
        schema["allOf"] = conditions
    return schema | {"unevaluatedProperties": False}
