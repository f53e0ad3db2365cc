"""A look at the text of a file that tells, for most files, that every name of TensorFlow's in it exists.

Nothing else could be reported in a file in which no trigger of a rule matches, and a look takes a tenth of the time of
an analysis. Wherever the text leaves a doubt, the answer is that there may be something.
"""

from __future__ import annotations

import re

from tfmemlint.facts.names import canonical
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target

_WAYS = (
    "getattr", "setattr", "eval", "exec", "vars", "attrgetter", "import_module", "__import__", "globals", "locals",
    "reload",
)  # fmt: skip
"""Ways to names that do not stand in the text."""
_INDIRECT = re.compile(rf"\b(?:{'|'.join(_WAYS)})\b")
_IMPORT = re.compile(r"^[^\n#]*\bimport\b[^\n]*$", re.MULTILINE)
_TAKEN = r"\w+(?:[ \t]+as[ \t]+\w+)?"
_END = r"[ \t]*(?:#.*)?\r?"
_MODULE = re.compile(rf"[ \t]*import[ \t]+(tensorflow(?:\.\w+)*)(?:[ \t]+as[ \t]+(\w+))?{_END}")
_FROM = re.compile(
    rf"[ \t]*from[ \t]+(tensorflow(?:\.\w+)*)[ \t]+import[ \t]+({_TAKEN}(?:[ \t]*,[ \t]*{_TAKEN})*){_END}"
)
_ABOUT = re.compile(r"\b(?:tensorflow|tf)\b")


def all_names_exist(text: str, target: Target) -> bool:
    """True if all names of TensorFlow's that a text asks for are in a release, as far as can be told by their look."""
    if not text.isascii() or (any(way in text for way in _WAYS) and _INDIRECT.search(text)):
        return False
    roots = {"tf": "tf", "tensorflow": "tf"}
    kept: list[str] = []
    end = 0
    for found in _IMPORT.finditer(text):
        line = found[0]
        if _ABOUT.search(line) is None:
            continue
        if not _read_import(line, roots, target):
            return False
        kept.append(text[end : found.start()])
        end = found.end()
    rest = "".join((*kept, text[end:]))
    chain = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, roots))})\b((?:\.\w+)*)([ \t]*[.\\]?)")
    return all(_exists(roots[root] + path, target) and not more.strip() for root, path, more in chain.findall(rest))


def _read_import(line: str, roots: dict[str, str], target: Target) -> bool:
    """Note the names that an import of TensorFlow binds; return False if that can't be told, or one does not exist."""
    plain = _MODULE.fullmatch(line)
    if plain is not None:
        module, alias = plain.groups()
        if alias is not None and roots.setdefault(alias, canonical(module)) != canonical(module):
            return False
        return module == "tensorflow" or _exists(canonical(module), target, may_be_module=True)
    taken = _FROM.fullmatch(line)
    if taken is None:
        return False
    for part in taken[2].split(","):
        name, *alias = (word for word in part.split() if word != "as")
        full = canonical(f"{taken[1]}.{name}")
        bound = alias[-1] if alias else name
        if roots.setdefault(bound, full) != full or not _exists(full, target, may_be_module=True):
            return False
    return True


def _exists(name: str, target: Target, *, may_be_module: bool = False) -> bool:
    """True if a name exists, and is not a module that another name might be given."""
    full = canonical(name)
    return names.missing_part(full, target) is None and (may_be_module or not names.is_module(full))
