"""Functions that make paths, open files, and load configuration files."""

from __future__ import annotations

import ast
import os

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.config_files import (
    as_path,
    entries,
    hooked,
    joined,
    lifted,
    loaded,
    opened,
    settings_of,
)
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.environment import set_env
from tfmemlint.interpreter.operations.library import in_library
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Const,
    Dict,
    FileContent,
    FilePath,
    IniParser,
    Ref,
    Value,
)
from tfmemlint.project.listing import called
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import ENV, JSON, TOML, YAML

_FROM_TEXT = {"yaml": YAML, "json": JSON, "toml": TOML, "tomllib": TOML, "tomli": TOML}


@builtin("os.path.join")
def join_paths(context: Context, call: Invocation) -> Value | None:
    paths = [path for path in map(as_path, call.values) if path is not None]
    if not paths or len(paths) < len(call.values) or not any(isinstance(value, FilePath) for value in call.values):
        return None
    return joined(*paths)


@builtin("os.path.dirname")
def directory_of(context: Context, call: Invocation) -> Value | None:
    path = call.values[0] if call.values else None
    return FilePath(os.path.dirname(path.path), path.anchored) if isinstance(path, FilePath) else None


@builtin("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "os.path.expanduser")
def same_path(context: Context, call: Invocation) -> Value | None:
    path = as_path(call.values[0]) if call.values else None
    return FilePath(os.path.normpath(path.path), path.anchored) if path is not None else None


@builtin("os.getcwd", "pathlib.Path.cwd")
def working_directory(context: Context, call: Invocation) -> Value | None:
    return FilePath(".")


@builtin("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
def path_object(context: Context, call: Invocation) -> Value | None:
    paths = [path for path in map(as_path, call.values) if path is not None]
    if len(paths) < len(call.values):
        return None
    return joined(FilePath("."), *paths)


@builtin("open", "io.open", "codecs.open", "tf.io.gfile.GFile")
def open_file(context: Context, call: Invocation) -> Value | None:
    path, mode = as_path(call.argument(0, "file")), call.argument(1, "mode")
    return None if path is None else opened(context, path, mode)


@builtin(
    *(f"yaml.{name}" for name in ("safe_load", "load", "full_load", "unsafe_load")),
    *("json.load", "tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads", "toml.load", "toml.loads"),
)
def load(context: Context, call: Invocation) -> Value | None:
    given = call.argument(0, "stream" if call.name.startswith("yaml") else "fp")
    if call.keywords.keys() & {"cls", "object_pairs_hook"}:
        return None
    if call.name == "toml.load" and (path := as_path(given)) is not None:
        given = FileContent(path)
    found = loaded(context, given, _FROM_TEXT[call.name.partition(".")[0]])
    return None if found is UNKNOWN else hooked(context, found, call)


@builtin("omegaconf.OmegaConf.load")
def load_attributes(context: Context, call: Invocation) -> Value | None:
    path = as_path(call.argument(0, "file_"))
    return None if path is None else with_attributes(context, path, call.node)


def with_attributes(context: Context, path: FilePath, node: ast.AST) -> Value:
    """Return a YAML file as an object that has its values as attributes and as items."""
    found = settings_of(context, path, YAML)
    if found is None:
        return UNKNOWN
    return context.call(in_library(Ref("easydict.EasyDict")), [lifted(context, found[1], called(found[0]))], {}, node)


@builtin("tfmemlint.hydra_config")
def hydra_config(context: Context, call: Invocation) -> Value | None:
    """The configuration that ``hydra.main`` gives to a function: a YAML file, from the directory of the program."""
    directory, name = call.values
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    given = directory.value if isinstance(directory, Const) else directory
    base = FilePath(os.path.dirname(os.path.abspath(context.main.source.path)), anchored=True)
    inner = FilePath(".") if given is None else as_path(directory)
    if inner is None:
        return UNKNOWN
    return with_attributes(
        context, joined(base, inner, FilePath(f"{name.value.removesuffix('.yaml')}.yaml")), call.node
    )


@builtin("dotenv.dotenv_values")
def dotenv_values(context: Context, call: Invocation) -> Value | None:
    found = settings_of(context, as_path(call.argument(0, "dotenv_path")) or FilePath(".env"), ENV)
    if found is None or not isinstance(found[1].value, dict):
        return None
    return new_container(context, Dict(entries(context, found[1], called(found[0])), open=True))


@builtin("dotenv.find_dotenv")
def find_dotenv(context: Context, call: Invocation) -> Value | None:
    name = call.argument(0, "filename")
    given = name.value if isinstance(name, Const) else ".env" if name is None else None
    if not isinstance(given, str) or not given or call.keywords.keys() & {"usecwd"} or len(call.values) > 1:
        return None
    return _nearest(context, given)


def _nearest(context: Context, name: str) -> FilePath:
    """Return the file of this name beside the module that asks for it, or above it within the project."""
    main = context.main.source.path
    if not main.endswith((".py", ".pyw")):
        return FilePath(name)
    root = os.path.abspath(project_root(main))
    folder = os.path.dirname(os.path.abspath(context.source.path))
    while folder != root and folder.startswith(os.path.join(root, "")):
        if os.path.isfile(os.path.join(folder, name)):
            break
        folder = os.path.dirname(folder)
    return FilePath(os.path.join(folder, name), anchored=True)


@builtin("dotenv.load_dotenv")
def load_dotenv(context: Context, call: Invocation) -> Value | None:
    """A variable that the environment has already keeps its value, unless ``override`` is true."""
    given, override = call.argument(0, "dotenv_path"), call.argument(3, "override")
    path = _nearest(context, ".env") if given in (None, Const(None)) else as_path(given)
    if path is None or call.argument(1, "stream") is not None:
        return None
    found = settings_of(context, path, ENV)
    if found is None or not isinstance(found[1].value, dict):
        return None
    wins = override == Const(True)
    for name, value in entries(context, found[1], called(found[0])).items():
        if wins or context.here.env.get(name) is None:
            set_env(context, str(name), value, call.node, "", how="update" if wins else "setdefault")
    return UNKNOWN


@builtin("configparser.ConfigParser", "configparser.RawConfigParser", "configparser.SafeConfigParser")
def config_parser(context: Context, call: Invocation) -> Value | None:
    return IniParser({}, (context.guards, context.uncertain))
