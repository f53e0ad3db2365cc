"""Code in a text that cannot be parsed: statements that have run together, and names that were masked."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.sources.documents.python_lines import QUOTES, without_strings
from tfmemlint.text_checks.mention import Mention

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.text_checks.reading import Reading

_BEGINS = re.compile(
    r"[\s>`$\d.]*(?:import\s|from\s+[\w.]+\s+import\s|[A-Za-z_][\w.]*\s*=(?!=)|(?:tf|os|gpus?)\.\w|(?:if|for|with)\s.+:)"
)
_STATEMENT = (
    r"(?:import\s+[a-z]\w*|from\s+[\w.]+\s+import\s|[A-Za-z_][\w.]*\s*=(?!=)\s*[\w\[('\"]|for\s+\w+(?:\s*,\s*\w+)*\s+in\s.*:"
    r"|with\s+\S+\(|if\s+[\w.]+.*?:|try\s*:|except\b.*?:|def\s+\w+\(|print\(|tf\.[\w.]+\(|os\.environ\b)"
)
_CALL = r"[A-Za-z_][\w.]*\("
_LONGEST_LINE = 1_000
"""Characters of a line in which statements that have run together are looked for: the first ones tell."""
_JOINT = re.compile(
    rf"(?:\bas\s+tf(?=[a-z]\w*\s*=(?!=))|(?:\bas\s+\w+\s+|\bimport\s+\w+\s+)(?={_STATEMENT}|{_CALL})"
    rf"|(?:[)\]}}'\"]\s*|\b(?:True|False|None|\d+)\s+)(?={_STATEMENT}))"
)
_ABOUT = re.compile(r"\btf\.|tensorflow|\bas\s+tf|CUDA_VISIBLE_DEVICES|\bTF_[A-Z]+_")
_COMMAND = re.compile(r"\bpython[\d.]* -[cm]\b|\$\(|^\$?\s*[A-Z][A-Z0-9_]*=\S*\s")
_MASKED = re.compile(r"(?<![*\w])\*{3,}(?P<rest>\w*(?:\.\w+)+)\s?\((?![^\n]*\*{3})")
_PRINTED = re.compile(r"\btf\.\w{0,8}Tensor\([^\n]{0,200}\bdtype=\w+\)|<tf\.(?:Tensor|Variable)\b")
"""A value as TensorFlow prints it: several on a line are no statements."""
_WORDS = re.compile(r"(?<![\w.'\"#(=,-])[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}")


def scan(reading: Reading, target: Target) -> Iterator[Mention]:
    """Yield damaged lines of code."""
    del target
    for row, line in enumerate(reading.lines, 1):
        if len(line) > 5000:
            continue
        if "***" in line:
            yield from _masked(reading, row, line)
        if _ABOUT.search(line) is not None and _BEGINS.match(line) is not None:
            yield from _run_together(reading, row, line)


def _masked(reading: Reading, row: int, line: str) -> Iterator[Mention]:
    for match in _MASKED.finditer(line):
        meant = _unmasked(match["rest"])
        if not meant:
            continue
        start = reading.starts[row - 1] + match.start()
        yield Mention(
            TextDefect.BROKEN_CODE,
            reading.span(start, start + len(match[0])),
            "Not valid Python: this line is damaged by masking (***)",
            advice=f"Write {meant}" if meant.count(" ") == 0 else "",
            details={"instead_of_masked": meant},
        )


def _unmasked(rest: str) -> str:
    """Return the name of which all but the end was masked: ``tf.compat.v1.Session`` for ``pat.v1.Session``; "" for
    none."""
    piece, _, tail = rest.partition(".")
    for place in sorted(names.places(), key=len):
        head = f"tf{place.removeprefix('tf')}"
        for depth in range(head.count(".") + 1):
            before = head.split(".")
            owner, inner = ".".join(before[: depth + 1]), ".".join(before[depth + 1 :])
            if owner.endswith(piece) and (not inner or tail.startswith(inner + ".")):
                name = f"{owner}.{tail}"
                if names.ranges(name) is not None:
                    return name
    return ""


def _run_together(reading: Reading, row: int, line: str) -> Iterator[Mention]:
    code = line.translate(QUOTES).strip().strip("`").removeprefix(">>> ")
    if _is_python(code) or code.count("(") != code.count(")") or code.count("[") != code.count("]"):
        return
    if _PRINTED.search(code[:_LONGEST_LINE]):
        return
    if _COMMAND.search(code):
        # A command of a shell, with a program in it, or with variables in front of it.
        return
    bare = without_strings(code)
    if _WORDS.search(re.sub(r"\b(?:import|as|for|in|if|from|not|is|and|or)\b", ";", bare)):
        return
    joint = _JOINT.search(line[:_LONGEST_LINE])
    if joint is None or reading.denied(reading.starts[row - 1], reading.starts[row] - 1):
        return
    start = reading.starts[row - 1] + joint.end()
    first = reading.starts[row - 1] + len(line) - len(line.lstrip())
    yield Mention(
        TextDefect.BROKEN_CODE,
        reading.span(start, min(start + 1, reading.starts[row] - 1)),
        "Not valid Python: several statements have run together on this line",
        advice="Write each statement in a line of its own",
        details={"first": first},
    )


def _is_python(code: str) -> bool:
    for text in (code, f"{code} pass"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return True
    return False
