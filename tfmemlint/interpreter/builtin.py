"""Python's own functions, as far as the values that are followed go through them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.facts.syntax import is_exit
from tfmemlint.interpreter.attributes import lift
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.reflection import Reflection
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Const,
    Count,
    Devices,
    Dict,
    Field,
    Function,
    Indices,
    Made,
    Module,
    Ref,
    Seq,
    Thread,
    Value,
    Zipped,
    is_called,
)
from tfmemlint.knowledge.functions import RANKS

_PARSED_VERSION = frozenset(
    {
        "packaging.version.parse",
        "packaging.version.Version",
        "distutils.version.LooseVersion",
        "distutils.version.StrictVersion",
        "pkg_resources.parse_version",
        "setuptools._distutils.version.LooseVersion",
    }
)
_SAME = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set", "tqdm", "tqdm.tqdm"})
_EMPTY = frozenset({"list", "set", "collections.deque"})
_COPIES = frozenset({"copy.copy", "collections.deque"})
_DICTS = frozenset({"dict", "collections.OrderedDict", "collections.defaultdict"})
_FIELDS = frozenset({"dataclasses.field"})
_MAIN_RUNNERS = frozenset({"absl.app.run", "tf.compat.v1.app.run", "tf.app.run", "asyncio.run"})
_LISTED_BY_APP = (2, 6)
"""From this release on ``absl.app.run()`` lists the physical devices before it calls the program's ``main()``."""


class Builtins(Reflection):
    """Calling what Python brings."""

    def call_builtin(
        self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value | None:
        """What a built-in or standard function returns; None where ``name`` is none that matters."""
        if is_exit(name):
            self.leave(certain=True)
            return UNKNOWN
        if name in _PARSED_VERSION and values:
            value = values[0]
            return _parse_version(value.value) if isinstance(value, Const) else UNKNOWN
        if name == "len" and values:
            return self._length(values[0])
        if name == "range" and len(values) == 1 and isinstance(values[0], Count):
            return Indices(values[0].of)
        if name == "range":
            plain = constants(values)
            if plain and all(isinstance(one, int) and abs(one) <= 1000 for one in plain) and _few(plain):
                return Seq(tuple(Const(number) for number in range(*plain[:3])), "range")
            return UNKNOWN
        if name == "enumerate" and values:
            first = values[0]
            return Zipped((Indices(first) if isinstance(first, Devices) else UNKNOWN, first))
        if name == "zip":
            return Zipped(tuple(values))
        if name in ("threading.Thread", "threading.Timer"):
            position = 1 if name.endswith("Timer") else None
            return self._thread(values, keywords, position)
        if name in _SAME and values:
            return self._same(name, values[0])
        if name in _EMPTY and not values and not keywords:
            return self.fresh(Seq((), "set") if name == "set" else Seq(()))
        if name in _COPIES and values and isinstance(values[0], (Seq, Dict)):
            one = values[0]
            return self.fresh(
                Seq(one.items, one.kind) if isinstance(one, Seq) else Dict(one.items, one.open, one.default)
            )
        if name in _DICTS and len(values) < 2:
            return self._dict(name, values, keywords)
        if name.startswith(("list.", "dict.", "set.")) and values and isinstance(values[0], (Seq, Dict, Choice)):
            return self._change_by_name(name.partition(".")[2], values, keywords)
        if name in _FIELDS:
            return _field(keywords)
        if name in ("importlib.import_module", "__import__") and values:
            return self._import_by_name(name, node, values, keywords)
        if name in ("sys.path.insert", "site.addsitedir"):
            self.path_changed = True
            return Const(None)
        if name in ("getattr", "hasattr") and len(values) >= 2:
            return self._by_attribute(name, node, values, written)
        if name in _MAIN_RUNNERS:
            listing = name not in ("asyncio.run", "tf.app.run")  # tf.app.run left before that release
            if listing and (self.target.major, self.target.minor) >= _LISTED_BY_APP and self._has_tf():
                # TensorFlow has asked absl to call it back, and counts the GPUs then.
                self.start(node, "listed", name, name)
            target = values[0] if values else self.module.names.get("main", UNKNOWN)
            return self.call_value(target, [UNKNOWN], {}, node) if isinstance(target, Function) else UNKNOWN
        if name in ("str", "int") and len(values) == 1 and isinstance(values[0], Made) and values[0].name in RANKS:
            return values[0]
        reflected = self.call_reflection(name, node, values, keywords)
        if reflected is not None:
            return reflected
        plain = constants(values)
        if plain is not None and not keywords:
            try:
                return lift(folding.function(name, plain))
            except folding.NotFolded:
                return None
        return None

    def _same(self, name: str, value: Value) -> Value:
        """What has the same items as ``value``: a new list, or what goes through it."""
        if isinstance(value, Dict) and not value.open:
            value = Seq(tuple(map(Const, value.items)), "list")
        if not isinstance(value, Seq):
            return value if isinstance(value, (Devices, Zipped)) else UNKNOWN
        if name in ("list", "sorted", "set"):
            return self.fresh(Seq(value.items, "set" if name == "set" or value.kind == "set" else "list"))
        items = value.items[::-1] if name == "reversed" and is_called(value) else value.items
        # Views of a list that show what is in it by now.
        return Seq(items, value.kind if value.kind == "set" else "tuple" if name == "tuple" else "view")

    def _dict(self, name: str, values: list[Value], keywords: dict[str, Value]) -> Value:
        """A new dictionary."""
        default: Value | None = None
        if name == "collections.defaultdict":
            default, values = (values[0] if values else None), []
        given = values[0] if values else Dict()
        if not isinstance(given, Dict):
            return UNKNOWN
        return self.fresh(Dict({**given.items, **keywords}, given.open, default))

    def _change_by_name(self, method: str, values: list[Value], keywords: dict[str, Value]) -> Value:
        """``list.append(values, value)``, or a method that was taken from a list to be called later."""
        base, *rest = values
        for value in rest:
            self.escape(value)
        now = self.current(base)
        meant = self.cells_of(now)
        if len(meant) == 1 and isinstance(meant[0], (Seq, Dict)) and meant[0].cell is not None:
            return self.change(meant[0], method, rest, keywords)
        for value in (base, *rest):
            self.let_out(value)
        return UNKNOWN

    def _import_by_name(self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value]) -> Value:
        """``importlib.import_module("core.model")``."""
        wanted, package = values[0], keywords.get("package", values[1] if len(values) > 1 else Const(None))
        if not (isinstance(wanted, Const) and isinstance(wanted.value, str)) or not isinstance(package, Const):
            return UNKNOWN
        full: str = wanted.value
        if name == "importlib.import_module" and full.startswith("."):
            level = len(full) - len(full.lstrip("."))
            parts = str(package.value or "").split(".")
            if not package.value or level > len(parts):
                return UNKNOWN
            full = ".".join([*parts[: len(parts) - level + 1], *filter(None, [full[level:]])])
        own = self.import_module(full, node)
        if own is None:
            self.foreign_import(full, node)
            if name == "importlib.import_module":
                return Ref(canonical(full))
            top = canonical(full.split(".")[0])
            # With a list of names it is the module itself, without one the package that it is in.
            return Ref(top) if is_tensorflow(top) and not keywords and len(values) == 1 else UNKNOWN
        if name == "__import__" and "." in full:
            return (self.import_module(full.split(".")[0], node) if isinstance(own, Module) else None) or UNKNOWN
        return own

    def _has_tf(self) -> bool:
        """Whether the module has imported TensorFlow by now."""
        return any(isinstance(value, Ref) and is_tensorflow(value.name) for value in self.module.names.values())

    def _thread(self, values: list[Value], keywords: dict[str, Value], position: int | None) -> Value:
        """A thread that is yet to be started."""
        listed = values[position] if position is not None and position < len(values) else UNKNOWN
        target = keywords.get("target", keywords.get("function", listed))
        args, kwargs = keywords.get("args"), keywords.get("kwargs")
        return Thread(
            target,
            args.items if isinstance(args, Seq) else (),
            kwargs.items if isinstance(kwargs, Dict) else {},
        )

    def _length(self, value: Value) -> Value:
        match value:
            case Devices():
                return Count(value)
            case Seq(items):
                return Const(len(items))
            case Const(constant) if isinstance(constant, (str, bytes)):
                return Const(len(constant))
            case _:
                return UNKNOWN

    def _by_attribute(self, name: str, node: ast.AST, values: list[Value], written: list[Arg]) -> Value:
        """``getattr`` and ``hasattr`` with a literal name."""
        owner, key = values[0], values[1]
        if not (isinstance(key, Const) and isinstance(key.value, str)):
            return UNKNOWN
        if isinstance(owner, Module):
            return self._of_module(name, owner, key.value, node, values)
        if not isinstance(owner, Ref) or not is_tensorflow(owner.name):
            return self.attribute(owner, key.value, node) if name == "getattr" and len(values) == 2 else UNKNOWN
        known = self.has_attribute(owner.name, key.value)
        if name == "hasattr":
            return UNKNOWN if known is None else Const(known)
        if len(values) > 2:
            if known is None:
                return UNKNOWN
            return Ref(f"{owner.name}.{key.value}") if known else values[2]
        self.use(node, f"{owner.name}.{key.value}", origin="getattr")
        return Ref(f"{owner.name}.{key.value}")

    def _of_module(self, name: str, module: Module, key: str, node: ast.AST, values: list[Value]) -> Value:
        """``getattr`` and ``hasattr`` of a module of the project's own."""
        found = self.named_in_module(module, key)
        if found is None:
            found = self.asked_of_module(module, key, node, caught=name == "hasattr" or len(values) > 2)
        return UNKNOWN if found is None or name == "hasattr" else found

    # What the other parts add

    def change(self, base: Value, name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        raise NotImplementedError

    def import_module(self, name: str, node: ast.AST) -> Value | None:
        raise NotImplementedError

    def foreign_import(self, name: str, node: ast.AST) -> None:
        raise NotImplementedError

    def has_attribute(self, owner: str, name: str) -> bool | None:
        raise NotImplementedError

    def call_name(
        self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value:
        raise NotImplementedError


def _field(keywords: Mapping[str, Value]) -> Value:
    """``dataclasses.field(...)``."""
    init, keyword_only = keywords.get("init", Const(True)), keywords.get("kw_only")
    if not isinstance(init, Const) or not isinstance(keyword_only, (Const, type(None))):
        return UNKNOWN
    return Field(
        keywords.get("default"),
        keywords.get("default_factory"),
        bool(init.value),
        None if keyword_only is None else bool(keyword_only.value),
    )


def _few(bounds: Sequence[int]) -> bool:
    """Whether a range is short enough to be gone through one by one."""
    return 0 not in bounds[2:3] and len(range(*bounds[:3])) <= 8


def constants(values: Sequence[Value]) -> list[Any] | None:
    plain: list[Any] = []
    for value in values:
        if isinstance(value, Const):
            plain.append(value.value)
        elif isinstance(value, Seq):
            inner = constants(value.items)
            if inner is None:
                return None
            plain.append(inner)
        else:
            return None
    return plain


def _parse_version(text: object) -> Value:
    """``2.15.1`` as a tuple of numbers: what the usual version classes compare by."""
    if not isinstance(text, str):
        return UNKNOWN
    numbers = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return Const(tuple(numbers)) if numbers else UNKNOWN
