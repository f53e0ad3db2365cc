"""Requirements in Dockerfiles: the images that they build on, and what they install."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.project.targets.install_commands import Installs
from tfmemlint.project.targets.stated import Stated
from tfmemlint.project.targets.versions import ANY, Unreadable, exactly
from tfmemlint.sources.config_files.dockerfile import (
    FLAG,
    INSTRUCTION,
    Instructions,
    Line,
    strings_of,
    unquoted,
    words_of,
)
from tfmemlint.sources.config_files.shell.compound_commands import simple_commands
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.shell.wrappers import SHELLS, unwrap
from tfmemlint.sources.config_files.templates import masked
from tfmemlint.sources.config_files.text_places import Places

_IMAGE = re.compile(r"(?P<name>[^\s:@]+(?::\d+/[^\s:@]+)?)(?::(?P<tag>[^\s@]+))?(?:@\S+)?")
_FROM_STAGE = re.compile(r"--from=[\"']?(?P<name>[\w.-]+)")
_SHEBANG = re.compile(r"\s*#!\s*(?P<program>\S+)(?:[ \t]+(?:-S[ \t]+)?(?P<argument>\S+))?")


def of_docker(path: str, text: str, *, weak: bool = False) -> Iterator[Stated]:
    """Yield what the last instruction of a Dockerfile that says something states.

    That is one of the last stage, of the stages that this is built on, or of one that it copies from: what other stages
    are for is not known.
    """
    shown = masked(text)
    places = Places(text)
    instructions = Instructions(shown)
    installs = Installs(path)
    last: list[Stated] = []
    stages: dict[str, list[Stated]] = {}
    names: tuple[str, ...] = ()
    count = 0
    for line in instructions:
        match = INSTRUCTION.match(line.text)
        if match is None:
            continue
        at = match.end()
        match match[1].upper():
            case "ARG" | "ENV" as name:
                _set(installs, line.text, at, instructions.escape, old_form=name == "ENV")
            case "FROM":
                words = [word for word in line.text[at:].split() if not word.startswith("--")]
                row = places.of_part(line.offsets).span(at, at + 1).row
                stages.update(dict.fromkeys(names, last))
                image = installs.expanded(words[0]) if words else ""
                found = _of_image(image, path, row)
                last = stages.get(image.lower(), []) if found is None else [found]
                names = (str(count), *(word.lower() for word in words[2:3] if words[1].lower() == "as"))
                count += 1
            case "RUN":
                last = list(_run(installs, line, at, shown, places)) or last
            case "COPY" if not last and (copied := _FROM_STAGE.search(line.text, at)) is not None:
                last = stages.get(copied["name"].lower(), [])
    yield from (replace(stated, weak=weak or stated.weak) for stated in last)


def _set(installs: Installs, text: str, at: int, escape: str, *, old_form: bool) -> None:
    """Remember the variables of an ``ARG`` or ``ENV``."""
    words = words_of(text, at, escape)
    if old_form and words and "=" not in text[slice(*words[0])]:
        installs.variables[text[slice(*words[0])]] = installs.expanded(text[words[0][1] :].strip())
        return
    for start, end in words:
        name, equals, value = text[start:end].partition("=")
        if equals:
            installs.variables[name] = installs.expanded(unquoted(value))


def _run(installs: Installs, line: Line, at: int, shown: str, places: Places) -> Iterator[Stated]:
    text = line.text
    while (flag := FLAG.match(text, at)) is not None:
        at = flag.end()
    of_line = places.of_part(line.offsets)
    rest = text[at:].strip()
    strings = strings_of(rest) if rest.startswith("[") else None
    if strings is not None:
        yield from installs.of_words([Word(at, len(text), string, string) for string in strings], of_line)
    elif line.heredocs:
        if _is_read_by_a_shell(rest):
            for start, end in line.heredocs:
                if _is_for_a_shell(shown[start:end]):
                    yield from installs.of_script(shown[start:end], places.shifted(start, end - start))
    else:
        yield from installs.of_script(text[at:], places.of_part(line.offsets[at:]))


def _is_read_by_a_shell(command: str) -> bool:
    """Return True if the here-documents of a ``RUN`` are scripts: behind no command, or given to a shell."""
    commands = simple_commands(command)
    if not commands:
        return True
    _, words = unwrap(commands[0])
    name = (words[0].value or "").rpartition("/")[2] if words else ""
    return name in SHELLS and not any(re.fullmatch(r"-[a-z]*c", word.raw) for word in words)


def _is_for_a_shell(script: str) -> bool:
    shebang = _SHEBANG.match(script)
    if shebang is None:
        return True
    programs = [(shebang[group] or "").rpartition("/")[2] for group in ("program", "argument")]
    return programs[0] in SHELLS or (programs[0] == "env" and programs[1] in SHELLS)


def _of_image(image: str, path: str, row: int) -> Stated | None:
    match = _IMAGE.fullmatch(image)
    if match is None:
        return None
    tag = match["tag"] or "latest"
    if re.search(r"(?:^|/)nvidia/tensorflow$", match["name"]):
        if "-tf1-" in tag:
            # NVIDIA's release notes: the images with tf1 in their tag have 1.15.
            return Stated(path, row, image, exactly("1.15"))
        return Stated(path, row, image, None, "which TensorFlow is in this image is not known here")
    if not re.search(r"(?:^|/)tensorflow/tensorflow$", match["name"]):
        return None
    try:
        return Stated(path, row, image, exactly(tag))
    except Unreadable:
        if tag.startswith("nightly"):
            return Stated(path, row, image, exactly("3.20"), floating=True)
        if tag.startswith("latest") and "py3" not in tag:
            return Stated(path, row, image, ANY)
        return Stated(path, row, image, None, f"the tag {tag!r} names no release")
