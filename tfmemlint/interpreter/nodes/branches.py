"""``if``, ``match``, ``assert`` and conditional expressions."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.facts.syntax import assigned_names
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Snapshot
from tfmemlint.interpreter.observer import Decision, Reason
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.conditions import decide, refine, tell_test
from tfmemlint.interpreter.operations.exceptions import leave
from tfmemlint.interpreter.operations.flags import flags_set, join_flags, ways_here
from tfmemlint.interpreter.operations.guards import guards_of
from tfmemlint.interpreter.operations.options import between
from tfmemlint.interpreter.operations.paths import doubtful, either_of, merge, restore, snapshot
from tfmemlint.interpreter.operations.patterns import fits
from tfmemlint.interpreter.operations.protocols import tested
from tfmemlint.interpreter.operations.text_truth import report_tested
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Value


@visits(ast.IfExp)
def visit_if_exp(context: Context, node: ast.IfExp) -> Value:
    value = tested(context, context.evaluate(node.test), node.test)
    outcome = decide(context, node.test, value)
    tell_test(context, node.test, value, outcome)
    if outcome.truth is not None:
        chosen = node.body if outcome.truth else node.orelse
        if not outcome.assumed or context.state is None:
            return context.evaluate(chosen)
        # ``gpus[0] if gpus else None``: there is a GPU where the first is taken; nothing is known of that afterwards.
        counts = context.state.min_gpus, context.state.max_gpus
        context.state = refine(context, context.state, node.test, outcome.truth)
        with doubtful(context, guards_of(context, node.test, outcome.truth), doubt=False):
            found = context.evaluate(chosen)
        if context.state is not None:
            context.state = replace(context.state, min_gpus=counts[0], max_gpus=counts[1])
        return found
    yes, no = guards_of(context, node.test, True), guards_of(context, node.test, False)
    before = snapshot(context)
    with doubtful(context, yes):
        left = context.evaluate(node.body)
    after = snapshot(context)
    restore(context, before)
    with doubtful(context, no):
        right = context.evaluate(node.orelse)
    merge(context, after, no, yes)
    return between(left, right) or either_of(context, left, right)


@visits(ast.Assert)
def visit_assert(context: Context, node: ast.Assert) -> None:
    value = tested(context, context.evaluate(node.test), node.test)
    if context.state is None:
        return
    outcome = decide(context, node.test, value)
    if outcome.truth is False and not outcome.assumed:
        leave(context, certain=False, exceptions=("AssertionError", "Exception"))
        return
    context.state = refine(context, context.state, node.test, True)


@visits(ast.If)
def visit_if(context: Context, node: ast.If) -> None:
    if (
        _is_main_guard(node.test)
        and context.import_state is None
        and context.unit is context.main
        and len(context.frames) == 1
    ):
        context.import_state = context.state
    value = tested(context, context.evaluate(node.test), node.test)
    if context.state is None:
        return
    outcome = decide(context, node.test, value)
    tell_test(context, node.test, value, outcome)
    if outcome.truth is not None and not outcome.assumed:
        report_tested(context, node.test, (), (*node.body, *node.orelse))
        context.execute(node.body if outcome.truth else node.orelse)
        return
    yes, no = guards_of(context, node.test, True), guards_of(context, node.test, False)
    report_tested(context, node.test, (*yes, *no), (*node.body, *node.orelse))
    refined = refine(context, context.state, node.test, True), refine(context, context.state, node.test, False)
    before = snapshot(context)
    if outcome.truth is not None:
        # The other branch is for machines that nothing here is about: looked at, and left without a trace.
        likely, unlikely = (node.body, node.orelse) if outcome.truth else (node.orelse, node.body)
        taken, passed = (yes, no) if outcome.truth else (no, yes)
        context.state = refined[1 if outcome.truth else 0]
        with doubtful(context, passed):
            context.execute(unlikely)
        restore(context, before, refined[0 if outcome.truth else 1])
        with doubtful(context, taken, doubt=False):
            context.execute(likely)
        return
    context.state = refined[0]
    ended = _count_ends(context)
    # A test that is asked twice may come out otherwise; as it came out here, it is one of the two.
    flags, this = flags_set(context, node), f"branch @{context.next_serial()}"
    with doubtful(context, yes):
        context.execute(node.body)
        where_true = ways_here(context, flags, (*yes, (this, True)))
    after = snapshot(context)
    restore(context, before, refined[1])
    with doubtful(context, no):
        context.execute(node.orelse)
        where_false = ways_here(context, flags, (*no, (this, False)))
    if (after.state is None) is not (context.state is None):
        # What follows is reached by one of the two alone.
        context.guards = (*context.guards, *(no if after.state is None else yes))
        if _count_ends(context) != ended:
            # The others go on elsewhere.
            context.ways = (*context.ways, context.next_serial())
    merge(context, after, no, yes)
    join_flags(context, flags, (where_true, where_false))


def _count_ends(context: Context) -> tuple[int, int]:
    """Return how many paths have left this function, or this pass of the innermost loop."""
    loop = context.loops[-1] if context.loops else None
    return len(context.frame.returns), len(loop.breaks) + len(loop.continues) if loop is not None else 0


@visits(ast.Match)
def visit_match(context: Context, node: ast.Match) -> None:
    subject = context.evaluate(node.subject)
    if context.state is None:
        return
    before = snapshot(context)
    ends: list[Snapshot] = []
    complete = False
    for case in node.cases:
        restore(context, before)
        captured: dict[str, Value] = {}
        fit = fits(context, case.pattern, subject, captured)
        if fit is False:
            context.tell_branch(case.pattern, Decision.NOT_TAKEN, Reason.KNOWN)
            continue
        for name in {*assigned_names([case.pattern]), *captured}:
            bind(context, name, captured.get(name, UNKNOWN))
        guard = _guard_holds(context, case) if fit and case.guard is not None else (None if case.guard else True)
        if guard is False:
            context.tell_branch(case.pattern, Decision.NOT_TAKEN, Reason.KNOWN)
            continue
        complete = fit is True and guard is True
        if complete and not ends:
            context.tell_branch(case.pattern, Decision.TAKEN, Reason.KNOWN)
            context.execute(case.body)
            return
        context.tell_branch(case.pattern, Decision.BOTH, Reason.UNKNOWN)
        with doubtful(context):
            if case.guard is not None and not fit:
                context.evaluate(case.guard)
            context.execute(case.body)
        ends.append(snapshot(context))
        if complete:
            break  # no later case is looked at
    restore(context, ends.pop() if complete else before)
    for end in ends:
        merge(context, end)


def _guard_holds(context: Context, case: ast.match_case) -> bool | None:
    """True if the guard of a case holds, False if it does not, None where that is not known."""
    assert case.guard is not None
    outcome = decide(context, case.guard, tested(context, context.evaluate(case.guard), case.guard))
    return None if outcome.assumed else outcome.truth


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
