"""Libraries that start TensorFlow's runtime, or configure it, when they are imported or called."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.configuring import Configuring
from tfmemlint.interpreter.state import ANY, Setting
from tfmemlint.interpreter.values import UNKNOWN, Const, Value
from tfmemlint.knowledge import libraries
from tfmemlint.knowledge.effects import Effect
from tfmemlint.knowledge.libraries import Doing

_STARTS = {Effect.LISTS: "listed", Effect.ALLOCATES: "allocator", Effect.STARTS: "context"}


class Foreign(Configuring):
    """What other people's code does."""

    def foreign_import(self, name: str, node: ast.AST) -> None:
        """A module of somebody else's is imported, or something out of one."""
        if self.state is not None and name.partition(".")[0] in libraries.LIBRARIES:
            self._does(libraries.imported(name, self.target), name, node)

    def foreign_call(self, name: str, node: ast.AST) -> None:
        """Something of somebody else's is called."""
        if self.state is not None and name.partition(".")[0] in libraries.LIBRARIES:
            self._does(libraries.called(name, self.target), name, node)

    def _does(self, doing: Doing | None, name: str, node: ast.AST) -> None:
        if doing is None or doing.harmless:
            return
        if doing.eager_off:
            self.state = replace(self.here, eager=False)
        for variable, text in doing.environment.items():
            # One that was set before may stay as it was, or not.
            value: Value = UNKNOWN if text is None or variable in self.here.env else Const(text)
            self.state = replace(self.here, env={**self.here.env, variable: value})
            if variable == "CUDA_VISIBLE_DEVICES":
                self.state = replace(self.here, cuda_visible_devices=value)
        what = _STARTS.get(doing.effect) if doing.effect is not None else None
        started = what is not None and not (what == "context" and self.here.graph_mode)
        if doing.growth:
            # It is set as the library wants it; for which GPUs, only the library knows.
            self.state = replace(self.here, growth={**self.here.growth, ANY: Setting(UNKNOWN)})
        if started and what is not None:
            text = self.text(node.func) if isinstance(node, ast.Call) else self.text(node)
            self.start(node, what, name, text)
