"""TFM307: an environment variable has a value that TensorFlow ignores, or reads differently than it seems."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite, Event
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, FileConst, FileValue, OneOf, Seq
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.knowledge.variables import (
    ALLOCATOR,
    CONTAINER,
    GROWTH,
    NUMBERS,
    VISIBLE,
    WORDS,
    BadValue,
    is_judged,
    judge_value,
)
from tfmemlint.model.finding import RIGHT_FOR_ANY_VALUE, Finding, Severity, Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.child_environments import child_writes
from tfmemlint.rulekit.env_writes import SET_FROM_FILES, growth_calls, is_replaced, place_of, text_of, writes
from tfmemlint.rulekit.explain import file_severity, file_trace
from tfmemlint.rulekit.list_texts import ListText, list_texts
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.values import Value
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_PURPOSES = {GROWTH: Purpose.GROWTH, ALLOCATOR: Purpose.ALLOCATOR, VISIBLE: Purpose.VISIBLE}


class EnvBadValue(Rule):
    """An environment variable has a value that TensorFlow ignores, or reads differently than it seems.

    What it does
    ------------
    Finds values that TensorFlow or CUDA does not accept: ``TF_FORCE_GPU_ALLOW_GROWTH`` other than ``true`` and
    ``false`` in lower case, a nonexistent allocator in ``TF_GPU_ALLOCATOR``, ``CUDA_VISIBLE_DEVICES`` that does not
    begin with a number (``all``, ``cuda:0``) or names a GPU twice, an amount with a unit where a whole number belongs
    (``TF_PER_DEVICE_MEMORY_LIMIT_MB=4GB``), words that other variables do not have, and values that are not strings.
    Dockerfiles, shell scripts, environment files, compose files, Kubernetes manifests and workflows are checked as
    well, each with its own rules for quotes and booleans.

    Why it matters
    --------------
    ``TF_FORCE_GPU_ALLOW_GROWTH=1`` is ignored, with an error in the log, and TensorFlow takes all the memory. An
    unknown allocator is ignored silently. CUDA counts the entries of ``CUDA_VISIBLE_DEVICES`` up to the first that it
    does not know: ``all`` hides every GPU, and so does a GPU that is named twice. A value that is not a string raises
    ``TypeError``.

    Example
    -------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "True"
    os.environ["CUDA_VISIBLE_DEVICES"] = 0
    import tensorflow as tf
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    import tensorflow as tf
    ```

    Seen as
    -------
    ``TypeError: str expected, not int``, or in the log ``The TF_FORCE_GPU_ALLOW_GROWTH environment variable is set but
    could not be parsed: "1". Valid values are "true" or "false".``
    """

    code = "TFM307"
    name = "env-bad-value"
    severity = Severity.ERROR
    text_defects = (TextDefect.VARIABLE_VALUE,)
    triggers = (
        "VISIBLE_DEVICES",
        "TF_GPU",
        "TF_FORCE_GPU",
        SET_FROM_FILES,
        "TF_CUDNN",
        "CUDA_DEVICE_ORDER",
        r"(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
        "GPU_ALLO[CW]",
        "XLA_PYTHON_CLIENT",
    )
    any_tensorflow_file = True
    sees_launch_environment = True
    fixable = "sometimes"
    supersedes = ("TFM105",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each value that a known variable does not accept."""
        reported: set[int] = set()
        from_files = _texts_of_lists_in_files(program)
        texts = list_texts(program.tree, lambda value: program.source.span(value) in from_files)
        listed = {program.source.span(text.value): text for text in (texts if program.configuration is None else ())}
        # A list that is known only in some run is one in all: that is reported for all.
        for finding in self._written(program, listed.keys() if program.started else listed.keys() & from_files.keys()):
            reported.add(finding.span.row)
            yield finding
        for place, text in listed.items():
            if place.row not in reported and (place in from_files or not program.started):
                yield self._list_text(program, text, from_files.get(place))

    def _written(self, program: Program, besides: AbstractSet[Span]) -> Iterator[Finding]:
        for write in (*writes(program), *child_writes(program)):
            if write.path != program.source.path or not _is_judged(program, write) or write.given in besides:
                continue
            if _is_no_string(write):
                yield self._no_string(program, write)
                continue
            if isinstance(write.value, OneOf):
                yield from self._one_of(program, write, write.value)
                continue
            text = _text_of(write)
            bad = judge_value(write.name, text) if text is not None else None
            if bad is None or is_replaced(program, write):
                continue
            assert text is not None
            in_part = bad.harmless or bad.kind == "order" or _is_done_otherwise(program, bad)
            severity = Severity.WARNING if in_part else file_severity(write.value)
            yield self.finding(
                program,
                write,
                _message(write.name, text, bad),
                span=place_of(write),
                severity=severity,
                intent=_intent(write, bad),
                outcome=_outcome(write.name, bad),
                advice=f"Write {bad.meant!r}" if bad.meant else _advice(bad),
                trace=file_trace(write.value, write, place_of(write)),
                fixable=not isinstance(write.value, FileValue),
                details={
                    "kind": bad.kind,
                    "meant": bad.meant,
                    "value": text,
                    "given": write.given,
                    "key": write.key,
                    "variable": write.name,
                    "safe": _is_safe(program, bad),
                    "contrary": bad.harmless and bool(growth_calls(program)),
                    "why": "to see every GPU, remove the variable" if bad.kind == "visible" else _advice(bad),
                },
            )

    def _one_of(self, program: Program, write: EnvWrite, value: OneOf) -> Iterator[Finding]:
        """Yield a value that is one of a few texts, if TensorFlow accepts none of them, or not the one that matters."""
        texts = [option for option in value.options if isinstance(option, str)]
        judged = [judge_value(write.name, text) for text in texts]
        bad = next((found for found in judged if found is not None and not found.harmless), None)
        if bad is None or len(texts) != len(value.options) or is_replaced(program, write):
            return
        text = texts[judged.index(bad)]
        shown = " or ".join(map(repr, texts))
        lower = write.name == GROWTH and set(texts) <= {"True", "False"}
        in_part = None in judged or write.how == "setdefault" or _is_done_otherwise(program, bad)
        yield self.finding(
            program,
            write,
            _message(write.name, text, bad, shown),
            span=place_of(write),
            severity=Severity.WARNING if in_part else self.severity,
            intent=_intent(write, bad),
            outcome=_outcome(write.name, bad),
            advice="Write it in lower case: str(...).lower()" if lower else _advice(bad),
            details={
                "kind": "one_of",
                "texts": tuple(texts),
                "meant": tuple(
                    (found.meant if found is not None else each) for each, found in zip(texts, judged, strict=True)
                ),
                "given": write.given,
                "contrary": bool(growth_calls(program)),
                "growth": write.name == GROWTH,
                "why": _advice(bad),
            },
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_environment_value

        return of_environment_value(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the value that was meant."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.set_value(editor, finding)

    def _list_text(self, program: Program, text: ListText, write: EnvWrite | None) -> Finding:
        place = program.source.span(text.value)
        event = write or Event(path=program.source.path, span=place, statement=place, state=State())
        shown = "[,0,]" if text.joined else "[0]"
        if write is not None and isinstance(write.value, (FileConst, FileValue)) and not text.joined:
            shown = write.value.value
        return self.finding(
            program,
            event,
            f"CUDA identifies GPUs by number: the text of a list, such as '{shown}', hides every GPU",
            intent=Intent(Purpose.VISIBLE),
            outcome="TensorFlow finds no GPU, and the program runs on the CPU",
            advice='Join the items: ",".join(map(str, ...))',
            trace=() if write is None else file_trace(write.value, write, place),
            span=place,
            details={
                "kind": "list",
                "meant": "",
                "given": place,
                "items": program.source.span(text.items),
                RIGHT_FOR_ANY_VALUE: True,
            },
        )

    def _no_string(self, program: Program, write: EnvWrite) -> Finding:
        kind = _type_of(write.value)
        # That it is a number does not say whether Python calls it an int or a float.
        kind_said = "" if kind == "number" else f", not {kind}"
        words = "expected str, bytes or os.PathLike object" if write.how in ("putenv", "child") else "str expected"
        error = f"TypeError: {words}{kind_said}"
        meant = _as_text(write)
        # setdefault() does not change a variable that is already set.
        sure = write.how != "setdefault" and write.handler_for("TypeError") is None
        severity = file_severity(write.value) if sure else Severity.WARNING
        return self.finding(
            program,
            write,
            f"The value of {write.name} has to be a string, not {_a(kind)}",
            span=place_of(write),
            severity=severity,
            trace=file_trace(write.value, write, place_of(write)),
            intent=Intent(_PURPOSES.get(write.name, Purpose.OTHER), text=meant or f"{write.name}={write.text}"),
            outcome=f"Python raises {error}",
            advice=f"Write {meant!r}" if meant else "Write a string",
            fixable=_is_number(write) or not isinstance(write.value, (Amount, OneOf)) or write.name == GROWTH,
            details={
                "kind": "type",
                "variable": write.name,
                "meant": meant,
                "number": _is_number(write),
                "switch": write.name == GROWTH and isinstance(write.value, OneOf) and kind == "bool",
                "given": write.given,
                "caught": write.handler_for("TypeError") is not None,
                "why": "it is not clear which string is meant",
            },
        )


def _texts_of_lists_in_files(program: Program) -> dict[Span, EnvWrite]:
    """Return where CUDA_VISIBLE_DEVICES gets the text of a list that a configuration file has."""
    found = (write for write in program.of(EnvWrite) if write.name == VISIBLE)
    return {
        write.given: write
        for write in found
        if write.given and isinstance(write.value, (FileValue, FileConst)) and write.value.of_list
    }


def _is_judged(program: Program, write: EnvWrite) -> bool:
    """True if something is known of the values of a variable; a container's GPUs are given from outside of it."""
    return is_judged(write.name) and (write.name != CONTAINER or program.configuration is not None)


def _is_no_string(write: EnvWrite) -> bool:
    """True if a variable is set to a value that is known to be no string."""
    if isinstance(write.value, Amount):
        return write.value.type in ("number", "list") and (write.value.sure or isinstance(write.value, FileValue))
    if isinstance(write.value, OneOf):
        return not any(isinstance(option, str) for option in write.value.options)
    return isinstance(write.value, (Const, Seq)) and text_of(write) is None


def _type_of(value: Value) -> str:
    """Return the type of a value as Python's messages name it; ``number`` for one that may be of several types."""
    if isinstance(value, Seq):
        return value.kind
    if isinstance(value, FileValue):
        return "list" if isinstance(value.value, tuple) else type(value.value).__name__
    if isinstance(value, Amount):
        return value.type if value.default is None else type(value.default).__name__
    if isinstance(value, OneOf):
        kinds = {type(option).__name__ for option in value.options}
        return kinds.pop() if len(kinds) == 1 else "number"
    return type(value.value).__name__ if isinstance(value, Const) else ""


def _is_number(write: EnvWrite) -> bool:
    """True if a variable that takes a number, or a list of numbers, is set to a number in place of its text."""
    if write.name == GROWTH:
        return False
    if isinstance(write.value, (Const, FileValue)):
        return isinstance(write.value.value, int) and not isinstance(write.value.value, bool)
    return isinstance(write.value, Amount) and write.value.type == "number"


def _text_of(write: EnvWrite) -> str | None:
    value = write.value
    if isinstance(value, FileValue):
        return value.value if value.type == "str" and isinstance(value.value, str) else None
    return text_of(write)


def _as_text(write: EnvWrite) -> str:
    """Return the string that a value of another type means, or "" if it is ambiguous."""
    if isinstance(write.value, Seq):
        return _listed(write) if write.name == VISIBLE else ""
    value = write.value.value if isinstance(write.value, Const) else None
    if write.name == GROWTH:
        return {"True": "true", "1": "true", "False": "false", "0": "false"}.get(str(value), "")
    if isinstance(value, bool) or not isinstance(value, int):
        return ""
    return str(value)


def _listed(write: EnvWrite) -> str:
    items = write.value.items if isinstance(write.value, Seq) else ()
    numbers = [item.value for item in items if isinstance(item, Const) and type(item.value) is int]
    return ",".join(map(str, numbers)) if len(numbers) == len(items) else ""


def _message(name: str, text: str, bad: BadValue, shown: str = "") -> str:
    """Return what is wrong with a value; ``shown``: all that it may be, where it is one of a few."""
    match bad.kind:
        case "growth" if shown:
            return f"{name} is either 'true' or 'false', in lower case: the value is {shown}"
        case "growth":
            return f"{name} is either 'true' or 'false', in lower case: {text!r} is ignored"
        case "allocator":
            return f"TensorFlow has no allocator {text!r}: {name} is ignored"
        case "twice":
            return f"{name} names a GPU twice: CUDA then shows no GPU"
        case "alike":
            return f"{text!r} in {name} has characters that only look like ASCII digits and commas"
        case "number":
            return f"{name} is a whole number: {text!r} is none"
        case "bytes":
            return f"{name} is in MiB: {text!r} is probably in bytes"
        case "word":
            return f"{name} has no value {text!r}"
        case "order":
            return f"CUDA knows no order of GPUs {text!r}: {name} is FASTEST_FIRST or PCI_BUS_ID"
        case "container":
            return f"{name} names GPUs by number or UUID: a container gets no GPU {text!r}"
        case _:
            return f"CUDA identifies GPUs by number: {text!r} in {name} hides every GPU"


def _outcome(name: str, bad: BadValue) -> str:
    match bad.kind:
        case "growth":
            return "TensorFlow logs that the value could not be parsed, and behaves as if it were not set"
        case "allocator":
            return "TensorFlow uses its own allocator (BFC), and says nothing"
        case "alike":
            return "CUDA hides the GPUs from the first entry on that it cannot read"
        case "number" | "word":
            return _CONSEQUENCES[NUMBERS.get(name) or WORDS[name][0]]
        case "bytes":
            return "Nothing is raised, and nothing is limited"
        case "order":
            return "CUDA documents no other value: the numbers of the GPUs may be others than those of nvidia-smi"
        case "container":
            return "The container does not start: NVIDIA's runtime knows no such device"
        case _:
            return "TensorFlow finds no GPU, and the program runs on the CPU"


_CONSEQUENCES = {
    "aborts": "TensorFlow ends the process when it makes the GPU devices: a check fails",
    "raises": "TensorFlow raises InvalidArgumentError when it makes the GPU devices",
    "default": "TensorFlow behaves as if it were not set",
}


def _advice(bad: BadValue) -> str:
    match bad.kind:
        case "growth":
            return "Write 'true' or 'false'"
        case "allocator":
            return "Use 'cuda_malloc_async', or remove the variable"
        case "twice":
            return "Name each GPU once"
        case "number" | "bytes":
            return "Write a whole number, without a unit"
        case "word" | "order":
            return "Use one of the values that exist, or remove the variable"
        case _:
            return "Write the numbers of the GPUs ('0' or '0,1'), or remove the variable to see all GPUs"


def _intent(write: EnvWrite, bad: BadValue) -> Intent:
    if bad.kind == "growth":
        wanted = {"true": True, "false": False}.get(bad.meant)
        return Intent(Purpose.GROWTH, "every GPU", wanted)
    return Intent(_PURPOSES.get(write.name, Purpose.OTHER), text=bad.meant or _text_of(write) or "")


def _is_done_otherwise(program: Program, bad: BadValue) -> bool:
    """Return True if the program sets memory growth in another way as well."""
    return bad.kind == "growth" and any(
        call.value(1, "enable") in (Const(True), UNKNOWN) for call in growth_calls(program)
    )


def _is_safe(program: Program, bad: BadValue) -> bool:
    if program.configuration is not None:
        # This does not look at what the program itself does: 'true' gives growth in any case.
        return bad.kind == "growth" and bad.meant == "true"
    if bad.kind == "growth":
        return not growth_calls(program)
    return bad.kind == "allocator" and not any(True for _ in program.calls(*SET_LOGICAL))


def _a(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeiou" else "None" if kind == "NoneType" else f"a {kind}"
