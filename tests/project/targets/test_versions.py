"""Version specifiers and markers: read as pip reads them."""

from __future__ import annotations

import random

import pytest
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

from tfmemlint.knowledge.releases import Target
from tfmemlint.project.targets.markers import may_apply
from tfmemlint.project.targets.versions import ANY, Unreadable, admitted, exactly, known


def span(specifier: str, dialect: str = "pip") -> str:
    found = known(admitted(specifier, dialect))
    if found is None:
        return "none"
    first, last = found
    return str(first) if first == last else f"{first}-{last}"


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("==2.4.1", "2.4"),
        ("==2.4", "2.4"),
        ("==2.4.*", "2.4"),
        ("~=2.4", "2.4-2.21"),
        ("~=2.14.0", "2.14"),
        (">=1.15,<2.3", "1.15-2.2"),
        (">=1.8.0,<2.0.0", "1.13-1.15"),
        ("< 2", "1.13-1.15"),
        ("<=2.9", "1.13-2.9"),
        (">=2.6.3,<2.9", "2.6-2.8"),
        (">2.4,<2.6", "2.4-2.5"),
        ("!=2.3.0,>=2.2,<2.4", "2.2-2.3"),
        ("!=2.3.*,>=2.2,<2.4", "2.2"),
        ("==2.0.0-beta1", "2.0"),
        ("==2.9.1+nv22.8", "2.9"),
        (">=2.3", "2.3-2.21"),
        ("==1.7", "1.13"),
        ("==2.40.0", "2.21"),
        ("==2.99", "none"),
        ("", "1.13-2.21"),
    ],
)
def test_what_pip_admits(specifier: str, expected: str) -> None:
    assert span(specifier) == expected.replace("2.21", str(Target.newest()))


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("^2.4", "2.4-2.21"),
        ("^1.13", "1.13-1.15"),
        ("~2.4", "2.4"),
        ("~2.4.1", "2.4"),
        ("~2", "2.0-2.21"),
        ("2.12.1", "2.12"),
        ("2.12.*", "2.12"),
        ("*", "1.13-2.21"),
        (">=2.4 <2.9", "2.4-2.8"),
        ("^1.15 || ~2.4", "1.15-2.4"),
    ],
)
def test_what_poetry_admits(specifier: str, expected: str) -> None:
    assert span(specifier, "poetry") == expected.replace("2.21", str(Target.newest()))


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [("=2.4", "2.4"), ("2.4", "2.4"), ("==2.7.0", "2.7"), (">=2.6.3,<2.9", "2.6-2.8"), ("2.4|2.6", "2.4-2.6")],
)
def test_what_conda_admits(specifier: str, expected: str) -> None:
    assert span(specifier, "conda") == expected


@pytest.mark.parametrize("specifier", ["2.4", "=2.4", "^2.4", "~2.4", "==two", "~=2", ">= 2.4 <3", "==2.4; x", "${TF}"])
def test_what_pip_refuses_is_unreadable(specifier: str) -> None:
    with pytest.raises(Unreadable):
        admitted(specifier)


def test_random_specifiers_are_read_as_packaging_reads_them() -> None:
    chance = random.Random(1)
    for _ in range(400):
        clauses = []
        for _ in range(chance.randint(1, 3)):
            operator = chance.choice(["==", "!=", "<", "<=", ">", ">=", "~="])
            numbers = [chance.choice("12"), str(chance.randint(0, 15)), str(chance.randint(0, 4))]
            text = ".".join(numbers[: chance.randint(2, 3)])
            star = ".*" if operator in ("==", "!=") and chance.random() < 0.3 else ""
            clauses.append(f"{operator}{text}{star}")
        specifier = ",".join(clauses)
        theirs = SpecifierSet(specifier)
        ours = admitted(specifier)
        for major, minor in ANY:
            expected = any(theirs.contains(f"{major}.{minor}.{patch}") for patch in range(10))
            assert ((major, minor) in ours) == expected, f"{specifier} and {major}.{minor}"


@pytest.mark.parametrize(
    "marker",
    [
        'python_version < "3.8"',
        'python_version >= "3.8" and sys_platform == "linux"',
        "sys_platform == 'darwin' and platform_machine == 'arm64'",
        "sys_platform != 'darwin' or platform_machine != 'arm64'",
        "platform_machine != 'arm64'",
        'platform_system == "Windows"',
        'python_version < "3.0"',
        'python_version in "3.6 3.7"',
        'python_full_version < "3.7.1" and (os_name == "posix" or os_name == "nt")',
        'python_version == "3.8.*"',
        '"linux" in sys_platform',
    ],
)
def test_markers_are_evaluated_as_packaging_does_for_linux(marker: str) -> None:
    linux = {
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
    }
    pythons = [f"3.{minor}" for minor in range(5, 15)]
    theirs = Marker(marker)
    expected = any(
        theirs.evaluate({**linux, "python_version": one, "python_full_version": f"{one}.0"}) for one in pythons
    )
    assert may_apply(marker) == expected


@pytest.mark.parametrize(
    "marker", ['python_version ~= "3.7"', "extra == 'gpu'", "what is this", "", "unheard_of == 'x'"]
)
def test_a_marker_that_is_not_understood_may_apply(marker: str) -> None:
    assert may_apply(marker)


def test_image_tags_name_a_release() -> None:
    assert exactly("2.4.1-gpu") == {(2, 4)}
    assert exactly("v1.15.0") == {(1, 15)}
    with pytest.raises(Unreadable):
        exactly("latest-gpu")
