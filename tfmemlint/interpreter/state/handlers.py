"""The arguments of calls, and the ``except`` clauses around events."""

from __future__ import annotations

import ast
from dataclasses import field

from tfmemlint.interpreter.values import Value
from tfmemlint.model.finding import Span
from tfmemlint.model.records import record

_NO_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"})
"""The exceptions that ``except Exception`` lets pass."""
_ANCESTORS = {
    "KeyError": ("LookupError",),
    "IndexError": ("LookupError",),
    "NotImplementedError": ("RuntimeError",),
    "tf.errors.NotFoundError": ("tf.errors.OpError",),
    "tf.errors.UnknownError": ("tf.errors.OpError",),
    "tf.errors.InvalidArgumentError": ("tf.errors.OpError",),
    "tf.errors.FailedPreconditionError": ("tf.errors.OpError",),
}
"""The classes of exceptions that handlers may name instead of these."""


@record(frozen=True, slots=True)
class Arg:
    """An argument of a call: its value, its place, its text. ``keyword`` is None for a positional one.

    ``star``: it is an ``*args`` or ``**kwargs`` whose contents are not known. ``unpacked``: it is an item of such an
    argument whose contents are known; its place is that of the argument, and its text gets the item out of it.
    """

    value: Value
    span: Span
    text: str
    keyword: str | None = None
    star: bool = False
    node: ast.expr | None = field(default=None, compare=False, repr=False)
    unpacked: bool = False


@record(frozen=True, slots=True)
class Handler:
    """An ``except`` clause around an event: the exceptions it catches (``("*",)`` for a bare one) and its place.

    ``reraises``: it ends in ``raise`` or an exit. ``idle``: it does nothing but pass, print, log or warn;
    ``silent``: not even that. ``gives_up``: besides what an idle one does, it only returns a constant.
    ``here``: the ``try`` stands in the same function as the event (otherwise in a caller). ``path``: the file of an
    ``except`` that is written in one.
    """

    catches: tuple[str, ...]
    span: Span
    reraises: bool
    idle: bool
    here: bool = True
    silent: bool = False
    gives_up: bool = False
    path: str = ""

    @property
    def probes(self) -> bool:
        """True if it does something else where a module has no such name."""
        return self._does_something_for("AttributeError", "*", "Exception", "BaseException")

    @property
    def probes_import(self) -> bool:
        """True if it does something else where a name can't be imported."""
        return self.probes or self._does_something_for("ImportError", "ModuleNotFoundError")

    def _does_something_for(self, *exceptions: str) -> bool:
        return not self.idle and not self.reraises and not set(exceptions).isdisjoint(self.catches)

    def takes(self, exception: str) -> bool:
        """True if it catches ``exception`` (a builtin name, or ``tf.errors.X``)."""
        names = {exception, *_ANCESTORS.get(exception, ()), "BaseException", "*"}
        if exception not in _NO_EXCEPTIONS:
            names.add("Exception")
        return not names.isdisjoint(self.catches)
