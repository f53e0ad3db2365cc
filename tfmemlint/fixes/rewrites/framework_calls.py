"""Let a framework run code: hooks by their names, fixtures for all tests, methods that a subclass replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding


def name_hook(editor: Editor, finding: Finding) -> None:
    """Give a method the name by which its framework calls it.

    Raises:
        Withheld: its name is not found.
    """
    place = finding.details["place"]
    names = [
        node.name
        for node in matchers.findall(editor.module, matchers.FunctionDef())
        if isinstance(node, cst.FunctionDef) and editor.span(node.name) == place
    ]
    if len(names) != 1:
        raise Withheld("its name is not found")
    editor.replace(names[0], str(finding.details["right"]))
    editor.unsafe(f"Call it {finding.details['right']}")


def use_fixture(editor: Editor, finding: Finding) -> None:
    """Let pytest run a fixture once, before all tests, whether they ask for it or not.

    Raises:
        Withheld: its decorator is not found.
    """
    functions = [
        node
        for node in matchers.findall(editor.module, matchers.FunctionDef())
        if isinstance(node, cst.FunctionDef) and editor.span(node.name) == finding.span
    ]
    written = [each.decorator for function in functions for each in function.decorators]
    names = matchers.Name("fixture") | matchers.Attribute(attr=matchers.Name("fixture"))
    found = [each for each in written if matchers.matches(each, names | matchers.Call(func=names))]
    if len(found) != 1:
        raise Withheld("its decorator is not found")
    given = [editor.code(each) for each in found[0].args] if isinstance(found[0], cst.Call) else []
    if not any(each.startswith("scope") for each in given):
        given.append('scope="session"')
    function = found[0].func if isinstance(found[0], cst.Call) else found[0]
    editor.replace(found[0], f"{editor.code(function)}({', '.join([*given, 'autouse=True'])})")
    editor.unsafe("Run the fixture for all tests")


def call_replaced(editor: Editor, finding: Finding) -> None:
    """Let a method first call the one that it replaces.

    Raises:
        Withheld: the method is not found, or stands on one line.
    """
    methods = [
        node
        for node in matchers.findall(editor.module, matchers.FunctionDef())
        if isinstance(node, cst.FunctionDef) and editor.span(node.name) == finding.span
    ]
    if len(methods) != 1 or not isinstance(methods[0].body, cst.IndentedBlock):
        raise Withheld("its name is not found")
    method = methods[0]
    body = method.body.body
    first = body[1] if method.get_docstring() is not None and len(body) > 1 else body[0]
    editor.insert_before(first, f"super().{method.name.value}({finding.details['given']})")
    editor.unsafe(f"Call super().{method.name.value}() first")
