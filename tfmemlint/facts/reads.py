"""Environment variables that a module reads itself, or passes to processes that it starts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tfmemlint.facts.syntax import dotted, talks
from tfmemlint.model.patterns import late_pattern

_WRITERS = frozenset({"setdefault", "putenv", "update", "unsetenv"})
_STARTS = late_pattern(
    r"(?:^|\.)(?:subprocess\.\w+|Popen|check_call|check_output|os\.(?:system|popen|exec\w+|spawn\w+))$"
)
_STARTS_PYTHON = late_pattern(
    r"\b(?:python[\d.]*|ipython|torchrun|horovodrun|mpirun|mpiexec|accelerate|srun|sbatch|bash|sh)\b|\.(?:py|sh)\b"
)
"""Words of a command that runs a program which may use TensorFlow: ``mkdir`` and ``clear`` do not."""
_KEPT_COMMAND = late_pattern(r"#@tfmemlint:\s*(?:[\w.,\[\]'\"][\w.,\[\]'\" ]*=\s*)?!{1,2}(?P<command>.*)")
_PROCESSES = frozenset({"Process", "Pool", "ProcessPoolExecutor"})
_TOOLS = ("nvidia-smi", "git", "nvcc", "lspci", "free", "which", "ls", "uname", "ps ")


def reads(tree: ast.AST, name: str, *, from_table: bool = False) -> bool:
    """Return True if a module uses the name of a variable for more than setting it, or printing it: any other string
    that is exactly this name counts as a read.

    Args:
        from_table: the name is set by way of a variable, so that it stands once where tables have names.
    """
    keys = {id(node) for node in (*_keys(tree), *_printed(tree))}
    held = [node for node in _names_in_tables(tree) if node.value == name] if from_table else []
    if len(held) == 1:
        keys.add(id(held[0]))
    constants: list[tuple[ast.AST, ast.Constant]] = []
    loads: list[ast.Name] = []
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Constant) and child.value == name:
                constants.append((parent, child))
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                loads.append(child)
    for parent, constant in constants:
        if id(constant) in keys:
            continue
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            # NAME = "TF_X": the uses of NAME decide.
            used = [load for load in loads if load.id == parent.targets[0].id]
            if used and all(id(load) in keys for load in used):
                continue
        return True
    return False


def _names_in_tables(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the keys of dictionaries, and the first of two items of a list or tuple."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (key for key in node.keys if isinstance(key, ast.Constant))
        elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Constant):
            yield node.elts[0]


def _printed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all that stands in statements that only print, log or warn."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and talks(node.value):
            yield from ast.walk(node)


def mentions_as_read(text: str, name: str) -> bool:
    """Return True if the text of another module reads a variable: there, the name need only be in quotes."""
    quoted = rf"""['"]{re.escape(name)}['"]"""
    written = len(re.findall(rf"environ\[{quoted}\]\s*=[^=]|(?:setdefault|putenv)\(\s*{quoted}", text))
    return len(re.findall(quoted, text)) > written


def starts_others(tree: ast.AST) -> bool:
    """Return True if a module starts other programs, which inherit its environment; tools that describe the machine do
    not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _STARTS.search(dotted(node.func)):
            constants = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
            if not next((inner for inner in constants if isinstance(inner, str)), "").startswith(_TOOLS):
                return True
    return False


def rows_of_programs_started(tree: ast.AST, text: str) -> list[int]:
    """Return the rows in which a module starts a program that may use TensorFlow and inherits the module's environment:
    calls, the start of a process of ``multiprocessing`` that begins anew, and the commands of notebooks.

    Args:
        text: the module's source, in which a notebook's commands are comments (`tfmemlint.sources.magics`).
    """
    rows = []
    anew = any(isinstance(node, ast.Constant) and node.value in ("spawn", "forkserver") for node in ast.walk(tree))
    for node in ast.walk(tree):
        if anew and isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _PROCESSES:
            rows.append(node.lineno)
        if isinstance(node, ast.Call) and _STARTS.search(dotted(node.func)):
            inner = [child for argument in (*node.args, *node.keywords) for child in ast.walk(argument)]
            said = [child.value for child in inner if isinstance(child, ast.Constant) and isinstance(child.value, str)]
            unknown = not node.args or not any(isinstance(child, ast.Constant) for child in ast.walk(node.args[0]))
            executable = any(isinstance(child, ast.Attribute) and child.attr == "executable" for child in inner)
            if unknown or executable or any(map(_STARTS_PYTHON.search, said)):
                rows.append(node.lineno)
    for row, line in enumerate(text.splitlines(), 1):
        kept = _KEPT_COMMAND.search(line)
        if kept is not None and _STARTS_PYTHON.search(kept["command"]):
            rows.append(row)
    return sorted(rows)


def _keys(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of variable names that are set or removed."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=base, slice=key, ctx=ast.Store() | ast.Del()) if _is_environ(base):
                yield key
            case ast.Call(func=ast.Attribute(value=base, attr=attr), args=args, keywords=keywords):
                if attr in _WRITERS and (_is_environ(base) or attr in ("putenv", "unsetenv")):
                    yield from args[:1]
                    for mapping in args[:1]:
                        yield from _names_in(mapping)
                for keyword in keywords:
                    if keyword.arg == "env":
                        yield from _names_in(keyword.value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr="pop"), args=[key, *_])):
                if _is_environ(base):
                    yield key
            case ast.Call(func=ast.Name(id="putenv"), args=[key, *_]):
                yield key


def _names_in(mapping: ast.expr) -> Iterator[ast.AST]:
    if isinstance(mapping, ast.Dict):
        yield from (key for key in mapping.keys if key is not None)


def _is_environ(node: ast.expr) -> bool:
    return dotted(node).rpartition(".")[2] == "environ"
