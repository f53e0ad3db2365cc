"""What calls of other files do is found in linear time, also through star imports and in chains of calls."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.processor_time import assert_linear
from tfmemlint.fixes.call_effects import CallEffects
from tfmemlint.fixes.order.files import Files
from tfmemlint.project.search import SearchPath
from tfmemlint.sources import Source


def _files(texts: dict[str, str]) -> Files:
    def locate(module: str) -> Any:
        return SimpleNamespace(path=f"{module}.py") if f"{module}.py" in texts else None

    search = cast("SearchPath", SimpleNamespace(locate=locate))
    return Files(lambda path: Source(path, texts[path]) if path in texts else None, search)


def _star(count: int) -> dict[str, str]:
    many = "".join(f"def f{number}(values):\n    values.append({number})\n" for number in range(count))
    return {"main.py": "from many import *\n", "many.py": f"LIMIT = 1\n{many}"}


def _ask(count: int) -> Callable[[], None]:
    def work() -> None:
        foreign = _files(_star(count)).foreign_of("main.py")
        answers = [foreign(f"f{number}") for number in range(count)]
        assert all(answer is not None and answer.known is not None for answer in answers)

    return work


def test_all_names_of_a_star_import_cost_what_their_module_is_long() -> None:
    assert_linear(_ask(400), _ask(800))


def test_what_a_call_does_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[str] = []
    follow = Files._foreign

    def counted(files: Files, dotted: str, target: Any) -> Any:
        followed.append(dotted)
        return follow(files, dotted, target)

    monkeypatch.setattr(Files, "_foreign", counted)
    # Each function calls the next one, of another module, twice: all ways together double with each.
    texts = {
        f"m{number}.py": f"from m{number + 1} import f{number + 1}\ndef f{number}(x):\n"
        f"    f{number + 1}(x)\n    f{number + 1}(x)\n"
        for number in range(8)
    }
    texts["m8.py"] = "def f8(x):\n    x.append(1)\n"
    texts["main.py"] = "from m0 import f0\n"
    foreign = _files(texts).foreign_of("main.py")
    first = foreign("f0")
    assert first is not None
    once = len(followed)
    assert once <= 2 * len(texts)
    assert foreign("f0") is first
    assert len(followed) == once


def test_functions_that_call_each_other_are_answered_as_before() -> None:
    texts = {
        "main.py": "from a import f\nfrom b import g\n",
        "a.py": "import b\ndef f(x):\n    b.g(x)\n",
        "b.py": "import a\ndef g(x):\n    a.f(x)\n    x.append(1)\n",
    }
    alone = [_files(texts).foreign_of("main.py")(name) for name in ("f", "g")]
    foreign = _files(texts).foreign_of("main.py")
    together = [foreign(name) for name in ("f", "g", "f", "g")]
    assert [(call.unrelated, call.prints) for call in together if call] == [
        (call.unrelated, call.prints) for call in [*alone, *alone] if call
    ]
    bodies = [call.known.body for call in together if call and call.known]
    assert all(isinstance(call.known.effects, CallEffects) for call in together if call and call.known)
    assert [sorted(body.called) for body in bodies] == [["b.g"], ["a.f", "x.append"]] * 2
