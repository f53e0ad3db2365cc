"""TFM309: the memory limits of a GPU add up to more memory than it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.facts import folding
from tfmemlint.facts.syntax import last_word
from tfmemlint.interpreter.values import Amount, Const, Limit, Seq
from tfmemlint.knowledge import units
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.knowledge.units import MIB
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import device_words, limit_intent
from tfmemlint.rulekit.made_up import LEAST_BYTES
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Arg, Call, Program


class LimitsExceedMemory(Rule):
    """The memory limits of a GPU add up to more memory than it has.

    What it does
    ------------
    If the size of a GPU is known (``--gpu-memory 16GiB``, or ``gpu-memory`` in the configuration), finds memory limits
    above it: of one logical device, or of all logical devices of one GPU together. All GPUs are assumed to have that
    size. Without a known size, finds limits that are made of the host's memory (``psutil.virtual_memory()``), and
    logical devices of one GPU whose limits exceed what the program itself calls its memory: shares of ``CARD_MB`` that
    add up to more than 1.

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

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant limit above the size that the user has given."""
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limit = call.arg(0, "memory_limit")
            if limit is not None and isinstance(limit.value, Amount) and limit.value.unit == MIB:
                yield from self._of_the_host(program, call, limit, limit.value.source)
        size = program.gpu_memory_mib
        if size is None:
            yield from self._by_its_own_words(program)
            return
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limits = _known([Limit(call.value(0, "memory_limit"))])
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
                )
        for call in program.calls(*SET_LOGICAL):
            logical, device = call.value(1, "logical_devices"), call.arg(0, "device")
            limits = _known(logical.items) if isinstance(logical, Seq) else None
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
            )

    def _by_its_own_words(self, program: Program) -> Iterator[Finding]:
        """Yield limits of one GPU that together exceed what the program itself calls the memory of the GPU."""
        stated: tuple[str, float] | None = None
        for call in program.calls(*SET_LOGICAL):
            logical, device = call.value(1, "logical_devices"), call.arg(0, "device")
            limits = _known(logical.items) if isinstance(logical, Seq) else None
            if device is None or not limits or len(limits) < 2 or _is_other_allocator(call):
                continue
            assert isinstance(logical, Seq)
            found = _shares(logical.items)
            if found is None:
                stated = stated or _stated_total(program.tree)
                found = stated
            if found is None or sum(limits) <= found[1] * _TOLERANCE or max(limits) >= found[1]:
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
            )

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
            )


_OF_THE_HOST = ("virtual_memory()", "swap_memory()")
"""Functions of psutil."""


_TOLERANCE = 1.001
"""Shares such as 0.33 and 0.67 may exceed 1 by the rounding."""


def _shares(items: Sequence[object]) -> tuple[str, float] | None:
    """Return the name and the size in MiB of the memory that all limits are shares of; None if there is none."""
    parts = {item.part.name: item.part.total for item in items if isinstance(item, Limit) and item.part is not None}
    whole = all(isinstance(item, Limit) and item.part is not None for item in items)
    return next(iter(parts.items())) if whole and len(parts) == 1 else None


def _stated_total(tree: ast.AST) -> tuple[str, float] | None:
    """Return the name and the size in MiB of a constant that says how much memory the GPU has; None if there is none,
    or there are several."""
    found: set[tuple[str, float]] = set()
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        name = last_word(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name and units.is_memory_of_gpu(name, for_sure=True):
            size = _in_mib(name, _constant(node.value))
            if size is None:
                return None
            found.add((name, size))
    return found.pop() if len(found) == 1 else None


def _constant(node: ast.expr | None) -> float | None:
    """Return the number that an expression of numbers is; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.BinOp):
        left, right = _constant(node.left), _constant(node.right)
        if left is None or right is None:
            return None
        try:
            result = folding.binary(node.op, left, right)
        except folding.NotFolded:
            return None
        return result if isinstance(result, (int, float)) else None
    return None


def _in_mib(name: str, number: float | None) -> float | None:
    """Return an amount in MiB, in the unit that its name states, or else its size; None if it is none of a GPU."""
    if number is None:
        return None
    unit = units.unit_in_name(name)
    if not unit:
        unit = units.MIB if number >= _MIN_TOTAL_MIB else units.GIB
    size = number * 2.0 ** -units.factor_to_mib(unit)
    return size if _MIN_TOTAL_MIB <= size < LEAST_BYTES else None


_MIN_TOTAL_MIB = 1_000
"""No GPU that TensorFlow uses has less memory."""


def _known(items: Sequence[object]) -> list[float] | None:
    """Return the limits in MiB, or None if one is unknown or implausible; other rules report implausible units."""
    found: list[float] = []
    for item in items:
        value = item.value if isinstance(item, Limit) else None
        number = value.value if isinstance(value, Const) else None
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 1 <= number < LEAST_BYTES:
            return None
        found.append(number)
    return found


def _is_other_allocator(call: Call) -> bool:
    """Return True if the program chooses an allocator that treats limits differently."""
    return "TF_GPU_ALLOCATOR" in call.state.env
