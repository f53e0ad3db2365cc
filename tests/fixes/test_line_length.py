"""The lines that fixes write are as long as the project allows, and no longer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tfmemlint.cli.main import main
from tfmemlint.fixes.line_length import keep_length, usual_length
from tfmemlint.project.line_length import line_length_of, reset_cache

CALL = "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2048)])"


@pytest.mark.parametrize(
    ("line", "characters", "expected"),
    [
        (
            CALL,
            88,
            """
            tf.config.set_logical_device_configuration(
                gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2048)]
            )
            """,
        ),
        (
            CALL,
            60,
            """
            tf.config.set_logical_device_configuration(
                gpus[0],
                [
                    tf.config.LogicalDeviceConfiguration(
                        memory_limit=2048
                    )
                ],
            )
            """,
        ),
        (
            "names = [device.name.replace('a', 'b') for device in devices if device.name]",
            50,
            """
            names = [
                device.name.replace('a', 'b')
                for device in devices
                if device.name
            ]
            """,
        ),
        (
            "used = tf.config.experimental.get_memory_info('GPU:0' if gpus else 'CPU:0')['current']",
            70,
            """
            used = tf.config.experimental.get_memory_info(
                'GPU:0' if gpus else 'CPU:0'
            )['current']
            """,
        ),
        (
            "from tensorflow.config import LogicalDeviceConfiguration, list_physical_devices",
            60,
            """
            from tensorflow.config import (
                LogicalDeviceConfiguration,
                list_physical_devices,
            )
            """,
        ),
        (
            "set_limit(gpus[0], 8192)  # 0.5 of 16384 MiB",
            40,
            """
            # 0.5 of 16384 MiB
            set_limit(gpus[0], 8192)
            """,
        ),
    ],
)
def test_a_new_line_is_broken_as_black_breaks_it(line: str, characters: int, expected: str) -> None:
    assert keep_length((), f"{line}\n", characters) == code(expected)
    assert keep_length([line], f"{line}\n", characters) == f"{line}\n", "it is the author's"


@pytest.mark.parametrize(
    "text",
    [
        'message = "a text that is much longer than the forty characters of this project"\n',
        "total = first_summand + second_summand + third_summand + fourth\n",
        'text = """\na line (of a text) that is longer than what the project wants, [x]\n"""\n',
        'name = f"GPU:{devices[0].name.rsplit(chr(58), 1)[-1]} and more of this text"\n',
        "set_limit(0, 8192)  # a comment that its author has made longer than forty\n",
    ],
)
def test_what_has_no_brackets_to_break_stays(text: str) -> None:
    assert keep_length((), text, 40) == text


def test_what_comes_out_is_the_same_program() -> None:
    statement = "with f(1, *[2, 3], key=(4, 5)) as x, f(6)[7:8, 'a'] as y:\n    pass\n"
    text = f"def f(*args, **kwargs):\n    return {CALL}\n\n\n{statement}"
    for characters in range(20, 100, 7):
        made = keep_length((), text, characters)
        assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(text))


def test_a_file_with_longer_lines_may_have_some_more() -> None:
    assert usual_length('x = "a"\n', '"') == 88
    assert usual_length("x = 'a'\n", "'") == 100
    assert usual_length(f'x = "{"a" * 100}"\n', '"') == 106
    assert usual_length(f'x = "{"a" * 300}"\n', '"') == 120


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 60\n", 60),
        ("pyproject.toml", "[tool.ruff]\n", 88),
        ("pyproject.toml", "[tool.black]\nline-length = 79\n", 79),
        ("pyproject.toml", "[tool.black]\n", 88),
        ("pyproject.toml", "[tool.yapf]\ncolumn_limit = 80\n", 80),
        ("pyproject.toml", "[project]\nname = 'black'\n", None),
        ("pyproject.toml", "[tool.ruff\n", None),
        ("ruff.toml", "line-length = 110\n", 110),
        (".ruff.toml", "[lint]\nselect = ['E']\n", 88),
        ("setup.cfg", "[flake8]\nmax-line-length = 100\n", 100),
        ("tox.ini", "[pycodestyle]\nmax_line_length = 90\n", 90),
        (".flake8", "[flake8]\nmax-line-length = 99\n", 99),
        (".editorconfig", "[*]\nmax_line_length = 120\n[*.md]\nmax_line_length = 80\n", 120),
        (".editorconfig", "[*.{py,pyi}]\nmax_line_length = 72\n", 72),
        (".editorconfig", "[*]\nmax_line_length = off\n", None),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100000\n", None),
    ],
)
def test_the_project_says_how_long_a_line_may_be(name: str, text: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "package").mkdir()
    reset_cache()
    assert line_length_of(str(tmp_path / "package" / "module.py")) == expected


@pytest.mark.parametrize("characters", [60, 79, 88, 120])
def test_what_fix_writes_is_no_longer_than_the_project_wants(
    characters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.black]\nline-length = {characters}\n", encoding="utf-8")
    program = tmp_path / "train.py"
    program.write_text(
        "import tensorflow as tf\n\n\ndef setup(gpus):\n    if gpus:\n"
        "        tf.config.experimental.set_memory_limit(gpus[0], 0.5)\n"
        '        print(tf.config.experimental.get_memory_info(gpus[0])["current"])\n\n\n'
        'setup(tf.config.list_physical_devices("GPU"))\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    main(["fix", "--unsafe-fixes", "--no-cache", "--gpu-memory", "16GiB", "train.py"])
    text = program.read_text(encoding="utf-8")
    assert "LogicalDeviceConfiguration" in text
    assert max(map(len, text.split("\n"))) <= characters
