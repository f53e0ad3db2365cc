#!/usr/bin/env python3
"""Install tfmemlint into ``.venv`` of this repository and run what a contributor runs; ``--help`` lists the commands.

Needs nothing but Python and git's checkout. The environment is made once and used again; it is brought up to date
when ``pyproject.toml`` changes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMP = VENV / "tfmemlint-installed"
"""Made by this script: without it, an environment is somebody's own."""

OLDEST = (3, 10)
NEWEST_WITH_TENSORFLOW = (3, 13)
"""The newest Python that TensorFlow has wheels for; only the tests need TensorFlow."""

IN_PARALLEL = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--no-loadscope-reorder"]
"""One process more than there are cores, as many tests wait: TensorFlow, for ten seconds, before it says that memory is
out. The tests of one file share what they have started; the files come in the order of ``tests/longest_files.py``."""
QUICK = ["-m", "not slow"]
LEFT_OUT = """\
left out, as it takes minutes: all fixtures and random programs on the real TensorFlow (one fixture of each rule was
  run), the simulated driver's allocator, trainings, other Pythons, packages, pre-commit, the language server, the MCP
  server, the site, clusters, thousands of files, what long texts cost. `test --all` runs everything"""

ONE_RULE = [
    "tests/test_fixtures.py",
    "tests/test_rule_pages.py",
    "tests/test_snapshots.py",
    "tests/test_program_fixtures.py::test_a_program_gives_the_findings_that_are_expected",
    "tests/deployment/test_fixtures.py",
]
"""The tests of a single rule: its fixtures and its page."""
NO_PLUGINS = [
    argument
    for plugin in ("xdist", "hypothesispytest", "cacheprovider", "unraisableexception", "threadexception")
    for argument in ("-p", f"no:{plugin}")
]
"""Plugins of pytest that these tests do without; each takes longer than a rule to be tested."""

INDEX = "tools/make_search_index.py"
"""Makes the index of the rules' triggers, without which no rule is run."""
UPDATES = [
    *(INDEX, "tools/make_messages.py", "tools/make_docs.py"),
    *("tools/make_recall.py", "tools/make_knowledge.py", "tools/make_schemas.py"),
    *("tools/make_snapshots.py", "tools/make_errors.py", "tools/make_tf1.py", "tools/make_diagrams.py"),
    *("tools/make_examples.py", "tools/make_zh_blocks.py"),
]
"""Tools that write the generated files in seconds, with neither TensorFlow nor a GPU."""
UPDATES_OF_A_RULE = [INDEX, "tools/make_docs.py", "tools/make_snapshots.py"]
NOT_UPDATED_OF_A_RULE = """\
not updated: docs/recall.md, which lists the fixtures of all rules, and the snapshots of other rules; `update` without a
  code makes them"""
NOT_UPDATED = """\
not updated, as these run TensorFlow, or draw; run them if what they show has changed:
  tools/make_verify.py   what plan, verify and check print in README.md and docs (half a minute)
  tools/make_fit.py      the reports and models of docs/fit.md
  tools/evidence.py      all fixtures on one ground and release, for docs/evidence
  tools/allocator.py     the allocator scenarios on several releases, for docs/evidence/allocator.md
  tools/screenshot.py    the pictures in docs/images"""


def main() -> int:
    """Do what the command line asks for; the exit code is that of the first step that fails."""
    parser = argparse.ArgumentParser(
        prog="tools/run.py", description="Install tfmemlint into .venv, and do what a contributor does day by day."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="show on one screen what the tool finds, fixes and predicts")
    demo.add_argument("paths", nargs="*", help="check these files instead, and show all fixes: fixtures/articles")
    test = commands.add_parser(
        "test",
        help="run ruff, mypy and the tests that take minutes at most; --all runs all; installs TensorFlow too",
        description="Run ruff, mypy and pytest. Further arguments are pytest's: with any, nothing is left out.",
        usage="tools/run.py test [--all] [PYTEST ARGUMENT ...]",
    )
    test.add_argument("--all", action="store_true", help="run all tests")
    rule = commands.add_parser("rule", help="begin a new rule: the rule, three fixtures, its page; all of it works")
    rule.add_argument("code", help="its code, such as TFM318; the first digit is the group (docs/rules/README.md)")
    rule.add_argument("name", help="its name in lower case, such as limit-in-gigabytes")
    rule.add_argument("--severity", choices=("advice", "warning", "error"), default="advice", help="default: advice")
    rule.add_argument("--no-fix", action="store_true", help="begin a rule that has no fix")
    rule_test = commands.add_parser("rule-test", help="test one rule in seconds: its fixtures, snapshots and page")
    rule_test.add_argument("code", help="the rule's code, such as TFM305")
    rule_test.add_argument("--all", action="store_true", help="use all programs in which the rule is expected")
    fixtures = commands.add_parser("fixtures", help="list the fixtures of a rule, wherever they lie")
    fixtures.add_argument("code", help="the rule's code, such as TFM305")
    update = commands.add_parser("update", help="make the generated pages and the snapshots anew")
    update.add_argument("code", nargs="?", default="", help="make only this rule's page and snapshots, such as TFM305")
    commands.add_parser("site", help="make the site from docs, in build/site")
    given = sys.argv[1:]
    # What comes after `test` is pytest's, dashes included, which argparse would take for options of its own.
    own = given[:1] if given[:1] == ["test"] and not {"-h", "--help"} & set(given[1:2]) else given
    arguments = parser.parse_args(own)
    try:
        match arguments.command:
            case "demo":
                return _demo(arguments.paths)
            case "test":
                rest = [argument for argument in given[1:] if argument not in ("--", "--all")]
                return _test(rest, everything="--all" in given)
            case "rule":
                begin = ["tools/new_rule.py", "--severity", arguments.severity, arguments.code, arguments.name]
                begin += ["--no-fix"][: arguments.no_fix]
                return _steps(begin, *_update(arguments.code), _rule_test(arguments.code))
            case "site":
                return _steps(["tools/make_site.py"])
            case "rule-test":
                return _steps([INDEX], _rule_test(arguments.code, *["--all-programs"][: arguments.all]))
            case "fixtures":
                return _steps(["tools/list_fixtures.py", arguments.code])
            case _:
                code = _steps(*_update(arguments.code.upper()))
                _say(NOT_UPDATED_OF_A_RULE if arguments.code else NOT_UPDATED)
                return code
    except KeyboardInterrupt:
        return 130


def _demo(paths: list[str]) -> int:
    python = _environment(extra="", newest=None)
    if not paths:
        return subprocess.run([str(python), "tools/demo.py"], cwd=ROOT).returncode
    tool = [str(python), "-m", "tfmemlint"]
    steps = (
        ["check", "--select", "TFM", *paths],
        ["fix", "--diff", "--unsafe-fixes", "--select", "TFM", "--output-format", "concise", *paths],
    )
    for step in steps:
        code = _run([*tool, *step], shown=["tfmemlint", *step])
        if code not in (0, 1):  # 1: something was found, as it should be
            return code
    _say(f"the tool is installed: {shlex.quote(str(python.with_name('tfmemlint')))} --help")
    return 0


def _test(pytest_args: list[str], *, everything: bool) -> int:
    python = _environment(extra="test", newest=NEWEST_WITH_TENSORFLOW)
    if everything:
        chosen = [*IN_PARALLEL, *pytest_args]
    else:
        chosen = pytest_args or [*IN_PARALLEL, *QUICK]
    steps = (["ruff", "check", "."], ["ruff", "format", "--check", "."])
    # What the tests start (ruff, pre-commit, tfmemlint) has to be the environment's, too.
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    for step in steps:
        if code := _timed(step, python, environment):
            return code
    # mypy has one core to itself for as long as many tests take: it runs beside them, and is heard after them.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        types = subprocess.Popen([str(python), "-m", "mypy"], cwd=ROOT, stdout=said, stderr=said, env=environment)
        try:
            code = _timed(["pytest", *chosen], python, environment)
            types.wait()
        finally:
            types.kill()
        said.seek(0)
        print(f"\n$ mypy\n{said.read()}", end="", flush=True)
    if types.returncode:
        _say(f"FAILED, with exit code {types.returncode}: mypy")
    code = code or types.returncode
    if not everything and not pytest_args and not code:
        _say(LEFT_OUT)
    return code


def _timed(step: list[str], python: Path, environment: dict[str, str]) -> int:
    """Run a step of the tests, and say how long it took; return its exit code."""
    start = time.monotonic()
    code = _run([str(python), "-m", *step], shown=step, environment=environment)
    took = f"{time.monotonic() - start:.0f} s"
    _say(f"FAILED after {took}, with exit code {code}: {shlex.join(step)}" if code else f"passed in {took}: {step[0]}")
    return code


def _rule_test(code: str, *options: str) -> list[str]:
    return ["-m", "pytest", *NO_PLUGINS, "--rule", code.upper(), *options, *ONE_RULE]


def _update(code: str = "") -> list[list[str]]:
    return (
        [[script, *([code] if script != INDEX else [])] for script in UPDATES_OF_A_RULE]
        if code
        else [[script] for script in UPDATES]
    )


def _steps(*steps: list[str]) -> int:
    """Run scripts or modules one after the other; the exit code of the first that fails."""
    python = _environment(extra="test", newest=NEWEST_WITH_TENSORFLOW)
    return next((code for step in steps if (code := _run([str(python), *step], shown=_shown(step)))), 0)


def _shown(step: list[str]) -> list[str]:
    """A step as it is printed: without the long list of what tests a single rule."""
    return ["python", *step[: -len(ONE_RULE)], "..."] if step[-len(ONE_RULE) :] == ONE_RULE else ["python", *step]


def _environment(extra: str, newest: tuple[int, int] | None) -> Path:
    """The Python of ``.venv``, with this checkout installed in it, for editing, with the packages of ``extra``."""
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    version = _version([str(python)]) if python.exists() else None
    if version is None or not _suits(version, newest):
        if VENV.exists() and not STAMP.exists() and (VENV / "pyvenv.cfg").exists() and version is not None:
            _fail(f".venv holds Python {_dotted(version)}, but this needs {_range(newest)}. Move it out of the way.")
        _make(newest)
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    installed = STAMP.read_text(encoding="utf-8").split() if STAMP.exists() else []
    if installed[:1] == [wanted] and (not extra or extra in installed[1:]):
        return python
    what = f".[{extra}]" if extra else "."
    note = " (TensorFlow is among it: some 600 MB)" if extra == "test" else ""
    _say(f"installing into .venv{note}")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "-e", what]
    code = _run(pip)
    if code != 0:
        _say("the installation failed; pip says why above")
        sys.exit(code)
    if extra == "test":
        _compile(python)
    extras = [*installed[1:], extra] if installed[:1] == [wanted] else [extra]
    STAMP.write_text(" ".join([wanted, *filter(None, extras)]) + "\n", encoding="utf-8")
    return python


def _compile(python: Path) -> None:
    """Compile what was installed, on all cores: pip does it on one. What can't be compiled, nothing imports."""
    where = "import compileall, sysconfig; compileall.compile_dir(sysconfig.get_path('purelib'), quiet=2, workers=0)"
    subprocess.run([str(python), "-c", where], cwd=ROOT)


def _make(newest: tuple[int, int] | None) -> None:
    """Make ``.venv`` with the first suitable Python that can; end here where there is none."""
    tried: list[str] = []
    for command, version in _pythons(newest):
        _say(f"making .venv with Python {_dotted(version)} ({shlex.join(command)})")
        made = subprocess.run(
            [*command, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True, errors="replace"
        )
        if made.returncode == 0:
            return
        said = (made.stdout + made.stderr).strip()
        if "ensurepip" in said:
            said = f"its venv module has no pip: install the package python{_dotted(version)}-venv"
        tried.append(f"  {shlex.join(command)}: {said.splitlines()[-1] if said else 'failed without a word'}")
    if tried:
        _fail("\n".join(["no environment could be made:", *tried]))
    own = _dotted((sys.version_info[0], sys.version_info[1]))
    why = " (TensorFlow has no wheels for newer ones)" if newest is not None and sys.version_info[:2] > newest else ""
    _fail(f"this needs {_range(newest)}{why}; found only Python {own}. Install one, and run this again.")


def _pythons(newest: tuple[int, int] | None) -> list[tuple[list[str], tuple[int, int]]]:
    """The interpreters that suit: the one that runs this, then those on the PATH, the newest first."""
    names = [f"python3.{minor}" for minor in range(NEWEST_WITH_TENSORFLOW[1], OLDEST[1] - 1, -1)]
    commands = [[sys.executable]]
    commands += [[path] for path in map(shutil.which, [*names, "python3", "python"]) if path]
    if os.name == "nt" and shutil.which("py"):
        commands += [["py", f"-{name.removeprefix('python')}"] for name in names]
    found: list[tuple[list[str], tuple[int, int]]] = []
    for command in commands:
        version = _version(command)
        if version is not None and _suits(version, newest) and all(command != other for other, _ in found):
            found.append((command, version))
    return found


def _version(command: list[str]) -> tuple[int, int] | None:
    """The version of an interpreter; None where it can't be run, as a shim without a Python behind it."""
    code = "import sys; print(sys.version_info[0], sys.version_info[1])"
    try:
        done = subprocess.run([*command, "-c", code], capture_output=True, text=True, timeout=60)
        major, minor = done.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _suits(version: tuple[int, int], newest: tuple[int, int] | None) -> bool:
    return version >= OLDEST and (newest is None or version <= newest)


def _range(newest: tuple[int, int] | None) -> str:
    return f"Python {_dotted(OLDEST)} or newer" if newest is None else f"Python {_dotted(OLDEST)} to {_dotted(newest)}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _run(command: list[str], shown: list[str] | None = None, environment: dict[str, str] | None = None) -> int:
    print(f"\n$ {shlex.join(shown or command)}", flush=True)
    variables = dict(os.environ if environment is None else environment)
    # What is compiled is kept, as .venv is: the tests start the tool hundreds of times.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(command, cwd=ROOT, env=variables).returncode


def _say(message: str) -> None:
    print(f"tools/run.py: {message}", flush=True)


def _fail(message: str) -> NoReturn:
    print(f"tools/run.py: {message}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        # The way out must not need what is missing: find a newer Python and start again with it.
        for command, _ in _pythons(None):
            sys.exit(subprocess.run([*command, *sys.argv]).returncode)
    sys.exit(main())
