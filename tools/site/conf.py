"""Sphinx's configuration for the site; ``tools/make_site.py`` builds it.

The pages are those of ``docs``, as GitHub shows them too. So nothing in a page is for the site alone: the navigation is
made from the lists of ``index.md``, and links to files that are no pages lead to the repository.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

import jieba  # noqa: E402

from tools.site.pages import for_the_site, page_in  # noqa: E402

jieba.setLogLevel(logging.WARNING)
LANGUAGE = os.environ.get("TFMEMLINT_SITE_LANGUAGE", "en")

project = "tfmemlint"
author = "The tfmemlint authors"
project_copyright = author
language = {"en": "en", "zh": "zh_CN"}[LANGUAGE]
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["zh", "images"] if LANGUAGE == "en" else []

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "english": "{{path}}",
    "english-part": "{{path}}#{{fragment}}",
}
nitpicky = False  # types of the standard library are no pages here
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# The tokens of a console block are commands and their output, and other blocks show what is broken on purpose.
suppress_warnings = ["misc.highlighting_failure"]
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = "tfmemlint"
html_static_path = [str(ROOT / "tools" / "site" / "static")]
templates_path = [str(ROOT / "tools" / "site" / "templates")]
html_css_files = ["site.css"]
html_js_files = [("zh-search.js", {"priority": 100})] if LANGUAGE == "zh" else []
html_show_sphinx = False
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/languages.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b45309", "color-brand-content": "#b45309"},
    "dark_css_variables": {"color-brand-primary": "#fbbf24", "color-brand-content": "#fbbf24"},
    "source_repository": "https://github.com/tfmemlint/tfmemlint/",
    "source_branch": "main",
    "source_directory": "docs/" if LANGUAGE == "en" else "docs/zh/",
}


def setup(app: Any) -> None:
    """Connect the handlers to Sphinx's events."""
    app.connect("source-read", _read)
    app.connect("html-page-context", _languages)


def _read(app: Any, name: str, source: list[str]) -> None:
    source[0] = for_the_site(source[0], Path(app.env.doc2path(name)))


def _languages(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    other = "zh" if LANGUAGE == "en" else "en"
    up = "../" * name.count("/")
    folder = "zh/" if other == "zh" else "../"
    target = name if page_in(other, name) else "index"
    context["other_language"] = {"zh": "简体中文", "en": "English"}[other]
    context["other_language_url"] = f"{up}{folder}{target}.html"
