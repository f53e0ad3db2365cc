"""The processes that a module starts: their number, the functions that they run, what else the module does."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import AnyFunction, dotted, last_word, times_bound
from tfmemlint.facts.tree_walk import all_nodes, nodes, unparsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAPPING = frozenset({"map", "map_async", "imap", "imap_unordered"})
"""Methods of pools that call a function with each item."""
SUBMITTING = frozenset({"submit", "apply_async", "apply"})
_POOLS = {"Pool": "processes", "ProcessPoolExecutor": "max_workers", "Parallel": "n_jobs"}
_ROOTS = frozenset({"target", "initializer", "func"})
_KEPT_FREE = re.compile(
    r"gpu[ :_#]?0|first gpu|display|screen|desktop|reserv|spare|leav|except|learner|driver|coordinator|chief|parent"
    r"|main process|from 1\b|1-based",
    re.IGNORECASE,
)
_OF_GPUS = re.compile(r"gpus?(?![a-z])|num_devices|device_count", re.IGNORECASE)
_MOST_NAMES = 4
"""The variables that are followed for a number of processes: each is assigned the next."""
_MODULES = frozenset({"tensorflow", "keras", "tf_keras"})


def is_process_class(node: ast.AST | None) -> bool:
    """True for a class that is derived from ``multiprocessing.Process``."""
    return isinstance(node, ast.ClassDef) and any(last_word(base) == "Process" for base in node.bases)


def counted_from_one(counted: ast.expr) -> ast.expr | None:
    """Return ``n`` of ``range(1, n + 1)``, and ``items`` of ``enumerate(items, start=1)``; None for all else."""
    match counted:
        case ast.Call(ast.Name("range"), [ast.Constant(1), ast.BinOp(total, ast.Add(), ast.Constant(1))]):
            return total
        case ast.Call(ast.Name("range"), [ast.Constant(1), ast.BinOp(ast.Constant(1), ast.Add(), total)]):
            return total
        case ast.Call(ast.Name("enumerate"), [items, ast.Constant(1)]) | ast.Call(
            ast.Name("enumerate"), [items], [ast.keyword("start", ast.Constant(1))]
        ):
            return items
        case _:
            return None


def number_of_processes(tree: ast.Module, parents: Mapping[ast.AST, ast.AST]) -> ast.expr | None:
    """Return the number of the processes where a module starts some in one place, and none elsewhere, and does not
    name them itself."""
    classes = {node.name for node in all_nodes(tree) if is_process_class(node) and isinstance(node, ast.ClassDef)}
    sites: list[ast.expr | None] = []
    for node in all_nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        name = last_word(node.func)
        keywords = {each.arg: each.value for each in node.keywords}
        if name in ("Manager", "SyncManager") or "maxtasksperchild" in keywords:
            # A manager is a process, too, and new processes get new numbers.
            return None
        if name in _POOLS and "thread" not in dotted(node.func).lower():
            sites.append(keywords.get(_POOLS[name]) or (node.args[0] if node.args else None))
        elif name == "Process" or name in classes:
            if "name" in keywords:
                return None
            sites.append(_count_around(node, parents))
    return sites[0] if len(sites) == 1 else None


def _count_around(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> ast.expr | None:
    """Return how often a loop around a call runs."""
    around = parents.get(node)
    while around is not None and not isinstance(around, (AnyFunction, ast.Module)):
        counted = around.iter if isinstance(around, ast.For) else None
        if isinstance(around, ast.ListComp) and len(around.generators) == 1:
            counted = around.generators[0].iter
        match counted:
            case None:
                pass
            case ast.Call(ast.Name("range"), [total]) | ast.Call(ast.Name("enumerate"), [total, *_]):
                return total
            case _:
                return counted_from_one(counted) or counted
        around = parents.get(around)
    return None


def are_as_many_as_gpus(tree: ast.Module, total: ast.expr) -> bool:
    """True if a number is that of the GPUs by its name, or by what it is assigned."""
    both = (total, _resolved(tree, total))
    return not any(map(_has_arithmetic, both)) and any(_OF_GPUS.search(unparsed(node)) for node in both)


def is_first_gpu_idle(tree: ast.Module, text: str, total: ast.expr) -> bool:
    """True if nothing but workers uses GPUs, and no word of a module tells that GPU 0 is somebody else's."""
    told = _KEPT_FREE.search(text) is not None
    return not told and not _has_arithmetic(_resolved(tree, total)) and not _others_use_tensorflow(tree)


def _resolved(tree: ast.Module, total: ast.expr) -> ast.expr:
    bound = times_bound(tree)
    for _ in range(_MOST_NAMES):
        if not isinstance(total, ast.Name) or bound[total.id] != 1:
            break
        values = [
            node.value
            for node in all_nodes(tree)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == total.id for target in node.targets)
        ]
        if len(values) != 1:
            break
        total = values[0]
    return total


def _has_arithmetic(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.BinOp) for inner in nodes(node))


def _others_use_tensorflow(tree: ast.Module) -> bool:
    """True if code that no worker runs uses TensorFlow for more than its configuration."""
    aliases: set[str] = set()
    for node in all_nodes(tree):
        if isinstance(node, ast.Import):
            aliases |= {(each.asname or each.name).split(".")[0] for each in node.names if _is_tensorflow(each.name)}
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node.module or ""):
            aliases |= {each.asname or each.name for each in node.names}
    reached = _run_by_workers(tree)
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if node in reached:
            continue
        match node:
            case ast.Attribute(ast.Name(name), attr) if name in aliases and attr not in ("config", "get_logger"):
                return True
            case ast.Name(name, ast.Load()) if name in aliases and name not in ("tf", "tensorflow", "keras"):
                return True
        pending.extend(ast.iter_child_nodes(node))
    return False


def _is_tensorflow(module: str) -> bool:
    return module.split(".")[0] in _MODULES


def _run_by_workers(tree: ast.Module) -> set[ast.AST]:
    """Return the functions that workers run, and those that are named in these."""
    everything = all_nodes(tree)
    functions = {node.name: node for node in everything if isinstance(node, AnyFunction)}
    classes = {node.name: node for node in everything if isinstance(node, ast.ClassDef)}
    pending: list[ast.AST] = [node for node in classes.values() if is_process_class(node)]
    for node in everything:
        if isinstance(node, ast.Call):
            handed: Sequence[ast.expr] = [each.value for each in node.keywords if each.arg in _ROOTS]
            if last_word(node.func) in {"starmap", "delayed", *SUBMITTING, *MAPPING, *_POOLS}:
                handed = [*handed, *node.args[:2]]
            pending += [functions[last_word(each)] for each in handed if last_word(each) in functions]
    reached: set[ast.AST] = set()
    while pending:
        part = pending.pop()
        if part not in reached:
            reached.add(part)
            for inner in nodes(part):
                name = last_word(inner) if isinstance(inner, (ast.Name, ast.Attribute)) else ""
                pending += [each for each in (functions.get(name), classes.get(name)) if each is not None]
    return reached
