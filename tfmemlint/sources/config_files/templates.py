"""Templates in configuration files: Helm's and Jinja's ``{{ }}`` and ``{% %}``, GitHub's ``${{ }}``.

What a template comes to is not known. Its characters are replaced by one that stands for that, in their places, so that
the rest of the text can be read where it stands.
"""

from __future__ import annotations

import re

HIDDEN = "\ue000"
"""The character that replaces each character of a template: a value that contains it is not known."""

_LINE = re.compile(
    r"(?m)^[ \t]*(?:"
    r"\{\{-?[ \t]*(?:/\*|(?:if|else|end|range|with|define|template|block|\$\w+[ \t]*:=)\b)[^\n]*\}\}"
    r"|\{%[^\n]*%\}|\{#[^\n]*#\})[ \t]*$"
)
_INCLUDED = re.compile(r"(?m)^[ \t]*\{\{-?[ \t]*(?:include|toYaml|tpl|template)\b[^\n]*\}\}[ \t]*$")
_BEGIN = re.compile(r"\$?\{\{|\{%|\{#")
_ENDS = {"{": "}}", "%": "%}", "#": "#}"}
_OTHERS = re.compile(r"<%|@[A-Za-z_]\w*@|\$\[\[|\[\[ |%\{")


def is_templated(text: str) -> bool:
    """Whether a text is to be made into something else before it is read."""
    return "{{" in text or "{%" in text or _OTHERS.search(text) is not None


def masked(text: str) -> str:
    """``text`` with its templates made unreadable; lines that are templates as a whole are comments then. As long as it
    was, with the same line ends."""
    if "{{" not in text and "{%" not in text:
        return text
    for pattern in (_LINE, _INCLUDED):
        text = pattern.sub(lambda found: _comment(found[0]), text)
    return _without_parts(text)


def _without_parts(text: str) -> str:
    """``text`` without what stands between the marks of templates; a mark that is never closed is none."""
    parts: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while (found := _BEGIN.search(text, at)) is not None:
        kind = found[0][-1]
        stop = -1 if kind in unclosed else text.find(_ENDS[kind], found.end())
        if stop < 0:
            unclosed.add(kind)
            parts.append(text[at : found.end()])
            at = found.end()
            continue
        stop += 2
        parts += [text[at : found.start()], re.sub(r"[^\n]", HIDDEN, text[found.start() : stop])]
        at = stop
    return "".join([*parts, text[at:]])


def _comment(line: str) -> str:
    # A comment may stand at any depth.
    return "#" + " " * (len(line) - 1)
