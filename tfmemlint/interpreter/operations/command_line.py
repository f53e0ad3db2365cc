"""The command line by which a program is started, where that is known, and what its options are then.

It is known where a configuration file starts the program, and of a start without arguments.

It is part of the environment that a program is started in, under a name that no variable has: so it is known of a
module that was summarized whether it has looked at the command line.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.values import UNKNOWN, Const, Seq, Value
from tfmemlint.model.records import dataclass

COMMAND_LINE = "sys.argv"
"""The key among the environment variables of a state."""
NOTHING_GIVEN = "nothing given"
"""Another such key: whether the program is started without arguments, and without variables."""
_NO = frozenset({"false", "0", "no", "f", "n"})
_YES = frozenset({"true", "1", "yes", "t", "y"})


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command line.

    Attributes:
        names: as they are written: ``--gpu``, ``-g``; without dashes, one of absl.
        reader: ``str``, ``int`` or ``float``; ``flag`` for one that takes no argument, ``list`` before the type of a
            list's items; "" for any other.
        default: what it is where it is not given.
    """

    names: tuple[str, ...]
    reader: str
    default: Value


def as_value(words: Sequence[str | None]) -> Seq:
    """Return the words behind the name of a program as a value."""
    return Seq(tuple(UNKNOWN if word is None else Const(word) for word in words), "tuple")


def words_of(context: Context) -> tuple[str | None, ...] | None:
    """Return the words of the command line, None in place of one that is not known; None where none of it is known."""
    found = context.here.env.get(COMMAND_LINE)
    context.env_read.setdefault(COMMAND_LINE, found)
    if not isinstance(found, Seq):
        return None
    return tuple(item.value if isinstance(item, Const) else None for item in found.items)


def known_argv(context: Context) -> Seq | None:
    """Return ``sys.argv`` in a run whose command line is known, its first item aside."""
    words = words_of(context)
    return None if words is None else Seq((UNKNOWN, *as_value(words).items))


def words_in(value: Value) -> tuple[str | None, ...] | None:
    """Return the words that a list has, None in place of one that is not known; None for what is no such list."""
    if not isinstance(value, Seq):
        return None
    words = [item.value if isinstance(item, Const) else None for item in value.items]
    return tuple(word if isinstance(word, str) else None for word in words)


def is_nothing_given(context: Context) -> bool:
    """True in a run without arguments and variables. What a configuration file gives to a program besides the variables
    of TensorFlow is not known."""
    found = context.here.env.get(NOTHING_GIVEN)
    context.env_read.setdefault(NOTHING_GIVEN, found)
    return found == Const(True)


def given_option(context: Context, option: Option) -> Value | None:
    """Return what an option is on the command line of the run; None where that is not known."""
    words = words_of(context)
    return None if words is None else option_of(words, option)


def option_of(words: Sequence[str | None], option: Option) -> Value | None:
    """Return what an option is with these words; None where that is not known.

    The last one counts. Where a word is not known, an option that is not given may be so all the same.
    """
    found: Value | None = None
    for number, word in enumerate(words):
        name, equals, given = (word or "").partition("=")
        if name not in option.names:
            if any(_may_be(name, full) for full in option.names):
                found = UNKNOWN
                continue
            denied = name[4:].lstrip("-") if name.startswith("--no") else ""
            found = Const(False) if option.reader == "flag" and f"--{denied}" in option.names else found
            continue
        if option.reader == "flag":
            lowered = given.lower()
            found = Const(lowered not in _NO) if not equals or lowered in _NO | _YES else UNKNOWN
            continue
        after = [given] if equals else list(words[number + 1 :])
        found = _read(after, option.reader)
    if found is not None:
        return None if found is UNKNOWN else found
    if None in words or not isinstance(option.default, (Const, Seq)):
        return None
    if isinstance(option.default, Seq):
        return Seq(option.default.items)
    # A default that is a text is read like a word of the command line.
    text = option.default.value if option.reader in ("int", "float") else None
    return _of_type(text, option.reader) if isinstance(text, str) else option.default


def _may_be(word: str, name: str) -> bool:
    """True for a part of a long name, which argparse takes for all of it, and for a short one with its value."""
    if name.startswith("--"):
        return len(word) > len("--") and word.startswith("--") and name.startswith(word)
    return word.startswith(name) and not word.startswith("--")


def _read(after: Sequence[str | None], reader: str) -> Value:
    """Return what the words behind the name of an option are read as."""
    if reader.startswith("list "):
        items = []
        for word in after:
            if word is not None and word.startswith("-") and not _is_number(word):
                break
            items.append(_of_type(word, reader.removeprefix("list ")))
        return Seq(tuple(items))
    return _of_type(after[0] if after else None, reader)


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdigit()


def _of_type(word: str | None, reader: str) -> Value:
    try:
        if word is None or reader not in ("str", "int", "float"):
            return UNKNOWN
        return Const(word if reader == "str" else int(word) if reader == "int" else float(word))
    except ValueError:
        return UNKNOWN
