"""Conditions that ask a setting for the framework, or for its release: ``config["framework"] == "tf1"``.

The value comes from a file, or from a table of the program that is data; what is behind such a condition is for the
release, or the framework, that it names.
"""

from __future__ import annotations

import ast
import re

from tfmemlint.facts.syntax import dotted
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.patterns import late_pattern

_SETTING = late_pattern(
    r"(?:^|[_-])(?:framework|backend|library|lib|engine|platform|runtime)s?(?:$|[_-])", re.IGNORECASE
)
_RELEASE_SETTING = late_pattern(
    r"(?:tf|tensorflow|framework|backend)[_-]?(?:major[_-]?)?ver(?:sion)?(?:$|[_-])", re.IGNORECASE
)
_OF_RELEASE = late_pattern(r"(?:tf|tensor[ _-]?flow)[ _.-]?v?(?P<major>[12])(?:\.?[x\d])*(?:[_-].*)?", re.IGNORECASE)
_NUMBER = late_pattern(r"v?(?P<major>[12])(?:\.(?:x|\d+))*", re.IGNORECASE)
_OTHERS = frozenset(
    {
        "torch", "pytorch", "pt", "jax", "flax", "mxnet", "mx", "theano", "cntk", "caffe", "caffe2", "chainer",
        "paddle", "paddlepaddle", "onnx", "onnxruntime", "sklearn", "xgboost", "tinygrad", "mindspore", "oneflow",
    }
)  # fmt: skip
_MAX_DEPTH = 8
"""Conditions within conditions that are looked at."""


def for_release(test: ast.expr, target: Target, depth: int = _MAX_DEPTH) -> tuple[bool | None, bool | None]:
    """Return whether the code where a condition holds, and the code where it does not, is for a release.

    True for one that names the release; False for one that names another release, or another framework; None for the
    code of a condition that asks for neither, and for what is left over.
    """
    match test if depth else None:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            held, failed = for_release(operand, target, depth - 1)
            return failed, held
        case ast.BoolOp(op=op, values=values):
            parts = [for_release(value, target, depth - 1) for value in values]
            if isinstance(op, ast.And):
                return (False if any(held is False for held, _ in parts) else None), None
            return (False if all(held is False for held, _ in parts) else None), None
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() as op], comparators=[right]):
            is_for = _named(left, right, target)
            if is_for is None and isinstance(op, ast.Eq | ast.NotEq):
                is_for = _named(right, left, target)
            left_over = False if is_for else None
            return (left_over, is_for) if isinstance(op, ast.NotEq | ast.NotIn) else (is_for, left_over)
    return None, None


def _named(asked: ast.expr, values: ast.expr, target: Target) -> bool | None:
    """Return True if values that a setting is compared with name a release, False if they name others alone."""
    listed = values.elts if isinstance(values, ast.Tuple | ast.List | ast.Set) else [values]
    texts = [str(value.value) for value in listed if isinstance(value, ast.Constant)]
    words = _words(asked)
    if len(texts) != len(listed) or not texts or not words:
        return None
    found = [_is_for(text.strip(), words, target) for text in texts]
    if any(found):
        return True
    return False if all(each is False for each in found) else None


def _is_for(text: str, words: list[str], target: Target) -> bool | None:
    asks_framework = any(_SETTING.search(word) for word in words)
    named = (
        _OF_RELEASE.fullmatch(text) if asks_framework or any(_RELEASE_SETTING.search(word) for word in words) else None
    )
    if named is None and any(_RELEASE_SETTING.search(word) for word in words):
        named = _NUMBER.fullmatch(text)
    if named is not None:
        return int(named["major"]) == target.major
    return False if asks_framework and text.lower() in _OTHERS else None


def _words(asked: ast.expr) -> list[str]:
    """Return the names and keys by which a setting is looked up; none of an expression that is no look-up."""
    while isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute):
        # ``settings.get("framework", "tf2")``, ``settings["framework"].lower()``.
        method, arguments = asked.func, asked.args
        if method.attr in ("lower", "strip", "upper", "casefold"):
            asked = method.value
        elif method.attr in ("get", "getenv", "pop") and arguments:
            first = arguments[0]
            return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
        else:
            return []
    match asked:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return [key]
        case ast.Subscript(value=ast.Name(id=table)):
            return [table]
        case ast.Subscript(value=ast.Attribute(attr=table)):
            return [table]
        case ast.Attribute(attr=name) if not dotted(asked).startswith(("tf.", "tensorflow.")):
            return [name]
        case ast.Name(id=name):
            return [name]
        case ast.Call(func=ast.Name(id="int" | "str" | "float"), args=[inner]):
            return _words(inner)
    return []
