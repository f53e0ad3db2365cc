"""Lists, sets and dictionaries that are changed after they were made: by whatever name, they are the same.

Each has a `Cell`; what is in it by now is in the heap, so that branches join it as they join attributes. Where it can't
be known what is in one it is UNKNOWN, and nothing is concluded from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from tfmemlint.interpreter.context import LONGEST_UNROLLED, Machine
from tfmemlint.interpreter.values import (
    MOST_OPTIONS,
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Partial,
    Ref,
    Seq,
    Value,
    as_made,
    holds_code,
    is_called,
    is_same,
    parts,
)

Container = Seq | Dict
Change = Callable[[tuple[Value, ...]], "Sequence[Value] | None"]
"""What becomes of the items of a list; None where that isn't known."""

MOST_ITEMS = LONGEST_UNROLLED
"""How many items of a list are known one by one that grows: a longer one isn't gone through item by item."""
LISTS = frozenset({"list", "set"})
"""The kinds of `Seq` that can be changed."""


class Containers(Machine):
    """Knowing what is in lists and dictionaries."""

    # Making

    def fresh(self, value: Container) -> Container:
        """A list, set or dictionary that nothing else is yet."""
        if isinstance(value, Seq) and value.kind not in LISTS:
            return value
        called = is_called(value)
        if called:
            self._note_stored(value)
        empty = not value.items or (isinstance(value, Dict) and value.default is not None)
        first = Seq(value.items, value.kind) if isinstance(value, Seq) else Dict(value.items, value.open, value.default)
        cell = Cell(self.next_serial(), first, called or empty)
        if isinstance(value, Seq):
            return Seq(value.items, value.kind, cell)
        return Dict(value.items, value.open, value.default, cell)

    def _note_stored(self, value: Value) -> None:
        """Code of the program's own is put where it can be called from."""
        match value:
            case Partial(function):
                self._note_stored(function)
            case Function(node) if id(node) not in self.stored and not self.is_quiet(value):
                self.stored.add(id(node))
            case (Class() as cls) | Instance(cls) if not self.is_quiet(value):
                self.stored.update(id(one.node) for one in cls.members.values() if isinstance(one, Function))
                for base in cls.bases:
                    self._note_stored(base)
            case _:
                for part in parts(value):
                    self._note_stored(part)

    # Looking

    def current(self, value: Value) -> Value:
        """A value with what is in it by now."""
        if isinstance(value, Choice):
            return self._current_of_each(value) if any(isinstance(one, (Seq, Dict)) for one in value.options) else value
        if not isinstance(value, (Seq, Dict)) or value.cell is None:
            return value
        cell = value.cell
        content = self.heap.get((cell, ""))
        if content is not None:
            self.reads.setdefault(cell, content)
            return content
        if cell.watched:
            self.reads.setdefault(cell, None)
        return value if value.items is cell.first.items else as_made(cell)

    def _current_of_each(self, choice: Choice) -> Value:
        options: list[Value] = []
        for one in choice.options:
            now = self.current(one)
            for option in now.options if isinstance(now, Choice) else (now,):
                if not any(option is known or is_same(option, known) for known in options):
                    options.append(option)
        if len(options) == 1 < len(choice.options):
            return options[0]
        return Choice(tuple(options)) if len(options) <= MOST_OPTIONS else UNKNOWN

    def _content(self, cell: Cell) -> Value:
        content = self.heap.get((cell, ""))
        self.reads.setdefault(cell, content)
        return as_made(cell) if content is None else content

    def content_of(self, cell: Cell) -> Value:
        """What is in a list, for those who don't go through it."""
        return self.heap.get((cell, ""), cell.first)

    def as_read(self, reads: Mapping[Cell, Value | None]) -> bool:
        """Whether all these lists are as they were when they were looked at."""
        return all(self.heap.get((cell, "")) is content for cell, content in reads.items())

    def holds_as_much(self, reads: Mapping[Cell, Value | None]) -> bool:
        """Whether no code has come into these lists since they were looked at."""
        for cell, before in reads.items():
            content = self.heap.get((cell, ""))
            if content is not before and content is not None and is_called(content):
                return False
        return True

    def has_code(self, receiver: Value | None) -> bool:
        """Whether an object has a list of its own with code in it."""
        for value in self.given.get(id(receiver), ()):
            content = self.heap.get((value.cell, "")) if value.cell is not None else None
            if content is not None and is_called(content):
                return True
        return False

    # Changing

    def alter(self, value: Container, act: Callable[[Container], Value]) -> None:
        """Change what is in a list or a dictionary."""
        cell = value.cell
        assert cell is not None
        content = self._content(cell)
        results: list[Value] = []
        for one in content.options if isinstance(content, Choice) else (content,):
            result = act(one) if isinstance(one, (Seq, Dict)) else UNKNOWN
            if not any(is_same(result, known) or result is known for known in results):
                results.append(result)
        known = UNKNOWN not in results and len(results) <= MOST_OPTIONS
        now: Value = Choice(tuple(results)) if len(results) > 1 else results[0]
        if not known:
            now = UNKNOWN
        if now is UNKNOWN:
            self._forget(content)
        if now is content or is_same(now, content):
            return
        self._note_stored(now)
        if is_called(content) or is_called(now):
            self.changed = min(self.changed, cell.number)
            self.note_put()
        self.heap = {**self.heap, (cell, ""): now}

    def _forget(self, content: Value) -> None:
        """What was in a list can't be told any more: it may be called at any time."""
        for one in content.options if isinstance(content, Choice) else (content,):
            for item in parts(one):
                self.hand_on(item)

    def let_out(self, value: Value) -> None:
        """A value goes where nobody can say what is done to it: if it is a list, it may be changed."""
        match value:
            case Choice(options):
                for option in options:
                    self.let_out(option)
            case Seq() | Dict():
                now = self.current(value)
                if now is not value and not isinstance(now, (Seq, Dict)):
                    if value.cell is not None:
                        self.alter(value, lambda _: UNKNOWN)
                    return
                for item in parts(now):
                    self.let_out(item)
                if value.cell is not None and (value.cell.watched or is_called(now)):
                    self.alter(value, lambda _: UNKNOWN)
            case _:
                pass

    def _change(self, base: Seq, change: Change, put: Sequence[Value] = ()) -> None:
        """Change the items of a list into which ``put`` are put."""
        vague = bool(put) and not any(is_called(one) or isinstance(one, Ref) for one in put) and self._is_vague(base)

        def act(content: Container) -> Value:
            if not isinstance(content, Seq) or (vague and not is_called(content)):
                return UNKNOWN
            items = change(content.items)
            if items is None or len(items) > max(MOST_ITEMS, len(content.items)):
                return UNKNOWN
            return Seq(tuple(items), content.kind, content.cell)

        self.alter(base, act)

    def _is_vague(self, base: Seq) -> bool:
        """Whether what isn't called is put into a list that often that it isn't worth to be followed: in a loop, whose
        passes aren't counted, or in a function that need not be gone through each time."""
        return any(not loop.each for loop in self.loops) or self._is_others(base)

    def _is_others(self, base: Container) -> bool:
        """Whether a list is none of the function's own that is gone through here, if that is without interest."""
        frame = self.frames[-1]
        if base.cell is None or base.cell.number > frame.scope.number or isinstance(frame.node, ast.Module):
            return False
        function = frame.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        return self.is_quiet(Function(function, frame.scope))

    # Methods

    def on_list(self, base: Seq, name: str, values: Sequence[Value]) -> Value | None:
        """What a method of a list or a set does and returns; None where it changes nothing, or isn't known."""
        match name, values:
            case ("append", [value]) if base.kind == "list":
                self._change(base, lambda items: (*items, value), [value])
            case "add", [value]:
                self._change(base, lambda items: items if _place(items, value) >= 0 else (*items, value), [value])
            case "appendleft", [value]:
                self._change(base, lambda items: (value, *items), [value])
            case ("extend" | "update", [more]):
                self.extend(base, more)
            case "insert", [Const(int(place)), value]:
                self._change(base, lambda items: (*items[:place], value, *items[place:]), [value])
            case ("remove" | "discard", [value]):
                self._change(base, lambda items: _without(items, value))
            case ("pop" | "popleft", []):
                return self._popped(base, 0 if name == "popleft" else -1)
            case "pop", [Const(int(place))]:
                return self._popped(base, place)
            case "clear", []:
                self._change(base, lambda items: ())
            case "reverse", []:
                self._change(base, lambda items: items[::-1])
            case "sort", _:
                self._change(base, lambda items: items if len(items) < 2 else None)
            case "copy", []:
                return self.fresh(Seq(base.items, base.kind))
            case ("__iter__" | "index" | "count" | "__len__" | "__contains__" | "isdisjoint" | "issubset", _):
                return None
            case _:
                self.alter(base, lambda _: UNKNOWN)
                return UNKNOWN
        return Const(None)

    def extend(self, base: Seq, more: Value) -> None:
        """Put all that ``more`` gives into a list."""
        more = self.current(more)
        put = _given(more)
        if put is None:
            self._forget(more)
            self._change(base, lambda items: None)
        elif put:
            self._change(base, lambda items: (*items, *put), put)

    def _popped(self, base: Seq, place: int) -> Value:
        known = all(loop.each for loop in self.loops) or is_called(base)
        value = base.items[place] if known and -len(base.items) <= place < len(base.items) else UNKNOWN
        if base.kind == "set" and len(base.items) > 1:
            value, known = UNKNOWN, False
        self._change(base, lambda items: _less(items, place) if known else None)
        return value

    def on_dict(self, base: Dict, name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
        """The same for a dictionary."""
        match name, values:
            case "setdefault", [Const(str(key)), *rest]:
                if key in base.items:
                    return base.items[key]
                value = rest[0] if rest else Const(None)
                if base.open:
                    self.set_key(base, Const(key), UNKNOWN)
                    self.let_out(value)
                    return UNKNOWN
                self.set_key(base, Const(key), value)
                return value
            case "pop", [Const(str(key)), *rest]:
                value = base.items.get(key, UNKNOWN if base.open or not rest else rest[0])
                self.alter(base, lambda content: _without_key(content, key))
                return value
            case "update", [] | [Dict(open=False)]:
                given = {**(values[0].items if values and isinstance(values[0], Dict) else {}), **keywords}
                for key, value in given.items():
                    self.set_key(base, Const(key), value)
                return Const(None)
            case "clear", []:
                self.alter(base, lambda content: Dict({}, False, base.default, base.cell))
                return Const(None)
            case "copy", []:
                return self.fresh(Dict(base.items, base.open, base.default))
            case ("get" | "items" | "keys" | "values" | "__contains__" | "__len__" | "__iter__", _):
                return None
            case _:
                for value in (*values, *keywords.values()):
                    self.let_out(value)
                self.alter(base, lambda _: UNKNOWN)
                return UNKNOWN

    def set_key(self, base: Dict, key: Value, value: Value) -> None:
        """``base[key] = value``."""
        vague = not is_called(value) and not holds_code(value) and not isinstance(value, Ref) and self._is_others(base)

        def act(content: Container) -> Value:
            if not isinstance(content, Dict):
                return UNKNOWN
            if isinstance(key, Const) and isinstance(key.value, str):
                if content.items.get(key.value) == value:
                    return content
                if vague:
                    items = {name: one for name, one in content.items.items() if name != key.value}
                    return Dict(items, True, content.default, content.cell)
                return Dict({**content.items, key.value: value}, content.open, content.default, content.cell)
            if isinstance(key, Const):
                return Dict(content.items, True, content.default, content.cell)
            return UNKNOWN if is_called(content) or is_called(value) else Dict({}, True, None, content.cell)

        if not isinstance(key, Const) or not isinstance(key.value, str):
            self.let_out(value)
            self.hand_on(value)
        self.alter(base, act)

    def set_place(self, base: Seq, key: Value, value: Value) -> None:
        """``base[key] = value`` of a list."""
        if isinstance(key, Const) and isinstance(key.value, int):
            place: int = key.value
            self._change(base, lambda items: _replaced(items, place, value), [value])
        else:
            self.let_out(value)
            self.hand_on(value)
            self.alter(base, lambda _: UNKNOWN)

    def cells_of(self, value: Value) -> list[Value]:
        """The lists and dictionaries that are meant by a value, each once; whatever else is meant as it is."""
        if not isinstance(value, Choice):
            return [value]
        found: list[Value] = []
        cells: set[int] = set()
        for option in value.options:
            if isinstance(option, (Seq, Dict)) and option.cell is not None:
                if id(option.cell) in cells:
                    continue
                cells.add(id(option.cell))
            found.append(option)
        return found

    # What the other parts add

    def is_quiet(self, function: Value) -> bool:
        raise NotImplementedError

    def hand_on(self, value: Value) -> None:
        raise NotImplementedError


def _given(value: Value) -> tuple[Value, ...] | None:
    """What a value gives to whoever goes through it; None where that, or the order, isn't known."""
    match value:
        case Seq(items, kind):
            return items if kind != "set" or len(items) < 2 else None
        case Dict(items, open=False):
            return tuple(map(Const, items))
        case _:
            return None


def _place(items: Sequence[Value], value: Value) -> int:
    """Where ``value`` is among ``items``; -1 where it isn't, -2 where that can't be told."""
    for place, item in enumerate(items):
        if _is_same_code(item, value) or (isinstance(item, Const) and item == value):
            return place
        if not is_called(item) and not isinstance(item, Const):
            return -2
    return -1


def _is_same_code(left: Value, right: Value) -> bool:
    """Whether two values are one function, class or object; a method is made anew each time that it is asked for."""
    match left, right:
        case Function(node, scope, _, bound), Function(other, other_scope, _, other_bound):
            return node is other and scope is other_scope and bound is other_bound
        case ((Class() | Instance() | Partial()), _):
            return left is right
        case _:
            return False


def _without(items: tuple[Value, ...], value: Value) -> Sequence[Value] | None:
    place = _place(items, value)
    if place == -1 and is_called(value) and all(map(is_called, items)):
        return items
    return None if place < 0 else (*items[:place], *items[place + 1 :])


def _without_key(content: Container, key: str) -> Value:
    if not isinstance(content, Dict):
        return UNKNOWN
    items = {name: one for name, one in content.items.items() if name != key}
    return Dict(items, content.open, content.default, content.cell)


def _less(items: tuple[Value, ...], place: int) -> Sequence[Value]:
    return tuple(one for at, one in enumerate(items) if at != place % len(items))


def _replaced(items: tuple[Value, ...], place: int, value: Value) -> Sequence[Value] | None:
    if not -len(items) <= place < len(items):
        return None
    changed = list(items)
    changed[place] = value
    return changed
