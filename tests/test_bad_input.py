"""Files and options that nobody should have to expect: one clear message each, the run goes on, no file is damaged."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tool_server import run_tool

LISTED = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
gpus = strategy.extended.list_physical_devices("GPU")
print(len(gpus))
"""
MENDED = LISTED.replace("strategy.extended", "tf.config")
CODE, ROW = "TFM202", 4
"""What is found in it, and where."""
MATTERS = "import tensorflow as tf\ntf.config.list_physical_devices('GPU')\n"
"""Enough for a file not to be passed over."""

as_a_user = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read and write files whatever their mode says"
)


@dataclass(frozen=True)
class Run:
    """What one run came to."""

    code: int
    out: str
    err: str
    cwd: Path

    @property
    def findings(self) -> list[tuple[str, str, int]]:
        """Code, file and row of each finding of a run with ``--output-format json``, without what was not followed."""
        return [
            (one["code"], one["filename"].removeprefix(f"{self.cwd}{os.sep}"), one["location"]["row"])
            for one in json.loads(self.out)
            if one["code"] is not None
        ]


def tfmemlint(cwd: Path, *arguments: str, stdin: bytes = b"") -> Run:
    """Run the tool; a traceback is never an answer."""
    done = run_tool(cwd, arguments, stdin)
    out, err = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
    run = Run(done.returncode, out, err, cwd)
    assert "Traceback" not in run.out + run.err
    return run


def check(cwd: Path, *arguments: str, stdin: bytes = b"") -> Run:
    """``tfmemlint check`` with findings as JSON."""
    return tfmemlint(cwd, "check", "--output-format", "json", *arguments, stdin=stdin)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with one file in which something is found, to see that the run goes on."""
    (tmp_path / "zz_listed.py").write_text(LISTED, encoding="utf-8")
    return tmp_path


ALSO = (CODE, "zz_listed.py", ROW)
"""The finding in the other file of ``tree``."""


# Paths


def test_a_missing_path_is_said_and_the_other_files_are_checked(tree: Path) -> None:
    run = check(tree, "missing.py", "zz_listed.py")
    assert run.code == 2
    assert "missing.py: no such file or directory" in run.err
    assert run.findings == [ALSO]


def test_a_link_that_leads_nowhere_is_said(tree: Path) -> None:
    (tree / "link.py").symlink_to("gone.py")
    run = check(tree, "link.py", "zz_listed.py")
    assert (run.code, run.findings) == (2, [ALSO])
    assert "link.py" in run.err


def test_a_link_that_leads_nowhere_does_not_stop_a_directory(tree: Path) -> None:
    (tree / "link.py").symlink_to("gone.py")
    run = check(tree)
    assert (run.code, run.findings) == (1, [ALSO])


@as_a_user
def test_a_file_that_may_not_be_read_is_a_finding(tree: Path) -> None:
    (tree / "secret.py").write_text(LISTED, encoding="utf-8")
    (tree / "secret.py").chmod(0)
    run = check(tree)
    assert run.findings == [("TFM902", "secret.py", 1), ALSO]
    assert "Permission denied" in run.out


@as_a_user
def test_a_directory_that_may_not_be_read_is_said(tree: Path) -> None:
    (tree / "secret").mkdir(mode=0)
    run = check(tree)
    assert (run.code, run.findings) == (2, [ALSO])
    assert "secret: Permission denied" in run.err


@as_a_user
def test_a_file_that_may_not_be_written_stays_as_it_is(tree: Path) -> None:
    path = tree / "zz_listed.py"
    path.chmod(0o444)
    run = tfmemlint(tree, "fix")
    assert run.code == 2
    assert "zz_listed.py: could not be written, and was left unchanged: Permission denied" in run.err
    assert path.read_text(encoding="utf-8") == LISTED


def test_a_loop_of_links_between_directories_ends(tree: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (tree / name).mkdir()
        (tree / name / other).symlink_to(tree / other, target_is_directory=True)
        (tree / name / "up").symlink_to("..", target_is_directory=True)
    (tree / "self").symlink_to("self")
    (tree / "one" / "listed.py").write_text(LISTED, encoding="utf-8")
    run = check(tree)
    assert run.code == 1
    assert run.findings == [(CODE, "one/listed.py", ROW), ALSO]


def test_a_file_that_is_reached_twice_is_reported_once(tree: Path) -> None:
    (tree / "other_name.py").symlink_to("zz_listed.py")
    run = check(tree, ".", "zz_listed.py", "./zz_listed.py")
    assert len(run.findings) == 1


def test_an_empty_directory_is_said_on_stderr_and_is_clean(tmp_path: Path) -> None:
    run = check(tmp_path)
    assert (run.code, run.findings) == (0, [])
    assert ".: no files to check here" in run.err


def test_an_empty_file_is_clean(tmp_path: Path) -> None:
    (tmp_path / "empty.py").touch()
    run = check(tmp_path, "empty.py")
    assert (run.code, run.findings, run.err) == (0, [], "")


def test_a_directory_that_is_named_like_a_file_is_entered(tmp_path: Path) -> None:
    (tmp_path / "models.py").mkdir()
    (tmp_path / "models.py" / "listed.py").write_text(LISTED, encoding="utf-8")
    assert check(tmp_path).findings == [(CODE, "models.py/listed.py", ROW)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_is_not_waited_for(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    assert check(tree).findings == [ALSO]
    run = check(tree, "pipe.py", "zz_listed.py")
    assert (run.code, run.findings) == (2, [ALSO])
    assert "pipe.py: neither a file nor a directory" in run.err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode on this system")
def test_a_file_name_that_is_not_unicode_can_be_reported(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).write_text(LISTED, encoding="utf-8")
    for output_format in ("full", "concise", "json", "github"):
        run = tfmemlint(tmp_path, "check", "--output-format", output_format)
        assert run.code == 1
        assert CODE in run.out


# Bytes


@pytest.mark.parametrize(
    ("data", "row", "words"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, None, "null bytes"),
        (MATTERS.encode() + b"x = '\0'\n", 3, "null bytes"),
        (b"# coding: utf-8\nimport tensorflow as tf\n# caf\xe9 tf.config\n", 3, "not valid utf-8"),
        (b"import tensorflow as tf\n# tf.config\n\n# caf\xe9\n", 4, "not valid utf-8"),
        (b"# coding: ascii\nimport tensorflow as tf  # tf.config\n# caf\xc3\xa9\n", 3, "not valid ascii"),
        (b"# coding: klingon\nimport tensorflow as tf  # tf.config\n", 1, "unknown encoding"),
        (b"#!/usr/bin/env python\n# coding: klingon\nimport tensorflow as tf  # tf.config\n", 2, "unknown encoding"),
        (MATTERS.encode("utf-16"), 1, "UTF-16"),
        (codecs.BOM_UTF16_BE + MATTERS.encode("utf-16-be"), 1, "UTF-16"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n" + MATTERS.encode(), 1, ""),
    ],
    ids=[
        "binary",
        "null bytes",
        "wrong encoding",
        "wrong encoding, none declared",
        "ascii declared",
        "unknown encoding",
        "unknown encoding in the second row",
        "UTF-16",
        "UTF-16, big end first",
        "byte order mark against cookie",
    ],
)
def test_what_cannot_be_decoded_is_one_finding_at_its_row(tree: Path, data: bytes, row: int | None, words: str) -> None:
    path = tree / "bytes.py"
    path.write_bytes(data)
    run = check(tree, "bytes.py", "zz_listed.py")
    assert run.code == 1
    (first, second) = run.findings
    assert first[:2] == ("TFM902", "bytes.py")
    assert row is None or first[2] == row
    assert second == ALSO
    assert words in run.out
    assert tfmemlint(tree, "fix", "--unsafe-fixes", "bytes.py").code == 1
    assert path.read_bytes() == data


def test_a_file_that_is_too_large_is_one_finding(tree: Path) -> None:
    with (tree / "data.py").open("wb") as file:
        file.write(MATTERS.encode() + b"x = [\n")
        file.seek(33 * 2**20)
        file.write(b"]\n")
    assert check(tree, "data.py", "zz_listed.py").findings == [("TFM902", "data.py", 1), ALSO]


def test_a_utf8_byte_order_mark_is_kept(tmp_path: Path) -> None:
    assert _mended(tmp_path, codecs.BOM_UTF8 + LISTED.encode()) == codecs.BOM_UTF8 + MENDED.encode()


def test_windows_line_ends_are_kept(tmp_path: Path) -> None:
    assert _mended(tmp_path, _windows(LISTED)) == _windows(MENDED)


def test_old_macintosh_line_ends_are_kept(tmp_path: Path) -> None:
    old = LISTED.replace("\n", "\r").encode()
    assert _mended(tmp_path, old) == MENDED.replace("\n", "\r").encode()


def test_mixed_line_ends_are_kept_line_by_line(tmp_path: Path) -> None:
    ends = ("\r\n", "\n", "\r\n", "\n", "\r\n")
    old, new = (
        "".join(line + end for line, end in zip(text.splitlines(), ends, strict=True)).encode()
        for text in (LISTED, MENDED)
    )
    mended = _mended(tmp_path, old).splitlines(keepends=True)
    wanted = new.splitlines(keepends=True)
    assert mended[: ROW - 1] + mended[ROW:] == wanted[: ROW - 1] + wanted[ROW:]
    assert mended[ROW - 1].rstrip() == wanted[ROW - 1].rstrip()


def test_lines_that_move_in_a_file_with_windows_line_ends_keep_them(tmp_path: Path) -> None:
    late = (
        "import tensorflow as tf\n\n"
        "strategy = tf.distribute.MirroredStrategy()\n"
        'for gpu in tf.config.list_physical_devices("GPU"):\n'
        "    tf.config.experimental.set_memory_growth(gpu, True)\n"
    )
    mended = _mended(tmp_path, _windows(late), "--unsafe-fixes")
    assert mended != _windows(late)
    assert sorted(filter(None, mended.split(b"\r\n"))) == sorted(filter(None, _windows(late).split(b"\r\n")))
    assert mended.count(b"\n") == mended.count(b"\r\n")


def test_a_missing_final_newline_stays_missing(tmp_path: Path) -> None:
    assert _mended(tmp_path, LISTED.rstrip("\n").encode()) == MENDED.rstrip("\n").encode()


def test_trailing_blank_lines_and_white_space_are_kept(tmp_path: Path) -> None:
    tail = "x = 1   \n\t\n\n\n"
    assert _mended(tmp_path, (LISTED + tail).encode()) == (MENDED + tail).encode()


@pytest.mark.parametrize(
    "odd",
    [
        "import os\n\x0c\n",
        "import os\n\x0c\nimport re\n",
        'a = "b\u2028c"\n',
        'a = "b\x0bc"\n',
        'a = "b\x85c"  # \x1c\n',
    ],
    ids=["form feed", "form feed between", "line separator", "vertical tab", "next line"],
)
def test_characters_that_separate_lines_elsewhere_do_not_shift_rows(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "odd.py"
    path.write_text(odd + LISTED, encoding="utf-8", newline="")
    assert check(tmp_path).findings == [(CODE, "odd.py", ROW + odd.count("\n"))]
    assert _mended(tmp_path, (odd + LISTED).encode()) == (odd + MENDED).encode()


def test_a_file_that_the_rewriter_would_not_keep_as_it_is_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("\x0cimport os\n" + LISTED, encoding="utf-8", newline="")
    run = tfmemlint(tmp_path, "fix")
    assert run.code == 1
    assert "fix: withheld: the rewriter would not write this file back as it was" in run.out
    assert (tmp_path / "odd.py").read_text(encoding="utf-8") == "\x0cimport os\n" + LISTED


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15", "utf-8"])
def test_the_declared_encoding_is_kept(tmp_path: Path, encoding: str) -> None:
    head = f"# -*- coding: {encoding} -*-\n# café\n"
    assert _mended(tmp_path, (head + LISTED).encode(encoding)) == (head + MENDED).encode(encoding)


def test_columns_count_characters_not_bytes(tmp_path: Path) -> None:
    text = LISTED.replace("gpus = s", "é = 1; gpus = s")
    (tmp_path / "accent.py").write_text(text, encoding="utf-8")
    (found,) = json.loads(check(tmp_path).out)
    assert found["location"]["column"] == len("é = 1; gpus = ") + 1


def _windows(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def _mended(folder: Path, data: bytes, *options: str) -> bytes:
    """The bytes of a file after ``fix``, which must be the same after another."""
    path = folder / "mended.py"
    path.write_bytes(data)
    run = tfmemlint(folder, "fix", *options, "mended.py")
    assert run.code == 0, run.out + run.err
    first = path.read_bytes()
    assert tfmemlint(folder, "fix", *options, "mended.py").code == 0
    assert path.read_bytes() == first
    assert sorted(folder.glob("*.tmp")) == []
    return first


# Syntax


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("def broken(:", ""),
        ("import tensorflow as tfgpus = tf.config.list_physical_devices('GPU')", "run together on this line"),
        ("***pat.v1.Session(config=config)", "damaged by masking"),
        ("x = 'not closed", ""),
        ("x = " + "9" * 5000, ""),
    ],
    ids=["plain", "run together", "masked", "open string", "endless number"],
)
def test_a_syntax_error_is_one_finding_at_its_row(tree: Path, line: str, note: str) -> None:
    path = tree / "broken.py"
    path.write_text(f"{MATTERS}{line}\n", encoding="utf-8")
    run = check(tree)
    assert run.code == 1
    assert run.findings == [("TFM901", "broken.py", 3), ALSO]
    assert run.err == ""
    assert note in tfmemlint(tree, "check", "broken.py").out
    assert tfmemlint(tree, "fix", "--unsafe-fixes").code == 1
    assert path.read_text(encoding="utf-8") == f"{MATTERS}{line}\n"


PYTHON_2 = [
    "print 'three gpus'",
    "exec 'x = 1'",
    "raise ValueError, 'none'",
    "try:\n    tf.zeros\nexcept (ValueError, TypeError), error:\n    pass",
    "if len(gpus) <> 2:\n    pass",
    "os.chmod(path, 0755)",
    "limit = 1024L",
    "pick = lambda (a, b): a",
    "def pick(a, (b, c)):\n    return a",
    "if True:\n\tx = 1\n        print 'two'",
    "import cPickle as pickle\nif True:\n\tx = 1\n        y = 2",
    "for i in xrange(3):\n\tx = 1\n        y = 2",
]


@pytest.mark.parametrize("code", PYTHON_2)
def test_python_2_is_no_finding_but_is_said_to_be_unread(tree: Path, code: str) -> None:
    for name in ("one.py", "two.py"):
        (tree / name).write_text(f"{MATTERS}{code}\n", encoding="utf-8")
    run = check(tree)
    assert run.findings == [ALSO]
    assert run.err == "tfmemlint: 2 files were not checked: not valid Python 3 (-v says more)\n"
    assert "two.py: This looks like Python 2" in tfmemlint(tree, "check", "--verbose").err
    assert tfmemlint(tree, "check", "--quiet").err == ""


@pytest.mark.parametrize("code", ["print 'a'", "try:\n    tf.zeros\nexcept ImportError, error:\n    print error"])
def test_a_file_of_python_2_that_is_named_is_a_finding(tmp_path: Path, code: str) -> None:
    (tmp_path / "two.py").write_text(f"{MATTERS}{code}\n", encoding="utf-8")
    run = tfmemlint(tmp_path, "check", "two.py")
    assert (run.code, run.err) == (1, "")
    assert "This looks like Python 2" in run.out
    assert "TFM901" in tfmemlint(tmp_path, "check", "--select", "TFM901").out


@pytest.mark.parametrize(
    "code", ["print 'a'", "raise ValueError, 'none'", "try:\n    tf.zeros\nexcept ImportError, error:\n    pass"]
)
def test_a_program_of_several_files_of_python_2_is_no_finding(tree: Path, code: str) -> None:
    (tree / "grow.py").write_text(f"{MATTERS}def grow():\n    pass\n", encoding="utf-8")
    (tree / "model.py").write_text(f"import grow\n{MATTERS}{code}\n", encoding="utf-8")
    (tree / "train.py").write_text(f"import grow\nimport model\n{MATTERS}{code}\ngrow.grow()\n", encoding="utf-8")
    run = check(tree)
    assert run.findings == [ALSO]
    assert run.err == "tfmemlint: 2 files were not checked: not valid Python 3 (-v says more)\n"
    named = tfmemlint(tree, "check", "train.py")
    assert "TFM901" in named.out
    assert "This looks like Python 2" in named.out


def test_a_broken_file_of_a_program_of_several_files_is_a_finding(tree: Path) -> None:
    (tree / "grow.py").write_text(f"{MATTERS}def grow():\n    pass\n", encoding="utf-8")
    (tree / "train.py").write_text(f"import grow\n{MATTERS}grow.grow(:\n", encoding="utf-8")
    assert check(tree).findings == [("TFM901", "train.py", 4), ALSO]


def test_a_broken_file_that_is_about_something_else_is_no_finding(tree: Path) -> None:
    code = "import tensorflow as tf\nwith tf.Session() as session:\n    optimizer = # write it here\n"
    (tree / "exercise.py").write_text(code, encoding="utf-8")
    run = check(tree)
    assert run.findings == [ALSO]
    assert run.err == "tfmemlint: 1 file was not checked: not valid Python 3 (-v says more)\n"
    assert "exercise.py" in tfmemlint(tree, "check", "exercise.py").out
    about_memory = code.replace("Session()", "Session(config=config)")
    (tree / "exercise.py").write_text(about_memory, encoding="utf-8")
    assert check(tree).findings == [("TFM901", "exercise.py", 3), ALSO]


def test_a_broken_file_of_another_library_is_no_finding(tree: Path) -> None:
    code = "import os\nimport torch\nprint(os.environ['CUDA_VISIBLE_DEVICES'])\nbatch.cuda(async=True)\n"
    (tree / "train.py").write_text(code, encoding="utf-8")
    run = check(tree)
    assert run.findings == [ALSO]
    assert run.err == "tfmemlint: 1 file was not checked: not valid Python 3 (-v says more)\n"
    (tree / "train.py").write_text(f"import tensorflow as tf\n{code}", encoding="utf-8")
    assert check(tree).findings == [("TFM901", "train.py", 5), ALSO]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("repository = [the name of it]", 0),
        ("print tf.config.list_physical_devices('GPU')", 0),
        ("tf.config.list_physical_devices('GPU'", 1),
    ],
)
def test_a_broken_cell_is_a_finding_where_it_is_about_gpus(tmp_path: Path, cell: str, found: int) -> None:
    sources = [f"{MATTERS}x = 1", cell]
    cells = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in sources]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "train.ipynb").write_text(text, encoding="utf-8")
    run = tfmemlint(tmp_path, "check")
    assert (run.out.count("TFM901"), run.code, run.err) == (found, found, "")


def test_mixed_tabs_and_spaces_are_a_syntax_error(tree: Path) -> None:
    (tree / "tabs.py").write_text(MATTERS + "if True:\n        x = 1\n\ty = 2\n", encoding="utf-8")
    assert check(tree).findings == [("TFM901", "tabs.py", 5), ALSO]


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 150 + "]" * 150,
        "a" + ".b" * 3000,
        "a" + ".b()" * 3000,
        "a" + "[0]" * 3000,
        " + ".join("1" * 3000),
        " + ".join("1" * 100_000),
        " ** ".join("2" * 3000),
        " < ".join("a" * 3000),
        " and ".join("a" * 3000),
        "-" * 3000 + "1",
        "not " * 3000 + "1",
        "lambda: " * 3000 + "1",
        "1 if a else " * 3000 + "1",
        "f(" * 90 + ")" * 90,
        '"a" ' * 3000,
    ],
    ids=[
        "parentheses", "lists", "attributes", "calls", "subscripts", "sums", "very many sums", "powers", "comparisons",
        "conjunctions", "signs", "negations", "lambdas", "conditions", "arguments", "strings",
    ],
)  # fmt: skip
def test_deep_nesting_ends_in_one_finding_or_none(tree: Path, expression: str) -> None:
    path = tree / "deep.py"
    text = f"{MATTERS}a = 0\nx = {expression}\n"
    path.write_text(text, encoding="utf-8")
    run = check(tree)
    assert run.code == 1
    *deep, last = run.findings
    assert last == ALSO
    assert [found[:2] for found in deep] in ([], [("TFM901", "deep.py")])
    tfmemlint(tree, "fix", "--unsafe-fixes")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "block",
    [
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 3000,
        "".join(" " * depth + "if a:\n" for depth in range(95)) + " " * 95 + "pass\n",
        "".join(" " * depth + "def f():\n" for depth in range(95)) + " " * 95 + "pass\n",
        "".join(" " * depth + "if a:\n" for depth in range(150)) + " " * 150 + "pass\n",
        pytest.param(
            "".join(f"def f{number}():\n    f{number + 1}()\n" for number in range(2000)) + "f0()\n",
            marks=pytest.mark.slow,
        ),
        "def f():\n    f()\nf()\n",
        "x = 1\n" * 20_000,
    ],
    ids=["elif", "if", "def", "too many levels", "a chain of calls", "recursion", "many statements"],
)
def test_deep_blocks_end_in_one_finding_or_none(tree: Path, block: str) -> None:
    (tree / "deep.py").write_text(f"{MATTERS}a = 0\n{block}", encoding="utf-8")
    run = check(tree)
    assert run.code == 1
    *deep, last = run.findings
    assert last == ALSO
    assert [found[:2] for found in deep] in ([], [("TFM901", "deep.py")])


def test_warnings_of_the_parser_are_not_printed(tmp_path: Path) -> None:
    (tmp_path / "escapes.py").write_text(MATTERS + 'x = "\\d"\ny = 1 is 1\nz = 1or 2\n', encoding="utf-8")
    run = check(tmp_path)
    assert (run.code, run.findings, run.err) == (0, [], "")


# Standard input


def test_standard_input_is_checked_under_its_name(tmp_path: Path) -> None:
    run = check(tmp_path, "--stdin-filename", "train.py", "-", stdin=LISTED.encode())
    assert (run.code, run.findings) == (1, [(CODE, "train.py", ROW)])


def test_standard_input_is_mended_to_standard_output(tmp_path: Path) -> None:
    run = tfmemlint(tmp_path, "fix", "-", stdin=_windows(LISTED))
    assert (run.code, run.out) == (0, _windows(MENDED).decode())


@pytest.mark.parametrize("data", [b"", b"import os\n", b"\0\0", "print 1\n".encode("utf-16"), b"def broken(:\n"])
def test_standard_input_that_cannot_be_mended_comes_out_unchanged(tmp_path: Path, data: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "fix", "-"], cwd=tmp_path, input=data, capture_output=True
    )
    assert b"Traceback" not in done.stderr
    assert done.stdout == data


def test_standard_input_and_files_go_together(tree: Path) -> None:
    run = check(tree, "-", "zz_listed.py", stdin=LISTED.encode())
    assert run.code == 1
    assert run.findings == [(CODE, "-", ROW), ALSO]


# Options


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "--select", "TFM777"], "TFM777"),
        (["check", "--ignore", "E501"], "E501"),
        (["fix", "--extend-select", "growth"], "growth"),
        (["check", "--no-such-option"], "--no-such-option"),
        (["check", "--output-format", "xml"], "xml"),
        (["check", "--target-version", "two"], "two"),
        (["check", "--gpu-memory", "16"], "16GiB"),
        (["check", "--gpu-memory", "much"], "much"),
        (["rule", "TFM777"], "TFM777"),
        (["rule", "TFM10x"], "TFM10x"),
        (["lint"], "lint"),
        ([], "COMMAND"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_the_tool_does_not_know_is_an_error(tree: Path, arguments: list[str], words: str) -> None:
    run = tfmemlint(tree, *arguments)
    assert (run.code, run.out) == (2, "")
    assert words in run.err


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[tool.tfmemlint]\nselct = ["TFM1"]\n', "did you mean 'select'?"),
        ('[tool.tfmemlint]\nselect = ["TFM777"]\n', "TFM777"),
        ("[tool.tfmemlint]\nselect = 1\n", "select: expected a list of strings"),
        ("[tool.tfmemlint\n", "is not TOML"),
    ],
)
def test_a_configuration_that_cannot_be_followed_is_an_error(tree: Path, toml: str, words: str) -> None:
    (tree / "pyproject.toml").write_text(toml, encoding="utf-8")
    run = tfmemlint(tree, "check")
    assert (run.code, run.out) == (2, "")
    assert "pyproject.toml" in run.err
    assert words in run.err


def test_exit_zero_does_not_hide_that_the_tool_could_not_do_its_work(tree: Path) -> None:
    assert tfmemlint(tree, "check", "--exit-zero").code == 0
    assert tfmemlint(tree, "check", "--exit-zero", "missing.py").code == 2


# Output


def test_a_reader_that_goes_away_is_no_error_of_the_tool(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"listed_{number}.py").write_text(LISTED, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfmemlint", "check"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(120) == 1
    assert said == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_report_does_not_fail_on_an_encoding_that_lacks_a_character(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "names.py").write_text(LISTED.replace("(len(gpus))", "(len(gpus))  # 显存 é"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "check"],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert CODE.encode() in done.stdout
