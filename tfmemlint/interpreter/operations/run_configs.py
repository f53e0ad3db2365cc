"""The ``RunConfig`` of an estimator, by which it gets the options of its sessions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.state.options import RunConfigDropped
from tfmemlint.interpreter.values import Proto, Value

WITHOUT_SESSION_CONFIG = frozenset(
    {"model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs"}
    | {"keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "master", "is_chief"}
    | {"task_type", "task_id", "global_id_in_cluster", "num_worker_replicas", "num_ps_replicas"}
)
"""Attributes of a ``RunConfig`` that hand nothing on of the options of sessions."""


def note_run_config(
    context: Context,
    serial: int,
    keywords: Mapping[str, Value],
    node: ast.AST,
    written: Sequence[Arg],
    method: str = "",
    *,
    dropped: bool = False,
) -> None:
    """Note a ``RunConfig`` that has options for sessions: whether something gets it is known when the program ends."""
    proto = keywords.get("session_config")
    given = next((argument for argument in written if argument.keyword == "session_config"), None)
    if not isinstance(proto, Proto) or given is None or context.state is None or not isinstance(node, ast.Call):
        return
    if proto.prefix:
        return
    proto.record.consumed = True
    around = event_fields(context, node)
    event = RunConfigDropped(given=given.span, method=method, dropped=dropped, arguments=tuple(written), **around)
    context.run_configs.append((serial, proto, event))
