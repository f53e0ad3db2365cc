"""TFM409: the visible GPUs are set again, which replaces those that were set before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import ANY, Setting, State, Tri
from tfmemlint.interpreter.values import Const, Device, Devices, Seq, Value
from tfmemlint.knowledge.functions import SET_VISIBLE
from tfmemlint.knowledge.variables import VISIBLE, shown
from tfmemlint.model.finding import AT_LAUNCHES, Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.cells import cells_of
from tfmemlint.rulekit.env_writes import text_of
from tfmemlint.rulekit.explain import in_line, short, visible_intent
from tfmemlint.rulekit.loops import loop_with_another
from tfmemlint.rulekit.replaced_settings import are_in_two_cells, comes_always, is_another_pass
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program


_STARTS = re.compile(r"\b(?:Process|Thread|fork\w*|Popen|subprocess|Pool\w*|\w+Executor|joblib|ray|spawn\w*)\b")
"""Functions that start a process, or a thread, which has the visible GPUs of this moment."""


class VisibleDevicesReplaced(Rule):
    """The visible GPUs are set again, which replaces those that were set before.

    What it does
    ------------
    Finds ``set_visible_devices`` in a loop, with another GPU in each pass; and two calls with different GPUs, of which
    the second comes in every run in which the first does, before the runtime starts. A choice that follows ``[]``, or
    the list of all GPUs, is not reported. Finds ``CUDA_VISIBLE_DEVICES`` that a program sets to GPUs which the script
    or container that starts it has not given it.

    Why it matters
    --------------
    The call sets the whole list of visible GPUs; it adds none. Only what is set last is visible when the runtime
    starts, and nothing is raised: a loop over two GPUs leaves the second one, and a strategy trains on that alone. A
    module that makes all GPUs visible undoes the choice of another one, and the program takes the memory of GPUs that
    others work on. Seen on TensorFlow 2.21.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus[:2]:
        tf.config.set_visible_devices(gpu, "GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[:2], "GPU")
    ```
    """

    code = "TFM409"
    name = "visible-devices-replaced"
    severity = Severity.WARNING
    triggers = ("visible_device", "VISIBLE_DEVICES")
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that replaces what another one, or an earlier pass of its loop, has set."""
        yield from self._given_otherwise(program)
        reported: set[tuple[str, Span]] = set()
        cells = cells_of(program.source)
        for call in program.calls(*SET_VISIBLE):
            devices, setting = call.arg(0, "devices"), call.state.visible
            if devices is None or setting is None or (call.path, call.span) in reported or not _takes_effect(call):
                continue
            earlier = _earlier(setting, call)
            if earlier is None or _starts_in_between(program, earlier, call):
                continue
            finding = None
            if is_another_pass(earlier, call):
                finding = self._in_loop(program, call, earlier, devices)
            elif not are_in_two_cells(cells, earlier, call) and comes_always(earlier, call):
                finding = self._again(program, call, earlier, devices)
            if finding is not None:
                reported.add((call.path, call.span))
                yield finding

    def _given_otherwise(self, program: Program) -> Iterator[Finding]:
        """Yield the variable where a program takes GPUs that what starts it has not given it."""
        given = None
        for write in program.of(EnvWrite):
            numbers = shown(text) if write.name == VISIBLE and (text := text_of(write)) else None
            if write.name != VISIBLE or not _is_python(program.source.path):
                continue
            if not _is_python(write.path):
                given = (write, numbers) if numbers else None
            elif given is not None and numbers and not set(numbers) <= set(given[1]):
                replaces = write.how != "setdefault" and write.certain and not write.state.entry_unknown
                if replaces and write.state.allocator.has is Tri.NO:
                    yield self._takes_others(program, write, given[0])
                return
            else:
                return

    def _takes_others(self, program: Program, write: EnvWrite, given: EnvWrite) -> Finding:
        was, now = text_of(given), text_of(write)
        return self.finding(
            program,
            write,
            f"{VISIBLE}={now!r} replaces {VISIBLE}={was!r}, which the program is started with",
            intent=Intent(Purpose.VISIBLE, text=str(was)),
            outcome=f"The program takes GPUs {now}, not {was}; nothing is raised",
            advice=f"Leave the variable as it is given: os.environ.setdefault({VISIBLE!r}, ...)",
            fixable=write.how == "assign" and None not in (write.key, write.given),
            details={"key": write.key, "given": write.given, "default": True, AT_LAUNCHES: "any"},
            trace=(
                Step(given.path, given.span, f"{VISIBLE} is set to {was!r}"),
                *write.frames,
                Step(write.path, write.span, f"{VISIBLE} is set to {now!r} in its place"),
            ),
        )

    def _in_loop(self, program: Program, call: Call, earlier: Call, devices: Arg) -> Finding | None:
        first, last = _one_gpu(earlier.value(0, "devices")), _one_gpu(devices.value)
        if not call.repeated or devices.node is None or first is None or last is None:
            return None
        if isinstance(last.index, int) and first.index == last.index:
            return None
        loop = loop_with_another(program, call, devices.node)
        if loop is None:
            return None
        return self.finding(
            program,
            call,
            f"Each pass of the loop over {loop.text} replaces the visible GPU that the one before has set",
            intent=visible_intent(call),
            outcome="Only the GPU of the last pass is visible; nothing is raised",
            advice=f"Call {short(call.name)} once, with a list of all GPUs that are to be visible",
            trace=(
                *call.frames,
                Step(loop.path, loop.head, "goes through the loop more than once"),
                Step(call.path, call.span, f"makes {devices.text} the only visible GPU in each pass"),
            ),
            anchors={"loop": loop.span} if loop.own else {},
            details={"loop": True, "own": loop.own},
        )

    def _again(self, program: Program, call: Call, earlier: Call, devices: Arg) -> Finding | None:
        before = earlier.arg(0, "devices")
        if before is None or call.repeated or earlier.repeated or not _is_other(before.value, devices.value):
            return None
        every = isinstance(devices.value, Devices) and devices.value.whole
        if (earlier.path, earlier.span) == (call.path, call.span):
            message = f"{short(call.name)} is called again with other GPUs, and replaces the visible ones"
        elif every:
            message = f"{short(call.name)} makes all GPUs visible again, and undoes the choice {in_line(earlier)}"
        else:
            message = f"{short(call.name)} replaces the visible GPUs that the call {in_line(earlier)} sets"
        return self.finding(
            program,
            call,
            message,
            intent=Intent(Purpose.VISIBLE, text=before.text),
            outcome=f"The visible GPUs are {devices.text}, not {before.text}; nothing is raised"
            if devices.text != before.text
            else "The visible GPUs are those of the last call alone; nothing is raised",
            advice="Remove this call: all GPUs are visible where none are chosen"
            if every
            else "Choose the visible GPUs in one place, by one call with a list of all of them",
            trace=(
                *earlier.frames,
                Step(earlier.path, earlier.span, f"makes {before.text} visible"),
                *call.frames,
                Step(call.path, call.span, f"makes {devices.text} visible in their place"),
            ),
            details={"loop": False, "own": True, "replaces": True},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Make all GPUs of a loop visible by one call, or set the variable only where it is not given."""
        from tfmemlint.fixes.rewrites import env_variables, visible_list

        if finding.details.get("default"):
            env_variables.set_by_default(editor, finding)
        else:
            visible_list.show_at_once(editor, finding)


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyw", ".ipynb"))


def _takes_effect(call: Call) -> bool:
    """True if a call names GPUs and sets them, on a machine that may have several."""
    return (
        not call.has_star
        and call.value(1, "device_type") == Const("GPU")
        and call.effect is None
        and not call.state.one_gpu
        # Code that could not be followed may have set anything.
        and not (ANY in call.state.growth and call.state.growth[ANY].by is None)
    )


def _earlier(setting: Setting, call: Call) -> Call | None:
    """Return the call whose setting is in force where another call runs, on the ways on which there is one."""
    calls = [way.by for way in setting.ways if way is not None]
    found = calls[-1] if calls and all(by is not None and _takes_effect(by) for by in calls) else None
    return found if found is not None and _process(found.state) == _process(call.state) else None


def _process(state: State) -> tuple[object, ...]:
    """Return which process a state is of; what nothing calls may be of another one."""
    return state.in_child_process, state.forked, state.entry_unknown


def _starts_in_between(program: Program, earlier: Call, call: Call) -> bool:
    """True if a process or a thread, which may have use of the earlier setting, is started before it is replaced."""
    between: list[Call] | None = None
    for each in program.calls():
        if each is call:
            break
        if each is earlier:
            between = []
        elif between is not None:
            between.append(each)
    return between is None or any(_STARTS.search(each.name) for each in between)


def _one_gpu(value: Value) -> Device | None:
    """Return the only GPU of a call."""
    match value:
        case Device(kind="physical", type="GPU") as device:
            return device
        case Seq((Device(kind="physical", type="GPU") as device,)):
            return device
        case _:
            return None


def _is_other(first: Value, second: Value) -> bool:
    """True if the first list is a choice of GPUs, and the second one is known to be another."""
    before, after = _numbers(first), _numbers(second)
    if first == Seq(()) or (isinstance(first, Devices) and first.whole):
        return False
    if isinstance(second, Devices) and second.kind == "physical" and second.type == "GPU" and second.whole:
        device = _one_gpu(first)
        chosen = device is not None and not device.each
        return before is not None or chosen or (isinstance(first, Devices) and first.leaves_out)
    return after is not None and after != before and (before is not None or second == Seq(()))


def _numbers(value: Value) -> frozenset[int] | None:
    """Return the numbers of GPUs; None if they are not known. The last one, ``gpus[-1]``, may be any."""
    match value:
        case Device(kind="physical", type="GPU", index=int() as index, loop=False) if index >= 0:
            return frozenset({index})
        case Devices(kind="physical", type="GPU", numbers=range() as numbers):
            return frozenset(numbers)
        case Seq(items):
            found = [_numbers(item) for item in items if isinstance(item, Device)]
            known = [numbers for numbers in found if numbers is not None]
            return frozenset[int]().union(*known) if len(known) == len(items) else None
        case _:
            return None
