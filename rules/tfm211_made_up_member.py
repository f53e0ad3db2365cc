"""TFM211: an attribute that TensorFlow's object does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import MissingMember
from tfmemlint.interpreter.values import Made
from tfmemlint.knowledge import purposes, types
from tfmemlint.knowledge.members import Way, way_to
from tfmemlint.knowledge.purposes import KEYS, REAL_KEYS
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import attribute_severity, device_words, handler_notes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


_NEWEST = Target.newest()


class MadeUpMember(Rule):
    """An attribute that TensorFlow's object does not have.

    What it does
    ------------
    Finds attributes, methods and fields that the type of an object lacks: of physical and logical devices
    (``gpu.memory_limit``, ``gpu.index``), of lists of them (``gpus.name``), of what ``get_memory_info`` and
    ``get_device_details`` return, of ``LogicalDeviceConfiguration``, of strategies, and of TF1's ``ConfigProto`` and
    ``GPUOptions``. The type has to be certain, and the members are those of the release that the code is for.

    Why it matters
    --------------
    The line raises ``AttributeError``, often only on the machine that has a GPU. A device has a ``name`` and a
    ``device_type``, and says nothing about its memory. It is a named tuple: its ``index`` is the method of a tuple, not
    the device's number.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.allow_growth = True
    session = tf.compat.v1.Session(config=config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    session = tf.compat.v1.Session(config=config)
    ```

    Seen as
    -------
    ``AttributeError: Protocol message ConfigProto has no "allow_growth" field.``, or
    ``AttributeError: 'PhysicalDevice' object has no attribute 'memory_limit'``
    """

    code = "TFM211"
    name = "made-up-member"
    severity = Severity.ERROR
    triggers = (
        "(?:logical|physical|visible|local)_device",
        "(?:Logical|Virtual)Device",
        "get_device_details",
        "memory_info",
        "ConfigProto|GPUOptions",
        r"\bSession\(",
        r"distribute\.\w{0,60}\.?\w{0,60}(?:Strategy|Resolver)",
    )
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Members that are missing for sure, where nothing tries whether they are there."""
        # Of a call of a well-known invention another rule speaks.
        seen: set[object] = {
            (call.path, call.func) for call in program.calls() if "()" in call.name and purposes.purpose_of(call.name)
        }
        for event in program.of(MissingMember):
            if event.probed or (event.path, event.span) in seen:
                continue
            if not (event.method or event.key or event.of.startswith("message ")) and types.ever_had(
                event.of, event.member
            ):
                # Another release has it, and it is no option about memory: for those who ask for such names.
                continue
            seen.add((event.path, event.span))
            yield self._missing(program, event)

    def _missing(self, program: Program, event: MissingMember) -> Finding:
        way, type_ = _way(event), types.short(event.of)
        exception = "TypeError" if event.key else "AttributeError"
        if event.key:
            what = f"A {type_} is a tuple, which has no key {event.member!r}"
            outcome = "Python raises TypeError: tuple indices must be integers or slices, not str"
        elif event.method:
            what = f"{event.text} is a method that every tuple has, not the number of the device"
            outcome = "Nothing is raised here; as an index the method raises TypeError, and in a name it is no number"
        elif event.of.startswith("message "):
            what = f"{type_} has no field {event.member!r}"
            outcome = f"Python raises AttributeError: {type_} has no {event.member!r} field"
        elif event.of == "list":
            what = f"This is a list of devices, which has no attribute {event.member!r}"
            outcome = f"Python raises AttributeError: 'list' object has no attribute '{event.member}'"
        else:
            what = f"A {type_} has no attribute {event.member!r}"
            outcome = f"Python raises AttributeError: '{type_}' object has no attribute '{event.member}'"
        return self.finding(
            program,
            event,
            what,
            severity=self.severity if event.method else attribute_severity(event, exception),
            intent=_intent(event, way),
            outcome=outcome,
            advice=way.advice,
            notes=() if event.method else handler_notes(event, exception, "what stands behind it is not done"),
            fixable=bool(way.code),
            anchors={"base": event.base_span},
            details={
                "member": event.member,
                "code": way.code,
                "called": event.called,
                "sure": way.purpose is not None or event.key,
                "caught": event.handler_for(exception) is not None,
            },
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write what was wanted with the members that exist."""
        from tfmemlint.fixes.rewrites import members

        members.replace_member(editor, finding)


def _way(event: MissingMember) -> Way:
    if event.key and not types.lacks(event.of, event.member, _NEWEST):
        return Way(f"It is an attribute: write .{event.member}", f"{{0}}.{event.member}")
    if event.of == "list":
        return Way("Take one of them, as in gpus[0], or go through them in a loop: for gpu in gpus")
    if event.of == "dict" and isinstance(event.base, Made):
        keys = REAL_KEYS.get(event.base.name, ())
        report = KEYS.get(event.member, "")
        key = event.member if event.member in keys else report if report in keys else ""
        if key:
            return Way(f"It is a dictionary: write [{key!r}]", f'{{0}}["{key}"]', Purpose.REPORT, key)
        if report:
            return Way("TensorFlow does not tell this; NVML does", "", Purpose.REPORT, report)
    return way_to(event.of, event.member)


def _intent(event: MissingMember, way: Way) -> Intent | None:
    if way.purpose is None:
        return None
    words = "every GPU" if event.of.startswith("message ") else device_words(event.base, event.base_text)
    return Intent(way.purpose, words, way.value)
