"""TF1's messages and sessions, and the environment of the process."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.interpreter.generators import Later
from tfmemlint.interpreter.program import Arg, Call, ChildEnv, EnvWrite, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Made, Proto, ProtoRecord, Value
from tfmemlint.knowledge import effects
from tfmemlint.knowledge.functions import TARGETED
from tfmemlint.model.finding import Span


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
        if name == "visible_device_list" and self.statement is not None:
            value = self.rank_taken(value, "list", self.statement, span)
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
        elif name in ("add", "append", "extend") and base.prefix:
            # An item of a repeated field: that it is set is all there is to know.
            base.record.fields.setdefault(base.prefix[:-1], UNKNOWN)
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
        if name.rsplit(".", 1)[-1] in TARGETED and any(isinstance(value, Proto) for value in values[:2]):
            # In the place of the target, or of the graph: there is no session then.
            if self.throw("TypeError"):
                self.state = None
            return made
        fields: dict[str, Value] | None = {} if config in (None, Const(None)) else None
        spans: dict[str, Span] = {}
        if isinstance(config, Proto):
            fields = dict(config.record.fields)
            spans = {field: span for field, span in config.record.spans.items() if span}
        event = SessionMade(
            name=name,
            fields=fields,
            own_config=isinstance(config, Proto),
            graph_mode=self.here.graph_mode,
            field_spans=spans,
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
            entries = self._entries(node)
            for variable, value in items.items():
                place, entry = entries.get(variable, (None, None))
                given = self.span(entry) if entry is not None else None
                self.set_env(variable, value, node, "", how="update", key=place, given=given)
        elif name == "pop" and values and isinstance(values[0], Const) and isinstance(values[0].value, str):
            self.unset_env(values[0].value)
        return UNKNOWN

    def _entries(self, mapping: ast.expr) -> dict[str, tuple[Span | None, ast.expr]]:
        """The entries of a mapping that is written out, or of one in a call: where the name stands, and the value."""
        entries: dict[str, tuple[Span | None, ast.expr]] = {}
        if isinstance(mapping, ast.Dict):
            for key, value in zip(mapping.keys, mapping.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    entries[key.value] = self.span(key), value
        elif isinstance(mapping, ast.Call):
            for part in mapping.args[:1]:
                entries |= self._entries(part)
            for keyword in mapping.keywords:
                if keyword.arg is not None:
                    entries[keyword.arg] = None, keyword.value
        return entries

    def child_env(self, node: ast.Call) -> None:
        """A process is started; what its environment has is known where it is written out."""
        for keyword in node.keywords:
            for name, (key, value) in self._entries(keyword.value).items() if keyword.arg == "env" else ():
                if isinstance(value, ast.Constant) and self.state is not None:
                    given = self.span(value)
                    place = self.around(keyword.value)
                    self.emit(ChildEnv(name=name, value=Const(value.value), key=key or given, given=given, **place))

    def _env_write(self, values: list[Value], node: ast.AST, written: list[Arg], *, default: bool = False) -> None:
        if len(values) >= 2 and isinstance(values[0], Const) and isinstance(values[0].value, str):
            text = written[1].text if len(written) > 1 else ""
            key, given = (one.span for one in written[:2]) if len(written) > 1 else (None, None)
            how = "setdefault" if default else "putenv"
            self.set_env(values[0].value, values[1], node, text, how=how, key=key, given=given)

    def set_env(
        self,
        name: str,
        value: Value,
        node: ast.AST,
        text: str,
        *,
        how: str = "assign",
        key: Span | None = None,
        given: Span | None = None,
    ) -> None:
        """The program sets an environment variable; the rest is as in `EnvWrite`."""
        default = how == "setdefault"
        if name == "CUDA_VISIBLE_DEVICES":
            value = self.rank_taken(value, "environment", node, given, text)
        self.emit(EnvWrite(name=name, value=value, text=text, how=how, key=key, given=given, **self.around(node)))
        self.state = replace(self.here, env={**self.here.env, name: value})
        if name == "CUDA_VISIBLE_DEVICES" and self.here.listed.under(self.guards).has is not Tri.YES:
            self.state = replace(self.here, cuda_visible_devices=value)
            if self.here.listed.has is Tri.NO:
                hidden = isinstance(value, Const) and value.value in ("", "-1") and not default
                self.state = replace(self.here, min_gpus=0, max_gpus=0 if hidden else None)

    def unset_env(self, name: str) -> None:
        """The program takes a variable out of the environment."""
        self.state = replace(self.here, env={**self.here.env, name: UNKNOWN})
        if name == "CUDA_VISIBLE_DEVICES" and self.here.listed.under(self.guards).has is not Tri.YES:
            self.state = replace(self.here, cuda_visible_devices=None, max_gpus=None)

    protos: list[tuple[Proto, Call]]
    shaped: set[int]
