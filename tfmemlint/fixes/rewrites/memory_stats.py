"""Replace the memory statistics of ``tf.contrib``, which needed a session, by calls of the runtime."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.imports import is_docstring
from tfmemlint.fixes.rewrites import moved_names
from tfmemlint.fixes.rewrites.memory_reports import memory_info_at, session_block, total_memory_code, unwrap_with
from tfmemlint.fixes.rewrites.render_intent import free_name
from tfmemlint.fixes.rewrites.session_config_flow import Variables
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

REPORTS = {"BytesInUse": "current", "MaxBytesInUse": "peak", "BytesLimit": "total"}
PLACE = "tf.contrib.memory_stats"
_GPU = re.compile(r"(?:/?device:)?/?gpu:(\d+)$", re.IGNORECASE)


def replace_stats(editor: Editor, finding: Finding) -> None:
    """Replace ``BytesInUse()``, or the session's run of it, by a plain call.

    Raises:
        Withheld: it is in a graph, can't be followed, or the device that it is about isn't known.
    """
    stats = _Stats(editor, in_graph=bool(finding.details["graph_mode"]))
    if finding.details["imported"]:
        name = str(finding.details["name"]).rpartition(".")[2]
        if name in REPORTS:
            for call in moved_names.calls_of_import(editor, finding.span, name):
                stats.replace(call)
            moved_names.drop_name(editor, finding.span, name)
        else:
            raise Withheld("it isn't called here")
    else:
        func = editor.expression_at(finding.span)
        parent = editor.parent(func)
        if not isinstance(parent, cst.Call) or parent.func is not func:
            raise Withheld("it isn't called here")
        line = editor.import_of(func)
        if line is not None and "contrib" in editor.code(line):
            stats.replace_all_of(line)
        else:
            stats.replace(parent)
    editor.unsafe("Ask get_memory_info, without a session" if not stats.total else _OF_ALL)


def reset_before_work(editor: Editor, finding: Finding) -> None:
    """Reset the peak at the beginning of what reads it at its end: a loop's body, or a function.

    Raises:
        Withheld: the device has another name there, or what reads the peak has no block of its own.
    """
    read = editor.call_at(finding.span)
    home = editor.statement_at(finding.anchors["home"])
    if len(read.args) != 1 or not isinstance(home, (cst.For, cst.FunctionDef)):
        raise Withheld("the device is not named in the call alone")
    if not isinstance(home.body, cst.IndentedBlock):
        raise Withheld("it shares a line with the loop")
    device = editor.code(read.args[0].value)
    root = re.match(r"\w*", device)
    inside = matchers.findall(home.body, matchers.AssignTarget() | matchers.For() | matchers.AsName())
    targets = [editor.code(each.target) for each in inside if isinstance(each, (cst.AssignTarget, cst.For))]
    if isinstance(read.args[0].value, cst.Call) or (root is not None and root[0] in targets):
        raise Withheld("the device is not known at the beginning")
    first = next((line for line in home.body.body if not is_docstring(line)), home.body.body[0])
    editor.insert_before(first, f"{editor.tf('tf.config.experimental.reset_memory_stats', first)}({device})\n")
    editor.unsafe("Reset the peak at the beginning")


def reset_in_callback(editor: Editor, finding: Finding, run: str) -> None:
    """Reset the peak at the beginning of what a callback of Keras accompanies: ``train``, ``test`` or ``predict``.

    Raises:
        Withheld: the device is not known there, or the class may inherit that method from another one.
    """
    read = editor.call_at(finding.span)
    home = editor.statement_at(finding.anchors["home"])
    device = editor.code(read.args[0].value) if len(read.args) == 1 else ""
    if not isinstance(home, (cst.ClassDef, cst.FunctionDef)) or not isinstance(home.body, cst.IndentedBlock):
        raise Withheld("it shares a line with its class")
    if not re.fullmatch(r"self\.\w{1,80}|[\"'][^\"'\\]{1,80}[\"']|[A-Z_0-9]{1,80}", device):
        raise Withheld("the device is not known at the beginning")
    reset = editor.tf("tf.config.experimental.reset_memory_stats", home)
    if isinstance(home, cst.FunctionDef):
        first = next((line for line in home.body.body if not is_docstring(line)), home.body.body[0])
        editor.insert_before(first, f"{reset}({device})\n")
    else:
        if not all(editor.code(base.value).endswith(".Callback") for base in home.bases):
            raise Withheld("the class inherits from another callback")
        hooks = (each for each in home.body.body if isinstance(each, cst.FunctionDef) and each.name.value[:3] == "on_")
        method = f"def on_{run}_begin(self, logs=None):\n    {reset}({device})\n"
        editor.insert_before(next(hooks), method, apart=True)
    editor.unsafe("Reset the peak at the beginning")


def reset_behind(editor: Editor, finding: Finding) -> None:
    """Reset the peak behind the statement that tells it, so that the next pass begins anew.

    Raises:
        Withheld: the device is named by more than a name, or the statement leaves its function.
    """
    read = editor.call_at(finding.anchors["read"])
    told = editor.statement_at(finding.span)
    plain = len(read.args) == 1 and isinstance(read.args[0].value, (cst.Name, cst.Attribute, cst.SimpleString))
    if not plain or (isinstance(told, cst.SimpleStatementLine) and isinstance(told.body[-1], cst.Return)):
        raise Withheld("there is no plain place for it behind the report")
    reset = editor.tf("tf.config.experimental.reset_memory_stats", told)
    editor.insert_after(told, f"{reset}({editor.code(read.args[0].value)})\n")
    editor.unsafe("Reset the peak behind the report")


def reset_after(editor: Editor, finding: Finding) -> None:
    """Move the reset of the peak below the statement that reads it.

    Raises:
        Withheld: the two aren't statements of one block.
    """
    reset = editor.statement_at(finding.span)
    around = editor.parent(reset)
    loop = editor.parent(around) if around is not None else None
    if isinstance(loop, cst.For):
        reset = loop
    read = editor.statement_at(finding.anchors["read"])
    while editor.parent(read) is not editor.parent(reset):
        outer = editor.parent(read)
        if outer is None:
            raise Withheld("the peak is read in another block")
        read = outer  # type: ignore[assignment]
    code = editor.code(reset).strip("\n") + "\n"
    returned = read.body[0] if isinstance(read, cst.SimpleStatementLine) else None
    if isinstance(returned, cst.Return) and returned.value is not None:
        name = free_name(editor, "peak")
        editor.insert_before(read, f"{name} = {editor.code(returned.value)}\n{code}")
        editor.replace(returned.value, name)
    else:
        editor.insert_after(read, code)
    editor.discard(reset)
    editor.unsafe("Read the peak, then reset it")


_OF_ALL = "Ask NVML for the memory of the GPU, in bytes: TensorFlow does not tell what its allocator may take of it"


class _Stats:
    """One rewrite. It leaves alone what it has rewritten already."""

    def __init__(self, editor: Editor, *, in_graph: bool) -> None:
        self._editor = editor
        self._in_graph = in_graph
        self._done: set[cst.CSTNode] = set()
        self._variables: Variables | None = None
        self.total = False

    def replace_all_of(self, line: cst.Import | cst.ImportFrom) -> None:
        """Rewrite all calls of functions of the imported statistics module, and remove its import."""
        editor = self._editor
        calls = [node for node in walk(editor.module) if isinstance(node, cst.Call) and self._report(node)]
        for call in sorted(calls, key=editor.span):
            self.replace(call)
        inside = {id(node) for call in calls for node in walk(call)}
        if isinstance(line.names, cst.ImportStar) or len(line.names) > 1:
            raise Withheld("other modules are imported with it")
        local = line.names[0].evaluated_alias or line.names[0].evaluated_name.split(".")[0]
        uses = [node for node in walk(editor.module) if isinstance(node, cst.Name) and node.value == local]
        for node in uses:
            if id(node) not in inside and not any(ancestor is line for ancestor in editor.ancestors(node)):
                raise Withheld(f"{local} is used in another way (line {editor.span(node).row})")
        editor.remove(editor.statement_of(line))

    def replace(self, call: cst.Call) -> None:
        """Rewrite a call, and the runs that evaluate it."""
        if call in self._done:
            return
        editor = self._editor
        outer, assigned = self._evaluation(call), editor.parent(call)
        if outer is not None:
            self._evaluated(outer)
        elif isinstance(assigned, cst.Assign) and (runs := self._runs_of(assigned)):
            for run in runs:
                self._evaluated(run)
            self._done.add(call)
            self._remove(assigned)
        elif self._in_graph:
            raise Withheld("in a graph it would be called only once, when the graph is built")
        elif self._is_handed_on(call):
            raise Withheld("a session runs it together with other things")
        else:
            self._done.add(call)
            editor.replace(call, self._text(call, call))

    def _report(self, call: cst.Call) -> str:
        """Return the statistic that a call asks for; "" for any other call."""
        place, _, name = self._editor.resolve(call.func).rpartition(".")
        return REPORTS.get(name, "") if place.startswith(PLACE) and not call.args else ""

    def _evaluation(self, node: cst.BaseExpression) -> cst.Call | None:
        """Return the ``session.run(node)`` (also of a list of reports only) or the ``node.eval()`` around a node."""
        editor = self._editor
        parent = editor.parent(node)
        if isinstance(parent, cst.Attribute) and parent.attr.value == "eval":
            outer = editor.parent(parent)
            return outer if isinstance(outer, cst.Call) and outer.func is parent else None
        if isinstance(parent, (cst.Element, cst.DictElement)):
            whole = editor.parent(parent)
            assert isinstance(whole, (cst.List, cst.Tuple, cst.Set, cst.Dict))
            parent = editor.parent(whole)
            if not all(isinstance(element, (cst.Element, cst.DictElement)) for element in whole.elements):
                return None
            if not all(self._source(element.value) is not None for element in whole.elements):
                return None
        run = editor.parent(parent) if isinstance(parent, cst.Arg) else None
        is_run = isinstance(run, cst.Call) and isinstance(run.func, cst.Attribute) and run.func.attr.value == "run"
        return run if is_run and isinstance(run, cst.Call) and len(run.args) == 1 else None

    def _source(self, node: cst.BaseExpression) -> cst.Call | None:
        """Return the call of a report that an expression is, or that its variable holds."""
        if isinstance(node, cst.Call):
            return node if self._report(node) else None
        if not isinstance(node, cst.Name):
            return None
        places = [self._editor.parent(use) for use in self._all().uses(self._all().of(node))]
        given = [self._editor.parent(around) for around in places if isinstance(around, cst.AssignTarget)]
        if len(given) == 1 and isinstance(given[0], cst.Assign) and isinstance(given[0].value, cst.Call):
            return given[0].value if self._report(given[0].value) else None
        return None

    def _all(self) -> Variables:
        if self._variables is None:
            self._variables = Variables(self._editor)
        return self._variables

    def _runs_of(self, assigned: cst.Assign) -> list[cst.Call]:
        """Return the runs that evaluate the variable of a report, if it has no other use."""
        target = assigned.targets[0].target
        if len(assigned.targets) != 1 or not isinstance(target, cst.Name):
            return []
        uses = [use for use in self._all().uses(self._all().of(target)) if use is not target]
        runs = [self._evaluation(use) for use in uses]
        found = [evaluated for evaluated in runs if evaluated is not None]
        if found and len(found) < len(runs):
            raise Withheld(f"{target.value} is used in other ways, too")
        if not found and any(self._is_handed_on(use) for use in uses):
            raise Withheld("its result is run by a session later")
        return found

    def _is_handed_on(self, node: cst.BaseExpression) -> bool:
        """True if some ``run`` receives a node among other things."""
        for ancestor in self._editor.ancestors(node):
            if isinstance(ancestor, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return False
            if (
                isinstance(ancestor, cst.Call)
                and isinstance(ancestor.func, cst.Attribute)
                and ancestor.func.attr.value == "run"
            ):
                return True
        return False

    def _evaluated(self, outer: cst.Call) -> None:
        """Replace a run, or an ``eval()``, by a call or a list of calls."""
        editor = self._editor
        if outer in self._done:
            return
        self._done.add(outer)
        assert isinstance(outer.func, cst.Attribute)
        if outer.func.attr.value == "eval":
            source = self._source(outer.func.value)
            assert source is not None
            self._done.add(source)
            editor.replace(outer, self._text(source, outer))
            return
        around = session_block(editor, outer, outer.func.value)
        given = outer.args[0].value
        if isinstance(given, (cst.List, cst.Tuple, cst.Dict)):
            for element in given.elements:
                source = self._source(element.value)
                assert source is not None
                self._done.add(source)
                editor.replace(element.value, self._text(source, outer, around))
            editor.replace(outer, editor.code(given))
        else:
            source = self._source(given)
            assert source is not None
            self._done.add(source)
            editor.replace(outer, self._text(source, outer, around))
        if around is not None:
            unwrap_with(editor, around)

    def _text(self, call: cst.Call, place: cst.CSTNode, around: cst.With | None = None) -> str:
        """Return the code that replaces a call of a report at ``place``."""
        editor, report = self._editor, self._report(call)
        number = self._device(call)
        if report != "total":
            return memory_info_at(editor, place, report, around, number)
        self.total = True
        return total_memory_code(editor, number)

    def _device(self, call: cst.Call) -> int:
        """Return the number of the GPU that a report is about, from the ``with tf.device(...)`` around it."""
        for ancestor in self._editor.ancestors(call):
            for item in ancestor.items if isinstance(ancestor, cst.With) else ():
                if not isinstance(item.item, cst.Call) or not self._editor.code(item.item.func).endswith("device"):
                    continue
                given = item.item.args[0].value if item.item.args else None
                value = given.evaluated_value if isinstance(given, cst.SimpleString) else None
                found = _GPU.search(value) if isinstance(value, str) else None
                if found is None:
                    raise Withheld("it is not known which GPU this is about")
                return int(found[1])
        return 0

    def _remove(self, assigned: cst.Assign) -> None:
        """Remove the statement that keeps a report for a session, and a ``with`` that contains nothing else."""
        statement = self._editor.statement_of(assigned)
        block = self._editor.parent(statement)
        around = self._editor.parent(block) if isinstance(block, cst.IndentedBlock) and len(block.body) == 1 else None
        if isinstance(around, cst.With) and all(item.asname is None for item in around.items):
            statement = around
        self._editor.remove(statement)


__all__ = ["PLACE", "REPORTS", "replace_stats"]
