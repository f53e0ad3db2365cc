"""Programs that nobody should have to expect: bounded cost, never an error of the tool, never one made of giving up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processor_time import assert_costs_at_most, measured
from tests.project.trees import write
from tfmemlint.cli.main import main

GROW = """\
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
TF = "import tensorflow as tf\n"


@dataclass(frozen=True)
class Run:
    """What one run came to; ``findings``: code, file and row of each."""

    code: int
    findings: list[tuple[str, str, int]]
    severities: list[str]
    err: str


SMALL, LARGE = 50, 200
"""What a run may cost, in `reference_seconds`: of a few lines, and of thousands of lines or hundreds of modules."""

Check = Callable[..., Run]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Check]:
    """Writes a project, and checks it as a whole; a run that costs too much processor time fails."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str | bytes], references: float = SMALL) -> Run:
        write(tmp_path / "pyproject.toml", "[project]\nname = 'program'\n")
        for name, text in files.items():
            if isinstance(text, bytes):
                (tmp_path / name).write_bytes(text)
            else:
                write(tmp_path / name, text)
        words = ["check", "--verbose", "--output-format", "json", "."]
        code, seconds = measured(lambda: main(words))
        told = capsys.readouterr()
        found = json.loads(told.out)
        places = [
            (one["code"], str(Path(one["filename"]).relative_to(tmp_path)), one["location"]["row"])
            for one in found
            if one["code"] is not None
        ]
        assert "TFM900" not in [place[0] for place in places]
        assert_costs_at_most(references, seconds, again=lambda: main([*words, "--no-cache"]))
        return Run(code, places, [one["severity"] for one in found if one["code"] is not None], told.err)

    yield run


def test_a_circle_of_three_modules(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import a\n{GROW}",
            "a.py": "import b\n",
            "b.py": "import c\n",
            "c.py": f"{TF}import a\nZERO = tf.constant(0)\n",
        }
    )
    assert run.findings == [("TFM101", "main.py", 4)]


def test_a_circle_of_names_that_are_not_there_yet(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import a\n{GROW}a.start()\n",
            "a.py": "from b import helper\ndef start():\n    return helper()\n",
            "b.py": f"{TF}import a\ndef helper():\n    return tf.constant(0) if a.start else None\n",
        }
    )
    assert run.findings == []


def test_broken_syntax_in_an_imported_module_is_one_finding_and_the_rest_goes_on(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import broken\nx = tf.constant(0)\n{GROW}",
            "broken.py": f"{TF}def f(:\n    tf.config.experimental.set_memory_growth\n",
        }
    )
    assert run.findings == [("TFM901", "broken.py", 2), ("TFM101", "main.py", 5)]


def test_broken_syntax_in_a_module_does_not_make_an_error_of_what_it_may_do(check: Check) -> None:
    run = check({"main.py": f"{TF}import broken\nbroken.start()\n{GROW}", "broken.py": "def start(:\n"})
    assert run.findings == []


@pytest.mark.parametrize("data", [b"\xff\xfe\x00bad", b"# coding: nonsense\nx = 1\n", b"x = '\xe9'\n"])
def test_a_module_that_cannot_be_decoded(check: Check, data: bytes) -> None:
    run = check({"main.py": f"{TF}import odd\nx = tf.constant(0)\n{GROW}", "odd.py": data + b"# memory_growth tf.\n"})
    assert [finding for finding in run.findings if finding[1] == "main.py"] == [("TFM101", "main.py", 5)]


def test_a_module_that_is_a_directory_or_leads_nowhere(check: Check, tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    run = check({"main.py": f"{TF}import folder, gone\n{GROW}tf.constant(0)\n"})
    assert run.findings == []


def test_a_module_of_twenty_thousand_lines(check: Check) -> None:
    rows = "".join(f"def step_{number}(x):\n    return tf.add(x, {number})\n" for number in range(10_000))
    run = check({"main.py": f"{TF}import made\n{GROW}made.step_9(1)\n", "made.py": TF + rows}, references=LARGE)
    assert run.findings == []


@pytest.mark.slow
def test_a_module_of_twenty_thousand_lines_that_do_something(check: Check) -> None:
    rows = "".join(f"step_{number} = tf.constant({number})\n" for number in range(20_000))
    run = check({"main.py": f"{TF}import made\n{GROW}", "made.py": TF + rows}, references=LARGE)
    assert run.findings == [("TFM101", "main.py", 4)]


def test_a_chain_of_five_hundred_calls(check: Check) -> None:
    rows = "".join(f"def call_{number}():\n    return call_{number + 1}()\n" for number in range(500))
    run = check({"main.py": f"{TF}import chain\nchain.call_0()\n{GROW}", "chain.py": f"{rows}def call_500(): pass\n"})
    assert run.findings == []


def test_a_chain_of_five_hundred_calls_to_a_start_is_followed_or_said_not_to_be(check: Check) -> None:
    rows = "".join(f"def call_{number}():\n    return call_{number + 1}()\n" for number in range(500))
    end = "def call_500():\n    return tf.constant(0)\n"
    run = check({"main.py": f"{TF}import chain\nchain.call_0()\n{GROW}", "chain.py": TF + rows + end}, references=LARGE)
    if run.findings != [("TFM101", "main.py", 5)]:
        assert run.findings == []
        assert "tfmemlint: main.py: not followed to the end: " in run.err


def test_mutual_recursion(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import even\nprint(even.even(5))\n{GROW}",
            "even.py": "import odd\ndef even(n):\n    return n == 0 or odd.odd(n - 1)\n",
            "odd.py": "import even\ndef odd(n):\n    return n != 0 and even.even(n - 1)\n",
        }
    )
    assert run.findings == []


def test_recursion_without_an_end(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import forever\nforever.one()\n{GROW}",
            "forever.py": "def one():\n    two()\n    two()\n\ndef two():\n    one()\n    one()\n",
        }
    )
    assert run.findings == []


def test_two_hundred_modules_that_import_each_other_in_a_row(check: Check) -> None:
    files: dict[str, str | bytes] = {f"m{number}.py": f"import m{number + 1}\n" for number in range(200)}
    files["m200.py"] = f"{TF}ZERO = tf.constant(0)\n"
    files["main.py"] = f"{TF}import m0\n{GROW}"
    run = check(files, references=LARGE)
    if run.findings != [("TFM101", "main.py", 4)]:
        assert run.findings == []
        assert "tfmemlint: main.py: not followed to the end: " in run.err


def test_two_hundred_modules_that_all_import_each_other(check: Check) -> None:
    everything = "".join(f"import m{number}\n" for number in range(200))
    files: dict[str, str | bytes] = {f"m{number}.py": everything for number in range(200)}
    files["main.py"] = f"{TF}import m0\n{GROW}tf.constant(0)\n"
    run = check(files, references=LARGE)
    assert run.findings == []


def test_a_module_that_imports_itself(check: Check) -> None:
    run = check({"main.py": f"{TF}import me\n{GROW}", "me.py": f"{TF}import me\nfrom me import tf\ntf.constant(0)\n"})
    assert run.findings == [("TFM101", "main.py", 4)]


def test_a_script_that_imports_itself(check: Check) -> None:
    run = check({"main.py": f"{TF}import main\n{GROW}x = tf.constant(0)\n"})
    assert run.findings == []


def test_a_package_that_raises_when_it_is_imported(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}try:\n    import old\nexcept RuntimeError:\n    old = None\n{GROW}",
            "old/__init__.py": f"{TF}raise RuntimeError('use new')\nZERO = tf.constant(0)\n",
        }
    )
    assert run.findings == []


def test_what_comes_after_an_import_that_always_raises_is_not_judged(check: Check) -> None:
    run = check(
        {"main.py": f"{TF}import old\ntf.constant(0)\n{GROW}", "old/__init__.py": "raise ImportError('use new')\n"}
    )
    assert run.findings == []


def test_relative_imports_beyond_the_top(check: Check) -> None:
    run = check(
        {
            "main.py": f"{TF}import package.inner\n{GROW}",
            "package/__init__.py": "",
            "package/inner.py": f"{TF}try:\n    from ....above import start\nexcept ImportError:\n    pass\n",
        }
    )
    assert run.findings == []


def test_names_of_modules_that_are_too_long_or_odd(check: Check) -> None:
    name = ".".join(["a"] * 300)
    run = check(
        {"main.py": f"{TF}import helper\ntry:\n    import {name}\nexcept ImportError: pass\n{GROW}", "helper.py": TF}
    )
    assert run.findings == []
