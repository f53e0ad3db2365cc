"""Version specifiers and markers: read as pip reads them."""

from __future__ import annotations

import random
import subprocess
import sys

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
            numbers = [chance.choice("12"), str(chance.randint(0, 15)), str(chance.randint(0, 9))]
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
    ("specifier", "expected"),
    [
        # A release that a specifier names exists, whatever its number: nine patch releases were all that was tried.
        ("~=2.4.12", "2.4"),
        ("==2.9.12", "2.9"),
        # Builds of other people have four numbers.
        ("~=2.9.1.540", "2.9"),
        ("==2.9.1.540", "2.9"),
        # Release candidates are of the release; 2.4.0 comes before 2.4.post1.
        ("==2.5.0rc1", "2.5"),
        ("~=2.5.0rc1", "2.5"),
        ("===2.5.0-rc1", "2.5"),
        ("<1.14.post1", "1.13-1.14"),
        # A star behind `===` is part of the text that is compared.
        ("===2.4.*", "none"),
        # Older releases of pip read them so; PEP 440 has no star there.
        (">=2.4.*,<2.6", "2.4-2.5"),
        ("<2.*", "1.13-1.15"),
        ("~=2.14.*", "2.14-2.21"),
    ],
)
def test_specifiers_that_are_seldom_written(specifier: str, expected: str) -> None:
    assert span(specifier) == expected.replace("2.21", str(Target.newest()))


@pytest.mark.parametrize("specifier", [">=2.4+nv22.8", "~=2.4+local", "==2.4*", "== 2.4 0"])
def test_what_pep_440_does_not_allow_is_unreadable(specifier: str) -> None:
    with pytest.raises(Unreadable):
        admitted(specifier)


@pytest.mark.parametrize(
    ("specifier", "dialect", "expected"),
    [
        ("^0.12", "poetry", "1.13"),
        ("^2.4.12", "poetry", "2.4-2.21"),
        ("~2.4.12", "poetry", "2.4"),
        ("^2.5rc1", "poetry", "2.5-2.21"),
        ("~2.5.0rc1", "poetry", "2.5"),
        ("=2.4.*", "conda", "2.4"),
        ("2.4.*|2.6.*", "conda", "2.4-2.6"),
        ("2.5.0rc1", "conda", "2.5"),
        (">=2.4.*", "conda", "2.4-2.21"),
    ],
)
def test_what_is_translated_first(specifier: str, dialect: str, expected: str) -> None:
    assert span(specifier, dialect) == expected.replace("2.21", str(Target.newest()))


@pytest.mark.parametrize("specifier", ["==" + "9" * 5000, "~=2." + "9" * 5000, "^" + "9" * 5000])
def test_numbers_that_nobody_writes_raise_nothing_else(specifier: str) -> None:
    for dialect in ("pip", "poetry", "conda"):
        with pytest.raises(Unreadable):
            admitted(specifier, dialect)


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
    "marker",
    [
        "extra == 'gpu'",
        "extra != 'gpu'",
        "platform_release > '5.4'",
        "platform.version != '1'",
        "what is this",
        "",
        "unheard_of == 'x'",
    ],
)
def test_a_marker_that_is_not_understood_may_apply(marker: str) -> None:
    assert may_apply(marker)


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ('python_version ~= "3.7"', True),
        ('python_version ~= "2.7"', False),
        ('python_full_version == "3.8.10"', True),
        ('python_version >= "3.8.*"', True),
        ('python_version < "3.0.*"', False),
        ("sys.platform == 'win32'", False),
        ("platform.machine == 'arm64'", False),
        ("python_implementation == 'PyPy'", False),
        ("extra == 'gpu' and sys_platform == 'darwin'", False),
    ],
)
def test_markers_that_are_seldom_written(marker: str, expected: bool) -> None:
    assert may_apply(marker) is expected


def test_packaging_is_imported_for_no_plain_requirement() -> None:
    code = "import sys\nfrom tfmemlint.project.targets.stated import of_requirement\n"
    code += "for line in ('tensorflow', 'tensorflow==2.4.1', 'numpy>=1.2,<2; python_version < \"3.8\"'):\n"
    code += "    of_requirement(line, 'requirements.txt', 1)\n"
    code += "assert 'packaging' not in sys.modules\n"
    code += "of_requirement('tensorflow>=2.4', 'requirements.txt', 1)\nassert 'packaging' in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_image_tags_name_a_release() -> None:
    assert exactly("2.4.1-gpu") == {(2, 4)}
    assert exactly("v1.15.0") == {(1, 15)}
    with pytest.raises(Unreadable):
        exactly("latest-gpu")
