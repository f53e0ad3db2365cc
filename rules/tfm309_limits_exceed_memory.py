"""TFM309: the memory limits of a GPU add up to more memory than it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Amount, Limit, Seq
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.knowledge.units import MIB
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import device_words, limit_intent
from tfmemlint.rulekit.memory_totals import TOLERANCE, known_limits, shares, stated_total
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


def _is_other_allocator(call: Call) -> bool:
    """Return True if the program chooses an allocator that treats limits differently."""
    return "TF_GPU_ALLOCATOR" in call.state.env
