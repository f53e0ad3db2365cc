"""Processes that a program starts to work beside each other: how many there are, and what each of them runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.facts.syntax import dotted, last_word
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Heap, Loop
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Const,
    Dict,
    FileValue,
    Function,
    Instance,
    Partial,
    Seq,
    Value,
)
from tfmemlint.interpreter.worker_records import Copies, Workers

PROCESSES = frozenset({"multiprocessing.Process", "multiprocessing.context.Process", "torch.multiprocessing.Process"})
"""The classes of a process."""
_TASKS = frozenset({"map", "map_async", "imap", "imap_unordered", "starmap", "starmap_async"})
"""Methods of a pool that hand a task to each of its processes."""
_SINGLE_TASKS = frozenset({"submit", "apply_async"})
"""Methods of a pool that hand one task to one of its processes."""
_POOLS = frozenset({"Pool", "ProcessPoolExecutor"})
_WAITING = frozenset({"wait", "communicate", "result", "recv", "acquire", "is_alive", "poll", "exitcode"})
"""Attributes by which a program waits for a process, or holds back until one has ended."""
_LOCKS = ("lock", "mutex", "sem", "gate")
"""The ends of names of what one process has at a time."""
_MOST_WORKERS = 512
"""More processes than this never share a GPU."""


def note_workers(
    context: Context, called: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Note the processes that a call makes, or that a pool's processes get something to run."""
    method = called.rpartition(".")[2]
    if context.state is None or context.unit.library or not isinstance(node, ast.Call):
        return
    if method in _POOLS:
        _note_pool(context, method, args, keywords, node)
    elif method == "Process":
        target = keywords.get("target", args[1] if len(args) > 1 else UNKNOWN)
        listed, named = keywords.get("args", args[3] if len(args) > 3 else Seq(())), keywords.get("kwargs")
        _note_processes(context, node, target, _items(listed), _named(named))
    elif called == "torch.multiprocessing.spawn":
        count = keywords.get("nprocs", args[2] if len(args) > 2 else Const(1))
        given = _items(keywords.get("args", args[1] if len(args) > 1 else Seq(())))
        workers = _of_function(context, args[0] if args else UNKNOWN, (UNKNOWN, *given), {}, node)
        place = _argument(node, 2, "nprocs")
        if workers is not None and place is not None:
            context.workers.noted.append(_counted(context, workers, count, place))
    elif method in _TASKS or method in _SINGLE_TASKS:
        _note_tasks(context, method, args, node)


def note_process_object(
    context: Context,
    run: Function,
    init: Value | None,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    node: ast.AST,
) -> None:
    """Note a process that is an object of a class of the program's own, whose ``run()`` it runs."""
    if isinstance(node, ast.Call) and not context.unit.library and context.state is not None:
        known = len(context.workers.noted)
        _note_processes(context, node, run, (), {})
        if isinstance(init, Function):
            making = replace(init, bound=run.bound), tuple(args), dict(keywords)
            context.workers.noted[known:] = [replace(made, making=making) for made in context.workers.noted[known:]]


def note_copies(context: Context, called: str, node: ast.Call) -> None:
    """Note that the program is started again, several times, as a process of its own."""
    if not called.endswith("Popen") or context.state is None or context.unit is not context.main or not context.loops:
        return
    loop, command = context.loops[-1], _argument(node, 0, "args")
    if not isinstance(command, (ast.List, ast.Tuple)) or not any(map(_is_own_script, command.elts)):
        return
    within = (loop.node, *(frame.node for frame in context.frames[loop.depth :]))
    if any(_waits(part) for part in within) or _is_conditional(loop.node, node) or loop.repeated:
        return
    if any(outer.repeated for outer in context.loops) or _chooses_gpu(_argument(node, 10, "env")):
        return
    count, place = _passes(context, loop)
    number = _number(count)
    if place is not None and number is not None and 1 < number <= _MOST_WORKERS:
        made = Copies(number, isinstance(count, Const), _number_text(context, place), event_fields(context, node))
        context.workers.copies.append(made)


def _is_own_script(node: ast.expr) -> bool:
    """True for ``__file__``, or ``sys.argv[0]``, also within a call."""
    text = ast.unparse(node)
    return text in ("__file__", "sys.argv[0]") or (
        isinstance(node, ast.Call) and "__file__" in text and "/" not in text
    )


def _chooses_gpu(environment: ast.expr | None) -> bool:
    """True if the environment that a process gets may show it another GPU than the others."""
    if environment is None or ast.unparse(environment) in ("os.environ", "os.environ.copy()", "dict(os.environ)"):
        return False
    given = [each for each in ast.walk(environment) if isinstance(each, ast.keyword) and each.arg is not None]
    plain = isinstance(environment, ast.Call) and ast.unparse(environment.func) == "dict"
    return not plain or any(
        each.arg == "CUDA_VISIBLE_DEVICES" and not isinstance(each.value, ast.Constant) for each in given
    )


def _note_processes(
    context: Context, node: ast.Call, target: Value, args: Sequence[Value], named: Mapping[str, Value]
) -> None:
    workers = _of_function(context, target, args, named, node)
    if workers is None or any(loop.repeated and not loop.each for loop in context.loops[:-1]):
        return
    loop = context.loops[-1] if context.loops else None
    if loop is not None:
        within = (loop.node, *(frame.node for frame in context.frames[loop.depth :]))
        if any(_waits(part) for part in within) or _is_conditional(loop.node, node):
            return
        if not loop.each:
            if not loop.repeated:
                count, place = _passes(context, loop)
                if place is not None:
                    context.workers.noted.append(_counted(context, workers, count, place))
            return
        workers = replace(workers, text=_number_text(context, _passes(context, loop)[1]))
    if _starts_one_at_a_time(context.frame.node):
        return
    context.workers.noted.append(workers)


def _note_pool(
    context: Context, method: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.Call
) -> None:
    """Note the processes of a pool, and what each of them calls first."""
    name = "processes" if method == "Pool" else "max_workers"
    count, place = keywords.get(name, args[0] if args else UNKNOWN), _argument(node, 0, name)
    context.workers.pool = (count, place, node) if place is not None else None
    at = 1 if method == "Pool" else 2
    first = keywords.get("initializer", args[at] if len(args) > at else UNKNOWN)
    given = keywords.get("initargs", args[at + 1] if len(args) > at + 1 else Seq(()))
    workers = _of_function(context, first, _items(given), {}, node)
    if workers is not None and place is not None:
        context.workers.noted.append(_counted(context, workers, count, place))


def _note_tasks(context: Context, method: str, args: Sequence[Value], node: ast.Call) -> None:
    """Note a function that the processes of the last pool run."""
    pool = context.workers.pool
    if pool is None or not args:
        return
    count, place, made = pool
    number = _number(count)
    loop = context.loops[-1] if context.loops else None
    if method in _SINGLE_TASKS:
        if loop is None or loop.repeated or _waits(loop.node) or _is_conditional(loop.node, node):
            return
        tasks = _number(_passes(context, loop)[0])
    else:
        listed = args[1] if len(args) > 1 else UNKNOWN
        listed = context.current(listed)
        tasks = len(listed.items) if isinstance(listed, Seq) else None
    if number is not None and tasks is not None and tasks < number:
        count = Const(tasks)
    workers = _of_function(context, args[0], (), {}, made, at=node)
    if workers is not None:
        given = args[1:] if method == "submit" else ()
        context.workers.noted.append(_counted(context, workers, count, place, args=_for_each(loop, node, given)))


def _for_each(loop: Loop | None, node: ast.Call, args: Sequence[Value]) -> tuple[Value, ...]:
    """Return the arguments that do not depend on the variable of a loop; the others are unknown."""
    if loop is None:
        return tuple(args)
    plain = [part for part in node.args if not isinstance(part, ast.Starred)][1:]
    if len(plain) != len(args):
        return tuple(UNKNOWN for _ in args)
    return tuple(
        UNKNOWN if {name.id for name in ast.walk(part) if isinstance(name, ast.Name)} & loop.rebound else value
        for part, value in zip(plain, args, strict=True)
    )


def _of_function(
    context: Context,
    target: Value,
    args: Sequence[Value],
    named: Mapping[str, Value],
    node: ast.Call,
    at: ast.Call | None = None,
) -> Workers | None:
    """Return one process that runs a function; None for what is no function of the program."""
    target = context.current(target)
    if isinstance(target, Partial):
        args, named, target = (*target.args, *args), {**target.keywords, **named}, target.function
    if not isinstance(target, Function):
        return None
    fields = event_fields(context, at or node)
    place = (context.source.path, context.span(node), fields["frames"])
    return Workers(
        function=target,
        args=tuple(args),
        keywords=dict(named),
        method=context.children.method,
        fields=fields,
        place=place,
        scope_of=context.frame.node,
        unit=context.unit,
        fields_of_object=_fields_of(context, target.bound),
    )


def _fields_of(context: Context, receiver: Value | None) -> Heap:
    """Return the attributes that an object has now."""
    if not isinstance(receiver, Instance):
        return {}
    return {key: value for key, value in context.heap.items() if key[0] is receiver}


def _counted(
    context: Context, workers: Workers, count: Value, place: ast.expr, args: tuple[Value, ...] | None = None
) -> Workers:
    """Return processes of which there are ``count``, as ``place`` says; 0 where nobody knows."""
    number = _number(count)
    known = isinstance(count, Const)
    many = number if number is not None and 0 < number <= _MOST_WORKERS else 0
    given = workers.args if args is None else (*workers.args, *args)
    return replace(workers, count=many, sure=known, text=_number_text(context, place), counted=True, args=given)


def _passes(context: Context, loop: Loop) -> tuple[Value, ast.expr | None]:
    """Return the number of passes of a loop, and where the program says it."""
    node = loop.node
    if isinstance(node, ast.For):
        iterated = node.iter
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and len(node.generators) == 1:
        iterated = node.generators[0].iter
    else:
        return UNKNOWN, None
    if isinstance(iterated, ast.Call) and dotted(iterated.func) in ("range", "enumerate") and len(iterated.args) == 1:
        if dotted(iterated.func) == "range":
            return context.last_values.get(id(iterated.args[0]), UNKNOWN), iterated.args[0]
        iterated = iterated.args[0]
    value = context.last_values.get(id(iterated), UNKNOWN)
    value = context.current(value)
    return (Const(len(value.items)), iterated) if isinstance(value, Seq) else (UNKNOWN, iterated)


def _number_text(context: Context, place: ast.expr | None) -> str:
    """Return a number of processes as code; "" for a plain number, or if it has no name."""
    if place is None or isinstance(place, ast.Constant):
        return ""
    value = context.last_values.get(id(place), UNKNOWN)
    listed = isinstance(context.current(value), (Seq, Dict))
    return context.text(place) if not listed else f"len({context.text(place)})" if isinstance(place, ast.Name) else ""


def _number(value: Value) -> int | None:
    """Return a number of processes that is known, or is so by default."""
    number: Any = value.value if isinstance(value, (Const, FileValue)) else None
    if isinstance(value, Amount) and not isinstance(value, FileValue):
        number = value.default
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Seq) else ()


def _named(value: Value | None) -> dict[str, Value]:
    return (
        {name: item for name, item in value.items.items() if isinstance(name, str)} if isinstance(value, Dict) else {}
    )


def _argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """Return where an argument of a call is written."""
    given = next((each.value for each in call.keywords if each.arg == keyword), None)
    return given if given is not None else call.args[position] if len(call.args) > position else None


def _calls(node: ast.AST) -> Iterator[ast.Attribute]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            yield part.func
        elif isinstance(part, ast.Attribute) and part.attr == "exitcode":
            yield part


def _waits(node: ast.AST) -> bool:
    """True if code waits for a process, or for a place that is free: what it starts may run one after the other."""
    return any(_is_wait(part, node) for part in _calls(node))


def _is_wait(attribute: ast.Attribute, node: ast.AST) -> bool:
    if attribute.attr in _WAITING:
        return True
    if attribute.attr not in ("join", "get") or isinstance(attribute.value, (ast.Constant, ast.JoinedStr)):
        return False
    call = next(part for part in ast.walk(node) if isinstance(part, ast.Call) and part.func is attribute)
    if attribute.attr == "get":
        return not call.args
    return last_word(attribute.value) != "path" and all(isinstance(part, ast.Constant) for part in call.args)


def _starts_one_at_a_time(node: ast.AST) -> bool:
    """True if a loop of a function starts a process and waits for it."""
    return any(
        isinstance(part, (ast.For, ast.While)) and any(call.attr == "start" for call in _calls(part)) and _waits(part)
        for part in ast.walk(node)
    )


def _is_conditional(loop: ast.AST, call: ast.Call) -> bool:
    """True if not each pass of a loop makes a call."""
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return any(generator.ifs for generator in loop.generators)
    inner = (ast.If, ast.IfExp, ast.Try, ast.While)
    return isinstance(loop, ast.While) or any(
        isinstance(part, inner) and any(each is call for each in ast.walk(part)) for part in ast.walk(loop)
    )


def waits_between(node: ast.AST, rows: Sequence[int]) -> bool:
    """True if a function that makes processes in these rows waits for one before it has started the last one."""
    starts = [part.lineno for part in _calls(node) if part.attr == "start"]
    first, last = min((*rows, *starts)), max((*rows, *starts))
    return any(_is_wait(part, node) and first <= part.lineno < last for part in _calls(node))


def takes_turns(node: ast.AST) -> bool:
    """True if a process waits for a lock: what it does may be done by one process at a time."""
    for part in ast.walk(node):
        if isinstance(part, (ast.With, ast.AsyncWith)):
            words = [last_word(item.context_expr).lower() for item in part.items]
            if any(word.endswith(_LOCKS) or "semaphore" in word for word in words):
                return True
    return any(part.attr == "acquire" for part in _calls(node))
