"""The parts of a text for people that don't speak of what the code beside it runs on.

Such are change logs and plans, answers to questions, references, what a program has printed, and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfmemlint.model.patterns import late_pattern

_HEADING = late_pattern(r"(?P<level>#{1,6})\s+(?P<title>.*)")
_UNDERLINE = late_pattern(r"(?P<sign>[=~^*+-])(?P=sign){2,}\s*")
_TITLE_OF_OTHER_THINGS = late_pattern(
    r"\b(?:change ?log|release notes|releases|history|what['\u2019]?s new|road ?map|to[- ]?dos?|future(?: work)?|faq"
    r"|frequently asked|trouble ?shooting|known (?:issues|problems|bugs)|common (?:issues|problems|errors)"
    r"|citations?|citing|cite|bibtex|references|bibliography|acknowledge?ments?|credits"
    r"|related (?:work|projects|repos\w*)"
    r"|similar projects|other implementations|alternatives|comparisons?"
    r"|further reading|resources|learn more|see also)\b"
    r"|更新日志|更新记录|常见问题|参考(?:文献|资料|链接)|引用|致谢|待办|计划",
    re.IGNORECASE,
)
"""A heading over what speaks of other releases, or of others' code."""
_FENCE = late_pattern(r"\s{0,8}(?P<sign>`{3,}|~{3,})(?P<rest>[^`]*)")
_PROMPT = late_pattern(
    r"\s*(?:\([\w.-]{1,40}\)\s*)?(?:\$|>>>|In \[\d*\]:|[\w.-]{1,40}@[\w.-]{1,60}[:~][^$#\n]{0,80}[$#])"
    r"\s*(?P<command>\S.*)"
)
_PRINTED = late_pattern(
    r"Traceback \(most recent call last\)|^[ \t]*>>> |^[ \t]*File \"[^\"]{1,300}\", line \d"
    r"|^[ \t]*\d{4}-\d\d-\d\d[ T]\d\d:\d\d|^[ \t]*[IWEF]\d{4} \d\d:\d\d"
    r"|^[ \t]*\[?(?:INFO|WARNING|WARN|ERROR|DEBUG)\]?\b"
    r"|^\w{0,60}(?:Error|Exception|Warning): "
    r"|^[ \t]*(?:Requirement already satisfied|Collecting |Successfully installed )"
    r"|^[ \t]*Epoch \d+/\d+|\bETA: |^[ \t]*(?:Summary|Home-page): ",
    re.MULTILINE,
)
"""Rows that only a program prints; people don't write them where they list what is needed."""
_INSTALLS = late_pattern(
    r"\b(?:pip3?|conda|mamba|docker)\s+(?:install|create|run|pull)\b|^[ \t]*[\w-]{1,60}==\d", re.MULTILINE
)
_SAYS_OUTPUT = late_pattern(
    r"\b(?:outputs?|prints?|printed|logs?|errors?|tracebacks?|fails?|looks? like|similar to|shows?|returns?|console"
    r"|issue|bug|warning|results? in)\b|输出|打印|报错|错误|日志",
    re.IGNORECASE,
)
"""Words of the row above a block that shows what a program prints."""
_REFERENCE = late_pattern(r"\s*@\w{3,20}\s*\{")
_QUOTE_OF_A_REPORT = late_pattern(r"\s*>\s")
_FAILURE = late_pattern(r"\b(?:error|fail\w*|crash\w*|issue|bug|traceback)\b", re.IGNORECASE)
_MAX_REFERENCE_ROWS = 40


def of_other_things(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers (from 0) of the rows of a text that speak of other things than what the code runs on."""
    return frozenset((*_fences(lines), *_sections(lines), *_references(lines), *_comments(lines), *_quotes(lines)))


def _fences(lines: Sequence[str]) -> Iterator[int]:
    """Yield the rows of blocks that show what a program printed; of a session at a prompt, all but the commands."""
    start, sign = -1, ""
    for row, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            continue
        if start < 0:
            start, sign = row, match["sign"]
        elif match["sign"].startswith(sign) and not match["rest"].strip():
            inside = range(start + 1, row)
            prompts = [place for place in inside if _PROMPT.match(lines[place])]
            if prompts:
                yield from (place for place in inside if place > prompts[0] and place not in prompts)
            else:
                text = "\n".join(lines[start + 1 : row])
                if _PRINTED.search(text) or (_is_output(lines, start) and _INSTALLS.search(text) is None):
                    yield from inside
            start = -1
    yield from (row for row, line in enumerate(lines) if _PRINTED.search(line) is not None)


def _is_output(lines: Sequence[str], fence: int) -> bool:
    """Return True if the row above a block says that it shows an output."""
    if lines[fence].strip(" `~").lower() in ("output", "log", "console-output", "error"):
        return True
    above = next((lines[row] for row in range(fence - 1, max(fence - 4, -1), -1) if lines[row].strip()), "")
    return _SAYS_OUTPUT.search(above) is not None


def _sections(lines: Sequence[str]) -> Iterator[int]:
    """Yield the rows below headings such as ``Changelog`` and ``FAQ``, up to the next heading that is not below.

    The first heading is the title of the whole text.
    """
    left_out = 0
    in_fence = False
    is_titled = False
    for row, line in enumerate(lines):
        if _FENCE.match(line):
            in_fence = not in_fence
        level, title = (0, "") if in_fence else _heading(lines, row)
        if level and (not left_out or level <= left_out):
            left_out = level if is_titled and _TITLE_OF_OTHER_THINGS.search(title) else 0
        is_titled = is_titled or level > 0
        if left_out:
            yield row


def _heading(lines: Sequence[str], row: int) -> tuple[int, str]:
    """Return the level and the words of the heading in a row; 0 if there is none."""
    match = _HEADING.match(lines[row])
    if match is not None:
        return len(match["level"]), match["title"]
    below = lines[row + 1] if row + 1 < len(lines) else ""
    words = lines[row].strip()
    if words and len(words) <= 80 and words[0].isalnum() and (found := _UNDERLINE.fullmatch(below)) is not None:
        return 1 if found["sign"] == "=" else 2, words
    return 0, ""


def _references(lines: Sequence[str]) -> Iterator[int]:
    """Yield the rows of BibTeX entries."""
    last = -1
    for row, line in enumerate(lines):
        if row <= last or _REFERENCE.match(line) is None:
            continue
        depth = 0
        for last in range(row, min(len(lines), row + _MAX_REFERENCE_ROWS)):
            depth += lines[last].count("{") - lines[last].count("}")
            yield last
            if depth <= 0:
                break


def _comments(lines: Sequence[str]) -> Iterator[int]:
    """Yield the rows that are comments of HTML."""
    inside = False
    for row, line in enumerate(lines):
        begins = line.lstrip().startswith("<!--")
        inside = inside or begins
        if inside:
            yield row
            inside = "-->" not in line


def _quotes(lines: Sequence[str]) -> Iterator[int]:
    """Yield the rows of quotations in which a program failed: somebody's report."""
    block: list[int] = []
    for row, line in enumerate((*lines, "")):
        if row < len(lines) and _QUOTE_OF_A_REPORT.match(line):
            block.append(row)
            continue
        if any(_FAILURE.search(lines[at]) is not None for at in block):
            yield from block
        block = []
