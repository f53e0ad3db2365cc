"""Attributes and items: what stands behind a dot or in brackets."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.facts.shapes import MUTATING
from tfmemlint.interpreter.conditions import Conditions
from tfmemlint.interpreter.program import DeviceAt, ItemLookup, RankTaken, Use
from tfmemlint.interpreter.values import (
    EACH,
    UNKNOWN,
    Choice,
    Class,
    Const,
    Device,
    DeviceName,
    Devices,
    Dict,
    Field,
    Function,
    Index,
    Instance,
    Made,
    Module,
    Partial,
    Proto,
    Ref,
    Seq,
    Value,
    holds_code,
)
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.functions import RANKS

_VERSIONS = frozenset({"tf.__version__", "tf.version.VERSION", "tf.VERSION", "tf.compat.v1.VERSION"})
_WATCHED = ("tf.config.", "tf.test.", "tf.python.", "tf.compat.v1.config.", "tf.compat.v1.test.")


class Items(Conditions):
    """Looking things up."""

    def _Attribute(self, node: ast.Attribute) -> Value:
        return self.attribute_chain(node, called=False)

    def attribute_chain(self, node: ast.Attribute, *, called: bool) -> Value:
        """``a.b.c``; reports the use of a TensorFlow name once, for the whole chain."""
        base = self._base(node.value)
        value = self.attribute(base, node.attr, node)
        if isinstance(value, Ref) and isinstance(base, (Ref, Made)):
            self.use(node, value.name, called=called)
            if value.name in _VERSIONS:
                return Const(self.target.version)
        return value

    def _base(self, node: ast.expr) -> Value:
        """What an attribute is looked up on: inner links of a chain aren't uses of their own."""
        if not isinstance(node, ast.Attribute):
            return self.evaluate(node)
        self.step()
        value = self.attribute(self._base(node.value), node.attr, node)
        return Const(self.target.version) if isinstance(value, Ref) and value.name in _VERSIONS else value

    def use(self, node: ast.AST, name: str, *, called: bool = False, origin: str = "attribute") -> None:
        """Report a reference to a TensorFlow name, where it could matter: all but ordinary names that exist."""
        if self.state is None or self.modules is not None or not is_tensorflow(name):
            return
        exists = inventory.exists(name, self.target)
        self.lacking += not exists
        if name.startswith(_WATCHED) or not exists:
            text = self.text(node) if not isinstance(node, ast.alias) else name
            self.emit(Use(name=name, text=text, called=called, origin=origin, **self.around_name(node, name)))

    def around_name(self, node: ast.AST, name: str) -> dict[str, Any]:
        """`around`, for an event about a name: what another release has is no mistake where only that one gets."""
        around = self.around(node)
        if inventory.ever_existed(name):
            around["probed"] = around["probed"] or bool(self.fallbacks)
        elif around["probed"]:
            # What no release has is not asked for by trying it: the handler always runs, and has to do the work.
            around["probed"] = any(one.probes and not one.gives_up for one in around["handlers"])
        return around

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """``base.name``."""
        match base:
            case Ref("typing" | "typing_extensions") if name == "TYPE_CHECKING":
                return Const(False)
            case Ref(owner):
                return Ref(canonical(f"{owner}.{name}"))
            case Made(owner, serial):
                self.used.add(serial)
                return Ref(f"{owner}().{name}") if is_tensorflow(owner) else UNKNOWN
            case Device():
                return self._of_device(base, name)
            case Proto(_, record, prefix):
                full = prefix + name
                found = record.fields.get(full)
                if found is not None:
                    return found
                return Proto(f"{base.name}.{name}", record, full + ".")
            case Instance():
                return self.member(base, name, node)
            case Class():
                return self._of_class(base, name)
            case Module():
                return self.module_member(base, name, node)
            case Choice():
                return self.any_of(base, lambda option: self.attribute(option, name, node))
            case Seq() | Dict() if name in MUTATING and base.cell is not None:
                # Handed on to be called: by a decorator, say.
                return Partial(Ref(f"list.{name}"), (base,), {})
            case Field():
                return UNKNOWN
            case Const(value) if isinstance(value, tuple) and name in ("major", "minor", "release"):
                return _version_part(value, name)
            case _:
                return UNKNOWN

    def _of_class(self, cls: Class, name: str) -> Value:
        found = self.class_member(cls, name)
        if isinstance(found, Function) and Ref("classmethod") in found.decorators and _has_lists(cls):
            return Function(found.node, found.scope, found.decorators, cls)
        return found if found is not None else UNKNOWN

    def _of_device(self, device: Device, name: str) -> Value:
        if name == "name":
            return DeviceName(device)
        if name == "device_type" and device.type is not None:
            return Const(device.type)
        return UNKNOWN

    def member(self, instance: Instance, name: str, node: ast.AST) -> Value:
        """An attribute of an object of the program's own: a field, a method, a property, or an inherited name."""
        field = self.heap.get((instance, name))
        if field is not None:
            return field
        found = self.class_member(instance.cls, name)
        if isinstance(found, Function):
            names = {value.name for value in found.decorators if isinstance(value, Ref)}
            if "staticmethod" in names:
                return found
            receiver: Value = instance.cls if "classmethod" in names else instance
            bound = Function(found.node, found.scope, found.decorators, receiver)
            if names & {"property", "functools.cached_property", "cached_property"}:
                return self.call_value(bound, (), {}, node)
            return bound
        return found if found is not None else UNKNOWN

    def module_member(self, module: Module, name: str, node: ast.AST) -> Value:
        """A name of a module of the project's own, or what the module's ``__getattr__`` makes of the name."""
        found = self.named_in_module(module, name)
        if found is None:
            found = self.asked_of_module(module, name, node)
        return found if found is not None else UNKNOWN

    def named_in_module(self, module: Module, name: str) -> Value | None:
        """A name that a module of the project's own binds, or a module within that package that has been imported."""
        if module.scope.unit is not None and module.scope.unit.running and module.scope.unit is not self.unit:
            # What it has by now depends on who imported it first.
            self.within.add(module.name)
        found = module.scope.names.get(name)
        if found is None and module.scope.unit is not None:
            full = f"{module.name}.{name}"
            inner = self.units.get(full)
            if inner is not None:
                self.asked.add(full)
                found = Module(full, inner.scope)
        return found

    def class_member(self, cls: Class, name: str, seen: int = 0) -> Value | None:
        """A name of a class or of its bases; a base that is TensorFlow's answers with its own name."""
        later = self.heap.get((cls, name))
        if later is not None:
            return later
        if name in cls.members:
            found = cls.members[name]
            # What a dataclass says of a field is gone once it is one.
            return found if not isinstance(found, Field) else found.default or UNKNOWN
        for base in cls.bases:
            if isinstance(base, Class) and seen < 20:
                inherited = self.class_member(base, name, seen + 1)
                if inherited is not None:
                    return inherited
            elif isinstance(base, Ref) and is_tensorflow(base.name):
                return Ref(f"{base.name}().{name}")
        return None

    def _Subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            for part in (node.slice.lower, node.slice.upper, node.slice.step):
                if part is not None:
                    self.evaluate(part)
            return self._sliced(base, node.slice)
        return self.item(base, self.evaluate(node.slice), node, node.slice)

    def _sliced(self, base: Value, part: ast.Slice) -> Value:
        if isinstance(base, Devices):
            whole = part.lower is None and part.upper is None
            first = self._bounds(part) if base.whole and part.lower is None and part.step is None else None
            count = first.stop if first is not None and isinstance(first.stop, int) and first.stop >= 0 else None
            return Devices(base.kind, base.type, base.whole and whole, base.names, count)
        bounds = self._bounds(part)
        if bounds is not None and isinstance(base, Seq):
            return self.fresh(Seq(base.items[bounds], base.kind))
        if bounds is not None and isinstance(base, Const):
            return self._fold(lambda: _index(base.value, bounds))
        return UNKNOWN

    def _bounds(self, part: ast.Slice) -> slice | None:
        edges: list[int | None] = []
        for node in (part.lower, part.upper, part.step):
            value = Const(None) if node is None else self._last_values.get(id(node))
            if not isinstance(value, Const) or not isinstance(value.value, (int, type(None))):
                return None
            edges.append(value.value)
        return None if edges[2] == 0 else slice(*edges)

    def item(self, base: Value, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
        """``base[key]``."""
        match base:
            case Devices():
                device = self._device_at(base, key, written)
                if base.whole and base.type == "GPU" and written is not None:
                    self.rank_taken(key, "index", node, self.span(written), self.text(node))
                if base.whole and base.type == "GPU" and written is not None and isinstance(device.index, int):
                    self._device_taken(device.index, key, node, written)
                return DeviceName(device) if base.names else device
            case Seq(items):
                if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                    return items[key.value]
                return UNKNOWN
            case Dict(items):
                return self._of_dict(base, key, node)
            case Choice() if any(isinstance(one, (Seq, Dict)) for one in base.options):
                return self.any_of(base, lambda option: self.item(option, key, node, written))
            case Ref("os.environ"):
                return self.env_value(key)
            case Ref("sys.modules"):
                return self.module_loaded(key)
            case Ref(name) if name.endswith(".__dict__") and isinstance(key, Const) and isinstance(key.value, str):
                found = self.attribute(Ref(name.removesuffix(".__dict__")), key.value, node)
                if isinstance(found, Ref):
                    self.use(node, found.name, origin="getattr")
                return found
            case Made(_, serial):
                self.used.add(serial)
                self.look_up(base, key, node, node.value if isinstance(node, ast.Subscript) else node)
                return UNKNOWN
            case Const(value) if isinstance(key, Const):
                return self._fold(lambda: _index(value, key.value))
            case _:
                return UNKNOWN

    def _of_dict(self, base: Dict, key: Value, node: ast.expr) -> Value:
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return UNKNOWN
        found = base.items.get(key.value)
        if found is None and base.default is not None and not base.open and base.cell is not None:
            found = self.call_any(base.default, [], {}, node)
            self.set_key(base, key, found)
        return found if found is not None else UNKNOWN

    def rank_taken(self, value: Value, how: str, node: ast.AST, given: Any, text: str = "") -> Value:
        """Report a GPU that is picked by the number of the process, if ``value`` is such a number; gives what else is
        known of it, which is nothing."""
        if not isinstance(value, Made) or value.name not in RANKS or self.state is None:
            return value
        rank = self.made_by[value.serial]
        self.emit(RankTaken(rank=rank, how=how, given=given, text=text, **self.around(node)))
        return UNKNOWN

    def _device_taken(self, index: int, key: Value, node: ast.expr, written: ast.expr) -> None:
        """Report a GPU that is taken out of the list of them."""
        if self.state is not None and isinstance(key, Const) and isinstance(node, ast.Subscript):
            self.emit(DeviceAt(index=index, key=self.span(written), text=self.text(node.value), **self.around(node)))

    def look_up(self, made: Made, key: Value, node: ast.expr, base: ast.expr, *, get: bool = False) -> None:
        """Report a key that is asked of what a call returned."""
        if self.state is None:
            return
        self.emit(
            ItemLookup(
                of=made.name,
                key=key,
                base=self.span(base),
                call=self.made_by.get(made.serial),
                get=get,
                **self.around(node),
            )
        )

    def _device_at(self, devices: Devices, key: Value, written: ast.expr | None) -> Device:
        if isinstance(key, Index):
            return Device(devices.kind, devices.type, key.device.index, loop=key.device.loop)
        if isinstance(written, ast.Name):
            for loop in reversed(self.loops):
                if written.id in loop.rebound:
                    # The index goes with the loop: taken for the loop over all the devices that it nearly always is.
                    return Device(devices.kind, devices.type, EACH if loop.repeated else 0, loop=True)
        if isinstance(key, Const) and isinstance(key.value, int):
            # From a slice or a filtered list: the number in that list isn't the device's own.
            return Device(devices.kind, devices.type, key.value if devices.whole else f"[{key.value}] of some")
        return Device(devices.kind, devices.type, ast.unparse(written) if written is not None else None)

    def env_value(self, key: Value) -> Value:
        """What the program itself put into the environment under ``key``."""
        if isinstance(key, Const) and isinstance(key.value, str) and self.state is not None:
            found = self.state.env.get(key.value)
            self.env_read.setdefault(key.value, found)
            return found if found is not None else UNKNOWN
        return UNKNOWN

    def _fold(self, compute: Callable[[], Any]) -> Value:
        try:
            result = compute()
        except folding.NotFolded:
            return UNKNOWN
        return lift(result)

    # What the other parts add

    def module_loaded(self, key: Value) -> Value:
        raise NotImplementedError

    made_by: dict[int, Any]

    fallbacks: int
    """How many handlers we are in that only another release gets into: nothing that was tried is missing here."""

    lacking: int
    """How many uses of names there were that the targeted release lacks."""

    def any_of(self, choice: Choice, act: Callable[[Value], Value]) -> Value:
        raise NotImplementedError

    def asked_of_module(self, module: Module, name: str, node: ast.AST, *, caught: bool = False) -> Value | None:
        raise NotImplementedError

    def call_any(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError


def _has_lists(cls: Class) -> bool:
    """Whether a class has a list or a dictionary of its own that code may be put into."""
    bases = [base for base in cls.bases if isinstance(base, Class)]
    return any(map(holds_code, cls.members.values())) or any(map(_has_lists, bases))


def lift(result: object) -> Value:
    if isinstance(result, (list, tuple)):
        return Seq(tuple(lift(item) for item in result), "list" if isinstance(result, list) else "tuple")
    return Const(result)


def _index(value: Any, key: Any) -> Any:
    try:
        return value[key]
    except (TypeError, LookupError):
        raise folding.NotFolded from None


def _version_part(version: tuple[int, ...], name: str) -> Value:
    if name == "release":
        return Const(version)
    position = ("major", "minor").index(name)
    return Const(version[position]) if position < len(version) else UNKNOWN
