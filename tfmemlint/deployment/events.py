"""The variables that a configuration file sets, as the events of a program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.deployment.gpu_requests import counted
from tfmemlint.interpreter.program import EnvLost, EnvWrite, Event, GpusGiven, OptionGiven, Program
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.model.configuration import ContainerGpus
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.configuration import ConfigurationRead, Lost, VariableSetting
    from tfmemlint.sources import Source


def program(source: Source, read: ConfigurationRead, target: Target) -> Program:
    """Return a program that only sets the variables of a configuration file."""
    state = State()
    lines = source.lines
    events: list[Event] = []
    for gpus in (*read.gpus, *_chosen(read)):
        events.append(
            GpusGiven(
                path=source.path,
                span=gpus.span,
                statement=gpus.span,
                state=state,
                ways=gpus.scope,
                count=gpus.count,
                named=gpus.named,
                words=gpus.words,
            )
        )
    events += [write(setting, source.path, state, lines) for setting in read.settings if setting.passed]
    events += [_lost(lost, source.path, state, lines) for lost in read.lost]
    for option in read.options:
        events.append(
            OptionGiven(
                path=source.path,
                span=option.span,
                statement=option.span,
                state=state,
                server=option.server,
                name=option.name,
                value=option.value,
                apart=option.apart,
            )
        )
    found = Program(source, ast.Module([], []), target, events, modules=frozenset({source.path}))
    found.configuration = read
    return found


def _chosen(read: ConfigurationRead) -> Iterator[ContainerGpus]:
    """Yield the GPUs of a container that ``NVIDIA_VISIBLE_DEVICES`` chooses; none if it is set twice."""
    found = [setting for setting in read.settings if setting.name == "NVIDIA_VISIBLE_DEVICES" and setting.passed]
    for setting in found:
        count = counted(setting.value) if setting.value is not None and setting.certain else None
        if count is not None and sum(other.scope == setting.scope for other in found) == 1:
            yield ContainerGpus(count, setting.value or "", setting.key, setting.name, setting.scope)


def write(setting: VariableSetting, path: str, state: State, lines: list[str]) -> EnvWrite:
    """Return one variable as an event.

    Args:
        lines: the lines of the file.
    """
    given = setting.given
    end = given if given is not None and given.row == setting.key.row else setting.key
    statement = setting.statement
    return EnvWrite(
        path=setting.path or path,
        span=Span(setting.key.row, setting.key.column, end.end_row, end.end_column),
        statement=Span(statement.row, statement.column, _silenced_at(statement, lines), statement.end_column),
        state=state,
        certain=setting.certain,
        ways=setting.scope,
        name=setting.name,
        value=Const(setting.value) if setting.value is not None else UNKNOWN,
        text=_segment(lines, given),
        key=setting.key,
        given=given,
    )


def _lost(lost: Lost, path: str, state: State, lines: list[str]) -> EnvLost:
    written = write(lost.setting, path, state, lines)
    return EnvLost(
        path=written.path,
        span=written.span,
        statement=written.statement,
        state=state,
        certain=written.certain,
        ways=written.ways,
        name=written.name,
        value=lost.setting.value,
        why=lost.why,
        begun=lost.begun,
        program=lost.program,
        text=written.text,
        key=written.key,
        given=written.given,
    )


def _silenced_at(statement: Span, lines: list[str]) -> int:
    """Return the row whose comment silences a finding: the last row, or the row of a comment above it (a Dockerfile has
    no other comments)."""
    above = lines[statement.row - 2].lstrip() if 2 <= statement.row <= len(lines) + 1 else ""
    if above.startswith("#") and ("tfmemlint:" in above or "noqa" in above.lower()):
        return statement.row - 1
    return statement.end_row


def _segment(lines: list[str], span: Span | None) -> str:
    if span is None or span.row != span.end_row or span.row > len(lines):
        return ""
    return lines[span.row - 1][span.column - 1 : span.end_column - 1]
