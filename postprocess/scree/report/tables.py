"""Tables of a report: numbers with their spread, and what the deck assumed, in words."""
import json
import math
from html import escape

# Units of keys of crowds, by their last part.
UNITS = {"end_time": "s", "step": "s", "radius": "m", "speed": "m/s", "premovement": "s", "headway_time": "s", "creep_speed": "m/s",
         "density": "1/m2", "max_flow": "1/s", "rate": "1/s", "start": "s", "until": "s", "update": "s", "wait": "s", "cell": "m",
         "wall_clearance": "m", "spreading": "m/s", "turning_angle": "rad", "tolerance": "m", "elevation": "m", "absorb_depth": "m",
         "closed_from": "s", "door_time": "s", "dwell": "s", "follow_reach": "m", "reach": "m", "separate_limit": "m"}
WITHOUT_UNIT = ("sigma", "shape")       # parameters of distributions that are numbers


def table(titles, rows, kind="", identity=""):
    """Rows of texts as HTML; cells that are HTML already start with '<'."""
    def cell(text, tag):
        text = str(text)
        return f"<{tag}>{text if text.startswith('<') else escape(text)}</{tag}>"

    head = "".join(cell(title, "th") for title in titles)
    body = "".join("<tr>" + "".join(cell(text, "td") for text in row) + "</tr>" for row in rows)
    return (f'<div class="scroll"><table{f" class={kind}" if kind else ""}{f" id={identity}" if identity else ""}><thead><tr>{head}</tr>'
            f'</thead><tbody>{body}</tbody></table></div>')


def number(value, digits=1):
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def with_spread(mean, half, n_runs, n, digits=1):
    """Mean over runs and the 95 % interval of it; how many of the runs had a value, if not all."""
    if n == 0:
        return "not reached"
    if n_runs == 1:
        return number(mean, digits)
    text = number(mean, digits) + (f" ± {number(half, digits)}" if math.isfinite(half) else "")
    return text + (f" ({n} of {n_runs} runs)" if n < n_runs else "")


def distribution(value, key):
    """A distribution of a deck in words with its unit."""
    unit = UNITS.get(key, "")
    if not isinstance(value, dict):
        return f"{plain(value)} {unit}".strip()
    kind = value.get("distribution", "constant")
    if kind == "constant":
        return f"{plain(value.get('value'))} {unit}".strip()
    words = [f"{name} {plain(value[name])}" + (f" {unit}" if unit and name not in WITHOUT_UNIT else "")
             for name in ("mean", "deviation", "median", "sigma", "shape", "scale") if name in value]
    low, high = value.get("min"), value.get("max")
    if high is not None:
        words.append(f"from {plain(low or 0.0)} to {plain(high)} {unit}".strip())
    elif low:
        words.append(f"at least {plain(low)} {unit}".strip())
    return ", ".join([kind, *words])


def plain(value):
    """A value of a deck as one reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(item) if not isinstance(item, (list, tuple)) else f"({plain(item)})" for item in value)
    if isinstance(value, dict):
        return distribution(value, "") if "distribution" in value else "; ".join(f"{key} {plain(item)}" for key, item in value.items())
    return str(value)


def values_of(section, units=None):
    """(key, value) rows of the values in a table of a deck; tables in it get dots. `units`: by the last part of the key."""
    rows, units = [], units or {}
    for key, value in section.items():
        if isinstance(value, dict) and "distribution" not in value:
            rows += [(f"{key}.{name}", text) for name, text in values_of(value, units)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for place, item in enumerate(value):
                rows += [(f"{key}.{place}.{name}", text) for name, text in values_of(item, units)]
        else:
            text = distribution(value, key if units else "") if isinstance(value, dict) or key in units else plain(value)
            rows.append((key, text if len(text) <= 160 else text[:150] + " ..."))
    return rows


def section_tables(deck, names, units=None):
    """One table for each named table of a deck that is there: key, value."""
    parts = []
    for name in names:
        section = deck.get(name)
        if not section:
            continue
        rows = values_of(section, units)
        if rows:
            parts.append(f"<div><h3>{escape(name)}</h3>" + table(("key", "value"), rows, "keys") + "</div>")
    return f'<div class="columns">{"".join(parts)}</div>' if parts else ""


def differences(runs, differing):
    """What is not the same in the decks of the runs."""
    if not differing:
        return ""
    rows = [(key, *(value if len(value) <= 60 else value[:56] + " ..." for value in values)) for key, values in differing.items()]
    return ("<h3>The decks of these runs differ</h3><p>Means and bands are over all runs, though these keys are not the same.</p>"
            + table(("key", *(run.label for run in runs)), rows))


def script_data(identity, content):
    """Data for the page's script. No text in it can end the element."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'<script type="application/json" id="{identity}">' + text.replace("<", "\\u003c") + "</script>"
