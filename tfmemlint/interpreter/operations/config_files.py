"""Configuration files of the project that a program reads by a constant path, as values.

Only regular files within the project are read, up to a size. A relative path starts from the directory of the file that
is run, or from the project's root: if there is a file in both, it is not known which one is meant.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_FILE_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.command_line import words_of
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.registry import Invocation
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Const,
    Dict,
    FileConst,
    FileContent,
    FilePath,
    FileValue,
    Given,
    IniParser,
    Seq,
    Value,
    by_default,
)
from tfmemlint.knowledge import units
from tfmemlint.project.listing import called
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import INI, KINDS, MAX_CHARACTERS, Setting, read_values
from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import NEVER_READ

_PROGRAMS = (".py", ".pyw", ".ipynb")
_WRITING = frozenset("wax+")
_MAX_FILES = 30
"""Configuration files of one program that are read."""


def as_path(value: Value | None) -> FilePath | None:
    """Return a value as a path, if it is a known one."""
    if isinstance(value, FilePath):
        return value
    if isinstance(value, Const) and isinstance(value.value, str) and value.value and "\0" not in value.value:
        return FilePath(value.value)
    return None


def joined(first: FilePath, *parts: FilePath) -> FilePath:
    """Return what ``os.path.join`` makes of paths."""
    for part in parts:
        if part.anchored or os.path.isabs(part.path):
            first = part
        else:
            first = FilePath(os.path.join(first.path, part.path), first.anchored)
    return first


def places_of(context: Context, path: FilePath) -> list[str]:
    """Return where a file may be, as absolute paths within the project."""
    main = context.main.source.path
    if not main.endswith(_PROGRAMS) or (os.path.isabs(path.path) and not path.anchored):
        return []
    own = os.path.dirname(os.path.abspath(main))
    root = project_root(main)
    bases = [""] if path.anchored else dict.fromkeys((own, root))
    found = [os.path.normpath(os.path.join(base, os.path.expanduser(path.path))) for base in bases]
    return [place for place in found if _is_within(place, root)]


def _is_within(path: str, root: str) -> bool:
    real, top = os.path.join(os.path.realpath(path), ""), os.path.join(os.path.realpath(root), "")
    return real.startswith(top) and NEVER_READ.isdisjoint(real[len(top) :].split(os.sep))


def opened(context: Context, path: FilePath, mode: Value | None) -> Value:
    """Return a file that was opened; one that is opened to be written has other values from then on."""
    if mode is None or (isinstance(mode, Const) and isinstance(mode.value, str) and not _WRITING & set(mode.value)):
        return FileContent(path)
    context.config_files.written.update(places_of(context, path))
    return UNKNOWN


def settings_of(context: Context, path: FilePath, kind: str = "") -> tuple[str, Setting] | None:
    """Return the place of a configuration file, and what is in it; None if that is not known.

    Args:
        kind: one of `KINDS`; "" for the kind that the name's end tells.
    """
    found: dict[str, Setting | None] = {}
    files = context.config_files
    for place in places_of(context, path):
        files.requests += 1
        if place not in files.found and len(files.found) < _MAX_FILES:
            files.found[place] = _read(place, kind)
        if os.path.isfile(place):
            found[place] = None if place in files.written else files.found.get(place)
    if len(found) != 1:
        return None
    [(place, setting)] = found.items()
    return None if setting is None else (place, setting)


def _read(place: str, kind: str) -> Setting | None:
    name = os.path.basename(place)
    kind = kind or KINDS.get(os.path.splitext(name)[1].lower(), KINDS[".env"] if name.startswith(".env") else "")
    if not kind:
        return None
    try:
        data = read_regular(place, MAX_CHARACTERS + 1)
        return _parsed(kind, data.decode("utf-8-sig").replace("\r\n", "\n"))
    except (OSError, ValueError):
        return None


_MEMORY_OF_HOST = "/proc/meminfo"


def content_of(file: FileContent) -> Value:
    """Return the text of a file: that in which Linux tells the memory of the machine is in KiB."""
    return Amount("str", units.KIB, _MEMORY_OF_HOST) if file.path.path == _MEMORY_OF_HOST else file


def lines_of(context: Context, content: FileContent) -> Value:
    """Return the lines of a short file of settings, which programs also read by code of their own; UNKNOWN for any
    other file, and for one with more than `_MOST_LINES`."""
    text = content_of(content)
    if isinstance(text, Amount):
        return replace(text, type="list")
    name = os.path.basename(content.path.path)
    if not (name.startswith(".env") or name.endswith((".env", *_OF_LINES))):
        return UNKNOWN
    kind = "" if name.endswith(_OF_LINES) else KINDS[".env"]
    found = settings_of(context, content.path, kind)
    if found is None:
        return UNKNOWN
    try:
        lines = read_regular(found[0], MAX_CHARACTERS + 1).decode("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return UNKNOWN
    return Seq(tuple(map(Const, lines)), "tuple") if len(lines) <= _MOST_LINES else UNKNOWN


_MOST_LINES = 60
_OF_LINES = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf")


@lru_cache(maxsize=64)
def _parsed(kind: str, text: str) -> Setting | None:
    return read_values(kind, text)


def loaded(context: Context, given: Value | None, kind: str) -> Value:
    """Return what a loader makes of an open file, of its text, of a path, or of a text that the program has."""
    if isinstance(given, FileContent):
        found = settings_of(context, given.path, kind)
        return Given() if found is None else lifted(context, found[1], called(found[0]))
    match given:
        case Const(str(text)):
            setting = _parsed(kind, text)
            return UNKNOWN if setting is None else constant(context, setting)
        case FileValue(value=str(text)) | Amount(type="str", default=str(text)):
            setting = _parsed(kind, text)
            return Given() if setting is None else by_default(constant(context, setting), given.source)
        case _:
            return Given()


def hooked(context: Context, value: Value, call: Invocation) -> Value:
    """Return what ``object_hook`` of a call makes of a table and of all tables in it, the inner ones first."""
    hook = call.keywords.get("object_hook")
    if hook is None or not isinstance(value, Dict):
        return value
    inner = {key: hooked(context, item, call) for key, item in value.items.items()}
    return context.call(hook, [new_container(context, replace(value, items=inner))], {}, call.node)


def lifted(context: Context, setting: Setting, path: str, name: str = "") -> Value:
    """Return what a file has as a value. A dictionary may have other keys in another file."""
    as_it_is = is_as_it_is(context)
    if isinstance(setting.value, dict):
        return new_container(context, Dict(entries(context, setting, path), open=not as_it_is, file=path))
    if isinstance(setting.value, tuple):
        items = tuple(lifted(context, item, path, name) for item in setting.value)
        if as_it_is:
            return new_container(context, Seq(items))
        source = f"{path}:{setting.row}" if setting.row else path
        return FileValue("list", "", source, False, path=path, row=setting.row, value=items)
    return constant_of_file(setting, path) if as_it_is else file_value(setting, path, name)


def is_as_it_is(context: Context) -> bool:
    """True in a run whose command line is known: it reads the files that it names, and reads them as they are."""
    return words_of(context) is not None


def constant_of_file(setting: Setting, path: str) -> Value:
    """Return one value of a file as a constant, if it is one."""
    plain = isinstance(setting.value, (str, int, float, bool, type(None)))
    return FileConst(setting.value, path, setting.row) if plain else UNKNOWN


def listed(value: Value) -> Value:
    """Return a list of tables or texts that a configuration file has as those; any other value as it is.

    A list of numbers stays what it is: it may be one of GPUs, and another file has others.
    """
    items = value.value if isinstance(value, FileValue) else None
    if not isinstance(items, tuple) or not items or len(items) > MAX_FILE_ITEMS_UNROLLED:
        return value
    plain = all(isinstance(item, Dict) or (isinstance(item, FileValue) and item.type == "str") for item in items)
    return Seq(items, "tuple") if plain else value


def text_of_list(value: Value) -> FileValue | FileConst | None:
    """Return the text of a list of plain values that a configuration file has, as ``str`` makes it; else None."""
    if isinstance(value, Seq):
        known = [item for item in value.items if isinstance(item, FileConst)]
        if not known or len(known) < len(value.items) or value.kind != "list":
            return None
        return FileConst(str([item.value for item in known]), known[0].path, known[0].row, of_list=True)
    if not isinstance(value, FileValue) or not isinstance(value.value, tuple):
        return None
    items = [item.value if isinstance(item, FileValue) else item for item in value.value]
    if not items or not all(isinstance(item, (str, int, float)) for item in items):
        return None
    return FileValue(
        "str", "", value.source, False, path=value.path, row=value.row, value=str(items), key=value.key, of_list=True
    )


def entries(context: Context, setting: Setting, path: str) -> dict[Any, Value]:
    """Return the values of a mapping in a file by their keys."""
    return {key: lifted(context, item, path, str(key)) for key, item in setting.value.items()}


def file_value(setting: Setting, path: str, name: str = "", *, sure: bool = False) -> Value:
    """Return one value of a file: a constant, or a list.

    Args:
        name: its key, which may state a unit. sure: another file can only have a value of the same type.
    """
    value, unit, source = setting.value, units.unit_in_name(name), f"{path}:{setting.row}" if setting.row else path
    if isinstance(value, tuple):
        items = tuple(file_value(item, path, name) for item in value)
        return FileValue("list", "", source, sure, path=path, row=setting.row, value=items)
    if isinstance(value, str):
        return FileValue("str", unit, source, sure, path=path, row=setting.row, value=value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return FileValue("number", unit, source, sure, value, path=path, row=setting.row, value=value, key=name)
    return UNKNOWN


def constant(context: Context, setting: Setting) -> Value:
    """Return what a text of the program has as a value, which is the same in every run."""
    if isinstance(setting.value, dict):
        return new_container(context, Dict({key: constant(context, item) for key, item in setting.value.items()}))
    if isinstance(setting.value, tuple):
        return new_container(context, Seq(tuple(constant(context, item) for item in setting.value)))
    plain = isinstance(setting.value, (str, int, float, bool, type(None)))
    return Const(setting.value) if plain else UNKNOWN


def ini_options(section: Setting, path: str, *, as_it_is: bool) -> dict[str, Value]:
    """Return the options of a section of an INI file: texts, whatever is in them."""
    found: dict[str, Value] = {}
    for name, option in section.value.items():
        text = option.value
        plain = isinstance(text, str) and "%" not in text and "$" not in text
        known = constant_of_file(option, path) if as_it_is else file_value(option, path, name, sure=True)
        found[name] = known if plain else INI_TEXT
    return found


INI_TEXT = Amount("str", source="a configuration file")
"""An option of an INI file of which nothing more is known."""


def read_ini(context: Context, parser: IniParser, method: str, values: list[Value]) -> None:
    """Interpret ``read(path)``, ``read_file(file)`` and ``read_string(text)`` of a ``ConfigParser``."""
    elsewhere = parser.guards != (context.guards, context.uncertain)
    if not values or (elsewhere and method == "read_string"):
        parser.sections.clear()
        return
    for given in getattr(values[0], "items", (values[0],)):
        if method == "read_string" and isinstance(given, Const):
            text = loaded(context, given, INI)
            if isinstance(text, Dict):
                for name, options in text.items.items():
                    known = options.items if isinstance(options, Dict) else {}
                    parser.sections.setdefault(str(name), {}).update(known)
                continue
        path = given.path if isinstance(given, FileContent) else as_path(given) if method == "read" else None
        found = settings_of(context, path, INI) if path is not None else None
        if found is not None and not elsewhere:
            for name, section in found[1].value.items():
                told = ini_options(section, called(found[0]), as_it_is=is_as_it_is(context))
                parser.sections.setdefault(name, {}).update(told)
        elif found is None and method == "read":
            # A file that is not in the project: what is known stands where that says nothing else.
            for kept in parser.sections.values():
                kept.update({name: _kept(value, name) for name, value in kept.items()})
        else:
            parser.sections.clear()


def _kept(value: Value, name: str) -> Value:
    return value if isinstance(value, FileValue) else by_default(value, INI_TEXT.source, name)
