"""Rules for markdown-it-py that find code, and the place of each of its lines.

A rule of the parser sees the lines without the prefixes of lists, quotes and other containers. So the parser's own
rules for fences and indented code are wrapped here: they decide what is code, as in CommonMark; the places are
recorded.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import code as _code
from markdown_it.rules_block import fence as _fence
from markdown_it.rules_block import html_block as _html

from tfmemlint.model.records import dataclass
from tfmemlint.sources.documents.fence_info import ADMONITIONS, Info, understood
from tfmemlint.sources.documents.languages import error, named
from tfmemlint.sources.documents.prompts import Line

_OPENING = re.compile(r" {0,3}(?:`{3,}[^`]*|~{3,}.*)$")
_RAW_HTML = re.compile(r"<(?:!|\?|(?:script|pre|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_PRE = re.compile(r"<pre\b[^>]*>(?:\s*<code\b[^>]*>)?", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blang(?:uage)?\s*=\s*[\"']?([\w+-]+)|\b(?:lang|language|brush)[-:]\s*([\w+-]+)")
_TAGS_BEFORE = re.compile(r"(?:[ \t]*</?[A-Za-z][^>]*>)+")
_TAG_BEHIND = re.compile(r"</?[A-Za-z][^<>]*>[ \t]*$")
_MARKUP = re.compile(r"</?[A-Za-z!]|&#?\w+;")
_COLONS = re.compile(r"(?P<colons>:{3,})(?P<info>[^:].*)?$")
_INDENTED = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]*[\w\"']|===[+!]?[ \t]*[\"']|\[\^[^\]\s]+\]:")
"""An admonition or a tab of MkDocs, a footnote: its content is indented by four."""
_TAG = re.compile(
    r"\{%-?[ \t]*(?P<liquid>highlight|codeblock)\b(?P<told>[^%]*)-?%\}[ \t]*$"
    r"|\{\{[<%][ \t]*(?P<hugo>highlight)\b(?P<said>[^>%]*)[>%]\}\}[ \t]*$"
)


@dataclass(frozen=True, slots=True)
class Found:
    """Code in a document.

    Attributes:
        row: the row in which it begins, with its fence.
        lines: its lines.
        info: the info string of its fence.
        fenced: True if it has fences.
    """

    row: int
    lines: list[Line]
    info: Info
    fenced: bool = True


def code_of(text: str, front: int = 0) -> list[Found]:
    """Return the code in a Markdown text, from a line (from 0) on."""
    found: list[Found] = []
    parser = _parser()
    state = StateBlock(text, parser, {"found": found, "plain": 0, "endless": set()}, [])
    state.env["begins"] = list(state.bMarks)
    if front < state.lineMax:
        parser.block.tokenize(state, front, state.lineMax)
    return found


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    ruler = parser.block.ruler
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    ruler.at("fence", fence, ends)
    ruler.at("code", code)
    ruler.at("html_block", html, {"alt": ["paragraph", "reference", "blockquote"]})
    ruler.before("fence", "colons", colons, ends)
    ruler.before("fence", "indented", indented, ends)
    ruler.before("fence", "tag", tag, ends)
    ruler.before("fence", "comment", comment, ends)
    return parser


def fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Fenced code, and directives of MyST that are written like it."""
    if not _fence(state, start, end, silent):
        return False
    if silent:
        return True
    token = state.tokens.pop()
    last = state.line
    if last - 1 > start and _closes(state, last - 1, token.markup):
        last -= 1
    _take(state, start, last, understood(token.info))
    return True


def code(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Indented code. If a container that CommonMark lacks has indented it, the code is inside that container."""
    if not _code(state, start, end, silent):
        return False
    if silent:
        return True
    state.tokens.pop()
    last = state.line
    lines = _lines(state, start, last, 4 + state.blkIndent)
    if any(_OPENING.match(line.text) for line in lines) and error("\n".join(line.text for line in lines)):
        _inside(state, start, last, indent=4)
    elif not state.env["plain"]:
        state.env["found"].append(Found(lines[0].row, lines, Info(), fenced=False))
    return True


def html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """HTML. CommonMark ends it at an empty line only; many authors leave that out above a fence."""
    if not _html(state, start, end, silent):
        return False
    if silent:
        return True
    if _RAW_HTML.match(_text(state, start)):
        _preformatted(state, start, state.line)
        return True
    for line in range(start + 1, state.line):
        if not state.is_code_block(line) and _OPENING.match(_text(state, line)):
            state.line = line
            break
    return True


def colons(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Three colons: a directive of MyST, a box of Pandoc or Docusaurus. Its content is read as Markdown."""
    match = _COLONS.match(_text(state, start)) if not state.is_code_block(start) else None
    if match is None:
        return False
    if silent:
        return True
    info = understood(match["info"] or "")
    state.line = start + 1
    if not info.directive or info.nested:
        return True
    last = start + 1
    while last < end and not (state.sCount[last] < state.blkIndent and not state.isEmpty(last)):
        if _closes(state, last, match["colons"]):
            break
        last += 1
    _take(state, start, last, info)
    state.line = min(last + 1, end) if last < end and _closes(state, last, match["colons"]) else last
    return True


def indented(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Text that MkDocs indents: its admonitions and tabs; and footnotes."""
    if state.is_code_block(start) or not _INDENTED.match(_text(state, start)):
        return False
    if silent:
        return True
    last = start + 1
    while last < end and (state.isEmpty(last) or state.sCount[last] >= state.blkIndent + 4):
        last += 1
    _inside(state, start + 1, last, indent=4)
    state.line = last
    return True


def tag(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Code between tags of Jekyll, Octopress, Hexo or Hugo."""
    match = _TAG.match(_text(state, start)) if not state.is_code_block(start) else None
    if match is None:
        return False
    name = match["liquid"] or match["hugo"]
    if (name, end) in state.env["endless"]:
        return False
    ending = re.compile(rf"(?:\{{%-?[ \t]*end{name}\b|\{{\{{[<%][ \t]*/[ \t]*{name}\b)")
    last = next((line for line in range(start + 1, end) if ending.match(_text(state, line))), None)
    if last is None:
        state.env["endless"].add((name, end))
        return False
    if silent:
        return True
    words = (match["told"] or match["said"] or "").strip()
    said = re.search(r"\blang(?:uage)?[:=]['\"]?(\w+)", words)
    state.line = last + 1
    _take(state, start, last, understood(said[1] if said is not None else words.strip("\"'")))
    return True


def comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A comment of MDX."""
    if state.is_code_block(start) or not _text(state, start).startswith("{/*"):
        return False
    if silent:
        return True
    if ("mdx", end) in state.env["endless"]:
        return False
    last = next((line for line in range(start, end) if "*/" in _text(state, line)), None)
    if last is None:
        state.env["endless"].add(("mdx", end))
        return False
    state.line = last + 1
    return True


def _take(state: StateBlock, start: int, last: int, info: Info) -> None:
    """Record the code between a fence in line ``start`` and ``last``; or read it as Markdown if it is nested."""
    after = state.line
    if info.nested:
        _inside(state, start + 1, last, plain=bool(info.directive) and info.directive not in ADMONITIONS)
    else:
        lines = _lines(state, start + 1, last, state.sCount[start])
        state.env["found"].append(Found(start + 1, lines, info))
    state.line = after


def _preformatted(state: StateBlock, start: int, last: int) -> None:
    """Record the code in ``<pre>``, if it has no markup except at the ends of its lines."""
    opening = _PRE.match(_text(state, start))
    if opening is None:
        return
    lines = []
    for line in _lines(state, start, last, state.blkIndent):
        before = _TAGS_BEFORE.match(line.text)
        bare = line.cut(before.end()) if before is not None else line
        text = _without_tags_behind(bare.text)
        if _MARKUP.search(text):
            return
        lines.append(bare._replace(text=text))
    said = _LANGUAGE.search(opening[0])
    state.env["found"].append(Found(start + 1, lines, Info(named(said[1] or said[2]) if said is not None else "")))


def _without_tags_behind(text: str) -> str:
    while (at := text.rfind("<")) >= 0 and _TAG_BEHIND.match(text, at):
        text = text[:at]
    return text


def _inside(state: StateBlock, start: int, last: int, *, indent: int = 0, plain: bool = False) -> None:
    """Read lines as Markdown of their own.

    Args:
        indent: the additional indentation.
        plain: True if further indented text is not code.
    """
    before: tuple[Any, ...] = state.lineMax, state.parentType, state.blkIndent, state.level, state.listIndent
    state.lineMax, state.parentType, state.listIndent = last, "root", -1
    state.blkIndent += indent
    state.level += 1
    state.env["plain"] += plain
    line = start
    while line < last:
        # The parser stops at what is indented less, of which there is none but after a fence in a list.
        state.md.block.tokenize(state, line, last)
        line = max(state.line, line) + 1
    state.env["plain"] -= plain
    state.lineMax, state.parentType, state.blkIndent, state.level, state.listIndent = before
    state.line = last


def _lines(state: StateBlock, start: int, last: int, indent: int) -> list[Line]:
    """Return the lines as `StateBlock.getLines` does, each with its place.

    If a tab is partly indentation of the block, its rest becomes spaces: the line begins that much further left.
    """
    found: list[Line] = []
    begins = state.env["begins"]
    for number in range(start, last):
        first = begin = state.bMarks[number]
        end = state.eMarks[number]
        width = 0
        while first < end and width < indent:
            character = state.src[first]
            if character == "\t":
                width += 4 - (width + state.bsCount[number]) % 4
            elif character == " " or first - begin < state.tShift[number]:
                width += 1
            else:
                break
            first += 1
        rest = max(width - indent, 0) if first < end else 0
        found.append(Line(number + 1, first - begins[number] - rest, " " * rest + state.src[first:end]))
    return found


def _text(state: StateBlock, line: int) -> str:
    """Return a line without its indentation."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _closes(state: StateBlock, line: int, markup: str) -> bool:
    text = _text(state, line).rstrip(" \t")
    return not state.is_code_block(line) and len(text) >= len(markup) and not text.strip(markup[0])
