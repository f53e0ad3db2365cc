"""Corrections: the wrong code in a finding and its replacement, for programs that write code.

Each rule returns the corrections of its own findings (`Rule.correction`) with one of these functions.
"""

from __future__ import annotations

from typing import NamedTuple

from tfmemlint.knowledge import environment, purposes
from tfmemlint.knowledge.instead import INTENDED, SAME, Instead, of_api, of_real, of_value, of_variable, releases_of
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding
from tfmemlint.model.intent import Purpose

NAME, ATTRIBUTE, ARGUMENT, KEY, VARIABLE, VALUE = "name", "attribute", "argument", "key", "variable", "value"
"""The kinds of wrong code: a name of a function, class or module; an attribute that is assigned to; an argument; a key
of a dictionary; an environment variable; a value."""
USE, TEXT = "use", "text"
"""Code whose names are all right but whose use is wrong; or a text that cannot be read, and comments to this tool."""

MEMORY_REPORT = "tf.config.experimental.get_memory_info"
NVML_KNOWS = "TensorFlow does not report this; NVML does"
_WHY_OF_INTENT = {Purpose.RELEASE: "no call gives GPU memory back to other processes", Purpose.REPORT: NVML_KNOWS}


class Correction(NamedTuple):
    """Wrong code: its kind, the code as written, the replacement, and the reason if there is no replacement."""

    kind: str
    written: str
    instead: Instead | None = None
    why: str = ""


def of_use(text: str) -> Correction:
    """Return the correction of code in which no name and no value is wrong by itself."""
    return Correction(USE, text)


def name_of(finding: Finding) -> str:
    """Return the canonical name that a finding is about, "" if there is none."""
    return str(finding.details.get("name", "")).replace("()", "")


def of_name(finding: Finding, text: str, target: Target) -> Correction:
    """Return the correction of a name that the release lacks, or that has a better one."""
    details, name = finding.details, name_of(finding)
    if not name:
        return of_use(text)
    given, new = details.get("instead"), details.get("new") or details.get("twin")
    if isinstance(given, Instead):
        return Correction(NAME, name, given)
    made_up = purposes.purpose_of(str(details["name"]))
    why = _WHY_OF_INTENT.get(made_up.purpose, "") if made_up is not None else ""
    instead = of_real(str(new), SAME, target) if new else of_api(str(details["name"]), target)
    return Correction(NAME, name, instead, why)


def by_name(finding: Finding, better: str, target: Target) -> Correction:
    """Return the correction of a name that exists, and for which there is a ``better`` one."""
    return Correction(NAME, name_of(finding), of_real(better, INTENDED, target))


def of_memory_report(finding: Finding, text: str, target: Target) -> Correction:
    """Return the correction of a memory report: the finding's ``report`` says of what."""
    if not name_of(finding) or isinstance(finding.details.get("instead"), Instead):
        return of_name(finding, text, target)
    known = finding.details.get("report") in ("current", "peak")
    return Correction(NAME, name_of(finding), of_real(MEMORY_REPORT, INTENDED, target) if known else None, NVML_KNOWS)


def of_attribute(finding: Finding, text: str, target: Target) -> Correction:
    """Return the correction of an assignment to an attribute that TensorFlow never reads."""
    name = name_of(finding)
    return Correction(ATTRIBUTE, name, of_api(name, target)) if name else of_use(text)


def of_argument(finding: Finding, text: str) -> Correction:
    """Return the correction of a keyword that the function lacks."""
    details = finding.details
    keyword = str(details.get("keyword") or details.get("written") or text.partition("=")[0].strip())
    meant = details.get("meant") or details.get("replacement")
    if not meant and details.get("unit") in ("mib", "auto"):
        meant = "memory_limit"
    if not meant:
        return Correction(ARGUMENT, keyword, None, "the argument memory_limit takes MiB, this gives another unit")
    function = str(details.get("name", "tf.config.LogicalDeviceConfiguration"))
    return Correction(ARGUMENT, keyword, Instead(str(meant), SAME, None, releases_of(function), "name"))


def of_key(finding: Finding, target: Target) -> Correction:
    """Return the correction of a key that the dictionary never has."""
    details = finding.details
    key = str(details.get("key") or details.get("written", ""))
    report = details.get("report")
    if report is None and finding.intent is not None:
        report = finding.intent.value
    if report in ("current", "peak"):
        made = of_real(MEMORY_REPORT, INTENDED, target)
        if made is not None:
            return Correction(KEY, key, made._replace(name=f"{made.name}('GPU:0')[{str(report)!r}]"))
    return Correction(KEY, key, None, NVML_KNOWS)


def of_environment_variable(finding: Finding, text: str) -> Correction:
    """Return the correction of a variable that TensorFlow never reads."""
    name, real = name_of(finding), str(finding.details.get("real") or "")
    if not name:
        return of_use(text)
    if real:
        return Correction(VARIABLE, name, of_variable(real))
    return Correction(VARIABLE, name, None, "TensorFlow has no variable for this; advice says which call does it")


def of_environment_value(finding: Finding, text: str) -> Correction:
    """Return the correction of a value that TensorFlow does not accept for a variable."""
    meant, value = str(finding.details.get("meant") or ""), str(finding.details.get("value", "") or text)
    instead = _value(meant, name_of(finding) or text) if meant else None
    return Correction(VALUE, value, instead, "which value is meant is not known")


def of_amount(finding: Finding, text: str, meant: str = "") -> Correction:
    """Return the correction of an amount of memory; ``meant`` is the right one if the rule knows it."""
    meant = meant or str(finding.details.get("replacement") or "")
    written = str(finding.details.get("written", "") or text)
    return Correction(VALUE, written, _value(meant, "") if meant else None, "the amount depends on the GPU's memory")


def of_text(finding: Finding, text: str, target: Target) -> Correction:
    """Return the correction of a text that cannot be read, or of a comment to this tool."""
    meant = str(finding.details.get("instead_of_masked") or "")
    return Correction(TEXT, text, of_real(meant, SAME, target) if meant else None, finding.message)


def _value(meant: str, text: str) -> Instead:
    """Return a value; for a variable with few accepted values, with the releases that were seen to accept it."""
    variable = next((variable for variable in environment.VARIABLES if variable in text), "")
    return of_value(meant, variable)
