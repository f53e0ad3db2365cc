"""The entry points of programs: scripts, ``__main__`` modules, console scripts, tests."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence

from tfmemlint.model.records import dataclass
from tfmemlint.project.console import console_scripts
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.roots import conftests, package_root, search_path

__all__ = ["Entry", "Kind", "console_entries", "console_scripts", "entry_of", "is_test", "says_so"]


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry point of a program.

    Attributes:
        path: the file. module: its dotted name where it is imported (a script itself runs as ``__main__``).
        function: what a console script calls, such as ``main`` or ``App.run``.
        conftests: for a test, the ``conftest.py`` files that are loaded before it, the outermost first.
    """

    kind: Kind
    path: str
    module: str
    function: str | None = None
    conftests: tuple[str, ...] = ()


_guard = re.compile(
    rb"^if\b(?:[^\n#]{0,99}\b__name__[ \t]*(?:==|in\b)[^\n#]{0,99}[\"']__main__[\"']"
    rb"|[^\n#]{0,99}[\"']__main__[\"'][ \t]*==[ \t]*__name__)",
    re.MULTILINE,
).search
_tests = re.compile(
    rb"^[ \t]*(?:async[ \t]+)?def[ \t]+test|^class[ \t]+Test|TestCase|\bunittest\b|\btest\.main\(", re.MULTILINE
).search
_LARGEST = 2**20
"""Bytes of a file that says nowhere that it is a program, beyond which it is taken for data."""
_SETUP = frozenset({"__init__.py", "setup.py"})
_SPHINX = (b"sphinx", b"html_theme", b"extensions")
_acts = re.compile(
    rb"^(?!(?:import|from|def|class|async[ \t]+def|else|elif|except|finally)\b)[A-Za-z_]|;", re.MULTILINE
).search
"""Without this, nothing at the top level of a file does anything."""


def entry_of(path: str, data: bytes, listings: Listings | None = None) -> Entry | None:
    """The program that starts in a file; None for a module that is only imported.

    A ``conftest.py`` counts as a test: nothing else may go through what it does.
    """
    name = os.path.basename(path)
    if name in _SETUP or name.endswith(".pyi") or (name == "conf.py" and any(word in data for word in _SPHINX)):
        return None
    if name.endswith(".ipynb"):
        return Entry(Kind.SCRIPT, path, "")
    if name == "__main__.py":
        return Entry(Kind.MAIN_MODULE, path, package_root(path, listings)[1])
    if name == "conftest.py" or (is_test(name) and _tests(data)):
        before = conftests(path, listings)
        if before or not _is_run_by_hand(data):
            return Entry(Kind.TEST, path, package_root(path, listings)[1], conftests=before)
    if says_so(data) or _does_something(path, data, listings):
        return Entry(Kind.SCRIPT, path, package_root(path, listings)[1])
    return None


def console_entries(root: str, listings: Listings | None = None) -> tuple[Entry, ...]:
    """The commands that the project at ``root`` installs, as far as their modules are found in it."""
    scripts = console_scripts(root)
    if not scripts:
        return ()
    search = search_path(os.path.join(root, "setup.py"), kind=Kind.CONSOLE, listings=listings)
    found: list[Entry] = []
    for module, function in scripts:
        located = search.locate(module)
        if located is not None and located.path is not None:
            found.append(Entry(Kind.CONSOLE, located.path, module, function))
    return tuple(found)


def is_test(name: str) -> bool:
    """Return True if pytest takes a file of this name for tests."""
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


_FRAMEWORKS = (b"pytest", b"unittest", b"TestCase", b"absltest", b"tf.test", b"nose")


def _is_run_by_hand(data: bytes) -> bool:
    """Return True if a file with the name of tests is a program that tests something: it names no framework, and asks
    for ``__main__``."""
    return b"__main__" in data and not any(word in data for word in _FRAMEWORKS) and _guard(data) is not None


def says_so(data: bytes) -> bool:
    """Return True if a file says of itself that it is run: it asks for ``__main__``, or has a line for the shell."""
    return (data.startswith(b"#!") and b"python" in data[:200].partition(b"\n")[0]) or (
        b"__main__" in data and _guard(data) is not None
    )


def _does_something(path: str, data: bytes, listings: Listings | None) -> bool:
    """Return True if the top level of a file that is in no package does work of its own.

    What modules of packages do when they are imported is nothing that a person would start.
    """
    if len(data) > _LARGEST or not _acts(data):
        return False
    own = os.path.dirname(os.path.abspath(path))
    if package_root(path, listings)[0] != own:
        return False
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _works(tree.body)


def _works(body: Sequence[ast.stmt]) -> bool:
    pending = list(body)
    while pending:
        match pending.pop():
            case ast.Expr(value=ast.Call(func=func)):
                if not _is_quiet(func):
                    return True
            case ast.Expr(value=ast.Await()) | ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
                return True
            case ast.If(body=inner, orelse=orelse):
                pending += inner + orelse
            case ast.Try(body=inner, orelse=orelse, finalbody=final):
                pending += inner + orelse + final
            case _:
                pass
    return False


_QUIET = frozenset(
    {
        "append", "basicConfig", "extend", "filterwarnings", "insert", "load_dotenv", "register", "seed", "setLevel",
        "set_printoptions", "set_verbosity", "setdefault", "simplefilter", "update", "use",
    }
)  # fmt: skip
"""Calls that libraries make when they are imported, too: on ``sys.path``, ``warnings``, ``logging``, and so on."""


def _is_quiet(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return name in _QUIET or name.startswith(("DEFINE_", "disable_", "register_"))
