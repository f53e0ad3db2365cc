"""The renderer of intents: a wish about a GPU's memory, written with the functions that exist in the targeted
release."""

from __future__ import annotations

import ast
import re
from textwrap import indent
from typing import TYPE_CHECKING

from tfmemlint.fixes.rewrites import memory_sizes
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge import names

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

WIDTH = 100
"""Characters; a longer call is written on several lines."""
BLACK = 88
"""The same in a file that may be formatted by Black, which leaves what ends in a comma on lines of its own."""


def width(editor: Editor) -> int:
    """How long a line may be: Black writes double quotes, and who writes others does not use it."""
    return BLACK if editor.quoted("") == '""' else WIDTH


def spell(editor: Editor, name: str) -> str:
    """How a function is called in the file: in releases before 2.1 by its older name."""
    return editor.tf(names.older_twin(name, editor.target) or name)


def all_gpus(editor: Editor) -> str:
    """The list of all GPUs."""
    return f"{spell(editor, 'tf.config.list_physical_devices')}({editor.quoted('GPU')})"


def growth(editor: Editor, device: str, enable: str = "True", function: str = "") -> str:
    """Memory growth for one device; ``function``: how the function is written here, where that is known."""
    return f"{function or editor.tf('tf.config.experimental.set_memory_growth')}({device}, {enable})"


def growth_for_all(editor: Editor, enable: str = "True", gpus: str = "") -> str:
    """Memory growth for every GPU, as a loop that is right with none, one, or many; ``gpus``: their list as code."""
    gpu = free_name(editor, "gpu")
    return f"for {gpu} in {gpus or all_gpus(editor)}:\n    {growth(editor, gpu, enable)}\n"


def limit(editor: Editor, device: str, mib: str, column: int = 0) -> str:
    """One logical device of ``mib`` MiB; ``column`` is the indentation of the statement, in characters."""
    function = spell(editor, "tf.config.set_logical_device_configuration")
    logical = spell(editor, "tf.config.LogicalDeviceConfiguration")
    configuration = f"[{logical}(memory_limit={mib})]"
    line = f"{function}({device}, {configuration})"
    if column + len(line) <= width(editor) or "\n" in line:
        return line
    # The lines are reckoned from the statement's own indentation, which the tree adds to them.
    if column + len(configuration) + 5 > width(editor) == BLACK:
        configuration = f"[\n        {logical}(\n            memory_limit={mib},\n        ),\n    ]"
    return f"{function}(\n    {device},\n    {configuration},\n)"


def share_for_all(editor: Editor, share: str, gpus: str = "") -> str:
    """A limit of that share of its memory for every GPU, as a loop; ``gpus``: their list as code."""
    gpu = free_name(editor, "gpu")
    call = limit(editor, gpu, editor.mib_of_share(gpu, share), 4)
    return f"for {gpu} in {gpus or all_gpus(editor)}:\n{indent(call, '    ')}\n"


def free_name(editor: Editor, wanted: str) -> str:
    """``wanted``, or a like name that the file does not use: a loop must not overwrite what is read later."""
    nodes = list(ast.walk(ast.parse(editor.text)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for name in (wanted, f"physical_{wanted}", f"each_{wanted}"):
        if name not in used:
            return name
    number = 2
    while f"{wanted}_{number}" in used:
        number += 1
    return f"{wanted}_{number}"


def in_mib(editor: Editor, amount: str, unit: str, device: str) -> str:
    """An amount of memory as code that comes to MiB.

    Raises:
        Withheld: nobody knows its unit, or which device a share is of.
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
            raise Withheld("which GPU this share is of isn't known here")
        return editor.mib_of_share(device, amount)
    raise Withheld(f"whether {amount or 'the amount'} is in MiB or a share of the memory isn't known")


def logical_name(device: str, index: object, *, guarded: bool, editor: Editor) -> str:
    """The name of the logical device for a physical one, as code. Without a GPU in sight of a guard it is the CPU, of
    which TensorFlow reports zeros."""
    if isinstance(index, int) and not isinstance(index, bool):
        name = editor.quoted(f"GPU:{index}")
    elif device and not is_no_device(device):
        return f"f\"GPU:{{{device}.name.rsplit(':', 1)[-1]}}\""
    else:
        name = editor.quoted("GPU:0")
    if guarded:
        return name
    # The list that the device is from, where it has a name: `gpus` of `gpus[0]`.
    known = re.fullmatch(r"([A-Za-z_]\w*)\[\d+\]", device)
    gpus = known[1] if known is not None else all_gpus(editor)
    there = f"len({gpus}) > {index}" if isinstance(index, int) and index > 0 else gpus
    return f"{name} if {there} else {editor.quoted('CPU:0')}"


def is_no_device(text: str) -> bool:
    """Whether an argument is a string or a number: no device of TensorFlow's."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True
