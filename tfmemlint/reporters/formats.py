"""The output formats of ``check`` and ``fix``, in one registry for command line, configuration and reports.

A format for programs names the function that writes it, so that a new one is one module and one entry here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.records import dataclass

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
        suppressed: the findings that comments silence, if the format shows them.
        not_followed: the files that were not followed to their end, each with the reason, in words.
    """

    findings: Sequence[Finding]
    sources: Mapping[str, Source]
    rules: Mapping[str, Rule]
    target_of: Callable[[str], Target]
    suppressed: Sequence[Finding] = ()
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
        shows_suppressed: findings that comments silence are a part of the report.
        is_json: additional output (``--statistics``) is JSON as well.
    """

    name: str
    writer: str = ""
    explain_fixes: str = "few"
    rows_of_file: bool = False
    is_json: bool = False
    shows_suppressed: bool = False

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


_CI = "tfmemlint.reporters.machines_of_ci"

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("full"),
        Format("concise"),
        Format("grouped"),
        Format("json", "tfmemlint.reporters.machines:write_json", explain_fixes="always", is_json=True),
        Format("json-lines", "tfmemlint.reporters.machines:write_json_lines", explain_fixes="always"),
        Format(
            "sarif",
            "tfmemlint.reporters.sarif:write_sarif",
            explain_fixes="always",
            rows_of_file=True,
            shows_suppressed=True,
        ),
        Format("github", "tfmemlint.reporters.machines:write_github", explain_fixes="never", rows_of_file=True),
        Format("gitlab", f"{_CI}:write_gitlab", explain_fixes="never", rows_of_file=True),
        Format("junit", f"{_CI}:write_junit", explain_fixes="never"),
        Format("rdjson", f"{_CI}:write_rdjson", explain_fixes="always", rows_of_file=True),
        Format("azure", f"{_CI}:write_azure", explain_fixes="never", rows_of_file=True),
        Format("teamcity", f"{_CI}:write_teamcity", explain_fixes="never", rows_of_file=True),
        Format("markdown", "tfmemlint.reporters.markdown_summary:write_markdown", explain_fixes="never"),
        Format(
            "corrections",
            "tfmemlint.reporters.corrections:write_corrections",
            explain_fixes="always",
            is_json=True,
        ),
    )
}
"""The output formats, by name; the first is the default."""

DEFAULT, GITHUB = "full", "github"


def usual(environment: Mapping[str, str]) -> str:
    """Return the name of the format where nobody asks for one: annotations in a job of GitHub Actions."""
    return GITHUB if environment.get("GITHUB_ACTIONS") == "true" else DEFAULT


def format_named(name: str) -> Format:
    """Return the format with this name.

    Raises:
        ValueError: no format has this name.
    """
    if name not in FORMATS:
        import difflib

        near = difflib.get_close_matches(name.lower(), FORMATS, n=1)
        others = f"did you mean {near[0]}?" if near else f"there are {', '.join(FORMATS)}"
        raise ValueError(f"{name!r} is no output format; {others}")
    return FORMATS[name]
