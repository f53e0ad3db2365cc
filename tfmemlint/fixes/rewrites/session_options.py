"""Write the options of a TF1 session as configuration by ``tf.config``.

The counterpart of each option is from TensorFlow's documentation of ``tf.config``, and was tried on TensorFlow 2.12,
2.16 and 2.21: the setters take the same values, and none of them starts the runtime. Once it is running, those of
``tf.config.threading`` raise RuntimeError; soft placement and the log of placements can still be set. By default, soft
placement is on and placements aren't logged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.rewrites import render_intent
from tfmemlint.fixes.rewrites.session_conditions import Guards, are_exclusive, guards_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

GROWTH = "gpu_options.allow_growth"
SHARE = "gpu_options.per_process_gpu_memory_fraction"
VISIBLE = "gpu_options.visible_device_list"
COUNT = "device_count.GPU"
_SETTERS = {
    "allow_soft_placement": "tf.config.set_soft_device_placement",
    "log_device_placement": "tf.debugging.set_log_device_placement",
    "intra_op_parallelism_threads": "tf.config.threading.set_intra_op_parallelism_threads",
    "inter_op_parallelism_threads": "tf.config.threading.set_inter_op_parallelism_threads",
}
"""Options that are not about memory, each with the function that sets the same in TF2."""
_NOTHING: Mapping[str, object] = {"log_device_placement": False, "device_count.CPU": 1, GROWTH: False}
"""Values that equal the default."""


@dataclass(frozen=True, slots=True)
class _Option:
    """An option, with its constant value (None if it isn't known) and the place where it is set."""

    name: str
    value: object
    span: Span | None


def render_options(editor: Editor, finding: Finding, place: cst.CSTNode) -> str:
    """Return statements that make a session's settings by ``tf.config``, for use at ``place``; "" if the only one is
    growth, and that is set already.

    Raises:
        Withheld: an option would be lost, or can't be read from there.
    """
    known = {
        option.name: option
        for option in _options(finding)
        if option.name not in _NOTHING or option.value != _NOTHING[option.name]
    }
    if finding.details.get("grown") and SHARE not in known and known.get(GROWTH) is not None:
        # A loop above has set it for every GPU.
        if known[GROWTH].value is not True:
            raise Withheld("growth is set already, and it is not known whether it is on here")
        del known[GROWTH]
        if not known:
            return ""
    others = sorted(known.keys() - {GROWTH, SHARE, VISIBLE, COUNT} - _SETTERS.keys())
    if others:
        raise Withheld(f"its other options would be lost: {', '.join(others)}")
    if not known:
        raise Withheld("none of its options has a meaning here")
    reader = _OptionReader(editor, place)
    ways = {name: reader.way(option) for name, option in known.items()}
    both = GROWTH in known and SHARE in known and not are_exclusive(ways[GROWTH], ways[SHARE])
    if both and (known[GROWTH].value is not True or ways[GROWTH] != ways[SHARE]):
        raise Withheld("it is not known whether both growth and a share of the memory are set")
    return "".join(_under_conditions(editor, known, ways, reader))


def _under_conditions(
    editor: Editor, known: Mapping[str, _Option], ways: Mapping[str, Guards], reader: _OptionReader
) -> Iterator[str]:
    """Yield the statements for all options, grouped by the condition under which they are set."""
    groups: dict[Guards, dict[str, _Option]] = {}
    for name in sorted(known, key=lambda option: (len(ways[option]), reader.row(known[option]))):
        groups.setdefault(ways[name], {})[name] = known[name]
    pending = list(groups)
    while pending:
        way = pending.pop(0)
        lines = _lines(editor, groups[way], reader)
        if not way:
            yield lines
            continue
        if len(way) > 1:
            raise Withheld("its options depend on more than one condition")
        condition, wanted = way[0]
        other = ((condition, not wanted),)
        test = reader.test(condition)
        if other in pending:
            pending.remove(other)
            rest = _lines(editor, groups[other], reader)
            first, second = (lines, rest) if wanted else (rest, lines)
            yield f"if {test}:\n{indent(first, '    ')}else:\n{indent(second, '    ')}"
        else:
            yield f"if {test if wanted else f'not ({test})'}:\n{indent(lines, '    ')}"


def _lines(editor: Editor, known: Mapping[str, _Option], reader: _OptionReader) -> str:
    parts = list(_memory(editor, known, reader))
    for name, setter in _SETTERS.items():
        if name in known:
            parts.append(f"{editor.tf(setter)}({reader.text(known[name])})\n")
    return "".join(parts)


def _memory(editor: Editor, known: Mapping[str, _Option], reader: _OptionReader) -> Iterator[str]:
    if COUNT in known:
        if known[COUNT].value != 0 or isinstance(known[COUNT].value, bool):
            raise Withheld("the purpose of a device_count that isn't 0 isn't known")
        yield f"{render_intent.spell(editor, 'tf.config.set_visible_devices')}([], {editor.quoted('GPU')})\n"
        return
    visible = known.get(VISIBLE)
    gpus = render_intent.all_gpus(editor)
    if visible is not None and visible.value != "":
        name = render_intent.free_name(editor, "gpus")
        yield f"{name} = {gpus}\n"
        gpus = name
    if SHARE in known:
        value = known[SHARE].value
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1):
            raise Withheld("the share isn't a known number between 0 and 1")
        if GROWTH in known:
            # The only way to have both, as seen in the allocator's log on TensorFlow 2.12 to 2.21.
            variable, true = editor.quoted("TF_FORCE_GPU_ALLOW_GROWTH"), editor.quoted("true")
            yield f"{editor.add_import('os')}.environ[{variable}] = {true}\n"
        yield render_intent.share_for_all(editor, repr(value) if value is not None else reader.text(known[SHARE]), gpus)
    elif GROWTH in known:
        value = known[GROWTH].value
        enable = "True" if value is True else reader.text(known[GROWTH])
        if value is not True and value is not None:
            raise Withheld("it is not known whether growth is on")
        yield render_intent.growth_for_all(editor, enable, gpus)
    if visible is not None and visible.value != "":
        chosen = _chosen(editor, gpus, reader, visible)
        call = render_intent.spell(editor, "tf.config.set_visible_devices")
        line = f"{call}({chosen}, {editor.quoted('GPU')})"
        if len(line) + 4 + 4 * (reader.home is not None) > editor.line_length:
            line = f"{call}(\n        {chosen},\n        {editor.quoted('GPU')},\n    )"
        yield f"if {gpus}:\n    {line}\n"


def _chosen(editor: Editor, gpus: str, reader: _OptionReader, option: _Option) -> str:
    """Return the code for the devices that a ``visible_device_list`` names."""
    value = option.value
    if isinstance(value, str):
        numbers = [part.strip() for part in value.split(",")]
        if not all(part.isdigit() for part in numbers):
            raise Withheld(f"{value!r} is not a list of GPU numbers")
        if len(numbers) == 1:
            return f"{gpus}[{numbers[0]}]"
        return f"[{', '.join(f'{gpus}[{number}]' for number in numbers)}]"
    text = reader.text(option)
    index = _number_in(text)
    if index:
        return f"{gpus}[{index}]"
    factor = text if re.fullmatch(r"[\w.]+(\([^()]*\))?(\[[^\[\]]*\])?", text) else f"({text})"
    return f"[{gpus}[int(number)] for number in {factor}.split({editor.quoted(',')})]"


def _number_in(text: str) -> str:
    """Return the GPU number that an expression formats as a string, as an integer: ``rank`` of ``str(rank)``.

    Return "" if the string may hold several numbers.
    """
    tree = ast.parse(text, mode="eval").body
    given: ast.expr | None = None
    match tree:
        case ast.Call(func=ast.Name(id="str"), args=[argument], keywords=[]):
            given = argument
        case ast.JoinedStr(values=[ast.FormattedValue(value=argument)]):
            given = argument
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value="{}" | "{0}" | "{:d}"), attr="format"), args=[argument]
        ):
            given = argument
        case ast.BinOp(left=ast.Constant(value="%d" | "%i"), op=ast.Mod(), right=argument):
            given = argument
    if given is None:
        return ""
    if isinstance(given, ast.Tuple):
        return ""
    code = ast.unparse(given)
    # `str` takes anything, even "0,1"; a rank is a number.
    certain = isinstance(tree, ast.BinOp) or re.search(r"rank(\(\))?$|^int\(", code) is not None
    return code if certain else ""


def _options(finding: Finding) -> Iterator[_Option]:
    values = finding.details["values"]
    assert isinstance(values, dict)
    for name, value in values.items():
        yield _Option(name, value, finding.anchors.get(f"field:{name}"))


class _OptionReader:
    """Reads the expressions that are assigned to options in the file."""

    def __init__(self, editor: Editor, place: cst.CSTNode) -> None:
        self._editor = editor
        self._place = place
        self.home = function_of(editor, place)

    def row(self, option: _Option) -> int:
        """Return the line that sets an option."""
        return option.span.row if option.span is not None else 0

    def way(self, option: _Option) -> Guards:
        """Return the conditions under which an option is set.

        Raises:
            Withheld: it is set in several places, or in a loop or the like.
        """
        node = self._setting(option.span) if option.span is not None else None
        if node is None:
            return ()
        way = guards_of(self._editor, node, self._place)
        if isinstance(node, cst.Assign) and way:
            target = self._editor.code(node.targets[0].target)
            function = function_of(self._editor, node)
            for other in walk(function if function is not None else self._editor.module):
                targets = other.targets if isinstance(other, cst.Assign) and other is not node else ()
                if any(self._editor.code(assigned.target) == target for assigned in targets):
                    raise Withheld(f"{option.name} is set in several places")
        return way

    def test(self, condition: cst.If) -> str:
        """Return the code of a condition.

        Raises:
            Withheld: it would have another value at the new place.
        """
        if _is_variable(condition.test) and function_of(self._editor, condition) not in (None, self.home):
            raise Withheld("an option depends on a local variable of another function")
        names = {part.value for part in walk(condition.test) if isinstance(part, cst.Name)}
        between = [part for part in walk(self._editor.module) if isinstance(part, (cst.Assign, cst.AugAssign))]
        start, end = self._editor.span(condition), self._editor.span(self._place)
        for assignment in between:
            if start < self._editor.span(assignment) < end and names & _bound(assignment):
                raise Withheld("a variable that an option depends on changes before the session is made")
        return self._editor.code(condition.test).strip()

    def text(self, option: _Option) -> str:
        """Return the code of an option's value.

        Raises:
            Withheld: it isn't visible where the option is set, or would have another value at the new place.
        """
        value = self._value(option.span) if option.span is not None else None
        if value is not None and (option.value is None or not isinstance(value, cst.Dict)):
            if _is_variable(value) and function_of(self._editor, value) not in (None, self.home):
                raise Withheld(f"{option.name} is set in another function, from a local variable")
            return self._editor.code(value).strip()
        if option.value is not None:
            return repr(option.value)
        raise Withheld(f"the value of {option.name} isn't known")

    def _value(self, span: Span) -> cst.BaseExpression | None:
        """Return the value that sets an option, by an assignment or as an argument."""
        node = self._setting(span)
        return node.value if node is not None else None

    def _setting(self, span: Span) -> cst.Assign | cst.Arg | None:
        for node in walk(self._editor.module):
            if isinstance(node, cst.Assign) and any(
                self._editor.span(assigned.target) == span for assigned in node.targets
            ):
                return node
            if isinstance(node, cst.Arg) and span in (self._editor.span(node), self._editor.span(node.value)):
                return node
        return None


def function_of(editor: Editor, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the function that contains ``node``; None at the top level."""
    return next(
        (ancestor for ancestor in editor.ancestors(node) if isinstance(ancestor, (cst.FunctionDef, cst.Lambda))), None
    )


def _bound(node: cst.Assign | cst.AugAssign) -> set[str]:
    targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
    return {target.value for target in targets if isinstance(target, cst.Name)}


def _is_variable(value: cst.BaseExpression) -> bool:
    """True if the value of an expression depends on its place."""
    return any(isinstance(node, cst.Name) and node.value not in ("True", "False", "None") for node in walk(value))
