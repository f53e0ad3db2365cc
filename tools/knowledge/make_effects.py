"""Make ``tfmemlint/knowledge/data/effects.txt``: the effect of each TensorFlow function on the runtime.

Usage: python tools/knowledge/make_effects.py [effects.json.gz ...] tools/knowledge/measured/*.txt

A JSON file is ``{release: {snippet: {"error": ..., "init": bool, "lists_physical": bool}}}``: the state that a snippet
leaves, run in a process of its own right after ``import tensorflow as tf``. A text file is the output of
``measure_effects.py`` for one release. The README beside this script explains how snippets give the effect of a name.
"""

from __future__ import annotations

import ast
import gzip
import json
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from tfmemlint.knowledge.releases import KNOWN, position

DATA = Path(__file__).parents[2] / "tfmemlint" / "knowledge" / "data"

KERAS3 = position("2.16")
"""From this release on `tf.keras` is Keras 3, whichever Keras 3 is installed."""

IRREGULAR = {
    # Snippets of the first file that are described rather than written.
    "tf.device('/GPU:0') (object)": "tf.device('/GPU:0')",
    "with tf.GradientTape() as t: pass": "tf.GradientTape()",
    "with tf.device('CPU:0'): pass": "tf.device('CPU:0')",
    "with tf.device('/GPU:0'): pass": "tf.device('/GPU:0')",
    "with tf.device(None): pass": "tf.device(None)",
    "with tf.name_scope('a'): pass": "tf.name_scope('a')",
    "with tf.init_scope(): pass": "tf.init_scope()",
    "tf.keras Sequential().build": "tf.keras.Sequential().build((None, 4))",
    "tf.keras Sequential([Dense]) + compile (unbuilt)": "tf.keras.Sequential([tf.keras.layers.Dense(1)]).compile()",
    "tf.config.experimental.get_device_details(cpu)": "tf.config.experimental.get_device_details(0)",
    "tf.config.get_logical_device_configuration(cpu)": "tf.config.get_logical_device_configuration(0)",
    "tf.config.set_logical_device_configuration(cpu,[2])": "tf.config.set_logical_device_configuration(0, [2])",
}

Letters = dict[int, str]
"""The effect for each release that was measured, by its place: ``n``, ``l``, ``S``, or ``?`` where snippets
disagree."""

Snippets = dict[str, Letters]


def load(paths: list[str]) -> tuple[Snippets, Snippets]:
    """Return the letters of every snippet, in eager and in graph mode; one that failed without starting anything says
    nothing.
    """
    eager: Snippets = defaultdict(dict)
    graph: Snippets = defaultdict(dict)
    for path in paths:
        if path.endswith(".txt"):
            head, *lines = Path(path).read_text(encoding="ascii").splitlines()
            place = _place(head.split(" ")[2])
            for measured in lines:
                letters, _, snippet = measured.partition(" ")
                if letters[0] in "nlS":
                    eager[snippet][place] = letters[0]
                if letters[1] in "nlS":
                    graph[snippet][place] = letters[1] if len({*letters[1:]} - {"-"}) == 1 else "?"
            continue
        text = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
        for release, results in json.loads(text).items():
            for snippet, result in results.items():
                letter = _letter(result)
                if letter:
                    eager[IRREGULAR.get(snippet, snippet)][_place(release)] = letter
    return eager, graph


def _place(release: str) -> int:
    return position(".".join(release.split(".")[:2]))


def _letter(result: dict[str, Any]) -> str | None:
    if result["init"]:
        return "S"
    if result["error"]:
        return None
    return "l" if result["lists_physical"] else "n"


def calls(snippet: str) -> list[tuple[str, str]] | None:
    """Return the calls of a snippet, the outermost first: the name, and the code of the whole call; None if it is not a
    single call of ``tf.*``."""
    try:
        tree = ast.parse(snippet, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(tree, ast.Call) or name_of(tree.func) is None:
        return None
    return [(name_of(node.func) or "", ast.unparse(node)) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_of(node: ast.expr) -> str | None:
    """Return ``tf.a.b`` of an attribute chain, ``tf.a().b`` where it leads through a call; None for anything else."""
    match node:
        case ast.Name("tf"):
            return "tf"
        case ast.Attribute():
            owner = name_of(node.value)
            return f"{owner}.{node.attr}" if owner else None
        case ast.Call():
            owner = name_of(node.func)
            return f"{owner}()" if owner else None
    return None


def attribute(snippets: Snippets, alone: dict[str, set[int]] | None = None) -> dict[str, Letters]:
    """Attribute effects to names: a snippet without effect clears every call in it; one with an effect counts for its
    outermost call, if each inner call is known to have none, by its name or by a snippet of exactly that call
    (``alone``: where that is known already, the releases by name)."""
    said: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    parsed = {snippet: found for snippet in snippets if (found := calls(snippet))}
    written = {
        (found[0][1], place)
        for snippet, found in parsed.items()
        for place, letter in snippets[snippet].items()
        if letter == "n"
    }

    def does_nothing(name: str, code: str, place: int) -> bool:
        known = place in alone.get(name, ()) if alone is not None else said[name][place] == {"n"}
        return known or (code, place) in written or not name.startswith("tf")

    for snippet, found in sorted(parsed.items(), key=lambda pair: len(pair[1])):
        for place, letter in snippets[snippet].items():
            if letter == "n":
                for name, _ in found:
                    said[name][place].add("n")
            elif all(does_nothing(name, code, place) for name, code in found[1:]):
                said[found[0][0]][place].add(letter)
    return {
        name: {place: letters.pop() if len(letters) == 1 else "?" for place, letters in places.items() if letters}
        for name, places in said.items()
        if name
    }


def quiet(names: dict[str, Letters]) -> dict[str, set[int]]:
    """Return the releases in which each name is known to have no effect."""
    return {name: {place for place, letter in found.items() if letter == "n"} for name, found in names.items()}


def fill(name: str, found: Letters) -> Letters:
    """Return the releases between two measured ones take their value where both agree; a name of `tf.keras` that
    differs on both sides of Keras 3 keeps each side's value up to that change.
    """
    places = sorted(found)
    for place in places:
        # Where it is seen to depend on the arguments, having seen one harmless call in another release proves nothing.
        if found[place] == "n" and any(found[p] == "?" and (p >= KERAS3) == (place >= KERAS3) for p in places):
            found = {**found, place: "?"}
    filled = dict(found)
    for before, after in pairwise(places):
        same = found[before] == found[after]
        for place in range(before + 1, after):
            if same:
                filled[place] = found[before]
            elif name.startswith("tf.keras.") and before < KERAS3 <= after:
                filled[place] = found[before] if place < KERAS3 else found[after]
    return filled


def runs(found: Letters) -> list[str]:
    """Return ``2.4-2.15:S 2.16-2.21:n``; releases that are not listed are not known."""
    spans: list[tuple[int, int, str]] = []
    for place in sorted(found):
        if found[place] == "?":
            continue
        if spans and spans[-1][1] == place - 1 and spans[-1][2] == found[place]:
            spans[-1] = (spans[-1][0], place, found[place])
        else:
            spans.append((place, place, found[place]))
    return [f"{KNOWN[first]}-{KNOWN[last]}:{letter}" for first, last, letter in spans]


def main(paths: list[str]) -> None:
    in_eager, in_graph = load(paths)
    eager = attribute(in_eager)
    graph = attribute(in_graph, quiet(eager))
    write("effects.txt", "in eager mode", eager)
    write("graph_mode.txt", "in graph mode", graph)


def write(file: str, mode: str, names: dict[str, Letters]) -> None:
    lines = [" ".join([name, *spans]) for name in sorted(names) if (spans := runs(fill(name, names[name])))]
    head = f"# What a call does {mode}, made by tools/knowledge/make_effects.py: name first-last:letter ...\n"
    (DATA / file).write_text(head + "".join(f"{line}\n" for line in lines), encoding="ascii")
    print(f"{file}: {len(lines)} names")


if __name__ == "__main__":
    main(sys.argv[1:])
