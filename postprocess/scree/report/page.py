"""The HTML page around the parts of a report."""
from html import escape
from pathlib import Path

import numpy as np

from scree.report.charts import Line, chart
from scree.report.tables import table

HERE = Path(__file__).parent
MAX_NAMES = 10     # of runs that the head of a page names


def page(kind, runs, parts):
    """The whole file as text: style and script are within it."""
    title = runs[0].facts.get("title") or runs[0].tables.get("simulation", {}).get("title") or runs[0].name
    # Parts first: what they cannot read is noted.
    parts = [*parts, ("Certificate", certificate(runs)), ("Deck", deck_text(runs[0]))]
    banners = [text for run in runs if (text := run.state())]
    banners += [note for run in runs for note in run.notes]
    body = "".join(f'<section id="{_anchor(name)}"><h2>{escape(name)}</h2>{html}</section>' for name, html in parts)
    content = "".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name, _ in parts)
    warning = "".join(f"<p>{escape(text)}</p>" for text in banners)
    template = (HERE / "page.html").read_text(encoding="utf-8")
    values = {"TITLE": escape(str(title)), "KIND": kind, "SUBTITLE": escape(_subtitle(runs)), "CONTENT": content,
              "BANNER": f'<div class="banner" id="banner">{warning}</div>' if warning else "", "BODY": body,
              "STYLE": (HERE / "page.css").read_text(encoding="utf-8"),
              "SCRIPT": (HERE / "page.js").read_text(encoding="utf-8"), "VERSION": escape(versions(runs))}
    pieces = template.split("%%")       # odd ones are names
    return "".join(values[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def versions(runs):
    return "; ".join(dict.fromkeys(run.version for run in runs if run.version)) or "not known: there is no summary.json"


def _subtitle(runs):
    if len(runs) > 1:
        names = list(dict.fromkeys(run.name for run in runs))
        return f"{len(runs)} runs: {', '.join(names[:MAX_NAMES])}{', ...' if len(names) > MAX_NAMES else ''}"
    run = runs[0]
    seed = f", seed {run.seed}" if run.seed is not None else ""
    ranks = f", on {run.facts['ranks']} rank(s)" if "ranks" in run.facts else ""
    return f"{run.name}{seed}, until t = {run.last_time:g} s{ranks}"


def certificate(runs):
    """Worst residuals of all steps against their limits, their course over time, and warnings of the logs."""
    rows = []
    for run in runs:
        for name, worst in run.facts.get("certificate_worst", {}).items():
            value, limit = worst.get("value"), worst.get("limit")
            if limit is None and name != "steps_not_solved":
                continue
            within = value is not None and value <= (limit if limit is not None else 0)
            unit = f" {worst['unit']}" if worst.get("unit", "-") != "-" else ""
            rows.append((*([run.label] if len(runs) > 1 else []), name.replace("_", " "), f"{value:.3g}{unit}" if value is not None else "-",
                         f"{limit:.3g}{unit}" if limit is not None else "0", "yes" if within else "NO"))
    titles = ("run",) * (len(runs) > 1) + ("worst of all steps", "value", "limit", "within")
    text = table(titles, rows, identity="certificate-table") if rows else (
        '<p class="missing">No summary.json says how the worst step fared; the chart has what was written.</p>')
    if (course := runs[0].part("certificate")) is not None and len(course["time"]):
        residual = course["residual"] if "residual" in course else np.zeros(0)
        if len(residual):
            lines = [Line("residual" + (f" of {runs[0].label}" if len(runs) > 1 else ""), course["time"], residual)]
            limit = runs[0].facts.get("certificate_worst", {}).get("residual", {}).get("limit")
            if limit:
                lines.append(Line("limit", course["time"][[0, -1]], np.full(2, limit), colour="#d55e00"))
            text += chart(lines, "time [s]", course.label("residual"), log=True)
    warnings = list(dict.fromkeys(warning for run in runs for warning in run.warnings()))
    if warnings:
        text += "<h3>Warnings of the run</h3><ul>" + "".join(f"<li>{escape(warning)}</li>" for warning in warnings[:20]) + "</ul>"
    return text + f'<p class="note">Made with {escape(versions(runs))}.</p>'


def deck_text(run):
    """The resolved deck, as a text that folds."""
    path = run.folder / f"{run.name}.resolved.toml"
    if not path.exists():
        return '<p class="missing">There is no resolved deck in the folder.</p>'
    return (f"<details><summary>All keys with all defaults ({escape(path.name)})</summary>"
            f"<pre>{escape(path.read_text(encoding='utf-8', errors='replace'))}</pre></details>")


def _anchor(name):
    return name.lower().replace(" ", "-")
