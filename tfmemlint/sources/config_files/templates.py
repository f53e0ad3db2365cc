"""Templates in configuration files: Helm's and Jinja's ``{{ }}`` and ``{% %}``, GitHub's ``${{ }}``.

The result of a template is not known. Each of its characters is replaced by a placeholder, so that the rest of the text
keeps its places.
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
    """Return True if a text is a template that another program renders."""
    return "{{" in text or "{%" in text or _OTHERS.search(text) is not None


def masked(text: str) -> str:
    """Return ``text`` with its templates replaced; lines that are entirely templates become comments. Length and line
    ends stay."""
    if "{{" not in text and "{%" not in text:
        return text
    for pattern in (_LINE, _INCLUDED):
        text = pattern.sub(lambda found: _comment(found[0]), text)
    return _without_parts(text)


def _without_parts(text: str) -> str:
    """Return ``text`` without the text between the marks of templates; a mark that is never closed does not count."""
    parts: list[str] = []
    unclosed: set[str] = set()
    at = line_end = 0
    while (found := _BEGIN.search(text, at)) is not None:
        kind = found[0][-1]
        if found.start() >= line_end:
            line_end = _line_end(text, found.start())
            if _is_comment(text, found.start()) and _ENDS[kind] not in text[found.end() : line_end]:
                # An editor's fold begins so: `# {{{`.
                parts.append(text[at:line_end])
                at = line_end
                continue
        stop = -1 if kind in unclosed else text.find(_ENDS[kind], found.end())
        if stop < 0:
            unclosed.add(kind)
            parts.append(text[at : found.end()])
            at = found.end()
            continue
        stop += 2
        parts += [text[at : found.start()], _hidden(text[found.start() : stop])]
        at = stop
    return "".join([*parts, text[at:]])


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _is_comment(text: str, place: int) -> bool:
    """Return True if the line of a place is a comment."""
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip().startswith("#")


def _hidden(template: str) -> str:
    """Return a template with its characters replaced, but for the indentation of its lines, which YAML needs."""
    first, *lines = template.split("\n")
    hidden = [HIDDEN * len(first)]
    for line in lines:
        bare = line.lstrip(" ")
        hidden.append(" " * (len(line) - len(bare)) + HIDDEN * len(bare))
    return "\n".join(hidden)


def _comment(line: str) -> str:
    # A comment may stand at any depth.
    return "#" + " " * (len(line) - 1)
