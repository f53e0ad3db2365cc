"""The tools of the server: what the library does, for clients that pass texts, or name files below one directory.

Nothing is written, and no code of what is looked at is run: a client, or a text that it was given, can't make the
server do either. A path that leads out of the directory, through links as well, is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from tfmemlint import __version__
from tfmemlint.api import CheckResult, ConfigError, FixResult, PlanResult, check, fix, plan
from tfmemlint.api.corrections import corrections

INSTRUCTIONS = """\
tfmemlint works out what TensorFlow really does with GPU memory, says where that differs from what the code asks for,
and rewrites the code. It knows which names of TensorFlow exist in which release: use `check` or `corrections` on any
code about TensorFlow's GPU memory before you show it, and `fix` to get it rewritten. Pass the code as `text`, or name a
file with `path`; with both, the text stands for that file. Nothing is written and nothing is run."""

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Text = Annotated[str | None, Field(description="The code, or a document with code; None to read the file at `path`.")]
Name = Annotated[
    str | None,
    Field(
        description="A file below the server's directory: what to read, or what `text` stands for (notes.md, t.ipynb)."
    ),
]
Release = Annotated[
    str | None,
    Field(
        description="The TensorFlow release to judge for, such as 2.15; by default that of the project, or the newest."
    ),
]
Memory = Annotated[str | None, Field(description="The memory of one GPU, such as 16GiB.")]
Codes = Annotated[
    list[str] | None, Field(description="Run these rules only: codes or their beginnings, such as TFM101 or TFM2.")
]
Unsafe = Annotated[bool, Field(description="Also apply fixes that a person should look at.")]
Gpus = Annotated[
    int | None, Field(description="The number of GPUs; by default those that the program names.", ge=1, le=64)
]


def make_server(root: str) -> MCPServer[Any]:
    """Return the server, whose tools read files below ``root`` only."""
    server: MCPServer[Any] = MCPServer(
        "tfmemlint", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING", website_url=_WEBSITE
    )
    tools = _Tools(os.path.realpath(root))
    for name, tool in (
        ("check", tools.check),
        ("fix", tools.fix),
        ("plan", tools.plan),
        ("corrections", tools.corrections),
    ):
        add: Callable[[Any], Any] = server.tool(name, annotations=_READS, structured_output=True)
        add(tool)
    return server


_WEBSITE = "https://github.com/tfmemlint/tfmemlint"


class _Tools:
    def __init__(self, root: str) -> None:
        self._root = root

    def check(
        self,
        text: Text = None,
        path: Name = None,
        target_version: Release = None,
        gpu_memory: Memory = None,
        select: Codes = None,
    ) -> CheckResult:
        """Say what is wrong with how a program configures TensorFlow's GPU memory, and how to fix it: calls that come
        too late, names that no release of TensorFlow has, settings without effect. Takes Python, notebooks, Markdown,
        Dockerfiles, shell scripts, YAML."""
        source, name = self._source(text, path)
        with _said():
            return check(source, path=name, target_version=target_version, gpu_memory=gpu_memory, select=select)

    def fix(
        self,
        text: Text = None,
        path: Name = None,
        target_version: Release = None,
        gpu_memory: Memory = None,
        unsafe: Unsafe = False,
        select: Codes = None,
    ) -> FixResult:
        """Return the code after its fixes, in `text` or, for a file, in `changes`. Nothing is written. What is left has
        the reason in `withheld`."""
        source, name = self._source(text, path)
        more: dict[str, Any] = {"target_version": target_version, "gpu_memory": gpu_memory, "select": select}
        with _said():
            return fix(source, path=name, unsafe=unsafe, **more)

    def plan(
        self,
        text: Text = None,
        path: Name = None,
        target_version: Release = None,
        gpu_memory: Memory = None,
        gpus: Gpus = None,
    ) -> PlanResult:
        """Predict what a program asks of each GPU's memory, and what it gets: each intent with its outcome, and the
        line that starts TensorFlow's runtime."""
        source, name = self._source(text, path)
        with _said():
            return plan(source, path=name, target_version=target_version, gpu_memory=gpu_memory, gpus=gpus)

    def corrections(
        self, text: Text = None, path: Name = None, target_version: Release = None, select: Codes = None
    ) -> dict[str, Any]:
        """Return wrong names, arguments and values of TensorFlow's GPU memory API, each with its replacement, and the
        releases in which that was verified. Meant for correcting code that a program has made up."""
        source, name = self._source(text, path)
        with _said():
            found: dict[str, Any] = json.loads(
                corrections(source, path=name, target_version=target_version, select=select)
            )
            return found

    def _source(self, text: str | None, path: str | None) -> tuple[str | Path, str | None]:
        """Return the source and the path for the library.

        Raises:
            ToolError: neither is given, or the path leads out of the directory, or to no file.
        """
        if path is None:
            if text is None:
                raise ToolError("pass text, or the path of a file")
            return (text if "\n" in text else f"{text}\n"), None
        place = os.path.join(self._root, path)
        if "\0" in path or not _is_below(os.path.realpath(place), self._root):
            raise ToolError(f"{path!r} is not below the server's directory")
        shown = os.path.relpath(place)
        if text is not None:
            return text, shown
        if not os.path.isfile(place):
            raise ToolError(f"there is no file {path!r}")
        return Path(shown), None


def _is_below(place: str, root: str) -> bool:
    return place.startswith(os.path.join(root, ""))


@contextmanager
def _said() -> Iterator[None]:
    """Turn what a caller can put right into an error that the client is told."""
    try:
        yield
    except (ConfigError, OSError, ValueError, TypeError) as error:
        raise ToolError(str(error)) from error
