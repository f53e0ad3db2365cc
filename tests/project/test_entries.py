"""Where programs start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tests.project.trees import put, write
from tfmemlint.project.entries import Entry, Kind, console_entries, console_scripts, entry_of

GUARD = "if __name__ == '__main__':\n    main()\n"
TEST = "import a\ndef test_it():\n    a.f()\n"


def kind(path: Path | str, code: str) -> Kind | None:
    entry = entry_of(str(path), code.encode())
    return entry.kind if entry is not None else None


LIBRARIES = {
    "nothing": "",
    "definitions": '"""Doc."""\nfrom b import (\n    c,\n)\nX: int = 2\ndef f():\n    a.g()\nclass C:\n    pass\n',
    "a guard in a text": "TEXT = '''\n  if __name__ == '__main__':\n'''\n",
    "the opposite of a guard": "if __name__ != '__main__':\n    x = 1\n",
    "an import that may fail": "try:\n    import a\nexcept ImportError:\n    print('no a')\n    a = None\n",
    "settings": "sys.path.append('..')\nlogging.basicConfig()\nflags.DEFINE_string('a', 'b', 'c')\n",
    "values that are made": "log = logging.getLogger(__name__)\nT = TypeVar('T')\nx = tf.constant(1)\n",
    "a call in a text": "'''\nprint(1)\n'''\n",
    "broken code": "def f(:\n    pass\nprint(f())\n",
    "code for Python 2": "print 'a'\n",
    "a shell script": "#!/bin/sh\n",
    "null bytes": "print(1)\n\0",
}


@pytest.mark.parametrize("code", LIBRARIES)
def test_a_module_that_is_only_imported_is_no_program(tmp_path: Path, code: str) -> None:
    assert kind(tmp_path / "a.py", LIBRARIES[code]) is None


SCRIPTS = {
    "a guard": "import a\n" + GUARD,
    "a guard with other quotes": 'if "__main__" == __name__ :\n    main()\n',
    "a guard in brackets": "if (__name__ == '__main__'):\n    main()\n",
    "a guard for more than one name": "if __name__ in ('__main__', 'builtins'):\n    main()\n",
    "a line for the shell": "#!/usr/bin/env python3\nimport a\n",
    "a call": "import a\na.run()\n",
    "a call behind a semicolon": "import a; a.run()\n",
    "a loop": "for x in y:\n    pass\n",
    "a with": "with a as b:\n    b()\n",
    "a call under a condition": "if len(sys.argv) > 1:\n    try:\n        run()\n    finally:\n        pass\n",
}


@pytest.mark.parametrize("code", SCRIPTS)
def test_a_file_that_does_something_is_a_script(tmp_path: Path, code: str) -> None:
    path = str(tmp_path / "a.py")
    assert entry_of(path, SCRIPTS[code].encode()) == Entry(Kind.SCRIPT, path, "a")


def test_a_module_of_a_package_is_a_script_only_if_it_says_so(tmp_path: Path) -> None:
    put(tmp_path, "p/__init__.py")
    assert kind(tmp_path / "p" / "a.py", "run()\n") is None
    assert entry_of(str(tmp_path / "p" / "a.py"), GUARD.encode()) == Entry(
        Kind.SCRIPT, str(tmp_path / "p" / "a.py"), "p.a"
    )


@pytest.mark.parametrize("name", ["__init__.py", "setup.py", "a.pyi"])
def test_files_of_other_tools_are_no_programs(tmp_path: Path, name: str) -> None:
    assert kind(tmp_path / name, "run()\n" + GUARD) is None


def test_conf_py_is_a_program_unless_it_is_sphinxs(tmp_path: Path) -> None:
    assert kind(tmp_path / "conf.py", "extensions = ['sphinx.ext.autodoc']\nrun()\n") is None
    assert kind(tmp_path / "conf.py", "run()\n") is Kind.SCRIPT


def test_the_main_module_of_a_package_is_one(tmp_path: Path) -> None:
    put(tmp_path, "p/__init__.py", "p/__main__.py")
    path = str(tmp_path / "p" / "__main__.py")
    assert entry_of(path, b"") == Entry(Kind.MAIN_MODULE, path, "p.__main__")


@pytest.mark.parametrize("name", ["test_a.py", "a_test.py"])
@pytest.mark.parametrize(
    "code", [TEST, TEST + GUARD, "class TestA:\n    pass\n", "class A(tf.test.TestCase):\n  x = 1\n" + GUARD]
)
def test_a_file_with_tests_is_a_test(tmp_path: Path, name: str, code: str) -> None:
    put(tmp_path, ".git/", "conftest.py", "t/conftest.py")
    before = (str(tmp_path / "conftest.py"), str(tmp_path / "t" / "conftest.py"))
    path = str(tmp_path / "t" / name)
    assert entry_of(path, code.encode()) == Entry(Kind.TEST, path, name[:-3], conftests=before)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (TEST + GUARD, Kind.SCRIPT),
        ("import pytest\n" + TEST + GUARD, Kind.TEST),
        ("import unittest\n" + TEST + "if __name__ == '__main__':\n    unittest.main()\n", Kind.TEST),
        (TEST, Kind.TEST),
    ],
)
def test_a_program_that_tests_a_model_is_run(tmp_path: Path, code: str, expected: Kind) -> None:
    assert kind(tmp_path / "test_model.py", code) is expected


def test_a_file_without_tests_is_no_test_whatever_it_is_called(tmp_path: Path) -> None:
    assert kind(tmp_path / "test_gpu.py", "import a\na.run()\n") is Kind.SCRIPT
    assert kind(tmp_path / "test_gpu.py", GUARD) is Kind.SCRIPT
    assert kind(tmp_path / "test_data.py", "X = 1\n") is None
    assert kind(tmp_path / "tests.py", TEST) is None


def test_conftest_counts_as_a_test(tmp_path: Path) -> None:
    put(tmp_path, ".git/", "conftest.py", "t/conftest.py")
    path = str(tmp_path / "t" / "conftest.py")
    assert entry_of(path, b"") == Entry(Kind.TEST, path, "conftest", conftests=(str(tmp_path / "conftest.py"),))


BROKEN = {
    "pyproject.toml": [
        "[project.scripts",
        "\ufeff[project]\nscripts = 1",
        "[project.scripts]\na = 1\nb = 'c'\nd = 'e f:g'",
        "[tool]\npoetry = []",
    ],
    "setup.cfg": [
        "console_scripts",
        "[options.entry_points]\nconsole_scripts",
        "[options.entry_points]\nconsole_scripts =\n  a\n  # b = c:d",
    ],
    "setup.py": [
        "console_scripts = (",
        "setup(entry_points={'console_scripts': names()})",
        "x = y\ny = x\nsetup(console_scripts=x)",
        "'[console_scripts]\\na'",
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BROKEN.items() for text in texts])
def test_a_file_that_declares_nothing_installs_nothing(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path / name, text)
    assert console_scripts(str(tmp_path)) == ()


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_installs_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert console_scripts(str(tmp_path)) == ()
    (tmp_path / name).rmdir()
    (tmp_path / name).write_bytes(b"\xff\xfe console_scripts \0")
    assert console_scripts(str(tmp_path)) == ()


DECLARED = {
    "the standard's table": ("pyproject.toml", "[project.scripts]\nx = 'a.b:main'\n"),
    "its table for windows": ("pyproject.toml", "[project.gui-scripts]\nx = 'a.b:main'\n"),
    "its table for plugins": ("pyproject.toml", "[project.entry-points.console_scripts]\nx = 'a.b:main [gpu]'\n"),
    "Poetry's table": ("pyproject.toml", "[tool.poetry.scripts]\nx = { reference = 'a.b:main', type = 'console' }\n"),
    "setuptools' table": ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    x = a.b:main  # this\n"),
    "a list": ("setup.py", "setup(entry_points={'console_scripts': ['x = a.b:main']})"),
    "a text": ("setup.py", "setup(entry_points={'console_scripts': 'x=a.b:main'})"),
    "a name for the dictionary": ("setup.py", "e = {'console_scripts': ['x=a.b:main']}\nsetup(entry_points=e)"),
    "a name for the list": ("setup.py", "n = ['x=a.b:main']\nsetup(entry_points=dict(console_scripts=n + []))"),
    "an INI text": ("setup.py", "setup(entry_points='''\n[other]\nz=c:d\n[console_scripts]\nx = a.b:main\n''')"),
}


@pytest.mark.parametrize("how", DECLARED)
def test_a_command_is_found_wherever_it_is_declared(tmp_path: Path, how: str) -> None:
    name, text = DECLARED[how]
    write(tmp_path / name, text)
    assert console_scripts(str(tmp_path)) == (("a.b", "main"),)


def test_a_command_is_a_program_of_the_module_that_it_calls(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project.scripts]\nx = 'p.cli:App.run'\ny = 'elsewhere:main'\nz = 'p:main'\n")
    put(tmp_path, "src/p/__init__.py", "src/p/cli.py")
    assert console_entries(str(tmp_path)) == (
        Entry(Kind.CONSOLE, str(tmp_path / "src" / "p" / "cli.py"), "p.cli", "App.run"),
        Entry(Kind.CONSOLE, str(tmp_path / "src" / "p" / "__init__.py"), "p", "main"),
    )


def test_a_change_of_the_declaration_is_seen(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project.scripts]\nx = 'a:main'\n")
    assert console_scripts(str(tmp_path)) == (("a", "main"),)
    write(tmp_path / "pyproject.toml", "[project.scripts]\nx = 'a.b:main'\n")
    assert console_scripts(str(tmp_path)) == (("a.b", "main"),)


@pytest.mark.parametrize("part", ["__name__ ==", "'__main__' ", "if ", "(", "-", "x;", "\n", "def test"])
def test_the_cost_of_long_and_deep_texts_grows_with_their_length(tmp_path: Path, part: str) -> None:
    def judge(parts: int) -> None:
        data = f"if __name__ {part * parts} '__main__".encode()
        for name in ("a.py", "test_a.py", "__main__.py"):
            entry_of(str(tmp_path / name), data)

    assert_linear(lambda: judge(15_000), lambda: judge(30_000))
