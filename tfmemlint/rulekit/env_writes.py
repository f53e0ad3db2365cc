"""Environment variables that a program sets: what rules ask of them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.reads import mentions_as_read, reads, starts_others
from tfmemlint.interpreter.program import Call, End, EnvWrite, RuntimeStart
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL
from tfmemlint.model.finding import Step

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event, Program
    from tfmemlint.interpreter.state import Setting, State
    from tfmemlint.knowledge.variables import BadName
    from tfmemlint.model.finding import Span

_TENSORFLOW = r"(?m)^\s*(?:import|from)\s+(?:tensorflow|keras|tf_keras)\b"


def writes(program: Program) -> Iterator[EnvWrite]:
    """Every variable that is set, once for each place, where there may be a GPU that it matters to."""
    seen: set[tuple[str, Span, str]] = set()
    for write in program.of(EnvWrite):
        place = (write.path, place_of(write), write.name)
        if place not in seen and write.state.max_gpus != 0:
            seen.add(place)
            yield write


def place_of(write: EnvWrite) -> Span:
    """The place to point at: the whole target, or in a mapping of several variables the one that is meant."""
    if write.how != "update":
        return write.span
    return write.key or write.given or write.span


def text_of(write: EnvWrite) -> str | None:
    """The string that a variable is set to; None where it isn't known, or is no string."""
    value = write.value.value if isinstance(write.value, Const) else None
    return value if isinstance(value, str) else None


def is_replaced(program: Program, write: EnvWrite) -> bool:
    """Whether another value is set, for sure, before this one is read."""
    phase = "listed" if read_at(write.name) is Moment.LISTING else "allocator"
    behind = False
    for other in program.of(EnvWrite):
        if other is write:
            behind = True
        elif behind and other.name == write.name and other.value != write.value and other.comes_with(write):
            if program.configuration is not None and other.ways != write.ways:
                # It is for another service, step or command.
                continue
            return getattr(other.state, phase).has is Tri.NO and other.how != "setdefault"
    return False


def others_of(program: Program, name: str, but: EnvWrite) -> list[EnvWrite]:
    """The other places where a variable is set."""
    found = program.of(EnvWrite)
    return [one for one in found if one.name == name and (one.path, place_of(one)) != (but.path, place_of(but))]


def growth_calls(program: Program) -> list[Call]:
    """The calls of ``set_memory_growth``."""
    return list(program.calls(SET_GROWTH))


def in_time(write: EnvWrite, name: str) -> bool:
    """Whether a variable that were called ``name`` would be set before TensorFlow reads it, as far as can be told."""
    phase = write.state.listed if read_at(name) is Moment.LISTING else write.state.allocator
    return phase.has is Tri.NO


def devices_made(program: Program) -> Iterator[tuple[Event, State]]:
    """The moments at which the allocator variables are read, for each entry point: where the GPU devices are made
    first, or its end where nothing in it makes them; with the state that is in force then."""
    for event in program.events:
        if isinstance(event, RuntimeStart) and event.what in ("context", "allocator") and not event.repeated:
            if event.state.allocator.under(event.guards).has in (Tri.NO, Tri.UNKNOWN):
                yield event, event.state
        elif isinstance(event, End) and event.state.allocator.has is Tri.NO:
            yield event, event.state


def settings_in_force(
    program: Program, table: Callable[[State], Iterable[Setting]]
) -> Iterator[tuple[Call, Setting, State]]:
    """What calls have set, for sure, of all that ``table`` has when the GPU devices are made; with that state."""
    for _, state in devices_made(program):
        for setting in table(state):
            if setting.by is not None and not setting.either:
                yield setting.by, setting, state


def beaten_by(write: EnvWrite, event: Event, words: str) -> tuple[Step, ...]:
    """How it comes about that a variable has more say than a setting: where it is set, and where the setting is made,
    in these words."""
    return (
        Step(write.path, write.span, f"{write.name} is set to {text_of(write)!r}"),
        *event.frames,
        Step(event.path, event.span, words),
    )


def write_of(program: Program, name: str, state: State) -> EnvWrite | None:
    """The assignment that the value in ``state`` comes from: the last one of that value."""
    value = state.env.get(name)
    found = [one for one in program.of(EnvWrite) if one.name == name and one.value == value]
    return found[-1] if found else None


def is_for_others(program: Program, write: EnvWrite, bad: BadName) -> bool:
    """Whether somebody else than TensorFlow may read a variable whose name it does not know: the program, another
    library, a program that it starts."""
    if program.configuration is not None:
        return _is_for_others_there(program, write, bad)
    texts = [program.source.text, *program.others]
    if reads(program.tree, write.name) or any(mentions_as_read(text, write.name) for text in program.others):
        return True
    if bad.kind == "foreign":
        from tfmemlint.knowledge.variables import shows_owner

        if not any(re.search(_TENSORFLOW, text) for text in texts):
            return True
        if any(shows_owner(text, bad.owner) for text in texts):
            return True
        if _has_own_settings(program) and not _imported(program.tree) <= _WITHOUT_JAX:
            # Both are told to leave the other some memory: what is imported may be JAX's.
            return True
    return bad.kind in ("foreign", "made-up") and starts_others(program.tree)


def _has_own_settings(program: Program) -> bool:
    """Whether TensorFlow's memory is configured by a call that is real."""
    return any(True for _ in program.calls(SET_GROWTH, *SET_LOGICAL))


def _imported(tree: ast.Module) -> frozenset[str]:
    """The packages that a file imports anything of."""
    found = set[str]()
    for node in ast.walk(tree):
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
"""Packages that use no GPU, or none but by TensorFlow."""


def _is_for_others_there(program: Program, write: EnvWrite, bad: BadName) -> bool:
    """The same of a configuration file: what it starts need not be this project's, but code of the project tells."""
    from tfmemlint.deployment.project_readers import asks, uses
    from tfmemlint.knowledge.variables import shows_owner

    assert program.configuration is not None
    text = program.source.text
    shows = about_tensorflow_itself(text)
    if write.name in program.configuration.asked or asks(program.source.path, write.name):
        return True
    if bad.kind == "foreign":
        # Data are often read by TensorFlow in a program of JAX's, so that its variables tell nothing.
        if re.search("tensorflow|keras", text) is None or shows_owner(text, bad.owner):
            return True
        return uses(program.source.path, bad.owner)
    return bad.kind == "made-up" and not write.name.startswith("TF_") and not shows


def about_tensorflow_itself(text: str) -> bool:
    """Whether a configuration file says that it is about TensorFlow: by its name, or by variables that it has."""
    own = r"tensorflow|keras|\bTF_(?:FORCE_GPU_ALLOW_GROWTH|GPU_ALLOCATOR|CPP_MIN_LOG_LEVEL)\b"
    return re.search(own, text) is not None
