"""`tfmemlint mcp`, spoken to by the client of the protocol's own SDK over standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.texts import CLEAN, HELPER, LATE, MAIN, NUMBERS, notebook
from tests.safety.hostile_modules import plant

pytestmark = pytest.mark.slow

anyio = pytest.importorskip("anyio")
pytest.importorskip("mcp")

TOOLS = ("check", "corrections", "fix", "plan")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The directory of the server, with a program of two files."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "main.py").write_text(MAIN)
    (root / "helper.py").write_text(HELPER)
    return root


def session(root: Path, talk: Callable[[Any], Awaitable[None]], *options: str) -> None:
    """Start the server in ``root``, and let ``talk`` use a client of it."""
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=["-m", "tfmemlint", "mcp", *options], cwd=root)

    async def run() -> None:
        async with Client(server, read_timeout_seconds=60) as client:
            await talk(client)

    anyio.run(run)


async def data(client: Any, tool: str, **arguments: object) -> Any:
    """Return the structured result of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def error(client: Any, tool: str, **arguments: object) -> str:
    """Return the words of a tool's error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


def test_the_tools_describe_themselves(root: Path) -> None:
    async def talk(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tuple(sorted(tools)) == TOOLS
        for tool in tools.values():
            assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint
            arguments = tool.input_schema["properties"].values()
            assert tool.description and all(argument.get("description") for argument in arguments)
        assert "findings" in tools["check"].output_schema["properties"]

    session(root, talk)


def test_texts(root: Path) -> None:
    async def talk(client: Any) -> None:
        assert (await data(client, "check", text=CLEAN))["findings"] == []
        (finding,) = (await data(client, "check", text=LATE))["findings"]
        assert (finding["code"], finding["place"]["row"], finding["place"]["path"]) == ("TFM101", 5, "<text>")
        assert (await data(client, "check", text=LATE, select=["TFM2"]))["findings"] == []
        fixed = await data(client, "fix", text=LATE)
        assert (fixed["text"], fixed["findings"][0]["withheld"]) == (LATE, "unsafe: needs --unsafe-fixes")
        assert (await data(client, "fix", text=LATE, unsafe=True))["findings"] == []
        plan = await data(client, "plan", text=LATE, gpus=2)
        assert plan["programs"][0]["entries"][0]["intents"][0]["prediction"] == "fails"
        assert "train.py" not in json.dumps(await data(client, "check", text="train.py"))

    session(root, talk)


def test_corrections_are_those_of_the_command(root: Path) -> None:
    async def talk(client: Any) -> None:
        text = "With TensorFlow, limit the memory by `tf.config.set_memory_limit`:\n"
        found = await data(client, "corrections", text=text, path="notes.md")
        (correction,) = found["corrections"]
        assert correction["instead"]["write"] == "tf.config.set_logical_device_configuration"
        assert found["version"] == 1

    session(root, talk)


def test_files_and_texts_that_stand_for_files(root: Path) -> None:
    (root / "n.ipynb").write_text(notebook(NUMBERS))

    async def talk(client: Any) -> None:
        found = await data(client, "check", path="helper.py")
        assert [(each["place"]["path"], each["code"]) for each in found["findings"]] == [("helper.py", "TFM101")]
        in_order = MAIN.replace("x = tf.zeros([1])\nsetup()", "setup()\nx = tf.zeros([1])")
        assert (await data(client, "check", path="main.py", text=in_order))["findings"] == []
        (finding,) = (await data(client, "check", path="n.ipynb"))["findings"]
        assert finding["place"]["cell"] == 2
        changes = (await data(client, "fix", path="n.ipynb"))["changes"]
        assert [change["path"] for change in changes] == ["n.ipynb"]
        assert (root / "n.ipynb").read_text() == notebook(NUMBERS), "nothing is written"

    session(root, talk)


def test_nothing_outside_is_read(root: Path) -> None:
    (root.parent / "secret.py").write_text(LATE)
    (root / "link.py").symlink_to(root.parent / "secret.py")
    (root / "up").symlink_to(root.parent, target_is_directory=True)

    async def talk(client: Any) -> None:
        for path in ("../secret.py", str(root.parent / "secret.py"), "link.py", "up/secret.py", "/etc/passwd", "a\0b"):
            for tool in TOOLS:
                assert "not below" in await error(client, tool, path=path), path
                assert "not below" in await error(client, tool, path=path, text=LATE), path

    session(root, talk)


def test_what_a_client_does_wrong_is_said(root: Path) -> None:
    async def talk(client: Any) -> None:
        assert "pass text" in await error(client, "check")
        assert "no file" in await error(client, "check", path="gone.py")
        assert "no file" in await error(client, "check", path="gone")
        assert "unknown rule selector" in await error(client, "check", text=LATE, select=["XYZ"])
        assert "GiB" in await error(client, "plan", text=LATE, gpu_memory="much")
        assert (await data(client, "check", text=LATE))["findings"], "it goes on"

    session(root, talk)


def test_no_code_of_the_project_is_run(root: Path, tmp_path: Path) -> None:
    plant(root, tmp_path / "canary", ["mcp", "pydantic", "anyio", "yaml", "libcst", "json"])
    program = f"open({str(tmp_path / 'canary')!r}, 'w')\n{LATE}"
    (root / "run.py").write_text(program)

    async def talk(client: Any) -> None:
        for tool in TOOLS:
            await data(client, tool, path="run.py")
            await data(client, tool, text=program)

    session(root, talk)
    assert not (tmp_path / "canary").exists()


def test_another_directory_can_be_named(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "late.py").write_text(LATE)

    async def talk(client: Any) -> None:
        assert (await data(client, "check", path="late.py"))["findings"]
        assert "not below" in await error(client, "check", path="../main.py")

    session(root, talk, "--root", "sub")
