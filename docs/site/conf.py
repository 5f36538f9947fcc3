"""Settings of Sphinx. scripts/docs.sh gathers the pages in a folder first (gather.py), and builds them from there."""
import re
from datetime import date
from pathlib import Path

from pygments.lexers.special import TextLexer

_root = Path(__file__).resolve().parents[2]

project = "scree"
author = "The scree developers"
copyright = f"{date.today().year}, {author}"
release = re.search(r"^project\(\w+ VERSION ([0-9.]+)", (_root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"

# Pages are written for GitHub as well: its anchors, its lists of tasks; indented lines are equations, not code.
myst_enable_extensions = ["colon_fence", "html_image", "tasklist"]
myst_heading_anchors = 6
highlight_language = "none"
smartquotes = False         # quotes of values stay as a deck has them

copybutton_selector = ", ".join(f"div.highlight-{language} pre" for language in ("sh", "bash", "toml", "python"))

html_theme = "furo"
html_title = f"scree {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

# Debian's furo imports a style sheet from the root of Debian's web server, and has the dark colours for readers who choose
# them, not for those whose system is dark. Both are mended in the copy of the site.
_IMPORTED = "@import url(/javascript/normalize.css/normalize.css);"
_NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")
_DARK = re.compile(r'body\[data-theme="dark"\] \{(\s*--color[^}]*)\}')


def _mend_style(app, exception):
    if exception is not None:
        return
    path = Path(app.outdir) / "_static/styles/furo.css"
    sheet = path.read_text()
    if _IMPORTED in sheet:
        sheet = sheet.replace(_IMPORTED, _NORMALIZE.read_text())
    dark = _DARK.search(sheet)
    if "prefers-color-scheme" not in sheet and dark:
        sheet += f'@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark[1]}}} }}\n'
    path.write_text(sheet)


def setup(app):
    app.add_lexer("csv", TextLexer)     # Pygments has none for tables
    app.connect("build-finished", _mend_style)
