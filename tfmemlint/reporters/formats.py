"""The output formats of ``check`` and ``fix``, in one registry for command line, configuration and reports.

A format for programs names the function that writes it, so that a new one is one module and one entry here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source


@dataclass(frozen=True, slots=True)
class Report:
    """The input of a format for programs.

    Attributes:
        findings: in the order to print.
        sources: the texts of the files, by the paths of the findings.
        rules: by code.
        target_of: returns the release that a file was judged for, by its path.
        not_followed: the files that were not followed to their end, each with the reason, in words.
    """

    findings: Sequence[Finding]
    sources: Mapping[str, Source]
    rules: Mapping[str, Rule]
    target_of: Callable[[str], Target]
    not_followed: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One value of ``--output-format``.

    Attributes:
        name: the value.
        writer: ``module:function`` of a function that takes a `Report` and returns the text; "" for formats for people,
            which are painted line by line.
        explain_fixes: compute the fixes of findings ``always``, ``never``, or if there are ``few`` of them.
        rows_of_file: a finding in a notebook has the row in the file, not in its cell.
        is_json: additional output (``--statistics``) is JSON as well.
    """

    name: str
    writer: str = ""
    explain_fixes: str = "few"
    rows_of_file: bool = False
    is_json: bool = False

    @property
    def for_people(self) -> bool:
        """True if closing lines and hints may follow the findings."""
        return not self.writer

    def write(self, report: Report) -> str:
        """Return the report in this format, which is one for programs."""
        module, _, function = self.writer.partition(":")
        text = getattr(importlib.import_module(module), function)(report)
        assert isinstance(text, str)
        return text


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("full"),
        Format("concise"),
        Format("json", "tfmemlint.reporters.machines:write_json", explain_fixes="always", is_json=True),
        Format("github", "tfmemlint.reporters.machines:write_github", explain_fixes="never", rows_of_file=True),
        Format(
            "corrections",
            "tfmemlint.reporters.corrections:write_corrections",
            explain_fixes="always",
            is_json=True,
        ),
    )
}
"""The output formats, by name; the first is the default."""

DEFAULT = "full"


def format_named(name: str) -> Format:
    """Return the format with this name.

    Raises:
        ValueError: no format has this name.
    """
    if name not in FORMATS:
        raise ValueError(f"{name!r} is no output format; there are {', '.join(FORMATS)}")
    return FORMATS[name]
