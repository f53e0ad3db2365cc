"""Run code that never runs: a ``map`` becomes a loop, a partial a call, a coroutine is awaited, a test turned round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.opposites import opposite_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_SPEAKS_OF_NONE = re.compile(r"\bno\b|\bnot\b|\bcpu\b|\bwithout\b|n't\b", re.IGNORECASE)
"""Words of a message that is right where there are no GPUs."""


_ITERATED = frozenset({"map", "filter", "iterator", "generator expression", "generator"})


def run(editor: Editor, finding: Finding) -> None:
    """Replace the statement that makes the code by one that runs it.

    Raises:
        Withheld: the code can't be run here without more knowledge of it.
    """
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    # A generator expression has its parentheses outside its place in the concrete tree.
    if not isinstance(line, (cst.Expr, cst.Assign)) or not finding.span.contains(editor.span(line.value)):
        raise Withheld("the code is part of a longer statement")
    if finding.details.get("attribute"):
        if finding.details["kind"] not in _ITERATED:
            raise Withheld("it is not clear where to run it")
        _make_list(editor, line.value)
        editor.unsafe("Keep the items in a list")
        return
    name = str(finding.details["name"])
    if name not in ("", "_") and len(re.findall(rf"\b{re.escape(name)}\b", editor.text)) > 1:
        raise Withheld(f"{name} occurs elsewhere as well")
    if finding.details["kind"] == "iterator":
        _exhaust(editor, line.value)
        return
    if finding.details["kind"] == "context manager":
        editor.replace_statement(statement, _enter(editor, statement, line.value))
        editor.unsafe("Enter it for all that follows in the block")
        return
    editor.replace_statement(statement, _code(editor, finding.details["kind"], line.value))
    editor.unsafe("Run the configuration")


def call_forgotten(editor: Editor, finding: Finding) -> None:
    """Call a function first thing where the script starts.

    Raises:
        Withheld: the script starts the runtime above the function.
    """
    row, name = int(str(finding.details["before"])), finding.details["name"]
    if row <= finding.span.row:
        raise Withheld(f"line {row} starts the runtime before the function is defined")
    spans = [(statement, editor.span(statement)) for statement in editor.module.body]
    place = next((statement for statement, span in spans if span.row <= row <= span.end_row), None)
    if place is None:
        raise Withheld("the place where the script starts is not found")
    if isinstance(place, cst.If) and isinstance(place.body, cst.IndentedBlock):
        editor.insert_before(place.body.body[0], f"{name}()")
    else:
        editor.insert_before(place, f"{name}()", apart=True)
    editor.unsafe(f"Call {name}() first")


def keep_items(editor: Editor, finding: Finding) -> None:
    """Make a list in the place of an iterator that is gone through twice.

    Raises:
        Withheld: the place where it is made is not known.
    """
    place = finding.details["made"]
    if not isinstance(place, Span):
        raise Withheld("the iterator is made in another file")
    # A generator expression has its parentheses outside its place in the concrete tree.
    found = matchers.findall(editor.module, matchers.GeneratorExp())
    made = next((node for node in found if _fills(editor, place, node)), None)
    _make_list(editor, made if isinstance(made, cst.GeneratorExp) else editor.expression_at(place))
    editor.unsafe("Keep the items in a list, which can be gone through again")


def _make_list(editor: Editor, made: cst.BaseExpression) -> None:
    if isinstance(made, cst.GeneratorExp):
        editor.replace(made, cst.ListComp(elt=made.elt, for_in=made.for_in))
    else:
        editor.replace(made, f"list({editor.code(made)})")


def _fills(editor: Editor, place: Span, node: cst.CSTNode) -> bool:
    """True if a generator expression is all that stands at a place but for its parentheses."""
    span = editor.span(node)
    around = (place.row, place.column + 1, place.end_row, place.end_column - 1)
    return (span.row, span.column, span.end_row, span.end_column) == around


def _exhaust(editor: Editor, call: cst.BaseExpression) -> None:
    """Make a list of the iterator that a function of the file returns.

    Raises:
        Withheld: it is not a function with one ``return`` of ``map(...)`` or ``filter(...)``.
    """
    name = call.func.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Name) else ""
    functions = matchers.findall(editor.module, matchers.FunctionDef(matchers.Name(name)))
    returns = matchers.findall(functions[0], matchers.Return()) if name and len(functions) == 1 else []
    made = returns[0].value if len(returns) == 1 and isinstance(returns[0], cst.Return) else None
    lazy = matchers.Call(matchers.Name("map") | matchers.Name("filter"))
    if made is None or not matchers.matches(made, lazy):
        raise Withheld("there is no plain statement that runs this code")
    editor.replace(made, f"list({editor.code(made)})")
    editor.unsafe(f"Make {name}() return a list, which runs the configuration")


def _code(editor: Editor, kind: object, node: cst.BaseExpression) -> str:
    match kind, node:
        case (("map" | "filter"), cst.Call(args=[function, first, *more])) if _are_plain(node.args):
            return _loop(editor, function.value, [first.value, *(arg.value for arg in more)])
        case "generator expression", cst.GeneratorExp(elt=elt, for_in=for_in):
            return _comprehension(editor, elt, for_in)
        case "generator", cst.Call():
            return f"for {_free_name(editor, node, '_')} in {editor.code(node)}:\n    pass\n"
        case "coroutine", cst.Call():
            return _awaited(editor, node)
        case "partial", cst.Call(args=[function, *args]) if function.keyword is None and not function.star:
            given = ", ".join(editor.code(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for arg in args)
            return f"{editor.code(function.value)}({given})\n"
        case "function", (cst.Name() | cst.Attribute()):
            return _call(editor, node)
        case _:
            raise Withheld("there is no plain statement that runs this code")


def loop_over(editor: Editor, node: cst.BaseExpression) -> str:
    """Return a loop that does what a generator expression, or ``map(...)``, does for each item.

    Raises:
        Withheld: a name of the loop is another variable's.
    """
    return _code(editor, "map" if isinstance(node, cst.Call) else "generator expression", node)


def _are_plain(args: Sequence[cst.Arg]) -> bool:
    return all(arg.keyword is None and not arg.star for arg in args)


def _loop(editor: Editor, function: cst.BaseExpression, iterables: Sequence[cst.BaseExpression]) -> str:
    """Return a loop that calls a function for each item, or for the items of several iterables at a time."""
    if isinstance(function, cst.Lambda):
        params = function.params
        names = [param.name.value for param in params.params]
        others = (*params.kwonly_params, *params.posonly_params, *(param for param in params.params if param.default))
        if others or params.star_kwarg or isinstance(params.star_arg, cst.Param) or len(names) != len(iterables):
            raise Withheld("the lambda has other parameters than there are iterables")
        if any(_is_bound(editor, name) for name in names):
            raise Withheld("a parameter of the lambda has the name of another variable")
        body = editor.code(function.body)
    else:
        names = [_free_name(editor, function, name) for name in ("gpu", "value", "other", "another")[: len(iterables)]]
        if len(names) != len(iterables):
            raise Withheld("the function gets too many arguments")
        body = f"{editor.code(function)}({', '.join(names)})"
    given = ", ".join(editor.code(iterable) for iterable in iterables)
    iterated = given if len(iterables) == 1 else f"zip({given})"
    return f"for {', '.join(names)} in {iterated}:\n    {body}\n"


def _comprehension(editor: Editor, elt: cst.BaseExpression, for_in: cst.CompFor) -> str:
    lines: list[str] = []
    level: cst.CompFor | None = for_in
    while level is not None:
        names = set(re.findall(r"[^\W\d]\w*", editor.code(level.target)))
        if level.asynchronous is not None or any(_is_bound(editor, name) for name in names):
            raise Withheld("a variable of the generator expression has the name of another variable")
        lines.append(f"for {editor.code(level.target)} in {editor.code(level.iter)}:")
        lines.extend(f"if {editor.code(test.test)}:" for test in level.ifs)
        level = level.inner_for_in
    lines.append(editor.code(elt))
    return "".join("    " * depth + f"{line}\n" for depth, line in enumerate(lines))


def _awaited(editor: Editor, node: cst.Call) -> str:
    function = editor.nearest(node, cst.FunctionDef, until=(cst.Lambda, cst.ClassDef))
    if function is None:
        return f"{editor.add_import('asyncio')}.run({editor.code(node)})\n"
    if function.asynchronous is None:
        raise Withheld("the function around it is not a coroutine and may be called by one")
    return f"await {editor.code(node)}\n"


def _call(editor: Editor, node: cst.Name | cst.Attribute) -> str:
    name = editor.code(node)
    own = isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "self"
    last = node.attr.value if isinstance(node, cst.Attribute) else name
    definitions = matchers.findall(editor.module, matchers.FunctionDef(name=matchers.Name(last)))
    if len(definitions) != 1 or not isinstance(definitions[0], cst.FunctionDef) or not (own or name == last):
        raise Withheld("which arguments the function needs is not known")
    params = definitions[0].params
    required = [param for param in (*params.posonly_params, *params.params, *params.kwonly_params) if not param.default]
    if required[own:]:
        raise Withheld("which arguments the function needs is not known")
    call = f"{name}()"
    if definitions[0].asynchronous is not None:
        raise Withheld("the function is a coroutine, which has to be awaited")
    return f"{call}\n"


def _is_bound(editor: Editor, name: str) -> bool:
    """True if a name is assigned, looped over, or imported anywhere in the file: a loop would change it."""
    return bool(
        re.search(rf"(?m)(?:^|[;(,]|\bas\b|\bimport\b)\s*{name}\s*(?:=(?!=)|:=|$)|\bglobal\b.*\b{name}\b", editor.text)
    )


def _free_name(editor: Editor, node: cst.CSTNode, name: str) -> str:
    """Return a variable that the code around does not have: ``name``, or with a number behind it."""
    function = editor.nearest(node, cst.FunctionDef)
    around = [function] if function is not None else editor.module.body
    parts = [part for part in around if part is function or not isinstance(part, (cst.FunctionDef, cst.ClassDef))]
    words = set(re.findall(r"[^\W\d]\w*", "\n".join(editor.module.code_for_node(part) for part in parts)))
    if name == "_" or name not in words:
        return name
    return next(f"{name}_{number}" for number in range(1, len(words) + 2) if f"{name}_{number}" not in words)


def turn(editor: Editor, finding: Finding) -> None:
    """Turn a condition round that holds only where there are no GPUs.

    Raises:
        Withheld: the condition is not written so that it can be turned, or speaks of what is right without GPUs.
    """
    place = finding.details["test"]
    assert isinstance(place, Span)
    test = editor.expression_at(place)
    branch = editor.statement_of(test)
    if any(_SPEAKS_OF_NONE.search(text) for text in _texts(branch)):
        raise Withheld("the branch speaks of a machine without GPUs")
    editor.replace(test, _turned(editor, test))
    editor.unsafe("Turn the condition round: the configuration is reached only where there are no GPUs")


def _texts(node: cst.CSTNode) -> list[str]:
    found = matchers.findall(node, matchers.SimpleString() | matchers.FormattedStringText())
    return [part.value for part in found if isinstance(part, (cst.SimpleString, cst.FormattedStringText))]


def _turned(editor: Editor, test: cst.BaseExpression) -> str:
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return editor.code(inner)
        case cst.Comparison(left=cst.Call(args=[counted]), comparisons=[cst.ComparisonTarget(operator=operator)]):
            name = editor.code(counted.value)
            there_are = isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual, cst.NotEqual))
            return f"not {name}" if there_are else name
        case cst.Comparison(left=cst.Name() as listing):
            return editor.code(listing)
        case cst.Name() | cst.Call():
            return f"not {editor.code(test)}"
        case _:
            raise Withheld("the condition is not written so that it can be turned round")


def name_system(editor: Editor, finding: Finding) -> None:
    """Write the name of an operating system as Python has it."""
    place = finding.details["place"]
    assert isinstance(place, Span)
    right = str(finding.details["right"])
    editor.replace(editor.expression_at(place), editor.quoted(right))
    editor.unsafe(f"Ask for {right!r}, as the system is called")


def name_setting(editor: Editor, finding: Finding) -> None:
    """Ask for a setting by the name that the file has for it."""
    place = finding.details["place"]
    assert isinstance(place, Span)
    right = str(finding.details["right"])
    editor.replace(editor.expression_at(place), editor.quoted(right))
    editor.unsafe(f"Ask for {right!r}, as the file calls it")


def look_up_text(editor: Editor, finding: Finding) -> None:
    """Look up the text of a number."""
    place = finding.details["place"]
    assert isinstance(place, Span)
    number = editor.expression_at(place)
    editor.replace(number, f"str({editor.code(number)})")
    editor.unsafe("Look up the text of the number")


def _enter(editor: Editor, statement: cst.CSTNode, call: cst.BaseExpression) -> str:
    """Return a ``with`` statement around all that follows in the block.

    Raises:
        Withheld: nothing follows, or it can't be indented as it is.
    """
    block = editor.parent(statement)
    if not isinstance(block, (cst.Module, cst.IndentedBlock)) or not isinstance(statement, cst.BaseStatement):
        raise Withheld("it shares a line with another statement")
    body = list(block.body)
    rest = body[body.index(statement) + 1 :]
    if not rest or any(matchers.findall(line, matchers.FunctionDef() | matchers.ClassDef()) for line in rest):
        raise Withheld("what is to run in it is not known")
    text = "".join(editor.module.code_for_node(line) for line in rest)
    if '"""' in text or "'''" in text or "\\\n" in text:
        raise Withheld("what is to run in it has a text of several lines")
    for line in rest:
        editor.discard(line, forget=True)
    return f"with {editor.code(call)}:\n{indent(dedent(text).strip(chr(10)), '    ')}\n"


def assign(editor: Editor, finding: Finding) -> None:
    """Assign an option that a statement compares, or only names.

    Raises:
        Withheld: the statement is part of a longer line.
    """
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    match line:
        case cst.Expr(value=cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=value)])):
            text = f"{editor.code(left)} = {editor.code(value)}\n"
        case cst.Expr(value=cst.Attribute() as option):
            text = f"{editor.code(option)} = True\n"
        case _:
            raise Withheld("the code is part of a longer statement")
    editor.replace_statement(statement, text)
    editor.unsafe(f"Assign {text.partition(' = ')[0]}")


def raise_instead(editor: Editor, finding: Finding) -> None:
    """Raise the error of an assertion by a statement that Python never drops.

    Raises:
        Withheld: the assertion shares its line, or the code is left out by ``__debug__``.
    """
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if not isinstance(line, cst.Assert):
        raise Withheld("Python drops what stands under __debug__: move the configuration out of it")
    fails = editor.module.code_for_node(opposite_of(editor, line.test))
    message = editor.code(line.msg) if line.msg is not None else ""
    raised = f"raise AssertionError({message})" if message else "raise AssertionError"
    editor.replace_statement(statement, f"if {fails}:\n{editor.module.default_indent}{raised}\n")
    editor.unsafe("Raise the error without an assertion, which python -O drops")


def keep_copy(editor: Editor, finding: Finding) -> None:
    """Assign a changed copy to the name of what it is a copy of.

    Raises:
        Withheld: the statement shares its line, or nothing reads a local name after it.
    """
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if not isinstance(line, cst.Expr):
        raise Withheld("the code is part of a longer statement")
    name = str(finding.details["name"])
    function = editor.nearest(statement, cst.FunctionDef)
    if function is not None and "." not in name and not _is_read_below(editor, function, name, finding.span):
        raise Withheld(f"nothing in {function.name.value} reads {name} after it: return the copy, and assign it there")
    editor.replace_statement(statement, f"{name} = {editor.code(line.value)}\n")
    editor.unsafe(f"Assign the changed copy to {name}")


def _is_read_below(editor: Editor, function: cst.FunctionDef, name: str, place: Span) -> bool:
    found = matchers.findall(function, matchers.Name(name))
    return any(isinstance(node, cst.Name) and editor.span(node).row > place.end_row for node in found)
