"""Record the lines of a program that are reached, their calls of TensorFlow, and the line that starts its runtime.

Everything is written into a file at once, line by line, so that it is known even if the program is killed.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.verify.child.recording import module

MARK = "__tfmemlint_mark__"
_open, _write, _close = os.open, os.write, os.close  # a program may replace them


@dataclass
class Watcher:
    """Records what a program does.

    Attributes:
        filename: the program's file, as its frames have it. modules: the files of its own modules, likewise.
        journal: the file for the notes.
        rows: the statements to watch, by their first rows.
        stop: end the program once these of them have run and the runtime has started; None to run it to its end.
        enough: ends the program. It does not raise, as a program could catch an exception, and never returns.
    """

    filename: str
    journal: str
    rows: frozenset[int] = frozenset()
    stop: frozenset[int] | None = None
    enough: Callable[[], None] = lambda: None
    passed: set[int] = field(default_factory=set)
    started: bool = False
    modules: set[str] = field(default_factory=set)

    def install(self) -> None:
        """Watch the TensorFlow of this process."""
        setattr(builtins, MARK, self.mark)
        context = module("tensorflow.python.eager.context").Context
        for name in (
            "set_memory_growth",
            "set_logical_device_configuration",
            "set_visible_devices",
            "get_memory_info",
            "reset_memory_stats",
        ):
            if hasattr(context, name):
                setattr(context, name, self._noting(name, getattr(context, name)))
        self._watch_start(context)

    def marked(self, code: str, filename: str = "") -> ast.Module:
        """Parse the program, or one of its modules, with marks around each watched statement. Line numbers stay."""
        tree = ast.parse(code, filename or self.filename)
        _Marking(self.rows).visit(tree)
        return ast.fix_missing_locations(tree)

    def mark(self, row: int, done: bool) -> None:
        """Note that a watched statement begins, or is done."""
        if not done:
            self.note(reached=row)
            return
        self.passed.add(row)
        self._leave_if_done()

    def lines(self) -> list[int]:
        """Return the program's lines on the stack, innermost first."""
        frame: Any = sys._getframe(1)
        found: list[int] = []
        while frame is not None:
            if frame.f_code.co_filename == self.filename or frame.f_code.co_filename in self.modules:
                found.append(frame.f_lineno)
            frame = frame.f_back
        return found

    def _noting(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def noting(context: Any, *args: Any, **kwargs: Any) -> Any:
            lines = self.lines()
            arguments = [_plain(argument) for argument in (*args, *kwargs.values())]
            try:
                value = real(context, *args, **kwargs)
            except BaseException as error:
                if lines:
                    self.note(call=name, lines=lines, args=arguments, error=_words(error))
                raise
            if lines:
                self.note(call=name, lines=lines, args=arguments, value=_plain(value), error="")
            return value

        return noting

    def _watch_start(self, context: Any) -> None:
        real = context.ensure_initialized

        def ensure_initialized(own: Any) -> None:
            if own._initialized:
                real(own)
                return
            lines = self.lines()
            try:
                real(own)
            except BaseException as error:
                if lines:
                    self.note(started=lines, error=_words(error))
                raise
            # Every operation calls this: from now on the real one directly.
            context.ensure_initialized = real
            if lines:
                self.note(started=lines, error="")
            self.started = True
            self._leave_if_done()

        context.ensure_initialized = ensure_initialized

    def _leave_if_done(self) -> None:
        if self.stop is not None and self.started and self.passed >= self.stop:
            self.note(stopped=True)
            self.enough()

    def note(self, **what: Any) -> None:
        """Write a note at once."""
        # Opened each time: a program that becomes a daemon closes every file that it finds open.
        descriptor = _open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            _write(descriptor, (json.dumps(what) + "\n").encode())
        finally:
            _close(descriptor)


class _Marking(ast.NodeTransformer):
    """Puts a mark before and after each statement that begins in one of ``rows``."""

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows = frozenset(rows)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [marked for statement in block for marked in self._around(statement)])
        return node

    def _around(self, statement: ast.stmt) -> list[ast.stmt]:
        if statement.lineno not in self.rows or _is_at_the_head(statement):
            return [statement]
        return [_mark(statement, done=False), statement, _mark(statement, done=True)]


def _is_at_the_head(statement: ast.stmt) -> bool:
    """True if nothing may precede a statement: it is a docstring, or an import from ``__future__``."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _mark(statement: ast.stmt, *, done: bool) -> ast.stmt:
    arguments: list[ast.expr] = [ast.Constant(statement.lineno), ast.Constant(done)]
    call = ast.Call(ast.Name(MARK, ast.Load()), arguments, [])
    return ast.copy_location(ast.Expr(call), statement)


def message_of(error: BaseException) -> str:
    """Return an error's text, "" if it can't be had."""
    try:
        return str(error)
    except Exception:
        return ""


def _words(error: BaseException) -> str:
    message = message_of(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _plain(value: Any) -> Any:
    """Return an argument as plain data: a device by its name, a logical device by its limit in MiB."""
    if isinstance(value, int) and value.bit_length() > 1024:
        return "a huge number"  # Python refuses to print so many digits
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    # Both of these are tuples too.
    if hasattr(value, "memory_limit"):
        return {"memory_limit": _plain(value.memory_limit)}
    if hasattr(value, "device_type"):
        return str(value.name)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    try:
        return float(value)  # a number of numpy's
    except Exception:
        return type(value).__name__
