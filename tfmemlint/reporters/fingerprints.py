"""Fingerprints: names of findings that survive moved and re-indented lines."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tfmemlint.model.finding import Finding
from tfmemlint.sources import Source

_SPACE = re.compile(r"\s+|,(?=\s*[)\]}])")
"""Matches the parts of code that formatters change: white space, and commas before closing brackets."""


def fingerprints(findings: Sequence[Finding], sources: Mapping[str, Source], root: str = "") -> list[str]:
    """Return a fingerprint for each finding, of 32 hexadecimal digits.

    It is made of the rule, the file, and the text at the place of the finding without white space: never of rows, nor
    of the message, which may name rows. Findings that are alike in all of these are numbered in their order.

    Args:
        findings: those of whole files, so that equal ones get the same numbers each time.
        sources: the texts, by the paths of the findings, or by ``path:cell N``.
        root: the directory that paths are relative to; the working directory by default.
    """
    seen: Counter[str] = Counter()
    made = []
    for finding in findings:
        path = "-" if finding.path == "-" else os.path.relpath(finding.path, root or os.curdir).replace(os.sep, "/")
        base = "\0".join((finding.code, path, _text(finding, sources)))
        seen[base] += 1
        whole = f"{base}\0{seen[base]}".encode("utf-8", "surrogatepass")
        made.append(hashlib.blake2b(whole, digest_size=16).hexdigest())
    return made


def _text(finding: Finding, sources: Mapping[str, Source]) -> str:
    """Return the text of the place, without what formatters change; "" where it is not known."""
    key = finding.path if finding.cell is None else f"{finding.path}:cell {finding.cell}"
    source = sources.get(key)
    if source is None:
        return ""
    span = finding.span
    lines = list(source.lines[span.row - 1 : span.end_row])
    if not lines:
        return ""
    if span.end_row - span.row + 1 == len(lines):
        lines[-1] = lines[-1][: max(span.end_column - 1, 0)] or lines[-1]
    lines[0] = lines[0][span.column - 1 :] if len(lines) > 1 or len(lines[0]) >= span.column else lines[0]
    return _SPACE.sub("", "\n".join(lines))
