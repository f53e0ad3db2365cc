"""The interpreter as a whole: entry points in, events out."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.context import Frame, GaveUp
from tfmemlint.interpreter.program import Call, End, Event, Program, ProtoMade, SessionMade
from tfmemlint.interpreter.state import Phase, State, Tri
from tfmemlint.interpreter.statements import Statements
from tfmemlint.interpreter.unit import EntrySetup, ModuleInstance
from tfmemlint.interpreter.values import Cell, Class, Const, Function, Instance, Module, Proto, Ref, Value
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Span, Step

MAX_ENTRIES = 2_000
_CHAIN = re.compile(r"(?<![\w.])([^\W\d]\w*)((?:\.[^\W\d]\w*)+)")
"""A dotted name: its first part, and the rest."""


class Interpreter(Statements):
    """Runs a module from top to bottom, then every function that nothing in it calls."""

    def __init__(self, unit: ModuleInstance, target: Target, run: EntrySetup | None = None) -> None:
        super().__init__(unit, target, run)
        self._last_values: dict[int, Value] = {}
        self.made_by: dict[int, Call] = {}
        self.defaults: dict[int, Value] = {}
        self.protos: list[tuple[Proto, Call]] = []
        self.classes: list[Class] = []
        self.shaped: set[int] = set()
        self.import_state: State | None = None
        if target.major < 2:
            # TensorFlow 1 builds graphs unless it is told otherwise.
            self.state = State(eager=False)

    def run(self) -> Program:
        """Interpret the whole file."""
        try:
            self._go()
            self._end("module", self.main.tree)
            self._uncalled()
        except GaveUp as reason:
            self.gave_up.append(str(reason))
        self._protos_at_end()
        events = [
            replace(event, used=event.serial in self.used) if isinstance(event, SessionMade) else event
            for event in self.events
        ]
        modules = frozenset(unit.source.path for unit in (self.main, *self.units.values()))
        others = [unit.source.text for unit in self.units.values() if unit is not self.main]
        units = (self.main, *self.units.values())
        put = tuple(self.put)
        return Program(
            self.main.source, self.main.tree, self.target, events, self.gave_up, modules, others, units=units, put=put
        )

    def _go(self) -> None:
        """What is run: the packages that the module is in, what a test runner reads, the module, its main function."""
        run = self.run_as
        if run is not None:
            self._surround(run)
            self._before(run)
        if self.state is None:
            return
        if run is None or run.name == "__main__":
            self.execute(self.main.tree.body)
        elif run.name not in self.here.imported:
            self.state = replace(self.here, imported={**self.here.imported, run.name: True})
            self.run_module(self.main, None)
        self._main_function()

    def _surround(self, run: EntrySetup) -> None:
        """The environment that it is started in."""
        for write in run.environment:
            self.emit(replace(write, state=self.here))
            self.state = replace(self.here, env={**self.here.env, write.name: write.value})
            if write.name == "CUDA_VISIBLE_DEVICES":
                hidden = isinstance(write.value, Const) and write.value.value in ("", "-1")
                self.state = replace(self.here, cuda_visible_devices=write.value, max_gpus=0 if hidden else None)

    def _before(self, run: EntrySetup) -> None:
        if run.name != "__main__":
            self.units[run.name] = self.main
        if run.package and run.package != run.name:
            self.import_module(run.package, self.main.tree)
        for number, text in enumerate(run.before):
            unit = text.unit("conftest", None, self.next_serial())
            if self.state is not None:
                self.run_module(unit, Step(text.source.path, Span(1, 1, 1, 1), f"pytest reads {text.source.path}"))
            if number == len(run.before) - 1:
                self.units.setdefault("conftest", unit)

    def _main_function(self) -> None:
        """The function that a console script calls."""
        if self.run_as is None or self.run_as.function is None or self.state is None:
            return
        value: Value = Module(self.main.name, self.main.scope)
        for name in self.run_as.function.split("."):
            value = self.attribute(value, name, self.main.tree)
        self.call_value(value, [], {}, value.node if isinstance(value, Function) else self.main.tree)

    def _end(self, entry: str, node: ast.AST) -> None:
        """The end of an entry point, wherever it is: behind its last line, or where the program is left before that."""
        ended = self.state
        self.state = ended or self.left
        if self.state is not None:
            self.emit(End(entry=entry, **(self.around(node) | {"span": Span(1, 1, 1, 1)})))
        self.state, self.left, self.surely_left = ended, None, False

    def _uncalled(self) -> None:
        """Functions that nothing here calls: judged on what they do for sure, whatever came before."""
        base = self.import_state or self.state or State()
        before = replace(
            base,
            context=_earlier(base.context),
            allocator=_earlier(base.allocator),
            listed=_earlier(base.listed),
            growth={},
            limits={},
            visible=None,
            threading={},
            entry_unknown=True,
            graphs=0,
            min_gpus=0,
            max_gpus=0 if base.max_gpus == 0 else None,
        )
        contents = {key: value for key, value in self.heap.items() if isinstance(key[0], Cell)}
        for _ in range(MAX_ENTRIES):
            function = next((one for key, one in self.functions.items() if key not in self.visited), None)
            if function is None:
                return
            self.visited.add(id(function.node))
            if self._is_plain(function.node) if self.modules is None else self.is_quiet(function):
                continue
            state = before if id(function.node) not in self.early else replace(before, **_UNTOLD)
            self.state = replace(state, in_child_process=True) if id(function.node) in self.elsewhere else state
            self.guards, self.ways, self.uncertain, self.statement = (), (), 0, None
            self.frames, self.loops, self.handlers = [Frame("", self.main.scope, self.main.tree)], [], []
            self.unit, self.doubts, self.depth, self.caught = self.main, [], 0, []
            self.run_function(self._with_receiver(function), [], {}, None, graph=_is_graph_function(function))
            # What one of them puts into a list isn't there when another one is called.
            attributes = {key: value for key, value in self.heap.items() if not isinstance(key[0], Cell)}
            self.heap = {**attributes, **contents} if len(attributes) < len(self.heap) else self.heap
            self.statement = None
            self._end(getattr(function.node, "name", "<lambda>"), function.node)

    def _is_plain(self, node: ast.AST) -> bool:
        """Whether nothing in a function could be reported: no word of interest in it or in what it calls, and each name
        of TensorFlow's that is spelled out in it exists. Most functions of most files are of that kind."""
        if isinstance(node, ast.Lambda) or not self.reach.is_inert(node):
            return False
        text = self.reach.text(node)
        if "import " in text or ".tf." in text or self.stars:
            return False
        for match in _CHAIN.finditer(text):
            root = self.module.names.get(match[1])
            if isinstance(root, Ref) and is_tensorflow(root.name):
                name = canonical(root.name + match[2])
                if not inventory.exists(name, self.target) and inventory.missing_part(name, self.target) is not None:
                    return False
        return True

    def _with_receiver(self, function: Function) -> Function:
        """A method gets an object of its class, with the fields that ``__init__`` makes of unknown arguments."""
        owner = next((cls for cls in self.classes if any(_is(value, function) for value in cls.members.values())), None)
        if owner is None or isinstance(function.node, ast.Lambda):
            return function
        kinds = {getattr(value, "name", "") for value in function.decorators}
        if "staticmethod" in kinds:
            return function
        receiver: Value = owner
        if "classmethod" not in kinds:
            found = self.instances.get(id(owner.node))
            if found is None:
                found = self.instances[id(owner.node)] = Instance(owner)
                init = self.class_member(owner, "__init__")
                if isinstance(init, Function) and init.node is not function.node:
                    state = self.state
                    self.visited.add(id(init.node))
                    self.run_function(Function(init.node, init.scope, init.decorators, found), [], {}, None)
                    self.state = state
            receiver = found
        return Function(function.node, function.scope, function.decorators, receiver)

    def _protos_at_end(self) -> None:
        carried = {span for one in self.events if isinstance(one, SessionMade) for span in one.field_spans.values()}
        for proto, call in self.protos:
            spans = {name: span for name, span in proto.record.spans.items() if span is not None}
            event = {name: getattr(call, name) for name in Event.__dataclass_fields__}
            self.emit(
                ProtoMade(
                    name=proto.name,
                    fields=dict(proto.record.fields),
                    consumed=proto.record.consumed,
                    field_spans=spans,
                    carried=not carried.isdisjoint(spans.values()),
                    **event,
                )
            )


_UNTOLD: dict[str, Any] = dict.fromkeys(("context", "allocator", "listed"), Phase(Tri.UNKNOWN))
"""What has started when a function runs that may have been called at any time."""


def _earlier(phase: Phase) -> Phase:
    """What has started at the end of the module, when nobody knows what else came before a function's call."""
    return Phase(Tri.UNKNOWN) if phase.has is Tri.NO else phase


def _is(value: Value, function: Function) -> bool:
    return isinstance(value, Function) and value.node is function.node


def _is_graph_function(function: Function) -> bool:
    return any(getattr(value, "name", "") == "tf.function" for value in function.decorators)
