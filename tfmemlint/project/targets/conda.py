"""Requirements in conda's environment files, and as conda's commands have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.project.targets.requirement_files import Reader, of_pip
from tfmemlint.project.targets.stated import Stated, of_package, package
from tfmemlint.project.targets.versions import Unreadable

_SPEC = re.compile(r"(?:(?P<channel>[^\s=<>]+)::)?(?P<name>[A-Za-z0-9_.-]+?)\s*(?P<rest>(?:[=<>!~\s\[].*)?)")


def of_conda(path: str, text: str, read: Reader, *, weak: bool = False) -> Iterator[Stated]:
    """Yield what the dependencies of an ``environment.yml`` state, those of its ``pip`` section among them.

    Raises:
        ValueError: the file is not YAML.
    """
    import yaml

    from tfmemlint.sources.config_files.templates import HIDDEN, masked
    from tfmemlint.sources.config_files.yaml_nodes import documents, get, items, pairs, scalar

    try:
        roots = list(documents(masked(text)))
    except (yaml.YAMLError, RecursionError) as error:
        words = getattr(error, "problem", None) or type(error).__name__
        raise ValueError(f"it is not YAML: {words}") from None
    for root in roots:
        for item in items(get(root, "dependencies")):
            spec = scalar(item)
            if spec is not None:
                found = of_spec(spec, path, item.start_mark.line + 1, weak=weak)
                if found is not None:
                    written = text[item.start_mark.index : item.end_mark.index].strip("\"' ")
                    yield replace(found, text=written) if HIDDEN in spec else found
            for key, listed in pairs(item):
                if scalar(key) != "pip":
                    continue
                for line in items(listed):
                    for stated in of_pip(path, scalar(line) or "", read, weak=weak):
                        own = stated.path == path
                        yield replace(stated, row=line.start_mark.line + 1) if own else stated


def of_spec(spec: str, path: str, row: int, *, weak: bool = False) -> Stated | None:
    """Return what a match specification states of TensorFlow; None if it is about something else.

    Such as ``conda-forge::tensorflow=2.4.1=gpu_py38h8a7d6ce_0``, ``tensorflow >=2.6,<2.9``, ``tensorflow-gpu 2.4``.
    """
    match = _SPEC.fullmatch(spec)
    name = package(match["name"]) if match is not None else None
    if match is None or name is None:
        return None
    rest = re.sub(r"\[.*\]$", "", match["rest"]).strip()
    # The build follows the version.
    build = re.match(r"(=?\s*[0-9][^\s=]*)[\s=]+(?![<>=!~])\S+$", rest)
    if build is not None:
        rest = build[1]
    try:
        return Stated(path, row, spec, of_package(name, rest, "conda"), weak=weak)
    except Unreadable as error:
        return Stated(path, row, spec, None, str(error), weak=weak)
