"""Exhausted iterators: something has gone through each to its end, and a second loop over it has no pass.

Source: https://docs.python.org/3/library/stdtypes.html#iterator-types, "Once an iterator's __next__() method raises
StopIteration, it must continue to do so on subsequent calls."
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import is_

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.never_run import configuring_parts
from tfmemlint.interpreter.program import Exhausted, NeverRun
from tfmemlint.interpreter.values import Lazy, Zipped


def note_exhausted(context: Context, node: ast.AST, lazy: Lazy | Zipped) -> None:
    """Keep in mind that an iterator was gone through to its end at ``node``, if it is so in each run."""
    if context.state is not None and context.uncertain == 0 and not (isinstance(lazy, Lazy) and lazy.awaitable):
        exhausted = Exhausted(context.source.path, context.span(node), lazy.made)
        context.exhausted[id(lazy)] = lazy, exhausted, tuple(context.handlers)


def is_exhausted(context: Context, lazy: Lazy | Zipped) -> bool:
    """True if an iterator is exhausted: the ``try`` in which it was gone through has not been left half way."""
    if id(lazy) not in context.exhausted:
        return False
    around = context.exhausted[id(lazy)][2]
    return len(context.handlers) >= len(around) and all(map(is_, around, context.handlers))


def report_exhausted(context: Context, node: ast.AST, lazy: Lazy | Zipped) -> None:
    """Report a loop over such an iterator whose passes would configure a GPU; not the loop that has exhausted it, where
    it comes to it again."""
    exhausted = context.exhausted[id(lazy)][1]
    if (exhausted.path, exhausted.span) == (context.source.path, context.span(node)):
        return
    for part in _in_each_pass(node):
        for called, through in configuring_parts(context, part):
            # They do not run: they are not judged as functions that somebody may call at any time.
            context.visited.update(id(function.node) for function in through)
            fields = event_fields(context, node.iter if isinstance(node, ast.For | ast.AsyncFor) else node)
            context.emit(NeverRun(kind="exhausted", called=called, text="", exhausted=exhausted, **fields))
            return


def _in_each_pass(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in each pass of a loop."""
    match node:
        case ast.For(body=body) | ast.AsyncFor(body=body):
            yield from body
        case ast.ListComp(elt=element) | ast.SetComp(elt=element):
            yield element
        case ast.DictComp(key=key, value=value):
            yield from (key, value)
        case _:
            return
