"""Which functions of a project lead to code of one kind, across its modules."""

from __future__ import annotations

import re

import pytest

from tfmemlint.facts.leading import Leading
from tfmemlint.facts.mentions import Mentions, Piece

ABOUT = re.compile("goal")


def leading(**modules: tuple[str, list[str], list[str]]) -> Leading:
    """Modules by their keys: text, names that are imported, keys of the modules that are imported."""
    found = Leading(ABOUT.search)
    for key, (text, names, imports) in modules.items():
        found.add(key, Mentions(text, names), imports)
    found.settle()
    return found


class TestLeading:
    def test_a_function_with_the_word(self) -> None:
        found = leading(a=("def far(): near()\ndef near(): goal()\ndef other(): pass", [], []))
        assert found.of("a") == (["far", "near"], [])
        assert found.of("unknown") == ([], [])

    def test_through_imports_in_any_order(self) -> None:
        modules = {
            "c": ("from b import second\ndef third(): second()\ndef none(): first", ["second"], ["b"]),
            "b": ("import a\ndef second(): a.first()", ["a"], ["a"]),
            "a": ("def first(): goal()", [], []),
        }
        for order in (modules, dict(reversed(modules.items()))):
            found = leading(**order)
            assert found.of("a") == (["first"], [])
            assert found.of("b") == (["second"], [])
            assert found.of("c") == (["second", "third"], [])

    def test_a_function_that_imports_a_module_whose_import_leads_there(self) -> None:
        modules = {
            "main.py": ("def first():\n    import outer\ndef second(): outer.x\n", ["outer"], ["outer.py"]),
            "outer.py": ("from inner import y\nx = 1\n", ["inner", "y"], ["inner.py"]),
            "inner.py": ("y = goal()\n", [], []),
        }
        for order in (modules, dict(reversed(modules.items()))):
            found = leading(**order)
            assert found.of("main.py") == (["first"], [])
            assert found.mentioned(Piece("", "def third():\n    import outer\n"), "main.py")
            assert not found.mentioned(Piece("", "def fourth(): outer.x"), "main.py")

    def test_a_function_that_imports_a_module_whose_functions_alone_lead_there(self) -> None:
        text = "def first():\n    import a\n    a.x\n"
        assert leading(a=("def y(): goal()\nx = 1\n", [], []), b=(text, ["a"], ["a"])).of("b") == ([], [])

    def test_a_function_that_imports_what_its_own_module_has_imported(self) -> None:
        modules = {
            "p/__init__.py": ("from p import settings\n", ["settings"], ["p/settings.py"]),
            "p/settings.py": ("x = goal()\n", [], []),
            "p/nets.py": ("def first():\n    from p import settings\n", ["settings"], ["p/settings.py"]),
            "train.py": (
                "import p\ndef second():\n    from p import settings\n",
                ["p", "settings"],
                ["p/__init__.py", "p/settings.py"],
            ),
            "other.py": ("def third():\n    from p import settings\n", ["settings"], ["p/settings.py"]),
        }
        for order in (modules, dict(reversed(modules.items()))):
            found = leading(**order)
            assert {key: found.of(key)[0] for key in modules} == {
                "p/__init__.py": [],
                "p/settings.py": [],
                "p/nets.py": [],
                "train.py": [],
                "other.py": ["third"],
            }

    @pytest.mark.parametrize(
        "at_once",
        (
            "if TYPE_CHECKING:\n    import settings\n",
            "try:\n    import settings\nexcept ImportError:\n    pass\n",
            "from other import settings\n",
            "from settings_of import other\n",
        ),
    )
    def test_a_function_that_imports_what_its_own_module_may_not_have_imported(self, at_once: str) -> None:
        found = leading(
            **{
                "settings.py": ("x = goal()\n", [], []),
                "other/settings.py": ("x = 1\n", [], []),
                "nets.py": (
                    f"{at_once}def first():\n    import settings\n",
                    ["settings", "other"],
                    ["settings.py", "other/settings.py"],
                ),
            }
        )
        assert found.of("nets.py") == (["first"], [])

    def test_a_word_that_is_not_imported_is_something_else(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("def second(first): first()", [], ["a"]))
        assert found.of("b") == ([], [])

    def test_a_module_that_is_not_imported_is_not_seen(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("def second(): first()", ["first"], []))
        assert found.of("b") == ([], [])

    def test_all_names_by_a_star(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("def second(): first()", ["*"], ["a"]))
        assert found.of("b") == (["second"], [])

    def test_an_attribute_of_something_imported_by_another_name(self) -> None:
        text = "import a as x\ndef second(): x.first()"
        found = leading(a=("def first(): goal()", [], []), b=(text, ["a"], ["a"]))
        assert found.of("b") == (["second"], [])

    def test_an_attribute_of_something_else(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("def second(y): y.first()", ["a"], ["a"]))
        assert found.of("b") == ([], [])

    def test_methods_are_found_by_their_names_behind_a_dot(self) -> None:
        text = "class A:\n    def prepare(self): goal()\n    def run(self): goal()\n"
        found = leading(
            a=(text, [], []),
            b=("def call(x): x.prepare()\ndef name(prepare): pass\ndef general(x): x.run()", [], ["a"]),
        )
        assert found.of("a") == (["A"], ["prepare"])
        assert found.of("b") == (["call"], [])

    def test_modules_that_import_each_other(self) -> None:
        found = leading(
            a=("from b import two\ndef one(): two()\ndef three(): goal()", ["two"], ["b"]),
            b=("from a import three\ndef two(): three()", ["three"], ["a"]),
        )
        assert found.of("a") == (["one", "three", "two"], [])
        assert found.of("b") == (["three", "two"], [])

    def test_what_other_code_mentions(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("from a import first", ["first"], ["a"]))
        assert found.mentioned(Piece("", "first()"), "b")
        assert not found.mentioned(Piece("", "second()"), "b")
        assert not found.mentioned(Piece("", "first()"), "unknown")
        assert found.is_about(Piece("", "the goal"))
        assert not found.is_about(Piece("", "first"))

    def test_the_answers_stay_when_the_texts_are_forgotten(self) -> None:
        found = leading(a=("def first(): goal()", [], []), b=("from a import first", ["first"], ["a"]))
        found.forget()
        assert found.of("a") == (["first"], [])
        assert found.mentioned(Piece("", "first()"), "b")
        assert not found.mentioned(Piece("", "second()"), "b")

    def test_what_an_import_leads_to(self) -> None:
        found = leading(
            a=("def first(): goal()", [], []),
            b=("from a import first\nfirst()", ["first"], ["a"]),
            c=("from a import first\ndef second(): first()", ["first"], ["a"]),
            d=("goal()", [], []),
        )
        assert [found.on_import(key) for key in "abcde"] == [False, True, False, True, False]
        assert [found.on_import(key) for key in "ab"] == [False, True]
