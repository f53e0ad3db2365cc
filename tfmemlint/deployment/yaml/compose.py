"""Compose files: the variables of each service, its GPUs, and the programs that it starts.

Source: the Compose specification. In a list, the value is everything after ``=``, quotes included; ``environment``
overrides ``env_file``, and both override the image's ``ENV``.
"""

from __future__ import annotations

import shlex

from tfmemlint.deployment.gpu_requests import counted
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.knowledge.variables import CONTAINER
from tfmemlint.model.configuration import MAPPING, ContainerGpus, Service, VariableSetting
from tfmemlint.sources.config_files.yaml_nodes import Node, get, items, known, pairs, scalar


def read(file: YamlFile, node: Node) -> None:
    """Read a compose file."""
    for key, service in pairs(get(node, "services")):
        name = scalar(key)
        if name is not None:
            scope = (next(file.numbers),)
            _service(file, name, key, service, scope)


def _service(file: YamlFile, name: str, key: Node, service: Node, scope: tuple[int, ...]) -> None:
    environment = get(service, "environment")
    settings = file.mapping(environment, scope, booleans=True) + file.listed(environment, scope)
    file.out.settings += settings
    gpus = _gpus(file, service, scope)
    # The container runtime is told so, whatever the variable is elsewhere.
    chosen = (
        [VariableSetting(CONTAINER, gpus.named, gpus.span, gpus.span, gpus.span, MAPPING, scope=scope)]
        if gpus is not None and gpus.named
        else []
    )
    files = get(service, "env_file")
    paths = (
        [scalar(files)]
        if scalar(files) is not None
        else [scalar(item) or scalar(get(item, "path")) for item in items(files)]
    )
    build = get(service, "build")
    context = known(build) if scalar(build) is not None else known(get(build, "context"))
    if build is not None and context is None and get(build, "context") is None and scalar(build) is None:
        context = "."
    command, entrypoint = _words(get(service, "command")), _words(get(service, "entrypoint"))
    file.out.services.append(
        Service(
            name,
            file.span(key),
            (*settings, *chosen),
            tuple(path for path in paths if path),
            context,
            known(get(build, "dockerfile")) or "",
            known(get(build, "target")) or "",
            command,
            entrypoint,
            (command is None and get(service, "command") is not None)
            or (entrypoint is None and get(service, "entrypoint") is not None),
            known(get(service, "working_dir")),
            tuple(_mounted(get(service, "volumes"))),
        )
    )


def _words(node: Node) -> tuple[str, ...] | None:
    text = scalar(node)
    if text is not None:
        if known(node) is None:
            return None
        try:
            return tuple(shlex.split(text))
        except ValueError:
            return None
    words = [known(item) for item in items(node)]
    return tuple(word for word in words if word is not None) if words and None not in words else None


def _mounted(node: Node) -> list[tuple[str, str]]:
    found = []
    for item in items(node):
        text = known(item)
        if text is not None:
            source, _, target = text.partition(":")
            target = target.partition(":")[0]
        else:
            source, target = known(get(item, "source")) or "", known(get(item, "target")) or ""
        if source.startswith(".") and target.startswith("/"):
            found.append((source, target))
    return found


def _gpus(file: YamlFile, service: Node, scope: tuple[int, ...]) -> ContainerGpus | None:
    """Note the GPUs that a service gets, and return them; None if it gets none, or they are not known."""
    devices = items(get(service, "deploy", "resources", "reservations", "devices")) + items(get(service, "gpus"))
    found = []
    for device in devices:
        if (scalar(get(device, "driver")) or "nvidia") != "nvidia":
            return None
        ids, count = get(device, "device_ids"), get(device, "count")
        if ids is not None:
            names = [known(item) for item in items(ids)]
            number = counted(",".join(names)) if names and None not in names else None  # type: ignore[arg-type]
            if number is None:
                return None
            found.append(
                ContainerGpus(number, ",".join(name for name in names if name), file.span(ids), "device_ids", scope)
            )
        elif (number_text := known(count)) is not None and number_text.isdigit() and int(number_text):
            found.append(ContainerGpus(int(number_text), "", file.span(count), "count", scope))
        else:
            return None
    if len(found) != 1:
        return None
    file.out.gpus += found
    return found[0]
