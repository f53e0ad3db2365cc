"""The way the memory of one GPU is taken: by the options of a session, or by ``tf.config`` and the environment."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tfmemlint.interpreter.program import ProtoMade, SessionMade
from tfmemlint.interpreter.state import ANY, Key, Setting, State
from tfmemlint.interpreter.values import EACH, Const, Limit, Seq, Value
from tfmemlint.plans.entry_run import EntryRun
from tfmemlint.plans.model import Memory
from tfmemlint.rulekit.explain import plain_options
from tfmemlint.rulekit.made_up import LEAST_BYTES

EVERYTHING = "everything that is free"


def of_session(session: SessionMade, run: EntryRun) -> Memory:
    """Return the memory as the options of the session that creates the GPU devices set it."""
    if session.fields is None:
        return Memory("unknown", "not known: the options of the session aren't", rows=(session.span.row,))
    plain = plain_options(session.fields)
    rows = _option_rows(session, plain, run)
    forced = run.env("TF_FORCE_GPU_ALLOW_GROWTH")
    bare = run.is_bare(session)
    asks_growth = bare or plain.get("gpu_options.allow_growth") is True
    growth = asks_growth if forced not in ("true", "false") else forced == "true"
    unsure = forced is None and "gpu_options.allow_growth" in plain and plain["gpu_options.allow_growth"] is None
    share = plain.get("gpu_options.per_process_gpu_memory_fraction")
    if unsure:
        return Memory("unknown", "not known: growth as the program decides", rows=rows)
    if isinstance(share, (int, float)) and not isinstance(share, bool) and share > 0:
        if share > 1:
            return Memory("unified", f"unified memory {share:g} times the size of the GPU's", False, None, share, rows)
        of_gpu = f", {share * run.memory:g} MiB of {run.memory:g}" if run.memory is not None else ""
        words = f"a share of {share:g} of the memory{of_gpu}"
        return Memory("fraction", words + (", as needed" if growth else ""), growth, None, share, rows)
    if "gpu_options.per_process_gpu_memory_fraction" in plain and share is None:
        return Memory("fraction", "a share of the memory that isn't known", growth, rows=rows)
    if growth:
        why = ": so an InteractiveSession has it" if bare and forced is None else ""
        return Memory("growth", f"grows as needed{why}", True, rows=rows)
    return Memory("all", f"{EVERYTHING} (the session's options say nothing else)", False, rows=(session.span.row,))


def _option_rows(session: SessionMade, options: Iterable[str], run: EntryRun) -> tuple[int, ...]:
    """Return the rows that set these options of a session's message; the session's own if they are unknown."""
    spans = {
        proto.field_spans[name]
        for proto in run.program.of(ProtoMade)
        for name in options
        if proto.field_spans.get(name) in session.field_spans.values()
    }
    return tuple(sorted({span.row for span in spans})) or (session.span.row,)


def of_settings(run: EntryRun, state: State, key: Key) -> Memory:
    """Return the memory of one GPU as ``tf.config`` and the environment configure it."""
    forced = run.env("TF_FORCE_GPU_ALLOW_GROWTH")
    forced_row = run.env_row("TF_FORCE_GPU_ALLOW_GROWTH") if forced in ("true", "false") else None
    extra = (forced_row,) if forced_row is not None else ()
    if run.ignores_tf_config and run.made is not None and forced != "true":
        row = run.made.span.row
        return Memory("all", f"{EVERYTHING}: line {row} makes the GPU devices without a look at tf.config", False)
    if run.allocates_asynchronously:
        setter = run.env_row("TF_GPU_ALLOCATOR")
        words = "taken as needed, and given back, by cuda_malloc_async, which knows no limits"
        return Memory("growth", words, True, rows=(setter,) if setter is not None else ())
    limit = state.limit_of(key)
    vague = [setting for other, setting in state.limits.items() if isinstance(other, str) and other != EACH]
    if limit is None and vague and isinstance(key, int):
        return Memory("unknown", "not known: a limit is set for some GPU", rows=_rows(vague[0]))
    if limit is not None:
        return _limited(limit, run, forced == "true", extra)
    if forced == "true":
        return Memory("growth", "grows as needed", True, rows=extra)
    if forced == "false":
        return Memory("all", EVERYTHING, False, rows=extra)
    if run.may_be("TF_FORCE_GPU_ALLOW_GROWTH", "true"):
        return Memory("unknown", "not known: growth as the program decides")
    return _unlimited(run, state, key)


def _unlimited(run: EntryRun, state: State, key: Key) -> Memory:
    limits = [*state.limits.values(), *([state.cpu_split] if state.cpu_split is not None else [])]
    growth = state.growth_of(key)
    row = _rows(growth)
    if limits and not isinstance(key, str | int):
        limits = []
    if limits and (growth is None or growth.value != Const(False)):
        if growth is None:
            return Memory("all", f"{EVERYTHING} (nothing here says otherwise)", False)
        return Memory("all", f"{EVERYTHING}: logical devices drop all growth", False, rows=_rows(limits[0]))
    partial = state.partial_growth
    if partial and key not in partial and not _growth_is(growth, True):
        lead = "" if run.gpus is not None else "with two or more GPUs "
        rows = tuple(sorted({number for setting in partial.values() for number in _rows(setting)}))
        words = f"{lead}the runtime does not start: growth differs between the GPUs"
        return Memory("none", words, rows=rows)
    if growth is None:
        vague = [setting for other, setting in state.growth.items() if isinstance(other, str)]
        if vague and (ANY in state.growth or isinstance(key, int)):
            return Memory("unknown", "not known: growth is set for some GPU", rows=_rows(vague[0]))
        if run.open and run.earlier is None:
            return Memory("before", "as it was set before: nothing here says otherwise")
        return Memory("all", f"{EVERYTHING} (nothing here says otherwise)", False)
    if _growth_is(growth, True):
        return Memory("growth", "grows as needed", True, rows=row)
    if _growth_is(growth, False):
        return Memory("all", EVERYTHING, False, rows=row)
    return Memory("unknown", _unsure(growth, "growth"), rows=row)


def _limited(limit: Setting, run: EntryRun, grows: bool, extra: tuple[int, ...]) -> Memory:
    rows = (*_rows(limit), *extra)
    sizes = _sizes(limit.value)
    growth = ", as needed" if grows else ""
    if isinstance(limit.value, Seq) and sizes is None:
        count = len(limit.value.items)
        what = "a limit that isn't known" if count == 1 else f"{count} logical devices of sizes that aren't known"
        return Memory("limit", what + growth, grows, rows=rows)
    if sizes is None:
        return Memory("unknown", _unsure(limit, "a limit"), rows=rows)
    if len(sizes) == 1 and (sizes[0] < 0 or LEAST_BYTES <= sizes[0] < math.inf):
        words = f"{EVERYTHING}: a memory_limit of {sizes[0]:.0f} MiB limits nothing"
        return Memory("growth" if grows else "all", "grows as needed" if grows else words, grows, rows=rows)
    if any(not size >= 1 for size in sizes) or not sizes:
        return Memory("unknown", "not known: no valid limit", None, sizes, rows=rows)
    if len(sizes) == 1:
        words = f"limited to {sizes[0]:g} MiB"
    elif len(set(sizes)) == 1:
        words = f"{len(sizes)} logical devices of {sizes[0]:g} MiB each"
    else:
        words = f"{len(sizes)} logical devices of {' + '.join(f'{size:g}' for size in sizes)} MiB"
    if run.memory is not None and sum(sizes) > run.memory:
        words += f", more than the {run.memory:g} MiB that there are"
    return Memory("limit", words + growth, grows, sizes, rows=rows)


def _sizes(value: Value) -> tuple[float, ...] | None:
    if not isinstance(value, Seq):
        return None
    found = []
    for item in value.items:
        size = item.value.value if isinstance(item, Limit) and isinstance(item.value, Const) else None
        if isinstance(size, bool) or not isinstance(size, (int, float)):
            return None
        found.append(float(size))
    return tuple(found)


def _unsure(setting: Setting, what: str) -> str:
    call = setting.by
    known = call is not None and isinstance(call.value(1, "enable"), Const)
    if what == "growth" and call is not None and not call.certain and known:
        return "not known: grows as needed on some ways, else everything that is free"
    if call is not None and not call.certain:
        return f"not known: {what} is set on some ways only"
    return f"not known: {what} as the program decides"


def _growth_is(setting: Setting | None, value: bool) -> bool:
    return setting is not None and isinstance(setting.value, Const) and setting.value.value is value


def _rows(setting: Setting | None) -> tuple[int, ...]:
    return (setting.by.span.row,) if setting is not None and setting.by is not None else ()
