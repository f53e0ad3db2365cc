"""TFM318: code that would configure a GPU is made, and nothing ever runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.attribute_reads import reads_attribute
from tfmemlint.facts.statements import name_span
from tfmemlint.interpreter.program import NeverRun, RuntimeStart
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.knowledge.variables import ALLOCATOR, GROWTH, VISIBLE
from tfmemlint.model.finding import AT_LAUNCHES, RIGHT_FOR_ANY_VALUE, UNLESS_NAMED, Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.dropped_asserts import KIND as ASSERTION
from tfmemlint.rulekit.dropped_asserts import dropped_asserts
from tfmemlint.rulekit.dropped_copies import KIND as COPY
from tfmemlint.rulekit.dropped_copies import dropped_copies
from tfmemlint.rulekit.dropped_options import dropped_options, purpose_of
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.impossible_systems import KIND as ANOTHER_SYSTEM
from tfmemlint.rulekit.impossible_systems import impossible_systems
from tfmemlint.rulekit.misnamed_hooks import KIND as HOOK
from tfmemlint.rulekit.misnamed_hooks import hooks_that_configure
from tfmemlint.rulekit.number_keys import KIND as NUMBER_KEY
from tfmemlint.rulekit.number_keys import number_keys
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.start_trace import start_trace
from tfmemlint.rulekit.truth_of_nothing import KIND as TRUTH
from tfmemlint.rulekit.truth_of_nothing import truths_of_nothing
from tfmemlint.rulekit.turned_guards import KIND, turned_guards
from tfmemlint.rulekit.unread_settings import KIND as SETTING
from tfmemlint.rulekit.unread_settings import unread_settings

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_MADE = {
    "map": "map() calls nothing before something iterates over it",
    "filter": "filter() calls nothing before something iterates over it",
    "iterator": "An iterator does nothing before something iterates over it",
    "generator expression": "A generator expression does nothing before something iterates over it",
    "generator": "{name}() is a generator: nothing of it runs before something iterates over it",
    "context manager": "{name}() is a context manager: nothing of it runs before a with statement enters it",
    "coroutine": "{name}() is a coroutine: nothing of it runs before it is awaited",
    "partial": "partial() calls nothing before it is called itself",
    "lambda": "A lambda calls nothing before it is called itself",
    "thread": "A thread runs nothing before it is started",
    "function": "{name} is named here, not called",
    "key": "The table has no {name!r}, but {near!r}",
    "exhausted": "The iterator is exhausted: line {near} has gone through it",
    "uncalled": "Nothing calls {name}()",
    "fixture": "No test asks for the fixture {name}, and it is not autouse",
    "replaced": "{name}() runs in place of {near}(), and does not call it",
}
_ADVICE = {
    "map": "Use a for loop",
    "filter": "Use a for loop",
    "iterator": "Use a for loop",
    "generator expression": "Use a for loop",
    "generator": "Iterate over it, or return a list instead of yielding",
    "context manager": "Enter it: with {name}(): ...",
    "coroutine": "Await it: await {name}()",
    "partial": "Call the function itself",
    "lambda": "Call the function itself",
    "thread": "Start the thread and wait for its end, or call the function itself",
    "function": "Call it: {name}()",
    "key": "Write {near!r}",
    "exhausted": "Keep the items in a list",
    "uncalled": "Call {name}() first, or remove it",
    "fixture": "Give it autouse=True, or let the tests ask for it",
    "replaced": "Call super().{method}() in it",
    KIND: "Turn the condition round",
    "comparison": "Write = in place of ==",
    "option": "Assign a value to it",
}
_CALLED = {"platform.system": "()"}
_UNSET = {
    "comparison": "{name} is not set here: == compares, and assigns nothing",
    "option": "{name} is not set here: it is only named",
}
_PURPOSES = {
    "allow_growth": Purpose.GROWTH,
    GROWTH: Purpose.GROWTH,
    "per_process_gpu_memory_fraction": Purpose.FRACTION,
    "visible_device_list": Purpose.VISIBLE,
    VISIBLE: Purpose.VISIBLE,
    "allocator_type": Purpose.ALLOCATOR,
    ALLOCATOR: Purpose.ALLOCATOR,
}


class ConfigurationNeverRun(Rule):
    """Code that would configure a GPU is never run.

    What it does
    ------------
    Finds ``map``, ``filter``, generator expressions, generators, coroutines, context managers, partials, lambdas,
    threads and names of functions that would configure a GPU, and whose value nothing uses: nothing iterates over them,
    awaits, enters, starts or calls them. Finds calls that configure GPUs under a condition that holds only where there
    are none (``if not gpus:``) or on a system of a name that no system has (``platform.system() == "linux"``: it is
    ``"Linux"``), a table of functions that is asked for a key that it nearly has (``SETUPS.get("growth")``, which has
    ``"memory_growth"``), and options that a statement compares (``==``) or names where it has to assign them.

    Finds methods that configure GPUs under a name that the framework of their class does not call: ``setUpModule`` in a
    ``TestCase``, ``on_training_begin`` in a Keras ``Callback``.

    Finds methods that configure GPUs and that a subclass replaces without calling them, where the program then starts
    the runtime and configures nothing; and in such a program, functions of a script that configure GPUs and that
    nothing names. Finds fixtures of pytest that configure GPUs, for which no test asks and that are not ``autouse``.

    Finds a setting that a file of settings has under a name that nothing reads (``memory_growth: true``), where the
    code asks for another name for the same intent (``settings.get("allow_growth")``), with nothing by default.

    Finds calls that configure GPUs where another one is true (``set_visible_devices(...) and set_memory_growth(...)``):
    all of them return ``None``.

    Finds a changed copy of settings that nothing gets (``dataclasses.replace(settings, memory=4096)`` as a statement,
    ``_replace``, ``model_copy``, ``|``), where the GPUs are configured by what is changed.

    Where a configuration file starts the program, finds an option about GPUs that no parser of the program declares
    (``--gpu-mem-limit``), where it has another for the same (``--gpu-memory-limit``): ``parse_known_args()`` drops it,
    if the program reads its command line by that alone and never looks at the words that are left.

    Where a configuration file starts Python with ``-O`` or with ``PYTHONOPTIMIZE``, finds calls in assertions and under
    ``if __debug__:``, which Python drops then, if nothing else makes the setting.

    Why it matters
    --------------
    Python makes them without running them, and raises nothing. The GPUs stay as they were: the process takes nearly all
    of their memory.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    map(lambda gpu: tf.config.experimental.set_memory_growth(gpu, True), gpus)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM318"
    name = "configuration-never-run"
    severity = Severity.ERROR
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"
    triggers = (
        "memory_growth",
        "(?:logical|virtual)_device",
        "visible_device",
        "parallelism_threads",
        "allow_growth",
        "per_process_gpu_memory_fraction",
        "allocator_type",
        r"environ\[[^\]\n]{0,80}\]\s{0,9}==",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield what would configure a GPU and is not run."""
        if program.started:
            yield from self._at_launch(program)
            return
        for event in program.of(NeverRun):
            if event.is_attribute and _is_read(program, event.stored_in):
                continue
            name = event.text or short(event.called)
            if event.kind in _UNSET:
                yield self._unset(program, event)
                continue
            near = str(event.exhausted.span.row) if event.exhausted is not None else event.stored_in
            made = _MADE[event.kind].format(name=name, near=near)
            yield self.finding(
                program,
                event,
                f"{short(event.called)} is never called here. {made}",
                intent=_intent(event),
                outcome="Nothing is raised; the setting is not made",
                advice=_ADVICE[event.kind].format(name=name, near=event.stored_in, method=name.rpartition(".")[2]),
                severity=Severity.WARNING if event.kind in ("replaced", "uncalled", "fixture") else self.severity,
                trace=_way_to(event),
                fixable=_is_fixable(event),
                details={
                    "kind": event.kind,
                    "name": event.text if event.kind == "uncalled" else event.stored_in,
                    "made": _made_in(event),
                    "given": event.arguments,
                    "before": _row_of_entry(event.before),
                    # Another file of the project may call it: a module, a notebook, a script.
                    UNLESS_NAMED: _refuting_name(event),
                    "attribute": event.is_attribute,
                },
            )

        for event, test, may_turn in turned_guards(program):
            yield self.finding(
                program,
                event,
                f"{short(event.called)} is reached only where there are no GPUs",
                intent=_intent(event),
                outcome="Nothing is raised; the setting is not made",
                advice=_ADVICE[KIND] if may_turn else "Put it where the listing is not empty",
                trace=(Step(event.path, test, f"{event.text} says whether there are GPUs"),),
                fixable=may_turn,
                details={"kind": KIND, "test": test},
            )

        for event, test, asked in truths_of_nothing(program):
            yield self.finding(
                program,
                event,
                f"{short(event.called)} is never reached: {asked}() returns None, which is false",
                intent=_intent(event),
                outcome="Nothing is raised; the setting is not made",
                advice=f"Call {asked}() in a statement of its own, above",
                trace=(Step(event.path, test, "this is asked for its truth"),),
                details={"kind": TRUTH, "place": test},
            )

        for event, constant, asked, right in impossible_systems(program):
            place = program.source.span(constant)
            yield self.finding(
                program,
                event,
                f"{short(event.called)} is never reached: {asked}{_CALLED.get(asked, '')} is never {constant.value!r}",
                intent=_intent(event),
                outcome="Nothing is raised; the setting is not made",
                advice=f"Write {right!r}",
                trace=(Step(event.path, place, f"the condition asks for {constant.value!r}"),),
                details={"kind": ANOTHER_SYSTEM, "place": place, "right": right},
            )

        for event, hook in hooks_that_configure(program):
            place, name, right = name_span(program.source, hook.function), hook.function.name, hook.right
            yield self.finding(
                program,
                event,
                f"{short(event.called)} is never called: {hook.framework} calls {right}(), and nothing {name}()",
                span=place,
                severity=Severity.WARNING,
                intent=_intent(event),
                outcome="Nothing is raised; the setting is not made",
                advice=f"Call it {right}",
                trace=(
                    Step(event.path, place, f"nothing calls {name}()"),
                    Step(event.path, event.span, f"{short(event.called)} is called in it"),
                ),
                details={"kind": HOOK, "place": place, "right": right},
            )

        yield from self._unread(program)
        for found in number_keys(program):
            yield self.finding(
                program,
                found.call,
                f"{found.text} never finds anything: the keys of {found.key!r} in {found.path} are texts",
                span=found.look_up,
                severity=Severity.WARNING,
                intent=_intent_of(found.call.name),
                outcome="Nothing is raised; the GPU gets what is the default",
                advice="Look up the text of the number, by str()",
                trace=(
                    Step(found.path, Span(found.row, 1, found.row, 1), "the file has this"),
                    Step(found.call.path, found.look_up, "a number is looked up"),
                ),
                details={"kind": NUMBER_KEY, "place": found.number},
            )

        for copy, key, configured in dropped_copies(program):
            yield self.finding(
                program,
                copy,
                f"{copy.receiver} keeps its {key or 'values'}: {copy.made} makes a changed copy, which nothing gets",
                intent=_intent_of(configured) if "." in configured else Intent(_PURPOSES[configured]),
                outcome=f"Nothing is raised; {short(configured)} gets what it was before",
                advice=f"Assign it: {copy.receiver} = ...",
                fixable=copy.may_assign,
                details={"kind": COPY, "name": copy.receiver},
            )

    def _unread(self, program: Program) -> Iterator[Finding]:
        for unread in unread_settings(program):
            yield self.finding(
                program,
                unread.call,
                f"{short(unread.call.name)} is never called with {unread.path}: it has no {unread.asked!r}, but"
                f" {unread.near!r}, which nothing reads",
                span=unread.place,
                severity=Severity.WARNING,
                intent=_intent_of(unread.call.name),
                outcome="Nothing is raised; the setting is not made",
                advice=f"Write {unread.near!r}",
                trace=(
                    Step(unread.path, Span(unread.row, 1, unread.row, 1), "the file has this"),
                    Step(unread.call.path, unread.place, "this is asked for"),
                ),
                details={"kind": SETTING, "place": unread.place, "right": unread.near, RIGHT_FOR_ANY_VALUE: True},
            )

    def _at_launch(self, program: Program) -> Iterator[Finding]:
        """Yield what is not run only where the program is started in some way."""
        yield from self._unread(program)
        for call in dropped_asserts(program):
            yield self.finding(
                program,
                call,
                f"{short(call.name)} is never called by python -O, which drops this",
                severity=Severity.WARNING,
                intent=_intent_of(call.name),
                outcome="Nothing is raised; the setting is not made",
                advice="Call it before the assertion, and assert its result",
                trace=(Step(call.path, call.span, "Python drops this"),),
                details={"kind": ASSERTION, AT_LAUNCHES: "any"},
            )

        for dropped in dropped_options(program):
            given, meant = ", ".join(dropped.given), ", ".join(dropped.meant)
            yield self.finding(
                program,
                dropped.event,
                f"parse_known_args() drops {given}, which no parser declares: {meant} is meant",
                severity=Severity.WARNING,
                intent=Intent(purpose_of(dropped.meant[0])),
                outcome="Nothing is raised; the option stays as it is by default",
                advice=f"Write {meant} where the program is started",
                trace=(Step(dropped.event.path, dropped.event.span, f"{given} is dropped here"),),
                fixable=False,
            )

    def _unset(self, program: Program, event: NeverRun) -> Finding:
        name = short(event.called)
        return self.finding(
            program,
            event,
            _UNSET[event.kind].format(name=name),
            intent=Intent(_PURPOSES.get(event.called, Purpose.OTHER)),
            outcome="Nothing is raised; the setting is not made",
            advice=_ADVICE[event.kind],
            fixable=event.kind == "comparison" or name == "allow_growth",
            details={"kind": event.kind, "name": ""},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Run it: as a loop, as a call, entered or awaited; correct the condition; or assign the option."""
        from tfmemlint.fixes.rewrites import framework_calls, run_lazy_code, truth_of_none

        if finding.details["kind"] == TRUTH:
            truth_of_none.mend(editor, finding)
        elif finding.details["kind"] == ASSERTION:
            run_lazy_code.raise_instead(editor, finding)
        elif finding.details["kind"] == COPY:
            run_lazy_code.keep_copy(editor, finding)
        elif finding.details["kind"] == ANOTHER_SYSTEM:
            run_lazy_code.name_system(editor, finding)
        elif finding.details["kind"] == HOOK:
            framework_calls.name_hook(editor, finding)
        elif finding.details["kind"] == NUMBER_KEY:
            run_lazy_code.look_up_text(editor, finding)
        elif finding.details["kind"] == SETTING:
            run_lazy_code.name_setting(editor, finding)
        elif finding.details["kind"] == KIND:
            run_lazy_code.turn(editor, finding)
        elif finding.details["kind"] in _UNSET:
            run_lazy_code.assign(editor, finding)
        elif finding.details["kind"] == "uncalled":
            run_lazy_code.call_forgotten(editor, finding)
        elif finding.details["kind"] == "fixture":
            framework_calls.use_fixture(editor, finding)
        elif finding.details["kind"] == "replaced":
            framework_calls.call_replaced(editor, finding)
        elif finding.details["kind"] == "exhausted":
            run_lazy_code.keep_items(editor, finding)
        else:
            run_lazy_code.run(editor, finding)


def _is_fixable(event: NeverRun) -> bool:
    if event.kind == "exhausted":
        return _made_in(event) is not None
    if event.kind in ("replaced", "uncalled", "fixture"):
        return event.arguments is not None
    return event.kind not in ("lambda", "thread", "key")


def _is_read(program: Program, attribute: str) -> bool:
    return any(reads_attribute(unit.tree, unit.source.text, attribute) for unit in program.units)


def _refuting_name(event: NeverRun) -> str:
    if event.is_attribute:
        return event.stored_in
    return event.text if event.kind in ("uncalled", "fixture") else ""


def _way_to(event: NeverRun) -> tuple[Step, ...]:
    """Return the places where an iterator is exhausted, and where a loop goes over it."""
    if event.before is not None:
        return start_trace(event.before, event, "nothing calls this before")
    if event.exhausted is None:
        return ()
    return (
        Step(event.exhausted.path, event.exhausted.span, "this exhausts the iterator"),
        Step(event.path, event.span, "it has no item left here"),
    )


def _row_of_entry(start: RuntimeStart | None) -> int:
    """Return the row of the script itself that leads to the start of the runtime."""
    return (start.frames[0].span if start.frames else start.span).row if start is not None else 0


def _made_in(event: NeverRun) -> Span | None:
    """Return the place where an iterator is made that is exhausted, if that is in the same file."""
    made = event.exhausted.made if event.exhausted is not None else None
    return made[1] if made is not None and made[0] == event.path else None


def _intent(event: NeverRun) -> Intent:
    return _intent_of(event.called)


def _intent_of(function: str) -> Intent:
    if function == SET_GROWTH:
        return Intent(Purpose.GROWTH)
    if function in SET_LOGICAL:
        return Intent(Purpose.LIMIT)
    return Intent(Purpose.VISIBLE) if function in SET_VISIBLE else Intent(Purpose.THREADING)
