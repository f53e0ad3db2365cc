"""Environment variables that a program sets: questions that rules ask about them."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from tfmemlint.facts.reads import mentions_as_read, reads, rows_of_programs_started, starts_others
from tfmemlint.facts.syntax import function_around
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, End, EnvWrite, RuntimeStart
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL
from tfmemlint.model.finding import Step

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event, Program
    from tfmemlint.interpreter.state import Setting, State
    from tfmemlint.knowledge.variables import BadName
    from tfmemlint.model.finding import Span

SET_FROM_FILES = r"\bload_dotenv|\benviron\.update\("
"""Matches code that sets variables whose names may stand in a configuration file only."""
MAX_LATER_WRITES = 200
"""Writes of one variable that are looked at for each write of it: a program has a few of them."""
_ENDS = frozenset({"__exit__", "__aexit__", "tearDown", "tearDownClass"})
"""Functions that run at the end of what others have begun."""
_TENSORFLOW = r"(?m)^[ \t]*(?:import|from)\s+(?:tensorflow|keras|tf_keras)\b"


def writes(program: Program) -> Iterator[EnvWrite]:
    """Yield every write of a variable, once per place, unless there is certainly no GPU that it could affect."""
    seen: set[tuple[str, Span, str]] = set()
    for write in program.of(EnvWrite):
        place = (write.path, place_of(write), write.name)
        if place not in seen and write.state.max_gpus != 0:
            seen.add(place)
            yield write


def place_of(write: EnvWrite) -> Span:
    """Return the place to point at: the whole target, or in a mapping of several variables the key in question."""
    if write.how != "update":
        return write.span
    return write.key or write.given or write.span


def text_of(write: EnvWrite) -> str | None:
    """Return the string that a variable is set to, or None if it is unknown or not a string."""
    value = write.value.value if isinstance(write.value, Const) else None
    return value if isinstance(value, str) else None


def is_replaced(program: Program, write: EnvWrite) -> bool:
    """Return True if another value is certainly set before this one is read, or if that takes too long to tell."""
    phase = "listed" if read_at(write.name) is Moment.LISTING else "allocator"
    for number, later in enumerate(program.later_writes(write)):
        if number == MAX_LATER_WRITES:
            return True
        if later.value != write.value and later.comes_with(write):
            return getattr(later.state, phase).has is Tri.NO and later.how != "setdefault"
    return False


def puts_back(program: Program, write: EnvWrite) -> bool:
    """Return True if a function sets a variable to what is not known after it has set it to something else itself: it
    gives back, at the end of a block, the value that it found."""
    if write.value != UNKNOWN or not write.function:
        return False
    if write.function in _ENDS:
        return True
    place = (write.path, write.function)
    earlier = itertools.takewhile(lambda event: event is not write, program.of(EnvWrite))
    return any(
        event.name == write.name and (event.path, event.function) == place and event.value != UNKNOWN
        for event in earlier
    )


def is_for_the_next_program(program: Program, write: EnvWrite) -> bool:
    """Return True if the module that sets a variable starts another program further down in the same function, before
    it uses TensorFlow again: the variable is for that program, which inherits it."""
    if write.path != program.source.path or not isinstance(program.tree, ast.Module):
        return False
    started = _programs_started(program.tree, program.source.text)
    if not started:
        return False
    row = place_of(write).row
    scope = function_around(program.tree, row)
    rows = [row_of for row_of, function in started if row_of >= row and function is scope]
    if not rows:
        return False
    return not any(
        event.path == write.path and row < event.span.row < rows[0]
        for event in (*program.calls(), *program.of(RuntimeStart))
    )


@lru_cache(maxsize=1)
def _programs_started(tree: ast.Module, text: str) -> list[tuple[int, ast.AST | None]]:
    """Return the rows in which a module starts other programs, each with the function that it is in."""
    return [(row, function_around(tree, row)) for row in rows_of_programs_started(tree, text)]


def others_of(program: Program, name: str, but: EnvWrite) -> list[EnvWrite]:
    """Return the other places at which a variable is set."""
    found = program.of(EnvWrite)
    return [
        write for write in found if write.name == name and (write.path, place_of(write)) != (but.path, place_of(but))
    ]


def growth_calls(program: Program) -> list[Call]:
    """Return the calls of ``set_memory_growth``."""
    return list(program.calls(SET_GROWTH))


def in_time(write: EnvWrite, name: str) -> bool:
    """Return True if a variable called ``name``, written here, would be set before TensorFlow reads it, as far as the
    analysis can tell."""
    phase = write.state.listed if read_at(name) is Moment.LISTING else write.state.allocator
    return phase.has is Tri.NO


def devices_made(program: Program) -> Iterator[tuple[Event, State]]:
    """Yield the moments at which the allocator variables are read, with the state at that moment. For each entry point,
    this is where the GPU devices are first created, or the end of the program if nothing creates them."""
    for event in program.events:
        if isinstance(event, RuntimeStart) and event.what in ("context", "allocator") and not event.repeated:
            if event.state.allocator.under(event.guards).has in (Tri.NO, Tri.UNKNOWN):
                yield event, event.state
        elif isinstance(event, End) and event.state.allocator.has is Tri.NO:
            yield event, event.state


def settings_in_force(
    program: Program, table: Callable[[State], Iterable[Setting]]
) -> Iterator[tuple[Call, Setting, State]]:
    """Yield the calls whose settings in ``table`` are certainly in force when the GPU devices are created, with the
    settings and the state at that moment."""
    for _, state in devices_made(program):
        for setting in table(state):
            if setting.by is not None and not setting.either:
                yield setting.by, setting, state


def beaten_by(write: EnvWrite, event: Event, words: str) -> tuple[Step, ...]:
    """Return the trace of a variable that overrides a setting: the place at which the variable is set, and the place of
    the setting, described by ``words``."""
    return (
        Step(write.path, write.span, f"{write.name} is set to {text_of(write)!r}"),
        *event.frames,
        Step(event.path, event.span, words),
    )


def write_of(program: Program, name: str, state: State) -> EnvWrite | None:
    """Return the assignment that the value in ``state`` comes from: the last one of that value."""
    value = state.env.get(name)
    found = [write for write in program.of(EnvWrite) if write.name == name and write.value == value]
    return found[-1] if found else None


def is_for_others(program: Program, write: EnvWrite, bad: BadName) -> bool:
    """Return True if something other than TensorFlow may read a variable whose name TensorFlow does not know: the
    program, another library, a program that it starts."""
    if program.configuration is not None:
        return _is_for_others_there(program, write, bad)
    texts = [program.source.text, *program.others]
    named = program.source.segment(write.key).lstrip("bfruBFRU")[:1] in ("'", '"') if write.key is not None else True
    if reads(program.tree, write.name, from_table=not named) or any(
        mentions_as_read(text, write.name) for text in program.others
    ):
        return True
    if bad.kind == "foreign":
        from tfmemlint.knowledge.variables import shows_owner

        if not any(re.search(_TENSORFLOW, text) for text in texts):
            return True
        if any(shows_owner(text, bad.owner) for text in texts):
            return True
        if _has_own_settings(program) and not _imported(program.tree) <= _WITHOUT_JAX:
            # Either may be configured to leave memory to the other: the import may be JAX's.
            return True
    return bad.kind in ("foreign", "made-up") and starts_others(program.tree)


def _has_own_settings(program: Program) -> bool:
    """Return True if a call of a real function configures TensorFlow's memory."""
    return any(True for _ in program.calls(SET_GROWTH, *SET_LOGICAL))


def _imported(tree: ast.Module) -> frozenset[str]:
    """Return the packages that a file imports anything from."""
    found = set[str]()
    for node in all_nodes(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0] if not node.level else ".")
    return frozenset(found)


_WITHOUT_JAX = frozenset(sys.stdlib_module_names) | {
    "PIL", "absl", "cv2", "h5py", "imageio", "keras", "matplotlib", "numpy", "pandas", "psutil", "pynvml", "scipy",
    "seaborn", "six", "skimage", "sklearn", "tensorboard", "tensorflow", "tensorflow_addons", "tensorflow_datasets",
    "tensorflow_hub", "tf_keras", "tqdm", "yaml",
}  # fmt: skip
"""Packages that use no GPU, or use it only through TensorFlow."""


def _is_for_others_there(program: Program, write: EnvWrite, bad: BadName) -> bool:
    """Return `is_for_others` for a variable of a configuration file. The file need not start a program of this project,
    but code of the project gives evidence."""
    from tfmemlint.deployment.project_readers import asks, uses
    from tfmemlint.knowledge.variables import shows_owner

    assert program.configuration is not None
    text = program.source.text
    shows = about_tensorflow_itself(text)
    if write.name in program.configuration.asked or asks(program.source.path, write.name):
        return True
    if bad.kind == "foreign":
        # JAX programs often read their data with TensorFlow, so its variables prove nothing.
        if re.search("tensorflow|keras", text, re.IGNORECASE) is None or shows_owner(text, bad.owner):
            return True
        return uses(program.source.path, bad.owner)
    return bad.kind == "made-up" and not write.name.startswith("TF_") and not shows


def about_tensorflow_itself(text: str) -> bool:
    """Return True if a configuration file is about TensorFlow, judging by its name or by its variables."""
    own = r"tensorflow|keras|\bTF_(?:FORCE_GPU_ALLOW_GROWTH|GPU_ALLOCATOR|CPP_MIN_LOG_LEVEL)\b"
    return re.search(own, text) is not None


def hides_what_is_hidden(write: EnvWrite) -> bool:
    """True if a variable hides all GPUs where ``set_visible_devices`` has done so: late, and not needed."""
    hides = write.value in (Const(""), Const("-1"))
    return write.name == "CUDA_VISIBLE_DEVICES" and hides and write.state.visible_gpus == ()
