"""Render intents: write an intent about a GPU's memory with the functions of the target release."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from textwrap import indent
from typing import TYPE_CHECKING

from tfmemlint.fixes.concrete_tree import syntax_nodes
from tfmemlint.fixes.rewrites import memory_sizes
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge import names
from tfmemlint.model.patterns import late_pattern

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def spell(editor: Editor, name: str) -> str:
    """Return the spelling of a function in the file; before release 2.1, of its older name.

    Raises:
        Withheld: the release has neither.
    """
    known = names.older_twin(name, editor.target) or name
    if not names.exists(known, editor.target):
        raise Withheld(f"{known} is not in TensorFlow {editor.target}")
    return editor.tf(known)


def all_gpus(editor: Editor) -> str:
    """Return the code that lists all GPUs."""
    return f"{spell(editor, 'tf.config.list_physical_devices')}({editor.quoted('GPU')})"


def growth(editor: Editor, device: str, enable: str = "True", function: str = "") -> str:
    """Return the code for memory growth on one device; ``function`` is the function's spelling, if it is known."""
    return f"{function or spell(editor, 'tf.config.experimental.set_memory_growth')}({device}, {enable})"


def growth_for_all(editor: Editor, enable: str = "True", gpus: str = "") -> str:
    """Return a loop that sets memory growth on every GPU, whether there are none, one or many.

    ``gpus`` is the code of their list.
    """
    gpu = free_name(editor, "gpu")
    return f"for {gpu} in {gpus or all_gpus(editor)}:\n    {growth(editor, gpu, enable)}\n"


def limit(editor: Editor, device: str, mib: str, column: int = 0) -> str:
    """Return the code for one logical device of ``mib`` MiB; ``column`` is the statement's indentation in
    characters.
    """
    function = spell(editor, "tf.config.set_logical_device_configuration")
    logical = spell(editor, "tf.config.LogicalDeviceConfiguration")
    configuration = f"[{logical}(memory_limit={mib})]"
    line = f"{function}({device}, {configuration})"
    if column + len(line) <= editor.line_length or "\n" in line:
        return line
    # The lines are relative to the statement's indentation, which the tree adds.
    # Black keeps arguments on lines of their own if the last one has a comma.
    if column + len(configuration) + 5 > editor.line_length:
        configuration = f"[\n        {logical}(\n            memory_limit={mib},\n        ),\n    ]"
    return f"{function}(\n    {device},\n    {configuration},\n)"


def limit_for_all(editor: Editor, amount: str, unit: str) -> str:
    """Return a loop that limits every GPU to an amount; ``unit`` is its unit, as of `in_mib`."""
    gpu = free_name(editor, "gpu")
    mib = in_mib(editor, amount, unit, gpu)
    return f"for {gpu} in {all_gpus(editor)}:\n{indent(limit(editor, gpu, mib, 4), '    ')}\n"


def share_for_all(editor: Editor, share: str, gpus: str = "") -> str:
    """Return a loop that limits every GPU to a share of its memory; ``gpus`` is the code of their list."""
    gpu = free_name(editor, "gpu")
    call = limit(editor, gpu, editor.mib_of_share(gpu, share), 4)
    return f"for {gpu} in {gpus or all_gpus(editor)}:\n{indent(call, '    ')}\n"


def free_name(editor: Editor, wanted: str) -> str:
    """Return ``wanted``, or a similar name that the file does not use: a loop must not overwrite a variable."""
    used = _used_names(editor.text)
    for name in (wanted, f"physical_{wanted}", f"each_{wanted}"):
        if name not in used:
            return name
    number = 2
    while f"{wanted}_{number}" in used:
        number += 1
    return f"{wanted}_{number}"


@lru_cache(maxsize=8)
def _used_names(text: str) -> frozenset[str]:
    nodes = syntax_nodes(text)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(used | {node.arg for node in nodes if isinstance(node, ast.arg)})


def in_mib(editor: Editor, amount: str, unit: str, device: str) -> str:
    """Return the code for an amount of memory in MiB.

    Raises:
        Withheld: its unit isn't known, or the device that a share is of.
    """
    if unit == "mib":
        return amount
    if unit == "bytes":
        return memory_sizes.bytes_in_mib(amount)
    if unit == "gib":
        return memory_sizes.gib_in_mib(amount)
    if unit == "percent":
        return in_mib(editor, str((memory_sizes.number(amount) or 0.0) / 100), "fraction", device)
    if unit == "fraction":
        if not device and editor.gpu_memory_mib is None:
            raise Withheld("it is not known which GPU this share is of")
        return editor.mib_of_share(device, amount)
    raise Withheld(f"it is not known whether {amount or 'the amount'} is in MiB or a share of the memory")


def logical_name(device: str, index: object, *, guarded: bool, editor: Editor) -> str:
    """Return the code for the name of a physical device's logical device.

    If no guard is known and there is no GPU, it is the CPU, for which TensorFlow reports zeros.
    """
    if isinstance(index, int) and not isinstance(index, bool):
        name = editor.quoted(f"GPU:{index}")
    elif device and not is_no_device(device):
        return f"f\"GPU:{{{device}.name.rsplit(':', 1)[-1]}}\""
    else:
        name = editor.quoted("GPU:0")
    if guarded:
        return name
    # The list that the device is from, if it has a name: `gpus` of `gpus[0]`.
    known = re.fullmatch(r"([A-Za-z_]\w*)\[\d+\]", device)
    gpus = known[1] if known is not None else all_gpus(editor)
    there = f"len({gpus}) > {index}" if isinstance(index, int) and index > 0 else gpus
    return f"{name} if {there} else {editor.quoted('CPU:0')}"


_ALL_GPUS = frozenset({"all", "*", "any", "gpu", "gpus", "every", "each"})
"""Words for all GPUs, where made-up calls take a device."""
_ONE_GPU = late_pattern(r"/?(?:physical_device:|device:)?/?gpu:(\d+)", re.IGNORECASE)


def gpus_named(editor: Editor, text: str) -> str | None:
    """Return the code of the physical GPU that a string literal names, "" for all of them; None for other literals."""
    value = ast.literal_eval(text)
    if not isinstance(value, str):
        return None
    number = number_of_gpu(value)
    if number is not None:
        return f"{all_gpus(editor)}[{number}]"
    return "" if value.strip().lower() in _ALL_GPUS else None


def number_of_gpu(name: str) -> int | None:
    """Return the number in ``GPU:1`` or ``/physical_device:GPU:1``; None for other texts."""
    match = _ONE_GPU.fullmatch(name.strip())
    return int(match[1]) if match is not None else None


def is_no_device(text: str) -> bool:
    """True if an argument is a string or a number, and so not one of TensorFlow's devices."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True
