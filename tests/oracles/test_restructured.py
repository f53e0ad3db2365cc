"""The code in reStructuredText, beside the literal and doctest blocks that docutils finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.checkout import ROOT
from tfmemlint.sources.documents.restructured import blocks

docutils: Any = pytest.importorskip("docutils", reason="there is no docutils to compare with")


def theirs(text: str) -> list[str]:
    """The text of each block of code, as docutils has it; of doctests without the prompts."""
    core: Any = pytest.importorskip("docutils.core")
    settings = {"report_level": 5, "halt_level": 5, "syntax_highlight": "none", "file_insertion_enabled": False}
    tree = core.publish_doctree(text, settings_overrides=settings)
    found = []
    for node in tree.findall(lambda node: node.tagname in ("literal_block", "doctest_block")):
        for number in [child for child in node.children if "ln" in getattr(child, "attributes", {}).get("classes", ())]:
            node.remove(number)
        lines = node.astext().rstrip("\n").split("\n")
        if node.tagname == "doctest_block":
            lines = [line[4:] for line in lines if line.startswith((">>>", "..."))]
        found.append("\n".join(lines).strip("\n"))
    return found


def ours(text: str) -> list[str]:
    """The same, as the project has it: its lines are the document's own, with their tabs, which docutils replaces."""
    return [block.text.expandtabs(8).strip("\n") for block in blocks(text)]


HAND_MADE = {
    "a literal block": "Text::\n\n  a = 1\n\n  b = 2\n\nText.\n",
    "a literal block on its own": "::\n\n    a = 1\n      b\n\nText.\n",
    "directives": ".. code-block:: python\n\n   a = 1\n\n.. code:: python\n   :number-lines:\n\n   b = 2\n\nText.\n",
    "options and a name": ".. code-block:: python\n   :name: x\n   :class: y\n\n   a = 1\n",
    "in a list": "- item::\n\n    a = 1\n\n- other\n\n  .. code:: python\n\n     b = 2\n",
    "in a numbered list": "1. item\n\n   ::\n\n     a = 1\n\n2. other\n",
    "in a quote": "Text\n\n   quoted::\n\n      a = 1\n\nText\n",
    "doctests": ">>> a = 1\n>>> if a:\n...     b = 2\n\nText\n\n>>> c = 3\n3\n",
    "a note": ".. note::\n\n   Text::\n\n      a = 1\n\n   .. code:: python\n\n      b = 2\n",
    "comments": ".. a = 1\n\n..\n   Text::\n\n      b = 2\n\nText::\n\n   c = 3\n",
    "a quoted literal block": "Text::\n\n> a = 1\n> b = 2\n\nText\n",
    "a definition": "term\n  Text::\n\n    a = 1\n\nother\n  text\n",
    "headings": "Title\n=====\n\nText::\n\n  a = 1\n\nOther\n-----\n\n.. code:: python\n\n  b = 2\n",
    "blank lines within": ".. code:: python\n\n\n   a = 1\n\n\n\n   b = 2\n\n\nText\n",
    "tabs": "Text::\n\n\ta = 1\n\t\tb\n\nText\n",
    "no code": "Text: a\n\n  quoted\n\n* item\n\n.. image:: a.png\n\n.. |x| replace:: y\n\n.. _target: z\n",
    "a literal block at the end": "Text::\n\n  a = 1",
    "nothing behind the colons": "Text::\n\nText.\n",
}


KNOWN = {
    # docutils: the body of the field is as deep as the code, which is then a paragraph. People mean code.
    "code as deep as a field's body": ("Text.\n\n:field: Text::\n\n   a = 1\n\n:other: text\n", ["a = 1"], []),
    # docutils knows no directive of Sphinx's extensions, and shows what is in them as it stands.
    "a directive that docutils does not know": (
        ".. admonition-of-mine::\n\n   Text::\n\n      a = 1\n\n.. ipython::\n\n   In [1]: b = 2\n",
        ["a = 1", "b = 2"],
        [".. admonition-of-mine::\n\n   Text::\n\n      a = 1", ".. ipython::\n\n   In [1]: b = 2"],
    ),
}
"""Differences that are meant: the text, what the project finds, and what docutils finds."""


@pytest.mark.parametrize("kind", KNOWN)
def test_known_differences(kind: str) -> None:
    text, found, other = KNOWN[kind]
    assert (ours(text), theirs(text)) == (found, other)


@pytest.mark.parametrize("kind", HAND_MADE)
def test_blocks_are_those_of_docutils(kind: str) -> None:
    assert ours(HAND_MADE[kind]) == theirs(HAND_MADE[kind])


def generated(chance: random.Random, indent: str = "", depth: int = 0) -> str:
    """A piece of a document."""
    code = ["x = 1", "if x:\n    y = 2", "f(x,\n  y)", "# a comment\n\nz = 3", "def f():\n\n    return 1"]
    body = chance.choice(code)

    def put(text: str, by: str) -> str:
        return "\n".join(f"{indent}{by}{line}" if line else "" for line in text.split("\n"))

    match chance.randint(0, 7 if depth < 2 else 4):
        case 0:
            return f"{indent}Some text::\n\n{put(body, '  ')}\n"
        case 1:
            return f"{indent}.. code-block:: python\n\n{put(body, '   ')}\n"
        case 2:
            return f"{indent}.. code:: python\n{indent}   :number-lines: 3\n\n{put(body, '   ')}\n"
        case 3:
            return f"{indent}A paragraph\n{indent}of two lines.\n"
        case 4:
            return f"{indent}::\n\n{put(body, '    ')}\n"
        case 5:
            return f"{indent}- An item.\n\n{generated(chance, indent + '  ', depth + 1)}"
        case 6:
            return f"{indent}.. note::\n\n{generated(chance, indent + '   ', depth + 1)}"
    return f"{indent}1. An item.\n\n{generated(chance, indent + '   ', depth + 1)}"


@pytest.mark.parametrize("seed", range(3))
def test_generated_documents_are_read_as_by_docutils(seed: int) -> None:
    chance = random.Random(seed)
    # A paragraph between them: what follows an item without one may be a part of it.
    text = "\nText.\n\n".join(generated(chance) for _ in range(60))
    assert ours(text) == theirs(text)


def test_documents_of_the_fixtures_are_read_as_by_docutils() -> None:
    for path in sorted((ROOT / "fixtures").rglob("*.rst")):
        text = path.read_text(encoding="utf-8")
        assert ours(text) == theirs(text), path.as_posix()
