"""Names and texts of a checked tree command no CI system that reads them in the log of a job.

GitHub's runner obeys ``::command::`` at the start of a line, blanks before it or not, and ``##[command]`` anywhere in a
line; Azure Pipelines obeys ``##vso[...]``, TeamCity ``##teamcity[...]``.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from tests.safety.test_names_are_harmless import COMMANDS
from tests.tool_server import merged_report, run_tool
from tfmemlint.reporters.diff import print_diff, unified_diff
from tfmemlint.reporters.formats import FORMATS
from tfmemlint.reporters.paint import painter, printable

OBEYED = re.compile(rb"^\s*::|##[A-Za-z]*\[", re.MULTILINE)
OWN = {
    "github": rb"^::(error|warning|notice) (?=title=|file=)",
    "azure": rb"^##vso\[task\.logissue type=",
    "teamcity": rb"^##teamcity\[inspection(Type)? (type)?[iI]d=",
}
"""How the lines of the formats begin that are commands, and mean to be."""
NAMES = (
    "::add-mask::##[error]##vso[task.prependpath]x.py",
    "  ::stop-commands::x ##teamcity[buildStop] .py",
    "\N{NO-BREAK SPACE}::set-output name=a::b.py",
)
CODE = """\
import os
import tensorflow as tf  ##[add-mask]tf

gpus = tf.config.list_physical_devices("GPU")  ##vso[task.setvariable variable=a]b
tf.config.experimental.set_memory_growth(gpus, True)  ##[error]
tf.config.experimental.set_memory_limit(gpus[0], "##vso[task.uploadfile]x")
os.environ["CUDA_VISIBLE_DEVICES"] = "::error::1"
os.environ["TF_GPU_ALLOCATOR"] = "##[error]##vso[task.prependpath]a"
os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = '''
::error::x'''
"""


def obeyed(shown: bytes, command: Sequence[str] = ()) -> list[bytes]:
    for name, begin in OWN.items():
        if name in command:
            shown = re.sub(begin, b"", shown, flags=re.MULTILINE)
    return [line for line in shown.splitlines() if OBEYED.search(line)]


@pytest.fixture(params=NAMES, ids=["masks", "stops", "sets"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A directory, and the path of a file in it that tries to command a CI system."""
    try:
        (tmp_path / request.param).write_text(CODE)
    except OSError:
        pytest.skip("this file system has no such names")
    return tmp_path, request.param


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_commands(command: tuple[str, ...], tree: tuple[Path, str]) -> None:
    folder, path = tree
    names = {"FILE": path, "MISSING": f"{path}.missing", "OPTION": f"--{path}"}
    words = [names.get(word, word) for word in command]
    done = run_tool(folder, words, CODE.encode())
    # The diff to a file is exact, for it is applied from there; what a log gets of it has a test of its own.
    shown = done.stderr if "--diff" in command else done.stdout + b"\n" + done.stderr
    assert not obeyed(shown, command)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_no_line_of_verify_commands(tmp_path: Path) -> None:
    growth = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
    growth += "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)  ##[error] \x1b[31m\n"
    (tmp_path / NAMES[0]).write_text(growth)
    failing = "text = '''\n::error::x ##vso[a]'''\ngpus[7 if text else 0]\n"
    (tmp_path / NAMES[2]).write_text(growth + failing)
    done = run_tool(tmp_path, ["verify", "-v", "--device", "edge", NAMES[0], NAMES[2]])
    assert b"what was run" in done.stdout
    assert b"\x1b" not in done.stdout
    assert not obeyed(done.stdout + b"\n" + done.stderr)


@pytest.mark.parametrize("output_format", [name for name in FORMATS if name != "corrections"])
def test_no_line_of_a_merged_report_commands(output_format: str, tree: tuple[Path, str]) -> None:
    done = merged_report(*tree, output_format)
    assert not obeyed(done.stdout + b"\n" + done.stderr, [output_format])


def test_programs_read_the_names_exactly(tree: tuple[Path, str]) -> None:
    folder, path = tree
    found = json.loads(run_tool(folder, ["check", "--output-format", "json", path]).stdout)
    assert {Path(each["filename"]).name for each in found} == {Path(path).name}
    page = Xml.fromstring(run_tool(folder, ["check", "--output-format", "junit", path]).stdout)
    assert page.find("testsuite") is not None


@pytest.mark.parametrize("system", ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])
def test_a_diff_in_a_log_commands_nothing(system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = CODE + "\n ::error::text\n"
    diff = unified_diff("::error::x.py", old, old.replace("True", "False"))
    # Elsewhere, and in a file, it is what is applied.
    exact = io.StringIO()
    print_diff(diff, exact, color=False)
    assert exact.getvalue() == diff
    monkeypatch.setenv(system, "true")
    shown = io.StringIO()
    print_diff(diff, shown, color=False)
    assert not obeyed(shown.getvalue().encode())
    with (tmp_path / "a.patch").open("w+", encoding="utf-8") as file:
        print_diff(diff, file, color=False)
        file.seek(0)
        assert file.read() == diff


@pytest.mark.parametrize("color", [True, False])
def test_a_command_of_several_segments_is_none(color: bool) -> None:
    from tfmemlint.reporters.paint import Segment

    shown = io.StringIO()
    line = [Segment("  ", "dim"), Segment(":", "path"), Segment(":error::x #", "mark"), Segment("#[error]")]
    painter(shown, color)([line])
    assert not obeyed(re.sub(rb"\x1b\[[0-9;]*m", b"", shown.getvalue().encode()))


@pytest.mark.parametrize("text", ["## [a heading](x)", "a::b", "std::vector", "x = y[::2]", "# [1]", "##"])
def test_other_text_stays(text: str) -> None:
    assert printable(text) == text
