"""The statement of one line of a project about the TensorFlow that it needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.project.targets.markers import may_apply
from tfmemlint.project.targets.versions import ANY, Releases, Unreadable, admitted, exactly, known, up_to

PACKAGES: dict[str, str] = {
    "tensorflow": "",
    "tensorflow-cpu": "",
    "tensorflow-gpu": "2.11",
    "tensorflow-macos": "2.16",
    "tensorflow-intel": "2.18",
    "tensorflow-rocm": "2.14",
    "intel-tensorflow": "2.14",
    "tensorflow-cpu-aws": "",
    "tensorflow-aarch64": "",
    "tensorflow-mkl": "",
    "tensorflow-eigen": "",
    "tensorflow-base": "",
    "nvidia-tensorflow": "1.15",
    "tf-nightly": "nightly",
    "tf-nightly-gpu": "nightly",
    "tf-nightly-cpu": "nightly",
}
"""The packages that are TensorFlow, and the last release that the registry has a wheel of, where no more will come."""

CONCERNS = late_pattern(rb"tensorflow|tf[-_.]nightly", re.IGNORECASE)
"""The words without which a file is not about TensorFlow's release."""

_REQUIREMENT = late_pattern(
    r"""(?P<name>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)\s*(?:\[[^\]]*\])?\s*
    (?:@\s*(?P<url>\S+)|\(?(?P<versions>[^;()@#]*)\)?)\s*(?:;(?P<marker>.*))?""",
    re.IGNORECASE | re.VERBOSE,
)
"""A requirement in its parts. Their meaning is left to packaging (`admitted`, `may_apply`); its own parser of the whole
would refuse what the text has besides, such as a marker that it does not know."""
_IN_WHEEL = late_pattern(r"(?:^|[/=])(?P<name>[A-Za-z0-9_.]+)-(?P<version>\d[^-/]*)-[^/]*\.whl")
_IN_TAG = late_pattern(r"(?:^|/)tensorflow(?:\.git)?@[vr]?(?P<version>\d+\.\d+[^#&]*)")


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement.

    Attributes:
        path, row: its place. text: the requirement as it is written.
        releases: what it admits; None where that can't be read, and then ``why``.
        weak: it is about tests or development. constraint: it only limits what others ask for.
        prose: a text for people says it, not a manifest. floating: it is another release every day.
    """

    path: str
    row: int
    text: str
    releases: Releases | None
    why: str = ""
    weak: bool = False
    constraint: bool = False
    prose: bool = False
    floating: bool = False

    @property
    def place(self) -> str:
        """``requirements.txt:30``."""
        return f"{self.path}:{self.row}"

    @property
    def span(self) -> str:
        """The known releases that it admits, in words."""
        if self.releases is None:
            return "unknown"
        if self.releases == ANY:
            return "any"
        found = known(self.releases)
        if found is None:
            return "none that is known"
        first, last = found
        return str(last) if first == last else f"{first} to {last}"


def package(name: str) -> str | None:
    """The canonical name of a package that is TensorFlow; None for others."""
    plain = re.sub(r"[-_.]+", "-", name.strip()).lower()
    return plain if plain in PACKAGES else None


def of_package(name: str, specifier: str, dialect: str = "pip") -> Releases:
    """The releases that one of `PACKAGES` can be installed in.

    Raises:
        Unreadable: the specifier can't be understood.
    """
    last = PACKAGES[name]
    if last == "nightly":
        return exactly("3.20")  # whatever is newest
    found = admitted(specifier, dialect)
    # `tensorflow-gpu>=2.12` asks for what isn't there.
    return (up_to(found, last) or found) if last and found != ANY else (up_to(ANY, last) if last else found)


def of_requirement(text: str, path: str, row: int, *, weak: bool = False, constraint: bool = False) -> Stated | None:
    """Return what a requirement of pip (``tensorflow[and-cuda]>=2.14; sys_platform == "linux"``) says of TensorFlow;
    None where it is about something else."""
    text = " ".join(text.split())
    found = _of_url(text)
    if found is not None:
        name, version = found
        if package(name) is None:
            return None
        return _stated(text, path, row, lambda: exactly(version), weak, constraint)
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        # Broken, or with a variable in it: it may still be about TensorFlow.
        name = re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]
        if package(name.rstrip("._-")) is None:
            return None
        return Stated(path, row, text, None, "it can't be read", weak, constraint)
    name_of = package(match["name"])
    if name_of is None:
        return None
    if match["marker"] and not may_apply(match["marker"]):
        # On no Linux: that is a word about other machines.
        weak = True
    if match["url"]:
        return Stated(path, row, text, None, "it comes from a URL that names no release", weak, constraint)
    stated = _stated(text, path, row, lambda: of_package(name_of, match["versions"] or ""), weak, constraint)
    # A nightly build without a version is that of the day on which it is installed.
    return replace(stated, floating=True) if PACKAGES[name_of] == "nightly" and not match["versions"] else stated


def _stated(text: str, path: str, row: int, read: Callable[[], Releases], weak: bool, constraint: bool) -> Stated:
    try:
        return Stated(path, row, text, read(), "", weak, constraint)
    except Unreadable as error:
        return Stated(path, row, text, None, str(error), weak, constraint)


def _of_url(text: str) -> tuple[str, str] | None:
    """A package and its version, of the address of a wheel, or of a tag in TensorFlow's repository."""
    if "://" not in text and not text.endswith(".whl"):
        return None
    bare = text.partition("#")[0].partition(" ;")[0]
    wheel = _IN_WHEEL.search(bare)
    if wheel is not None:
        return wheel["name"], wheel["version"]
    tag = _IN_TAG.search(bare)
    return ("tensorflow", tag["version"]) if tag is not None else None
