"""A module is the file that Python would find."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.project.trees import put
from tfmemlint.project.search import Located, SearchPath, locate_relative


def located(root: Path, name: str, *directories: str, ambiguous: bool = False) -> str | None:
    """The path below ``root``; ``"(namespace)"`` for a package without a file."""
    search = SearchPath(tuple(str(root / one) for one in directories or ("",)), ambiguous=ambiguous)
    found = search.locate(name)
    if found is None:
        return None
    assert found.name == name
    return "(namespace)" if found.path is None else Path(found.path).relative_to(root).as_posix()


@pytest.mark.parametrize(
    "name", ["a", "A", "b", "c", "d", "e", "f.g", "a.b", "", ".", "a.", ".a", "a..b", "a/b", "..", "h", "h.i"]
)
def test_what_is_no_module_is_not_located(tmp_path: Path, name: str) -> None:
    put(tmp_path, "a.txt", "b.pyi", "c", "d.py/", "e/readme.txt", "f.py", "A.py/x", "h/i/data.csv", "a.ipynb")
    assert located(tmp_path, name) is None


@pytest.mark.parametrize(
    "name", ["os", "sys", "abc", "io", "codecs", "site", "os.path", "encodings.utf_8", "importlib"]
)
def test_modules_that_python_starts_with_are_shadowed_by_nothing(tmp_path: Path, name: str) -> None:
    put(tmp_path, *(f"{name.split('.')[0]}{end}" for end in (".py", "/__init__.py", "/path.py", "/utf_8.py")))
    assert located(tmp_path, name) is None


@pytest.mark.parametrize("name", ["tensorflow", "keras", "numpy", "logging", "json"])
def test_a_directory_is_no_installed_package(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}/train.py")
    assert located(tmp_path, name) is None
    assert located(tmp_path, f"{name}.train") is None


@pytest.mark.parametrize("name", ["random", "logging", "keras", "tokenize"])
def test_a_file_beside_the_script_hides_a_module_of_the_same_name(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}.py")
    assert located(tmp_path, name) == f"{name}.py"


@pytest.mark.parametrize("built", ["a.so", "a.cpython-312-x86_64-linux-gnu.so", "a.pyd", "a/__init__.abi3.so", "a.pyc"])
def test_a_compiled_module_is_unknown_and_hides_what_comes_later(tmp_path: Path, built: str) -> None:
    put(tmp_path, f"one/{built}", "two/a.py")
    assert located(tmp_path, "a", "one", "two") is None
    assert located(tmp_path, "a", "two", "one") == "two/a.py"


def test_byte_code_beside_its_source_counts_for_nothing(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "a.pyc", "p/__init__.py", "p/__init__.pyc")
    assert located(tmp_path, "a") == "a.py"
    assert located(tmp_path, "p") == "p/__init__.py"


def test_a_package_comes_before_a_module_and_both_before_a_later_directory(tmp_path: Path) -> None:
    put(tmp_path, "one/a/__init__.py", "one/a.py", "two/a.py", "two/b.py", "one/b/x.py")
    assert located(tmp_path, "a", "one", "two") == "one/a/__init__.py"
    assert located(tmp_path, "a", "two", "one") == "two/a.py"
    assert located(tmp_path, "b", "one", "two") == "two/b.py"
    assert located(tmp_path, "b.x", "one", "two") is None


def test_a_namespace_package_spans_the_directories(tmp_path: Path) -> None:
    put(tmp_path, "one/a/x.py", "two/a/y.py", "two/a/deep/er/z.py")
    assert located(tmp_path, "a", "one", "two") == "(namespace)"
    assert located(tmp_path, "a.x", "one", "two") == "one/a/x.py"
    assert located(tmp_path, "a.y", "one", "two") == "two/a/y.py"
    assert located(tmp_path, "a.deep.er.z", "one", "two") == "two/a/deep/er/z.py"


def test_a_located_package_says_so(tmp_path: Path) -> None:
    put(tmp_path, "a/__init__.py", "a/b.py", "n/m.py")
    search = SearchPath((str(tmp_path),))
    assert search.locate("a") == Located("a", str(tmp_path / "a" / "__init__.py"), True)
    assert search.locate("a.b") == Located("a.b", str(tmp_path / "a" / "b.py"), False)
    assert search.locate("n") == Located("n", None, True)


def test_a_name_that_depends_on_how_the_script_is_run_is_not_located(tmp_path: Path) -> None:
    put(tmp_path, "pkg/util.py", "util.py", "pkg/only.py", "pkg/logging.py", "pkg/tensorflow/__init__.py", "top.py")
    assert located(tmp_path, "util", "pkg", "", ambiguous=True) is None
    assert located(tmp_path, "logging", "pkg", "", ambiguous=True) is None
    assert located(tmp_path, "tensorflow", "pkg", "", ambiguous=True) is None
    assert located(tmp_path, "only", "pkg", "", ambiguous=True) == "pkg/only.py"
    assert located(tmp_path, "top", "pkg", "", ambiguous=True) == "top.py"
    assert located(tmp_path, "util", "pkg", "") == "pkg/util.py"


def test_loops_of_links_and_missing_directories_are_no_trouble(tmp_path: Path) -> None:
    put(tmp_path, "b.py")
    (tmp_path / "a.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert located(tmp_path, "a", "", "missing", "b.py") is None
    assert located(tmp_path, "loop.loop.loop.b") == "loop/loop/loop/b.py"
    assert located(tmp_path, ".".join(["loop"] * 500)) is None
    assert SearchPath(("\0", str(tmp_path))).locate("b") is not None


def test_a_link_to_a_module_is_a_module(tmp_path: Path) -> None:
    put(tmp_path, "real/x.py", "real/p/__init__.py")
    (tmp_path / "y.py").symlink_to(tmp_path / "real" / "x.py")
    (tmp_path / "q").symlink_to(tmp_path / "real" / "p")
    assert located(tmp_path, "y") == "y.py"
    assert located(tmp_path, "q") == "q/__init__.py"


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("module", ["", "x", "x.y"])
@pytest.mark.parametrize("package", ["", "a", "a.b"])
def test_relative_names_resolve_as_python_does(package: str, level: int, module: str) -> None:
    try:
        wanted = importlib.util.resolve_name("." * level + module, package) if level or module else None
    except ImportError:
        wanted = None
    assert locate_relative(package, level, module) == (wanted.rstrip(".") if wanted else wanted)


FILES = [
    f"{top}{middle}{file}"
    for top in ("one/", "two/")
    for middle in ("", "a/", "a/b/", "b/", "json/")
    for file in ("__init__.py", "a.py", "b.py", "random.py", "note.txt")
]
NAMES = ["a", "b", "a.a", "a.b", "a.b.a", "a.b.b", "b.a", "b.b", "random", "a.random", "b.b.b", "json", "json.a"]


def by_python(directories: list[str], name: str) -> tuple[str | None, bool] | None:
    """What the interpreter's own finder finds: the file, and whether it is a package."""
    path: list[str] | None = directories + [one for one in sys.path if one and "site-packages" not in one]
    spec = None
    known = ""
    for last in name.split("."):
        known = f"{known}.{last}" if known else last
        spec = importlib.machinery.PathFinder.find_spec(last, path)
        if spec is None:
            return None
        # By its last name alone: for the whole of it the parents would have to be loaded.
        path = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
        if path is None and known != name:
            return None
    assert spec is not None
    if spec.origin is not None and not any(spec.origin.startswith(one) for one in directories):
        return None
    return spec.origin, path is not None


@settings(max_examples=120, deadline=None)
@given(st.sets(st.sampled_from(FILES), max_size=9))
def test_located_is_what_python_finds(files: set[str]) -> None:
    with tempfile.TemporaryDirectory() as root:
        put(Path(root), "one/", "two/", *sorted(files))
        directories = [str(Path(root) / "one"), str(Path(root) / "two")]
        importlib.invalidate_caches()
        search = SearchPath(tuple(directories))
        for name in NAMES:
            found = search.locate(name)
            wanted = by_python(directories, name)
            if wanted is not None and wanted[0] is None and found is None:
                # A directory without any code: Python would take it for a package, but nobody means it.
                continue
            assert (found and (found.path, found.is_package)) == wanted, name
