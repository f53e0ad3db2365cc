"""TF1's messages and sessions, and the environment of the process."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.finding import Span
from tfmemlint.flow.lazy import Later
from tfmemlint.flow.program import Arg, Call, EnvWrite, SessionMade
from tfmemlint.flow.state import Tri
from tfmemlint.flow.values import (
    UNKNOWN,
    Const,
    Dict,
    Made,
    Proto,
    ProtoRecord,
    Value,
)
from tfmemlint.knowledge import effects


class Protos(Later):
    """Messages, sessions, environment variables."""

    # Protos and sessions

    def _proto(self, name: str, keywords: dict[str, Value], call: Call) -> Proto:
        record = ProtoRecord()
        proto = Proto(name, record)
        self.protos.append((proto, call))
        for argument in call.args:
            if argument.keyword is not None:
                self.set_field(proto, argument.keyword, argument.value, argument.span)
        for keyword, value in keywords.items():
            if keyword not in {argument.keyword for argument in call.args}:
                self.set_field(proto, keyword, value, call.span)
        return proto

    def set_field(self, proto: Proto, name: str, value: Value, span: Any) -> None:
        """Set a field of a message; a message set as a field brings its own fields along."""
        full = proto.prefix + name
        record = proto.record
        if isinstance(value, Proto):
            value.record.consumed = True
            for inner, inner_value in list(value.record.fields.items()):
                if inner.startswith(value.prefix):
                    record.fields[f"{full}.{inner[len(value.prefix) :]}"] = inner_value
                    record.spans[f"{full}.{inner[len(value.prefix) :]}"] = value.record.spans.get(inner, span)
        elif isinstance(value, Dict):
            for key, inner_value in value.items.items():
                record.fields[f"{full}.{key}"] = inner_value
                record.spans[f"{full}.{key}"] = span
        else:
            record.fields[full] = value
            record.spans[full] = span

    def proto_method(self, base: Proto, name: str, values: Sequence[Value]) -> Value:
        """``CopyFrom`` and ``MergeFrom`` copy fields; any other method reads."""
        if name in ("CopyFrom", "MergeFrom") and values and isinstance(values[0], Proto):
            prefix = base.prefix[:-1]
            owner = Proto(base.name, base.record, "")
            if prefix:
                self.set_field(owner, prefix, values[0], None)
            else:
                base.record.fields.update(values[0].record.fields)
                base.record.spans.update(values[0].record.spans)
                values[0].record.consumed = True
        elif name in ("SerializeToString", "SerializePartialToString"):
            base.record.consumed = True
        return UNKNOWN

    def _session(
        self, name: str, values: list[Value], keywords: dict[str, Value], node: ast.AST, call: Call, made: Made
    ) -> Value:
        config = keywords.get("config")
        if config is None:
            position = {"Session": 2, "InteractiveSession": 2}.get(name.rsplit(".", 1)[-1])
            config = values[position] if position is not None and len(values) > position else None
        for value in (*values, *keywords.values()):
            self.escape(value)
        fields: dict[str, Value] | None = {} if config in (None, Const(None)) else None
        spans: tuple[Span, ...] = ()
        if isinstance(config, Proto):
            fields = dict(config.record.fields)
            spans = tuple(span for span in config.record.spans.values() if span)
        event = SessionMade(
            name=name,
            fields=fields,
            graph_mode=self.here.graph_mode,
            proto_spans=spans,
            serial=made.serial,
            **self.around(node),
        )
        self.emit(event)
        if effects.effect(name, self.target, graph=self.here.graph_mode) is effects.Effect.STARTS:
            # A monitored session makes a sharded Saver first, which asks the eager context for its devices.
            self.start(node, "context", name, call.text)
        self.start(node, "allocator", name, call.text)
        return made

    # The environment

    def environ_method(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value:
        """A method of ``os.environ``."""
        if name in ("get", "__getitem__") and values:
            return self.env_value(values[0])
        if name == "setdefault":
            # Whether it takes effect depends on the environment the program starts in.
            self._env_write(values, node, written, default=True)
            return UNKNOWN
        if name == "update":
            items = dict(keywords)
            if values and isinstance(values[0], Dict):
                items |= values[0].items
            for key, value in items.items():
                self.set_env(key, value, node, "")
        elif name == "pop" and values and isinstance(values[0], Const) and isinstance(values[0].value, str):
            self.unset_env(values[0].value)
        return UNKNOWN

    def _env_write(self, values: list[Value], node: ast.AST, written: list[Arg], *, default: bool = False) -> None:
        if len(values) >= 2 and isinstance(values[0], Const) and isinstance(values[0].value, str):
            text = written[1].text if len(written) > 1 else ""
            self.set_env(values[0].value, values[1], node, text, default=default)

    def set_env(self, name: str, value: Value, node: ast.AST, text: str, *, default: bool = False) -> None:
        """The program sets an environment variable; ``default``: unless it is set already."""
        self.emit(EnvWrite(name=name, value=value, text=text, **self.around(node)))
        self.state = replace(self.here, env={**self.here.env, name: value})
        if name == "CUDA_VISIBLE_DEVICES" and self.here.listed.under(self.guards).has is not Tri.YES:
            self.state = replace(self.here, shown=value)
            if self.here.listed.has is Tri.NO:
                hidden = isinstance(value, Const) and value.value in ("", "-1") and not default
                self.state = replace(self.here, fewest=0, most=0 if hidden else None)

    def unset_env(self, name: str) -> None:
        """The program takes a variable out of the environment."""
        self.state = replace(self.here, env={**self.here.env, name: UNKNOWN})
        if name == "CUDA_VISIBLE_DEVICES" and self.here.listed.under(self.guards).has is not Tri.YES:
            self.state = replace(self.here, shown=None, most=None)

    protos: list[tuple[Proto, Call]]
    shaped: set[int]
