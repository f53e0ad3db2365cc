"""The words for a name that a release lacks: never there, there for some releases, moved, or not there yet."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.interpreter.program import Store, Use
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target, position
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes, is_of_import

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

NEVER = "exists in no TensorFlow release"
FROM_THE_FIRST_KNOWN = f"{NEVER} from {KNOWN[0]} on"
"""For names of any kind: what left before the oldest release that is known is not known here."""
NEVER_RUNS = "what stands behind it in the try never runs"


def never_there(program: Program) -> Iterator[tuple[Use, str]]:
    """The uses of names that no release ever had, each with the part that is missing; those behind ``hasattr`` or with
    a working fallback are not among them, nor those that the program has put there itself."""
    own = own_names(program)
    for use in program.of(Use):
        if use.probed or "(" in use.name or is_of_import(use, program) or is_of_variable(use, program):
            continue
        missing = names.missing_part(use.name, program.target)
        if missing is not None and missing not in own and not names.ever_existed(missing):
            yield use, missing


def own_names(program: Program) -> frozenset[str]:
    """The names that the program puts into TensorFlow itself: ``tf.gfile = tf.io.gfile``."""
    return frozenset(f"{store.owner}.{store.attribute}" for store in program.of(Store))


def is_of_variable(use: Use, program: Program) -> bool:
    """Whether what a name begins with was missing already where a variable got it: ``FLAGS.depth`` after
    ``FLAGS = tf.flags.FLAGS``. The line that gives it to the variable says what there is to say; of one that imports a
    module by another name (``import tensorflow.contrib.slim as slim``) nothing is said."""
    if use.origin != "attribute" or "(" in use.text:
        return False
    held = use.name.rsplit(".", use.text.count("."))[0]
    if held == use.name or names.missing_part(held, program.target) is None:
        return False
    return use.text.partition(".")[0] not in _modules_of(program.tree)


@functools.lru_cache(maxsize=4)
def _modules_of(tree: ast.Module) -> frozenset[str]:
    """The names under which a file imports modules."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    return frozenset(alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names)


def fallbacks(program: Program) -> list[Span]:
    """Where a handler gives other values to what a ``try`` that only looks names up could not find: the names there may
    be those of releases older than all that are known."""
    return [
        program.source.span(handler)
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Try) and all(isinstance(one, _LOOKING_UP) and not _calls(one) for one in node.body)
        for handler in node.handlers
    ]


_LOOKING_UP = (ast.Assign, ast.Import, ast.ImportFrom, ast.Expr)


def _calls(statement: ast.stmt) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(statement))


def of_made_up(use: Use, missing: str, target: Target) -> dict[str, Any]:
    """The fields of a finding about a name that no release ever had."""
    near = names.nearest(missing, target)
    error = "ImportError" if use.origin == "import" else "AttributeError"
    return {
        "severity": attribute_severity(use, error),
        "outcome": attribute_error(missing, error, use.name),
        "advice": f"The nearest real name is {near}" if near else "",
        "notes": handler_notes(use, error, NEVER_RUNS),
        "fixable": use.origin == "import",
        "details": {"name": missing, "caught": use.handler_for(error) is not None},
    }


def why(name: str, target: Target, new: str | None = None) -> str:
    """Why ``target`` lacks a name that some release has, as it reads behind a colon.

    ``it comes with 2.5``, ``its last release was 1.15``, ``only 2.3 to 2.11 had it``; with ``new``, which is where it
    has gone, ``its last release was 1.15, and it is tf.random.normal now``.
    """
    since, until = names.since(name), names.until(name)
    if since is not None and position(since) > target.index:
        return f"it comes with {since}"
    if until is None:
        return "only older releases had it"
    legacy = new is not None and new.startswith("tf.compat.v1.")
    moved = f", and it is {new} now" if new is not None and not legacy else ""
    if legacy:
        moved = ", and tf.compat.v1 has it still"
    if since is None or since == KNOWN[0]:
        return f"its last release was {until}{moved}"
    had = f"{since} to {until}" if since != until else since
    return f"only {had} had it{moved}"


def successor(name: str, missing: str, target: Target) -> str | None:
    """What ``name``, of which ``target`` lacks the part ``missing``, is called there; what a class or function that has
    moved holds has moved with it."""
    new = names.replacement(name, target) or names.older_twin(name, target)
    part = name
    while new is None and len(part) >= len(missing):
        moved = None if names.is_module(part) else names.replacement(part, target)
        new = moved + name.removeprefix(part) if moved else None
        part = part.rpartition(".")[0]
    return new


def place_now(name: str, target: Target) -> str | None:
    """Where a name that is imported (``tensorflow.placeholder``) is in ``target``, if no longer there; None for one
    that stays, or that is gone for good."""
    canonical = name.replace("tensorflow", "tf", 1)
    if not name.startswith("tensorflow.") or names.exists(canonical, target):
        return None
    missing = names.missing_part(canonical, target)
    new = successor(canonical, missing, target) if missing is not None else None
    return new.replace("tf", "tensorflow", 1) if new is not None else None


def without_successor(program: Program) -> tuple[str, int] | None:
    """The first name that the target has no more and for which it has nothing else, as the part that is missing, and
    the row. Those behind ``hasattr`` or in a ``try`` that does without don't count, nor does what tells of memory: it
    can be rewritten."""
    own = own_names(program)
    for use in program.of(Use):
        if use.probed or "(" in use.name or is_of_import(use, program) or use.name.startswith(_REWRITTEN):
            continue
        if is_of_variable(use, program):
            continue
        missing = names.missing_part(use.name, program.target)
        if missing is None or not names.ever_existed(missing) or successor(use.name, missing, program.target):
            continue
        if missing in own:
            continue
        if use.path == program.source.path and use.handler_for(_error(use)) is None:
            return missing, use.span.row
    for node in program.tree.body:
        found = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else found
        if any(name.startswith(_TUTORIALS) for name in found):
            return _TUTORIALS, node.lineno
    return None


_TUTORIALS = "tensorflow.examples.tutorials"
"""No public name, but imported by many: in the package of 1.15, and in none of 2.1, 2.4, 2.15 and 2.21."""
_REWRITTEN = "tf.contrib.memory_stats"


def _error(use: Use) -> str:
    return "ImportError" if use.origin == "import" else "AttributeError"


def in_part(missing: str, target: Target) -> str:
    """Which of the releases that the code is for lack a name, where some have it: ``of 2.4 to 2.15, 2.4 lacks it``; ""
    where the code is for one release, or all lack it."""
    if target.oldest is None or target.oldest.index >= target.index:
        return ""
    without = names.lacking_in(missing, target)
    if not without or len(without) > target.index - target.oldest.index:
        return ""
    which = f"{_spans(without)} {'lacks' if len(without) == 1 else 'lack'} it"
    return f"of {target.oldest} to {target}, {which}"


def _spans(releases: Sequence[str]) -> str:
    """Releases in words, those that follow one another together: ``1.13 to 2.7 and 2.16``."""
    spans: list[list[int]] = []
    for release in releases:
        place = KNOWN.index(release)
        if spans and spans[-1][1] == place - 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    return " and ".join(KNOWN[first] if first == last else f"{KNOWN[first]} to {KNOWN[last]}" for first, last in spans)


def of_lack(missing: str, target: Target, new: str | None, name: str = "") -> str:
    """What to do about a name that ``target`` lacks and another release has: its new name, or the nearest one. ``name``
    is the whole of it, where ``missing`` is its first part that is not there."""
    if new is not None:
        return f"In {target} it is {new}"
    near = _IN_ITS_PLACE.get(missing)
    if near is None or not names.exists(near, target):
        near = (names.nearest(name, target) if names.is_module(missing) else None) or names.nearest(missing, target)
    return f"The nearest name that {target} has is {near}" if near else ""


_IN_ITS_PLACE = {"tf.config.experimental.get_memory_info": "tf.config.experimental.get_memory_usage"}
"""What does a part of the same in releases that lack a name. Source: ``get_memory_usage(d)`` is
``get_memory_info(d)['current']`` in every release that has both."""
