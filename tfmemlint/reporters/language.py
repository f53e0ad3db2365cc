"""The language of what people read. English is what rules write; another language is found by the English text.

Rules write their messages as they always did. A catalogue of gettext has templates of these messages with fields
(``{call} after the runtime has started: {start} starts it``), each with its translation. A text is compared with the
templates, what stands in the fields is translated in the same way, and a text without a template stays English. So no
rule knows of languages, reports for programs stay as they are, and English costs nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # a run that finds nothing imports no `typing`
if TYPE_CHECKING:
    from tfmemlint.reporters.paint import Line

VARIABLES = ("TFMEMLINT_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that state the language; the first that is set counts, as gettext has it."""
LANGUAGES = {"zh": "zh_CN"}
"""Languages beside English, by the beginning of their names, with the folder of their catalogue."""

_chosen: list[str] = []


def choose(language: str) -> None:
    """Print in this language from now on: ``en``, ``zh``; "" for what the environment states."""
    _chosen[:] = [language] if language else []


def language() -> str:
    """Return the language of what people read: ``en``, or a key of `LANGUAGES`."""
    stated = _chosen[0] if _chosen else next(filter(None, map(os.environ.get, VARIABLES)), "")
    return next((name for name in LANGUAGES if stated.lower().startswith(name)), "en")


def translate(text: str) -> str:
    """Return a text in the language of the user; the text itself where there is no translation."""
    wanted = language()
    if wanted == "en":
        return text
    from tfmemlint.reporters.catalogue import catalogue

    return catalogue(LANGUAGES[wanted]).translate(text)


def localized(line: Line) -> Line:
    """Return a line of the report of a command other than ``check``, such as ``plan``, in the language of the user.

    Each segment is a message. One that has no translation stays English, and one of the style ``quoted`` as it is.
    """
    if language() == "en":
        return line
    return [
        segment if segment.style == "quoted" else segment._replace(text=localized_text(segment.text))
        for segment in line
    ]


def localized_text(text: str) -> str:
    """Return a message of such a report in the language of the user; the spaces around it stay."""
    wanted = language()
    core = text.strip(" ")
    if wanted == "en" or not core:
        return text
    from tfmemlint.reporters.catalogue import of_reports

    return text.replace(core, of_reports(LANGUAGES[wanted]).translate(core), 1)
