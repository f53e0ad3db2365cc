"""Programs that read their command line by ``parse_known_args`` alone, and never look at what that leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.rulekit.words_left import idle_uses

_READERS = frozenset(
    {
        "absl", "click", "typer", "fire", "hydra", "tyro", "docopt", "getopt", "optparse", "configargparse", "gin",
        "simple_parsing", "jsonargparse", "transformers", "plac", "cyclopts", "tap",
    }
)  # fmt: skip
"""Modules that read command lines."""
_STRICT = frozenset({"parse_args", "parse_intermixed_args"})
"""Methods of a parser that stop at an option that is not known."""
_OTHERS = _STRICT | {"orig_argv", "flags", "app"}
"""Attributes of which one may read the command line, or stop at an option."""
_Functions = Mapping[str, Sequence[ast.FunctionDef]]
_PARSE = "parse_known_args"


def texts_of(trees: Sequence[ast.Module]) -> frozenset[str]:
    """Return all texts in these modules."""
    return frozenset(
        node.value
        for tree in trees
        for node in all_nodes(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def drops_the_rest(trees: Sequence[ast.Module]) -> bool:
    """True if these modules, which are a program, read the command line by ``parse_known_args`` only, and nothing looks
    at the words that are left."""
    read = {name for tree in trees for name in _names_read(tree)}
    functions: dict[str, list[ast.FunctionDef]] = {}
    for tree in trees:
        for node in all_nodes(tree):
            if isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, []).append(node)
    return all(_drops_the_rest(tree, read, functions) for tree in trees)


def _drops_the_rest(tree: ast.Module, read: set[str], functions: _Functions) -> bool:
    modules, words = _imported(tree)
    called = {id(node.func) for node in all_nodes(tree) if isinstance(node, ast.Call)}
    calls, dropping, argv, passed = 0, 0, 0, 0
    for node in all_nodes(tree):
        match node:
            case ast.Import(names) if any(alias.name.partition(".")[0] in _READERS for alias in names):
                return False
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _READERS:
                return False
            case ast.ClassDef() if _has_parser(node) and not all(map(_is_plain, node.bases)):
                return False
            case ast.Attribute(ast.Name(owner), attr) if attr in _STRICT and owner in modules:
                # A function of another module.
                pass
            case ast.Attribute(attr=attr) if attr in _OTHERS or (attr == "add_argument" and id(node) not in called):
                return False
            case ast.Subscript(value, ast.Constant(0)):
                dropping += _is_parse(value)
                passed += _is_argv(value, words)
            case ast.Assign([ast.Tuple([_, rest])], value) if _is_parse(value):
                rest = rest.value if isinstance(rest, ast.Starred) else rest
                dropping += isinstance(rest, ast.Name) and rest.id not in read
            case ast.Assign([ast.Name(name)], value) if _is_parse(value):
                dropping += _is_first_alone(tree, name)
            case _:
                pass
        calls += _is_parse(node)
        argv += _is_argv(node, words)
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and not node.keywords
            and _takes_words(functions, node, 3)
        ):
            passed += sum(_is_argv(part, words) for part in ast.walk(node.args[0]))
    return calls == dropping and argv == passed


def _has_parser(node: ast.ClassDef) -> bool:
    """True if a class makes a parser of its own, or is one."""
    named = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return "ArgumentParser" in named | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_plain(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and base.id == "object"


def _is_parse(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _PARSE


def _is_argv(node: ast.AST, words: frozenset[str]) -> bool:
    """True for ``sys.argv``, by whatever name."""
    if isinstance(node, ast.Attribute):
        return node.attr == "argv"
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in words


def _takes_words(functions: _Functions, call: ast.Call, depth: int) -> bool:
    """True for a call that parses the words that it gets, and does nothing else with them."""
    if _is_parse(call):
        return True
    if not isinstance(call.func, (ast.Name, ast.Attribute)) or not depth:
        return False
    found = functions.get(call.func.id if isinstance(call.func, ast.Name) else call.func.attr, ())
    return len(found) == 1 and _passes_words_on(functions, found[0], depth)


def _passes_words_on(functions: _Functions, function: ast.FunctionDef, depth: int) -> bool:
    """True for a function that parses its first argument, or passes it to others that do, and does nothing else."""
    parameters = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
    if not parameters:
        return False
    given = {
        id(node.args[0])
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and len(node.args) == 1 and _takes_words(functions, node, depth - 1)
    }
    return all(id(part) in given for part in _loads(function, parameters[0]))


def _loads(tree: ast.AST, name: str) -> Iterator[ast.Name]:
    for node in all_nodes(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _is_first_alone(tree: ast.Module, name: str) -> bool:
    """True if of a name nothing is used but the first item."""
    first = {
        id(node.value)
        for node in all_nodes(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
    }
    return all(id(node) in first for node in _loads(tree, name))


def _names_read(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module reads: its own, those of others, and attributes; not where no option is looked
    for in their value."""
    idle = idle_uses(tree)
    for node in all_nodes(tree):
        match node:
            case ast.Name(ctx=ast.Load()) if id(node) in idle:
                pass
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case _:
                pass


def _imported(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the modules that a module imports, and its names for ``sys.argv``."""
    modules: set[str] = set()
    words: set[str] = set()
    for node in all_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module == "sys":
            words.update(alias.asname or alias.name for alias in node.names if alias.name == "argv")
    return frozenset(modules), frozenset(words)
