"""Let a framework run code: hooks by their names, fixtures for all tests, methods that a subclass replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.concrete_tree import comments_of
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding


def _function_named_at(editor: Editor, place: object) -> cst.FunctionDef:
    """Return the function whose name stands at a place.

    Raises:
        Withheld: there is none.
    """
    for node in matchers.findall(editor.module, matchers.FunctionDef()):
        if isinstance(node, cst.FunctionDef) and editor.span(node.name) == place:
            return node
    raise Withheld("its name is not found")


def name_hook(editor: Editor, finding: Finding) -> None:
    """Give a method the name by which its framework calls it.

    Raises:
        Withheld: its name is not found.
    """
    function = _function_named_at(editor, finding.details["place"])
    editor.replace(function.name, str(finding.details["right"]))
    editor.unsafe(f"Call it {finding.details['right']}")


def use_fixture(editor: Editor, finding: Finding) -> None:
    """Let pytest run a fixture once, before all tests, whether they ask for it or not.

    Raises:
        Withheld: its decorator is not found.
    """
    written = [each.decorator for each in _function_named_at(editor, finding.span).decorators]
    names = matchers.Name("fixture") | matchers.Attribute(attr=matchers.Name("fixture"))
    found = [each for each in written if matchers.matches(each, names | matchers.Call(func=names))]
    if len(found) != 1:
        raise Withheld("its decorator is not found")
    call = found[0] if isinstance(found[0], cst.Call) else cst.Call(found[0])
    if comments_of(editor.code(found[0])):
        raise Withheld("there are comments among the options of the fixture")
    given = [editor.code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip() for each in call.args]
    if not any(each.keyword is not None and each.keyword.value == "scope" for each in call.args):
        given.append('scope="session"')
    editor.replace(found[0], f"{editor.code(call.func)}({', '.join([*given, 'autouse=True'])})")
    editor.unsafe("Run the fixture for all tests")


def call_replaced(editor: Editor, finding: Finding) -> None:
    """Let a method first call the one that it replaces.

    Raises:
        Withheld: the method is not found, or stands on one line.
    """
    method = _function_named_at(editor, finding.span)
    if not isinstance(method.body, cst.IndentedBlock):
        raise Withheld("its name is not found")
    body = method.body.body
    first = body[1] if method.get_docstring() is not None and len(body) > 1 else body[0]
    editor.insert_before(first, f"super().{method.name.value}({finding.details['given']})")
    editor.unsafe(f"Call super().{method.name.value}() first")
