"""The tool that changes one condition at a time (``tools/mutants.py``): which changes it makes, and which it draws."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.fixture_files import ROOT


@pytest.fixture
def mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, for the files below a temporary folder."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "EQUIVALENT", tmp_path / "equivalent.txt")
    return module


UNCHANGED = {
    "a message": "x = f'{a if b == 1 else 2}'",
    "an annotation": "def f(a: Literal[1]) -> Literal[True]: pass",
    "a decorator": "@cache(1)\ndef f(): pass",
    "imports for type checkers": "if TYPE_CHECKING:\n    x = 1",
    "a text": "x = 'a'",
}
CHANGED = {
    "a comparison": ("x = a < b", {"a <= b", "a >= b"}),
    "an equality": ("x = a == b", {"a != b"}),
    "an identity": ("x = a is not b", {"a is b"}),
    "two conditions": ("x = a and b", {"a or b", "a", "b"}),
    "three conditions": ("x = a or b or c", {"a and b and c", "b or c", "a or c", "a or b"}),
    "a not": ("x = not a", {"a"}),
    "a test": ("if a: pass", {"not a"}),
    "the test of a comprehension": ("x = [b for b in a if b]", {"not b"}),
    "the guard of a case": ("match a:\n    case b if b: pass", {"not b"}),
    "a threshold": ("MOST = 6", {"7"}),
    "a truth value": ("x = True", {"False"}),
    "any and all": ("x = any(a)", {"all(a)"}),
    "the smallest": ("x = min(a)", {"max(a)"}),
}


def afters(tool: ModuleType, folder: Path, code: str) -> set[str]:
    """The expressions that a file's mutants have in place of others."""
    (folder / "a.py").write_text(code, encoding="utf-8")
    return {mutant.after.replace("(", "", 1).replace(")", "", 1) if mutant.after.startswith("not (") else mutant.after
            for mutant in tool.mutants_of("a.py", tool.ROOT)}  # fmt: skip


@pytest.mark.parametrize("code", UNCHANGED.values(), ids=UNCHANGED)
def test_what_no_test_can_notice_is_left_alone(mutants: ModuleType, tmp_path: Path, code: str) -> None:
    assert afters(mutants, tmp_path, code) == set()


@pytest.mark.parametrize(("code", "expected"), CHANGED.values(), ids=CHANGED)
def test_changed(mutants: ModuleType, tmp_path: Path, code: str, expected: set[str]) -> None:
    assert afters(mutants, tmp_path, code) == expected


def test_one_place_is_changed_and_the_rest_stays(mutants: ModuleType, tmp_path: Path) -> None:
    code = "# ein ü\nx = 'ü' if a < b else 'ö'  # c\n"
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    texts = {mutant.text(code) for mutant in mutants.mutants_of("a.py", mutants.ROOT)}
    assert "# ein ü\nx = 'ü' if (a <= b) else 'ö'  # c\n" in texts
    for text in texts:
        ast.parse(text)


def test_the_same_seed_draws_the_same(mutants: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * 50, encoding="utf-8")
    every = mutants.all_mutants(["*.py"], [])
    assert len(every) == 50
    assert mutants.draw(every, 1, 10) == mutants.draw(every, 1, 10) != mutants.draw(every, 2, 10)
    assert len(mutants.draw(every, 1, 0)) == len(mutants.draw(every, 1, 100)) == 50


def test_equivalent_mutants_and_excluded_files_are_not_drawn(mutants: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = a < b\n", encoding="utf-8")
    (tmp_path / "equivalent.txt").write_text("# why\na.py: a < b -> a <= b\n    never equal\n", encoding="utf-8")
    assert [mutant.after for mutant in mutants.all_mutants(["*.py"], [])] == ["a >= b"]
    assert mutants.all_mutants(["*.py"], ["a.py"]) == []


def test_code_that_runs_at_import_is_tried_on_every_test(mutants: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("X = 1\ndef f(a=2):\n    return (\n        3\n    )\n", encoding="utf-8")
    rows = {
        mutant.before: (mutant.runs_later, mutant.first_row, mutant.last_row)
        for mutant in mutants.mutants_of("a.py", mutants.ROOT)
    }
    assert {before: later for before, (later, *_) in rows.items()} == {"1": False, "2": False, "3": True}
    record = mutants.Record({"one": 1.0, "two": 0.5, "interpreter/three": 2.0}, {"a.py": {4: ["one", "failing"]}})
    tests = {mutant.before: record.tests_of(mutant) for mutant in mutants.mutants_of("a.py", mutants.ROOT)}
    assert tests["3"] == ["one"]
    assert sorted(tests["1"]) == ["interpreter/three", "one", "two"]


def test_what_a_rule_prints_is_looked_at_although_another_test_ran_it(mutants: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "tfm106_x.py").write_text("def f(a):\n    return a < 1\n", encoding="utf-8")
    mutant = next(mutants.mutants_of("rules/tfm106_x.py", mutants.ROOT))
    times = {"tests/test_snapshots.py::one[TFM106.txt]": 1.0, "tests/test_snapshots.py::one[TFM305.txt]": 1.0, "x": 2.0}
    record = mutants.Record(times, {"rules/tfm106_x.py": {2: ["x"]}})
    assert record.tests_of(mutant) == ["tests/test_snapshots.py::one[TFM106.txt]", "x"]
