"""Words for a name that a release lacks: it never existed, existed in some releases, has moved, or comes later."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Store, Use
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target, position
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes, is_of_import

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

NEVER = "exists in no TensorFlow release"
FROM_THE_FIRST_KNOWN = f"{NEVER} from {KNOWN[0]} on"
"""For names of any kind: names that left before the oldest known release are unknown here."""
NEVER_RUNS = "the rest of the try block never runs"


def never_there(program: Program) -> Iterator[tuple[Use, str]]:
    """Yield the uses of names that no release ever had, each with the missing part. Uses behind ``hasattr`` or with a
    working fallback are left out, and so are names that the program itself assigns."""
    own = own_names(program)
    for use in program.of(Use):
        if use.probed or "(" in use.name or is_of_import(use, program) or is_of_variable(use, program):
            continue
        missing = names.missing_part(use.name, program.target)
        if missing is not None and missing not in own and not names.ever_existed(missing):
            yield use, missing


def own_names(program: Program) -> frozenset[str]:
    """Return the names that the program puts into TensorFlow itself (``tf.gfile = tf.io.gfile``), and those that only
    the alias of TensorFlow has that the file imports."""
    stored = frozenset(f"{store.owner}.{store.attribute}" for store in program.of(Store))
    return stored | names.only_in_alias(program.source.text)


def is_of_variable(use: Use, program: Program) -> bool:
    """Return True if the name was already missing when a variable got its first part: ``FLAGS.depth`` after ``FLAGS =
    tf.flags.FLAGS``. The finding at the assignment is enough. An import of a module under another name (``import
    tensorflow.contrib.slim as slim``) is not reported here."""
    if use.origin != "attribute" or "(" in use.text:
        return False
    held = use.name.rsplit(".", use.text.count("."))[0]
    if held == use.name or names.missing_part(held, program.target) is None:
        return False
    return use.text.partition(".")[0] not in _modules_of(program.tree)


@functools.lru_cache(maxsize=4)
def _modules_of(tree: ast.Module) -> frozenset[str]:
    """Return the names under which a file imports modules."""
    imports = (node for node in all_nodes(tree) if isinstance(node, ast.Import))
    return frozenset(alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names)


def fallbacks(program: Program) -> list[Span]:
    """Return the ``try`` blocks that only look up names and whose handler assigns other values instead: they may use
    names of releases older than all known ones."""
    return [
        program.source.span(handler)
        for node in all_nodes(program.tree)
        if isinstance(node, ast.Try)
        and all(isinstance(statement, _LOOKING_UP) and not _calls(statement) for statement in node.body)
        for handler in node.handlers
    ]


_LOOKING_UP = (ast.Assign, ast.Import, ast.ImportFrom, ast.Expr)


def _calls(statement: ast.stmt) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(statement))


def of_made_up(use: Use, missing: str, target: Target) -> dict[str, Any]:
    """Return the fields of a finding about a name that no release ever had."""
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
    """Return the reason why ``target`` lacks a name that some release has, as it reads after a colon.

    ``it comes with 2.5``, ``its last release was 1.15``, ``only 2.3 to 2.11 had it``; with ``new``, the name's new
    place, ``its last release was 1.15, and it is tf.random.normal now``.
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
    """Return the name that ``target`` has instead of ``name``, of which it lacks the part ``missing``. The members of a
    class or function that has moved have moved with it."""
    new = names.replacement(name, target) or names.older_twin(name, target)
    part = name
    while new is None and len(part) >= len(missing):
        moved = None if names.is_module(part) else names.replacement(part, target)
        new = moved + name.removeprefix(part) if moved else None
        part = part.rpartition(".")[0]
    return new


def place_now(name: str, target: Target) -> str | None:
    """Return the place of an imported name (``tensorflow.placeholder``) in ``target`` if it has moved, or None for a
    name that stays or that is gone without a successor."""
    canonical = name.replace("tensorflow", "tf", 1)
    if not name.startswith("tensorflow.") or names.exists(canonical, target):
        return None
    missing = names.missing_part(canonical, target)
    new = successor(canonical, missing, target) if missing is not None else None
    return new.replace("tf", "tensorflow", 1) if new is not None else None


def without_successor(program: Program) -> tuple[str, int] | None:
    """Return the first name that the target lacks without a successor, as the missing part and the row. Names behind
    ``hasattr`` or in a ``try`` with a fallback don't count, nor do memory reports, which can be rewritten."""
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
"""Not a public name, but imported by many programs: it is in the package of 1.15, and in none of 2.1, 2.4, 2.15 and
2.21."""
_REWRITTEN = "tf.contrib.memory_stats"


def _error(use: Use) -> str:
    return "ImportError" if use.origin == "import" else "AttributeError"


def in_part(missing: str, target: Target) -> str:
    """Return words for the targeted releases that lack a name if some have it: ``of 2.4 to 2.15, 2.4 lacks it``; "" if
    the code targets one release, or all lack the name."""
    if target.oldest is None or target.oldest.index >= target.index:
        return ""
    without = names.lacking_in(missing, target)
    if not without or len(without) > target.index - target.oldest.index:
        return ""
    which = f"{_spans(without)} {'lacks' if len(without) == 1 else 'lack'} it"
    return f"of {target.oldest} to {target}, {which}"


def _spans(releases: Sequence[str]) -> str:
    """Return releases in words, with consecutive releases as a range: ``1.13 to 2.7 and 2.16``."""
    spans: list[list[int]] = []
    for release in releases:
        place = KNOWN.index(release)
        if spans and spans[-1][1] == place - 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    return " and ".join(KNOWN[first] if first == last else f"{KNOWN[first]} to {KNOWN[last]}" for first, last in spans)


def of_lack(missing: str, target: Target, new: str | None, name: str = "") -> str:
    """Return advice about a name that ``target`` lacks and another release has: its new name, or the nearest one.
    ``name`` is the whole name; ``missing`` is its first part that does not exist."""
    if new is not None:
        return f"In {target} it is {new}"
    way = next((_WAYS[end] for end in _WAYS if f"{missing}.".endswith(f"keras.backend.{end}.")), None)
    if way is not None:
        return way
    near = _IN_ITS_PLACE.get(missing)
    if near is None or not names.exists(near, target):
        near = (names.nearest(name, target) if names.is_module(missing) else None) or names.nearest(missing, target)
    return f"The nearest name that {target} has is {near}" if near else ""


_WAYS = {
    "get_session": "Keras uses no session: leave it out, and what is done to the session",
    "set_session": "Keras uses no session: configure the physical devices with tf.config, before the first operation",
}
"""The way to do what functions of ``keras.backend`` were for. No function is in their place: Keras does not run in a
session any more."""
_IN_ITS_PLACE = {"tf.config.experimental.get_memory_info": "tf.config.experimental.get_memory_usage"}
"""The expression that replaces a name in releases that lack it. Source: ``get_memory_usage(d)`` is
``get_memory_info(d)['current']`` in every release that has both."""
