"""What calls of TensorFlow's own functions do to the runtime and its configuration.

The configuring calls follow TensorFlow's checks in ``tensorflow/python/eager/context.py``, in their order; all other
calls are looked up in the measured table of effects.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.facts.names import called_name, canonical, is_tensorflow
from tfmemlint.interpreter.generators import KEEPING
from tfmemlint.interpreter.program import Arg, Call
from tfmemlint.interpreter.state import ConfigEffect, Setting
from tfmemlint.interpreter.third_party import Foreign
from tfmemlint.interpreter.values import UNKNOWN, Const, Devices, Function, Limit, Made, Ref, Seq, Value
from tfmemlint.knowledge import effects
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.functions import (
    DISABLE_EAGER,
    ENABLE_EAGER,
    LIST_LOCAL,
    LIST_LOGICAL,
    LIST_PHYSICAL,
    LOGICAL_CONFIGURATION,
    PROTOS,
    RANKS,
    SEQUENTIAL,
    SESSIONS,
    SET_GROWTH,
    SET_LOGICAL,
    SET_THREADS,
    SET_VISIBLE,
    meant_type,
)
from tfmemlint.knowledge.signatures import SIGNATURES

_INPUTS = ("tf.keras.Input", "tf.keras.layers.Input", "tf.keras.layers.InputLayer")
_INPUT_SHAPES = ("input_shape", "input_dim", "batch_input_shape")
_VARIABLES = frozenset({"tf.Variable", "tf.compat.v1.Variable"})


class TensorFlow(Foreign):
    """Calling TensorFlow."""

    def call_name(
        self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value:
        """Call something by its canonical name."""
        if not is_tensorflow(name):
            lazy = self.lazy_builtin(name, node, values, keywords)
            if lazy is not None:
                return lazy
            builtin = self.call_builtin(name, node, values, keywords, written)
            if builtin is None:
                self.hand_to_a_process(name, (*values, *keywords.values()))
                for value in (*values, *keywords.values()):
                    self.escape(value)
                    if name not in KEEPING:
                        self.hand_on(value)
                if name == "os.putenv":
                    self._env_write(values, node, written)
                if name.startswith("subprocess.") and isinstance(node, ast.Call):
                    self.child_env(node)
                rank: Made | None = None
                if name in RANKS or name.startswith(("keras.", "horovod.", "pynvml.", "py3nvml.", "nvidia_smi.")):
                    call = self._call_event(name, node, written)
                    if name in RANKS:
                        rank = Made(name, self.next_serial())
                        self.made_by[rank.serial] = call
                self.foreign_call(name, node)
                if rank is not None:
                    return rank
            return UNKNOWN if builtin is None else builtin
        name = called_name(name)
        if name in ("tf.function", "tf.compat.v1.wrap_function") and values and isinstance(values[0], Function):
            fn = values[0]
            return Function(fn.node, fn.scope, (*fn.decorators, Ref("tf.function")), fn.bound)
        call = self._call_event(name, node, written, outcome=self._outcome(name, values, keywords))
        made = Made(name, self.next_serial())
        self.made_by[made.serial] = call
        modelled = self._modelled(name, values, keywords, node, call, made)
        if modelled is not None:
            return modelled
        for value in (*values, *keywords.values()):
            self.escape(value)
        self._effect(name, node)
        if name in SEQUENTIAL and values:
            for layer in values[0].items if isinstance(values[0], Seq) else ():
                self.add_layer(made, layer, node)
        if name in ("tf.app.run", "tf.compat.v1.app.run"):
            self.call_builtin(name, node, values, keywords, written)
        return made

    def _call_event(self, name: str, node: ast.AST, written: list[Arg], outcome: ConfigEffect | None = None) -> Call:
        func = node.func if isinstance(node, ast.Call) else node
        statement = self.statement
        return self.emit(
            Call(
                name=name,
                args=tuple(written),
                func=self.span(func),
                text=self.text(func),
                effect=outcome,
                result_used=not isinstance(statement, ast.Expr) or statement.value is not node,
                node=node if isinstance(node, ast.Call) else None,
                **self.around_name(node, name),
            )
        )

    def _effect(self, name: str, node: ast.AST) -> None:
        """Let the measured effect of a call happen."""
        if self.state is None:
            return
        graph = self.here.graph_mode
        effect = effects.effect(name, self.target, graph=graph or self.tracing > 0)
        if self.tracing and not graph and (name in _VARIABLES or name.endswith("().add_weight")):
            # Variables are lifted out of the graph in which a model's operations are recorded.
            effect = effects.Effect.STARTS
        elif self.tracing and not graph and name.endswith("()") and effects.has_weights(name[:-2], self.target):
            effect = effects.Effect.STARTS
        text = self.text(node.func) if isinstance(node, ast.Call) else name
        if effect is effects.Effect.STARTS:
            if self.here.eager is None:
                return
            self.start(node, "context", name, text)
        elif effect is effects.Effect.ALLOCATES:
            self.start(node, "allocator", name, text)
        elif effect is effects.Effect.LISTS:
            self.start(node, "listed", name, text)

    def add_layer(self, model: Made, layer: Value, node: ast.Call | ast.AST) -> None:
        """A layer of a ``Sequential``: built at once, with its variables, where the shape of the input is known."""
        if self.state is None or not isinstance(layer, Made):
            return
        made_by = self.made_by.get(layer.serial)
        keywords = {argument.keyword for argument in made_by.args} if made_by is not None else set()
        if layer.name in _INPUTS or keywords.intersection(_INPUT_SHAPES):
            self.shaped.add(model.serial)
        if model.serial in self.shaped and not self.here.graph_mode and effects.has_weights(layer.name, self.target):
            self.start(node, "context", model.name, self.text(node.func) if isinstance(node, ast.Call) else model.name)

    def call_made(self, name: str, node: ast.AST) -> None:
        """Call what a call returned: a layer, for instance, which makes its variables then."""
        self._effect(f"{name}()", node)

    def has_attribute(self, owner: str, name: str) -> bool | None:
        """Whether ``hasattr(owner, name)`` holds for the targeted release; None where that isn't known."""
        full = canonical(f"{owner}.{name}")
        if inventory.exists(full, self.target):
            return True
        return False if inventory.is_namespace(owner, self.target) else None

    # The modelled calls

    def _modelled(
        self, name: str, values: list[Value], keywords: dict[str, Value], node: ast.AST, call: Call, made: Made
    ) -> Value | None:
        def arg(position: int, keyword: str) -> Value | None:
            return keywords.get(keyword, values[position] if position < len(values) else None)

        if name in LIST_PHYSICAL:
            self._effect("tf.config.list_physical_devices", node)
            if _is_misspelt(arg(0, "device_type")):
                return Seq((), "list")
            listed = Devices("physical", _device_type(arg(0, "device_type")))
            return self._shown(listed) if name.endswith("get_visible_devices") else listed
        if name in LIST_LOGICAL:
            self._effect("tf.config.list_logical_devices", node)
            if _is_misspelt(arg(0, "device_type")):
                return Seq((), "list")
            return Devices("logical", _device_type(arg(0, "device_type")))
        if name == LIST_LOCAL:
            self.start(node, "allocator", name, call.text)
            return Devices("local", None)
        if name == SET_GROWTH:
            self._set_growth(arg(0, "device"), arg(1, "enable"), call)
            return Const(None)
        if name in SET_LOGICAL:
            self._set_logical(arg(0, "device"), arg(1, "logical_devices"), call)
            return Const(None)
        if name in SET_VISIBLE:
            self._set_visible(arg(0, "devices"), arg(1, "device_type"), call)
            return Const(None)
        if name in LOGICAL_CONFIGURATION:
            hidden = call.has_star or not keywords.keys() <= set(SIGNATURES[name])
            return Limit(UNKNOWN if hidden else arg(0, "memory_limit"))
        if name in SET_THREADS:
            if not self._is_refused(call):
                threads = Setting(arg(0, "num_threads") or UNKNOWN, call)
                self.state = replace(self.here, threading={**self.here.threading, name: threads})
            return Const(None)
        if name in PROTOS:
            return self._proto(name, keywords, call)
        if name in SESSIONS:
            return self._session(name, values, keywords, node, call, made)
        if name in DISABLE_EAGER:
            self.state = replace(self.here, eager=False)
            return Const(None)
        if name in ENABLE_EAGER:
            for value in (*values, *keywords.values()):
                self.escape(value)
            self.state = replace(self.here, eager=True)
            return Const(None)
        return None


def _is_misspelt(value: Value | None) -> bool:
    """Whether there is no device of that type, because it is spelled in another way."""
    return isinstance(value, Const) and isinstance(value.value, str) and bool(meant_type(value.value))


def _device_type(value: Value | None) -> str | None:
    """The type of device that a listing asks for; None for all, ``?`` where it isn't known."""
    if value is None or value == Const(None):
        return None
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    return "?"
