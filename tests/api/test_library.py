"""The library as a guest in another program: it prints nothing, changes nothing, and may be called from threads."""

from __future__ import annotations

import dataclasses
import importlib
import os
import subprocess
import sys
import threading
import typing
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tfmemlint
from tests.api.texts import CLEAN, HELPER, LATE, MAIN, NUMBERS
from tfmemlint import api

TEXTS = [CLEAN, LATE, NUMBERS, "def f(:\n", HELPER + "\n" + LATE] * 4


def test_nothing_is_printed_and_nothing_changes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "odd.py").write_text("import tensorflow as tf\nif tf is 'x': print('\\d')\n")
    for number in range(30):  # more than the command would give to several processes
        (tmp_path / f"late{number}.py").write_text(LATE)
    monkeypatch.chdir(tmp_path)

    def state() -> object:
        return (
            Path.cwd(),
            dict(os.environ),
            list(sys.path),
            list(warnings.filters),
            sys.getrecursionlimit(),
            threading.active_count(),
            sorted(os.listdir(tmp_path)),  # noqa: PTH208
            [(path.name, path.read_bytes()) for path in sorted(tmp_path.glob("*.py"))],
        )

    tfmemlint.check(CLEAN)  # what is imported now stays
    before = state()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        inside = list(warnings.filters)
        tfmemlint.check(Path())
        tfmemlint.fix(Path(), unsafe=True)
        tfmemlint.plan(Path())
        tfmemlint.check("if 1 is 'x': pass\n")
        assert list(warnings.filters) == inside
    assert not given
    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_a_call_leaves_nothing_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    assert not tfmemlint.check(LATE, path="main.py").clean
    assert tfmemlint.check(CLEAN, path="main.py").clean
    (tmp_path / "requirements.txt").write_text("tensorflow==1.15\n")
    text = "import tensorflow as tf\nconfig = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
    text += "session = tf.Session(config=config)\n"
    assert tfmemlint.check(text, path="old.py").clean
    (tmp_path / "requirements.txt").write_text("tensorflow==2.15\n")
    assert not tfmemlint.check(text, path="old.py").clean


def test_threads_get_what_one_caller_gets() -> None:
    alone = [(tfmemlint.check(text), tfmemlint.fix(text, unsafe=True), tfmemlint.plan(text)) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(
            lambda text: (tfmemlint.check(text), tfmemlint.fix(text, unsafe=True), tfmemlint.plan(text)), TEXTS
        )
        assert list(together) == alone


def test_an_import_is_lazy() -> None:
    code = "import sys, tfmemlint; print([name for name in sys.modules if name.startswith('tfmemlint.')])"
    code += "; tfmemlint.check; print('tfmemlint.engine.run' in sys.modules, 'libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    names = [name for name in done.stdout.splitlines()[0].strip("[]").split(", ") if "editable" not in name]
    assert (names, done.stdout.splitlines()[1]) == ([""], "True False"), done.stderr


def test_every_public_name_is_there_and_no_other() -> None:
    assert sorted(api.__all__) == sorted(set(tfmemlint.__all__) - {"__version__"})
    assert set(tfmemlint.__all__) <= set(dir(tfmemlint))
    for name in tfmemlint.__all__:
        assert getattr(tfmemlint, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        tfmemlint.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", [name for name in api.__all__ if isinstance(getattr(api, name), type)])
def test_results_are_frozen_data(name: str) -> None:
    cls = getattr(api, name)
    if issubclass(cls, Exception):
        return
    assert dataclasses.is_dataclass(cls)
    assert vars(cls)["__dataclass_params__"].frozen
    public = {getattr(api, each) for each in api.__all__ if isinstance(getattr(api, each), type)}
    plain = {str, int, float, bool, type(None), ...}
    pending = list(typing.get_type_hints(cls).values())
    while pending:
        hint = pending.pop()
        if typing.get_origin(hint) is not None and typing.get_origin(hint) is not typing.Literal:
            pending.extend(typing.get_args(hint))
        elif typing.get_origin(hint) is None and not isinstance(hint, list):
            assert hint in public | plain, f"{name} has a field of {hint}, which is not public"


def test_a_function_is_not_hidden_by_a_module() -> None:
    importlib.import_module("tfmemlint.cli.main")
    for module in ("plans.command", "fixes.loop", "engine.check_source", "server", "mcp", "testing"):
        importlib.import_module(f"tfmemlint.{module}") if importlib.util.find_spec(f"tfmemlint.{module}") else None
    assert all(callable(getattr(tfmemlint, name)) for name in ("check", "fix", "plan"))
