"""Decide whether a mention of a name is a call of one function or method, of something else, or not known."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement
from tfmemlint.fixes.imports import imports_of
from tfmemlint.model.records import dataclass


class Mention(Enum):
    """The meaning of a mention of a function's name."""

    CALL = "a call of the function, whose result nothing uses"
    OTHER = "another thing of the same name"
    UNKNOWN = "another use of the function, or it is not known which"


@dataclass(frozen=True, slots=True)
class Callee:
    """A function or method that is looked for.

    Attributes:
        name: its name. owner: the name of the class whose method it is; "" for a function. path: the file that
            defines it. definition: where it is defined, None in the trees of other files.
    """

    name: str
    owner: str
    path: str
    definition: cst.FunctionDef | None

    @classmethod
    def of(cls, tree: ConcreteTree, function: cst.FunctionDef, path: str) -> Callee:
        """Return the function that a file at ``path`` defines."""
        owner = tree.parents.get(tree.block_of(function))
        return cls(function.name.value, owner.name.value if isinstance(owner, cst.ClassDef) else "", path, function)


def calls_of(tree: ConcreteTree, callee: Callee) -> list[Statement] | None:
    """Return the calls of a function, each a statement of its own; None if it is, or may be, used in another way.

    The names in imports are left out.
    """
    if re.search(rf"['\"]{re.escape(callee.name)}['\"]", tree.text):
        return None
    found: list[Statement] = []
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != callee.name:
            continue
        kind = _kind(tree, node, callee)
        if kind is Mention.UNKNOWN:
            return None
        if kind is Mention.CALL:
            found.append(tree.statement_of(node))
    return found


def is_instance(tree: ConcreteTree, attribute: cst.Attribute, owner: str) -> bool:
    """True if a method is looked up in its class, or in an object that is certainly one of it."""
    receiver = tree.code(attribute.value).strip()
    if receiver in ("self", "cls"):
        around = next((each for each in tree.ancestors(attribute) if isinstance(each, cst.ClassDef)), None)
        return around is not None and around.name.value == owner
    if receiver == owner:
        return True
    return receiver.isidentifier() and _is_made_by(tree, receiver, owner)


def _kind(tree: ConcreteTree, node: cst.Name, callee: Callee) -> Mention:
    parent = tree.parents.get(node)
    if isinstance(parent, cst.ImportAlias):
        return Mention.OTHER if parent.asname is None else Mention.UNKNOWN
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef)) and parent.name is node:
        return _kind_of_definition(tree, parent, callee)
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return Mention.OTHER
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        kind = _kind_of_attribute(tree, parent, callee)
        return kind if kind is not Mention.CALL else _kind_of_use(tree, parent)
    return Mention.UNKNOWN if callee.owner else _kind_of_use(tree, node)


def _kind_of_definition(tree: ConcreteTree, definition: cst.FunctionDef | cst.ClassDef, callee: Callee) -> Mention:
    """Another definition of the name is another thing where the two can't be taken for each other."""
    if definition is callee.definition:
        return Mention.OTHER
    holder = tree.parents.get(tree.block_of(definition))
    if not isinstance(holder, cst.ClassDef):
        return Mention.OTHER if callee.owner and callee.definition is not None else Mention.UNKNOWN
    # A class with bases may be one of the method's class, whose method this replaces.
    return Mention.UNKNOWN if callee.owner and (holder.bases or holder.name.value == callee.owner) else Mention.OTHER


def _kind_of_attribute(tree: ConcreteTree, attribute: cst.Attribute, callee: Callee) -> Mention:
    if callee.owner:
        if is_instance(tree, attribute, callee.owner):
            return Mention.CALL
        return Mention.OTHER if _is_another(tree, attribute, callee.owner) else Mention.UNKNOWN
    module = Path(callee.path).parent.name if Path(callee.path).name == "__init__.py" else Path(callee.path).stem
    receiver = tree.code(attribute.value).strip()
    if imports_of(tree).resolve(receiver).rpartition(".")[2] == module:
        return Mention.CALL if callee.definition is None else Mention.UNKNOWN
    return Mention.OTHER


def _is_another(tree: ConcreteTree, attribute: cst.Attribute, owner: str) -> bool:
    """True if a method is looked up in an object of another class of the same file, which has no bases."""
    receiver = tree.code(attribute.value).strip()
    others = [
        node.name.value
        for node in tree.ranges
        if isinstance(node, cst.ClassDef) and not node.bases and node.name.value != owner
    ]
    if receiver in ("self", "cls"):
        around = next((each for each in tree.ancestors(attribute) if isinstance(each, cst.ClassDef)), None)
        return around is not None and around.name.value in others
    return receiver in others or (receiver.isidentifier() and any(_is_made_by(tree, receiver, name) for name in others))


def _is_made_by(tree: ConcreteTree, name: str, owner: str) -> bool:
    """True if each value that a name gets is a new object of a class."""
    bound = re.findall(rf"^[ \t]*{re.escape(name)}[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*(.*)$", tree.text, re.MULTILINE)
    return bool(bound) and all(value.startswith(f"{owner}(") for value in bound)


def _kind_of_use(tree: ConcreteTree, called: cst.CSTNode) -> Mention:
    call = tree.parents.get(called)
    if not isinstance(call, cst.Call) or call.func is not called or not isinstance(tree.parents.get(call), cst.Expr):
        return Mention.UNKNOWN
    has_effects = any(re.search(r"\(|:=|\bawait\b", tree.code(argument.value)) for argument in call.args)
    return Mention.UNKNOWN if has_effects else Mention.CALL
