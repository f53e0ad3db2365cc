"""TFM309: the memory limits of a GPU add up to more memory than it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.values import Amount, Const, Limit, Seq
from tfmemlint.knowledge import units
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.knowledge.units import MIB
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import device_words, limit_intent
from tfmemlint.rulekit.made_up import LEAST_BYTES
from tfmemlint.rulekit.memory_totals import TOLERANCE, is_whole, known_limits, shares, stated_total
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program


class LimitsExceedMemory(Rule):
    """The memory limits of a GPU add up to more memory than it has.

    What it does
    ------------
    If the size of a GPU is known (``--gpu-memory 16GiB``, or ``gpu-memory`` in the configuration), finds memory limits
    above it: of one logical device, or of all logical devices of one GPU together. All GPUs are assumed to have that
    size. Without a known size, finds limits that are made of the host's memory (``psutil.virtual_memory()``), and
    logical devices of one GPU whose limits exceed what the program itself calls its memory: shares of ``CARD_MB`` that
    add up to more than 1, or all of it for each of them.

    Why it matters
    --------------
    Nothing is raised. TensorFlow asks for the whole limit, then for less and less until the driver grants it: of two
    logical devices the first gets its share, the second the remainder.

    Example
    -------
    ```python
    import tensorflow as tf

    # on a GPU of 16 GiB
    for gpu in tf.config.list_physical_devices("GPU"):
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=10000)
        tf.config.set_logical_device_configuration(gpu, [limit, limit])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=7500)
        tf.config.set_logical_device_configuration(gpu, [limit, limit])
    ```

    Ground
    ------
    Only the allocator in TensorFlow's C++ part shows this.
    """

    code = "TFM309"
    name = "limits-exceed-memory"
    severity = Severity.ERROR
    triggers = ("(?:Logical|Virtual)Device",)
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant limit above the size that the user has given."""
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limit = call.arg(0, "memory_limit")
            if limit is not None and isinstance(limit.value, Amount) and limit.value.unit == MIB:
                yield from self._of_the_host(program, call, limit, limit.value.source)
        yield from self._all_of_it_for_each(program)
        size = program.gpu_memory_mib
        if size is None:
            yield from self._by_its_own_words(program)
            return
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limits = known_limits([Limit(call.value(0, "memory_limit"))])
            given = call.arg(0, "memory_limit")
            if given is not None and limits and limits[0] > size and not _is_other_allocator(call):
                yield self.finding(
                    program,
                    call,
                    f"a memory limit of {limits[0]:g} MiB, where a GPU has {size:g} MiB",
                    span=given.span,
                    intent=Intent(Purpose.LIMIT, "", limits[0], given.text),
                    outcome=f"Nothing is raised: TensorFlow asks for less and less until it fits into the {size:g} MiB",
                    advice=f"Keep the sum of the limits of one GPU below {size:g} MiB",
                    fixable=False,
                )
        for call in program.calls(*SET_LOGICAL):
            logical, device = call.value(1, "logical_devices"), call.arg(0, "device")
            limits = known_limits(logical.items) if isinstance(logical, Seq) else None
            if device is None or not limits or max(limits) > size or sum(limits) <= size or _is_other_allocator(call):
                continue
            shown = " + ".join(f"{limit:g}" for limit in limits)
            words = device_words(device.value, device.text)
            yield self.finding(
                program,
                call,
                f"{shown} = {sum(limits):g} MiB for {words}, where a GPU has {size:g} MiB",
                intent=limit_intent(call),
                outcome="Nothing is raised: the logical devices that are used first get their limits, the last one gets"
                " what is left",
                advice=f"Keep the sum of the limits of one GPU below {size:g} MiB",
                fixable=False,
            )

    def _by_its_own_words(self, program: Program) -> Iterator[Finding]:
        """Yield limits of one GPU that together exceed what the program itself calls the memory of the GPU."""
        stated: tuple[str, float] | None = None
        for call in program.calls(*SET_LOGICAL):
            logical, device = call.value(1, "logical_devices"), call.arg(0, "device")
            limits = known_limits(logical.items) if isinstance(logical, Seq) else None
            if device is None or not limits or len(limits) < 2 or _is_other_allocator(call):
                continue
            assert isinstance(logical, Seq)
            found = shares(logical.items)
            if found is None:
                stated = stated or stated_total(program.tree)
                found = stated
            if found is None or sum(limits) <= found[1] * TOLERANCE or max(limits) >= found[1]:
                continue
            name, size = found
            shown = " + ".join(f"{limit:g}" for limit in limits)
            words = device_words(device.value, device.text)
            yield self.finding(
                program,
                call,
                f"{shown} = {sum(limits):g} MiB for {words}, where {name} is {size:g} MiB",
                severity=Severity.WARNING,
                intent=limit_intent(call),
                outcome="Nothing is raised: the logical devices that are used first get their limits, the last one gets"
                " what is left",
                advice=f"Keep the sum of the limits of one GPU below {size:g} MiB",
                fixable=False,
            )

    def _all_of_it_for_each(self, program: Program) -> Iterator[Finding]:
        """Yield limits that are all of the memory, or are meant for all, and that each of several devices gets."""
        reported: set[object] = set()
        for call in program.calls(*SET_LOGICAL):
            given = call.arg(1, "logical_devices")
            if given is None or _is_other_allocator(call):
                continue
            for limit in program.calls(*LOGICAL_CONFIGURATION):
                amount = limit.arg(0, "memory_limit")
                if amount is None or limit.path != call.path or (limit.path, amount.span) in reported:
                    continue
                number = _devices_of(program, call, given, limit, amount)
                if number is None:
                    continue
                reported.add((limit.path, amount.span))
                yield self.finding(
                    program,
                    limit,
                    f"Each of several logical devices of one GPU gets all of {amount.text}",
                    span=amount.span,
                    severity=Severity.WARNING,
                    intent=Intent(Purpose.LIMIT, "", None, amount.text),
                    outcome="Nothing is raised: the logical devices that are used first get their limits, the last one"
                    " gets what is left",
                    advice="Divide it by the number of logical devices",
                    fixable=bool(number),
                    details={"number": number, "total": "", "made_in": limit.path, "beside": True},
                )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Divide the limit by the number of logical devices."""
        from tfmemlint.fixes.rewrites import divided_limits

        divided_limits.divide(editor, finding)

    def _of_the_host(self, program: Program, call: Call, limit: Arg, source: str) -> Iterator[Finding]:
        if source in _OF_THE_HOST:
            yield self.finding(
                program,
                call,
                f"memory_limit is for a GPU: {limit.text} is of the host's memory, from {source}",
                span=limit.span,
                severity=Severity.WARNING,
                intent=Intent(Purpose.LIMIT, "", None, limit.text),
                outcome="Nothing is raised: where the host has more memory, TensorFlow takes nearly all of the GPU's",
                advice="Ask NVML for the GPU's memory: nvmlDeviceGetMemoryInfo",
                fixable=False,
            )


_OF_THE_HOST = ("virtual_memory()", "swap_memory()")
"""Functions of psutil."""


def _devices_of(program: Program, call: Call, given: Arg, limit: Call, amount: Arg) -> str | None:
    """Return the number of logical devices, as code, that a list has which makes each of them with the same limit,
    all of the memory; "" if it has no name there, None if it is no such list."""
    if limit.node is None or not _is_all_of_it(program, given, amount):
        return None
    tree = next((unit.tree for unit in program.units if unit.source.path == limit.path), program.tree)
    for node in all_nodes(tree):
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and node.elt is limit.node and len(node.generators) == 1:
            number = _passes(node.generators[0])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            listed, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
            if not isinstance(listed, ast.List) or [*listed.elts] != [limit.node]:
                continue
            number = ast.unparse(times)
        else:
            continue
        made = call.path == limit.path and _is_given(tree, call, given, limit)
        return number if made and number not in ("0", "1") else None
    return None


def _passes(generator: ast.comprehension) -> str:
    """Return the number of passes of a comprehension as code; "" where it is not written there."""
    iterated = generator.iter
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range":
        return ast.unparse(iterated.args[0]) if len(iterated.args) == 1 and not generator.ifs else ""
    return ""


def _is_given(tree: ast.AST, call: Call, given: Arg, limit: Call) -> bool:
    """Return True if what a limit is made in is given to a GPU as its logical devices: there, or by its name."""
    start, end = (given.span.row, given.span.column), (given.span.end_row, given.span.end_column)
    if start <= (limit.span.row, limit.span.column) <= end:
        return True
    return limit.function == call.function and given.text in _names_of(tree, limit)


def _names_of(tree: ast.AST, limit: Call) -> list[str]:
    """Return the names that the list gets in which a limit is made."""
    return [
        target.id
        for node in all_nodes(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, (ast.ListComp, ast.BinOp))
        and any(part is limit.node for part in ast.walk(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def _is_all_of_it(program: Program, given: Arg, amount: Arg) -> bool:
    """Return True if a limit is all of the memory of the GPU, by the number or by its name."""
    if is_whole(Limit(amount.value)):
        return True
    size = amount.value.value if isinstance(amount.value, Const) else None
    name = amount.text.rpartition(".")[2]
    listed = given.value.items if isinstance(given.value, Seq) else ()
    return (
        len(listed) > 1
        and isinstance(size, (int, float))
        and name.isidentifier()
        and units.is_memory_of_gpu(name, for_sure=True)
        and units.unit_in_name(name) in ("", MIB)
        and 1000 <= size < LEAST_BYTES
        and program.gpu_memory_mib is None
    )


def _is_other_allocator(call: Call) -> bool:
    """Return True if the program chooses an allocator that treats limits differently."""
    return "TF_GPU_ALLOCATOR" in call.state.env
