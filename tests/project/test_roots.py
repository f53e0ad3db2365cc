"""Where packages and projects begin, and where their programs look for modules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.roots import conftests, package_root, project_root, search_path


def package(root: Path, name: str) -> tuple[str, str]:
    directory, module = package_root(str(root / name))
    assert (directory, module) == package_root(str(root / name), Listings())
    return os.path.relpath(directory, root), module


def project(root: Path, name: str) -> str:
    found = project_root(str(root / name))
    assert found == project_root(str(root / name), Listings())
    return os.path.relpath(found, root)


def located(root: Path, entry: str, name: str, kind: Kind = Kind.SCRIPT) -> str | None:
    found = search_path(str(root / entry), kind=kind).locate(name)
    return None if found is None or found.path is None else os.path.relpath(found.path, root)


def test_a_file_in_no_package_is_a_module_of_its_directory(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "dir/b.py")
    assert package(tmp_path, "a.py") == (".", "a")
    assert package(tmp_path, "dir/b.py") == ("dir", "b")
    assert package(tmp_path, "missing/c.py") == ("missing", "c")


def test_a_package_begins_where_there_is_no_init_above(tmp_path: Path) -> None:
    put(tmp_path, "src/p/__init__.py", "src/p/q/__init__.py", "src/p/q/m.py", "src/p/n/x.py", "src/p/__main__.py")
    assert package(tmp_path, "src/p/q/m.py") == ("src", "p.q.m")
    assert package(tmp_path, "src/p/q/__init__.py") == ("src", "p.q")
    assert package(tmp_path, "src/p/__main__.py") == ("src", "p.__main__")
    assert package(tmp_path, "src/p/n/x.py") == ("src/p/n", "x")


def test_a_directory_that_cannot_be_named_is_no_package(tmp_path: Path) -> None:
    put(tmp_path, "my-project/__init__.py", "my-project/m.py")
    assert package(tmp_path, "my-project/m.py") == ("my-project", "m")


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt", ".git/"])
def test_the_nearest_project_counts(tmp_path: Path, marker: str) -> None:
    put(tmp_path, ".git/", "one/" + marker, "one/sub/a.py", "two/b.py")
    assert project(tmp_path, "one/sub/a.py") == "one"
    assert project(tmp_path, "two/b.py") == "."


def test_a_file_of_projects_within_a_package_is_none(tmp_path: Path) -> None:
    put(tmp_path, "setup.py", "p/__init__.py", "p/pyproject.toml", "p/requirements.txt", "p/m.py")
    assert project(tmp_path, "p/m.py") == "."


def test_nothing_is_looked_for_above_a_repository(tmp_path: Path) -> None:
    put(tmp_path, "setup.py", "repo/.git/", "repo/a.py")
    write(tmp_path / "linked" / ".git", "gitdir: elsewhere\n")
    assert project(tmp_path, "repo/a.py") == "repo"
    assert project(tmp_path, "linked/a.py") == "linked"


def test_the_home_directory_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    put(tmp_path, ".git/", "requirements.txt", "work/a.py", "p/__init__.py", "p/q/__init__.py", "p/q/m.py")
    assert project(tmp_path, "work/a.py") == "work"
    assert project(tmp_path, "p/q/m.py") == "p"


def test_a_script_finds_what_is_beside_it_first(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "util.py", "tools/util.py", "tools/run.py", "lib/pkg/__init__.py", "src/deep.py")
    assert located(tmp_path, "tools/run.py", "util") == "tools/util.py"
    assert located(tmp_path, "tools/run.py", "deep") == "src/deep.py"
    assert located(tmp_path, "tools/run.py", "pkg") == "lib/pkg/__init__.py"
    assert located(tmp_path, "tools/run.py", "util", Kind.CONSOLE) == "tools/util.py"


def test_directories_that_are_packages_or_hold_none_are_no_source_directories(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "run.py", "src/__init__.py", "src/a.py", "python/b.py")
    assert located(tmp_path, "run.py", "a") is None
    assert located(tmp_path, "run.py", "src.a") == "src/a.py"
    assert located(tmp_path, "run.py", "b") is None


def test_a_module_that_is_run_with_its_package_does_not_see_its_neighbours(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "p/__init__.py", "p/__main__.py", "p/util.py")
    assert located(tmp_path, "p/__main__.py", "util", Kind.MAIN_MODULE) is None
    assert located(tmp_path, "p/__main__.py", "p.util", Kind.MAIN_MODULE) == "p/util.py"


def test_a_script_within_a_package_may_be_run_either_way(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "p/__init__.py", "p/run.py", "p/util.py", "util.py", "p/mine.py", "p/json.py")
    assert located(tmp_path, "p/run.py", "util") is None
    assert located(tmp_path, "p/run.py", "json") is None
    assert located(tmp_path, "p/run.py", "mine") == "p/mine.py"
    assert located(tmp_path, "p/run.py", "p.util") == "p/util.py"


def test_a_script_with_relative_imports_may_be_run_either_way(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "n/util.py", "util.py", "n/plain.py")
    write(tmp_path / "n" / "run.py", "from . import util\n")
    assert located(tmp_path, "n/run.py", "util") is None
    assert located(tmp_path, "n/plain.py", "util") == "n/util.py"


def test_what_stands_beside_a_repository_is_not_part_of_it(tmp_path: Path) -> None:
    put(tmp_path, "other.py", "repo/.git/", "repo/__init__.py", "repo/run.py", "repo/util.py")
    for kind in Kind:
        assert located(tmp_path, "repo/run.py", "other", kind) is None
        assert located(tmp_path, "repo/run.py", "repo.util", kind) == "repo/util.py"


def test_a_test_finds_helpers_beside_its_conftests(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "pkg/__init__.py", "tests/conftest.py", "tests/helpers.py", "tests/unit/test_a.py")
    assert located(tmp_path, "tests/unit/test_a.py", "helpers", Kind.TEST) == "tests/helpers.py"
    assert located(tmp_path, "tests/unit/test_a.py", "pkg", Kind.TEST) == "pkg/__init__.py"


def test_conftests_are_those_from_the_root_of_pytest_down(tmp_path: Path) -> None:
    put(tmp_path, "conftest.py", "repo/.git/", "repo/conftest.py", "repo/t/requirements.txt", "repo/t/u/conftest.py")
    names = [os.path.relpath(one, tmp_path) for one in conftests(str(tmp_path / "repo/t/u/test_a.py"))]
    assert names == ["repo/conftest.py", "repo/t/u/conftest.py"]
    assert [os.path.relpath(one, tmp_path) for one in conftests(str(tmp_path / "repo/t/u/conftest.py"))] == names[:1]
    write(tmp_path / "repo/t/tox.ini", "[pytest]\n")
    assert len(conftests(str(tmp_path / "repo/t/u/test_a.py"))) == 1


def test_very_deep_and_odd_paths_are_no_trouble(tmp_path: Path) -> None:
    deep = str(tmp_path.joinpath(*["d"] * 300, "a.py"))
    for path in (deep, "", "a.py", "/", "/a.py", "\0.py", str(tmp_path)):
        package_root(path)
        project_root(path)
        conftests(path)
        for kind in Kind:
            search_path(path, kind=kind).locate("x.y")
