"""Check an intent against the configuration in force, one function per kind of intent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.values import EACH, Const
from tfmemlint.knowledge import environment, variables
from tfmemlint.model.intent import Purpose
from tfmemlint.verify.cuda_visible_devices import cards_lost
from tfmemlint.verify.observation import ConfigCall, Observation, gpu_number
from tfmemlint.verify.verdict import GroundFacts, Verdict, VerdictKind

Decide = Callable[[StatedIntent, Observation, GroundFacts, Sequence[ConfigCall]], Verdict]

GROWTH_VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"
ALLOCATOR_VARIABLE = "TF_GPU_ALLOCATOR"
LIMIT_VARIABLE = "TF_PER_DEVICE_MEMORY_LIMIT_MB"
VISIBLE_VARIABLE = "CUDA_VISIBLE_DEVICES"


def growth(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Check memory growth, one setting for the whole process."""
    config = _in_force(seen)
    got = config["allow_growth"]
    told = [call.args[1] for call in asked if len(call.args) > 1]
    forced = seen.result.environment.get(GROWTH_VARIABLE)
    want: object = told[-1] if told else True
    if isinstance(stated.intent.value, bool):
        want = stated.intent.value
    elif stated.by == "environment" and _written(stated) is None:
        want = forced != "false"  # the run shows what the program put there
    words = "allow_growth unset" if got is None else f"allow_growth={got}"
    if stated.by == "environment" and stated.name == GROWTH_VARIABLE:
        words += f", {GROWTH_VARIABLE}={forced}" if forced is not None else f", {GROWTH_VARIABLE} not set in time"
    if not seen.visible:
        return Verdict(stated, VerdictKind.UNPROVEN, words, reason="no GPU is visible to TensorFlow in this run")
    if stated.by == "environment" and stated.name == GROWTH_VARIABLE:
        written = _written(stated)
        if forced is None:
            return Verdict(stated, VerdictKind.NOTHING, words, reason="it is set after the devices were made")
        if written is not None and forced != written:
            return Verdict(stated, VerdictKind.NOTHING, words, reason="another value was there when it was read")
        if forced not in ("true", "false"):
            return Verdict(stated, VerdictKind.NOTHING, words, reason=_why_no_growth(seen, forced, want=bool(want)))
    if bool(want) == (got is True):
        return Verdict(stated, VerdictKind.HOLDS, words)
    return Verdict(stated, VerdictKind.NOTHING, words, reason=_why_no_growth(seen, forced, want=bool(want)))


def _written(stated: StatedIntent) -> str | None:
    """Return the value that the program's text assigns to a variable; None if it isn't known."""
    event = stated.event
    value = event.value.value if isinstance(event, EnvWrite) and isinstance(event.value, Const) else None
    return value if isinstance(value, str) else None


def _why_no_growth(seen: Observation, forced: str | None, *, want: bool) -> str:
    config = _in_force(seen)
    if forced is not None and forced not in ("true", "false"):
        return f"{GROWTH_VARIABLE} must be true or false; {forced!r} is ignored"
    if forced is not None:
        return f"{GROWTH_VARIABLE}={forced} in the environment overrides it"
    if any(config["limits"]):
        return "a memory limit on any GPU drops memory growth on every GPU"
    for call in reversed(seen.asked):
        line = call.lines[0]
        if call.function == "set_logical_device_configuration" and not call.error:
            return f"line {line} configures a device, which drops memory growth on every GPU"
        if call.function == "set_memory_growth" and not call.error and call.args[1:] == (not want,):
            return f"line {line} asks for the opposite"
    return _made_before(seen)


def _made_before(seen: Observation) -> str:
    """Return what made the GPU devices, if it was not the eager context."""
    by = seen.result.allocator
    if by and by != "the eager context":
        return f"{by} had made the GPU devices with its own options"
    if by and seen.result.sessions:
        return "the eager context made the GPU devices; options of a session come too late"
    return ""


def limit(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Check limits in MiB, GPU by GPU."""
    targets = _targets(stated, seen, asked)
    words = describe_limits(seen, facts, targets)
    if stated.by == "environment" and stated.name == LIMIT_VARIABLE:
        got = seen.result.environment.get(LIMIT_VARIABLE)
        if got is None:
            return Verdict(
                stated, VerdictKind.NOTHING, words, reason=f"{LIMIT_VARIABLE} is set after the devices were made"
            )
        return Verdict(stated, VerdictKind.HOLDS, f"{LIMIT_VARIABLE}={got}")
    told = _asked_sizes(asked)
    if not targets:
        return _no_target(stated, seen, words)
    if stated.gpu == EACH:
        # Hidden GPUs use no memory anyway.
        targets = [gpu for gpu in targets if gpu in seen.visible] or targets
    for gpu in targets:
        found = seen.limits_of(gpu)
        if found is None:
            return Verdict(stated, VerdictKind.NOTHING, words, reason=f"GPU {gpu} isn't visible")
        if not found:
            return Verdict(stated, VerdictKind.NOTHING, words, reason=_made_before(seen))
        sizes = told.get(gpu, stated.sizes)
        if sizes is not None and not _same(found, sizes):
            return Verdict(stated, VerdictKind.NOTHING, words, reason="another limit is in force")
    return _sane(
        Verdict(stated, VerdictKind.HOLDS, words),
        [size for gpu in targets for size in seen.limits_of(gpu) or ()],
        seen,
        facts,
    )


def _sane(verdict: Verdict, sizes: Sequence[float], seen: Observation, facts: GroundFacts) -> Verdict:
    """Return the verdict for a limit that TensorFlow's configuration has; unproven if only the allocator knows its
    effect.
    """
    if facts.allocates:
        return verdict
    most = min(facts.total_mib, default=math.inf)
    reason = ""
    if seen.result.environment.get(ALLOCATOR_VARIABLE) == "cuda_malloc_async":
        reason = "only an allocator can show if cuda_malloc_async keeps to a limit (--device driver)"
    elif any(not 1 <= size <= most for size in sizes):
        reason = "only an allocator can show the effect of such a limit (--device driver)"
    return Verdict(verdict.stated, VerdictKind.UNPROVEN, verdict.configuration, reason=reason) if reason else verdict


def fraction(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Check a share of each GPU's memory: TensorFlow's own option, or an equivalent limit in MiB."""
    config = _in_force(seen)
    own = config["per_process_gpu_memory_fraction"]
    value = stated.intent.value
    share = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    targets = _targets(stated, seen, asked)
    words = f"per_process_gpu_memory_fraction={own:g}" if own else describe_limits(seen, facts, targets)
    if not targets:
        return _no_target(stated, seen, words)
    if own and (share is None or math.isclose(own, share, rel_tol=1e-6)):
        if not 0 < own <= 1 and not facts.allocates:
            reason = "only an allocator can show the effect of such a share (--device driver)"
            return Verdict(stated, VerdictKind.UNPROVEN, words, reason=reason)
        return Verdict(stated, VerdictKind.HOLDS, words)
    for gpu in targets:
        found = seen.limits_of(gpu)
        if not found:
            reason = "0 means the default" if share == 0 else _made_before(seen)
            return Verdict(stated, VerdictKind.NOTHING, words, reason=reason)
        total = facts.total_mib[gpu] if gpu < len(facts.total_mib) else None
        if share is not None and total and abs(sum(found) - share * total) > max(1.0, total / 1000):
            given = stated.by == "call" and _same(found, stated.sizes or ())
            reason = "memory_limit is in MiB, not a share of the memory" if given else "another limit is in force"
            return Verdict(stated, VerdictKind.NOTHING, words, reason=reason)
    return Verdict(stated, VerdictKind.HOLDS, words)


def visible(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Check the GPUs that TensorFlow uses."""
    result = seen.result
    own = (
        result.config if stated.by == "call" and not (result.sessions and (result.config or {}).get("forced")) else None
    )
    # Devices that `device_lib` made don't change what the eager context sees.
    now = list(own["visible"] if own is not None else seen.visible)
    numbers = ", ".join(map(str, now))
    words = f"GPU{'s' if len(now) > 1 else ''} {numbers} of {result.physical}" if now else f"none of {result.physical}"
    if stated.by == "environment":
        got = result.environment.get(VISIBLE_VARIABLE)
        words = f"{VISIBLE_VARIABLE}={got}" if got is not None else f"{VISIBLE_VARIABLE} unset"
        words += " when it was read"
        value = stated.intent.value
        same = value is None or got == str(value)
        none_wanted = value is not None and variables.hides_all(str(value))
        if got is not None and (same or (none_wanted and not result.physical)):
            words += f": TensorFlow sees {_gpus(result.physical)}"
            lost = "" if none_wanted or variables.hides_all(got) else cards_lost(got, result.physical, facts)
            if lost:
                there_is_none = lost.startswith("there is no") and not facts.has_all_gpus
                if facts.has_all_gpus:
                    lost = lost.partition(" in this run")[0]
                return Verdict(
                    stated, VerdictKind.UNPROVEN if there_is_none else VerdictKind.NOTHING, words, reason=lost
                )
            return Verdict(stated, VerdictKind.HOLDS, words)
        if none_wanted and not now and result.physical:
            # Something else has hidden them all: nothing is left that this could hide.
            return Verdict(stated, VerdictKind.HOLDS, f"{words}: TensorFlow sees {_gpus(0)}")
        reason = "it was read before this line set it" if got is None else "another value was there when it was read"
        return Verdict(stated, VerdictKind.NOTHING, words, reason=reason)
    if stated.by == "made-up":
        kind = VerdictKind.NOTHING if now else VerdictKind.HOLDS
        return Verdict(stated, kind, words, reason=f"TensorFlow never reads {stated.name}" if now else "")
    if stated.by in ("session", "proto", "handed-on"):
        value = stated.intent.value
        want = (
            [int(part) for part in str(value).split(",") if part.strip().isdigit()] if isinstance(value, str) else None
        )
    else:
        last = next((call.args[0] for call in reversed(asked) if call.args), None)
        names = last if isinstance(last, list) else [last]
        want = sorted(number for number in map(gpu_number, names) if number is not None) if asked else None
    if want is None:
        return Verdict(stated, VerdictKind.UNPROVEN, words, reason="the intended devices aren't known")
    if set(want) == set(now):
        return Verdict(stated, VerdictKind.HOLDS, words)
    return Verdict(stated, VerdictKind.NOTHING, words, reason=_made_before(seen))


def allocator(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Check the allocator that the environment, or a session's options, ask for."""
    got = seen.result.environment.get(ALLOCATOR_VARIABLE)
    words = f"{ALLOCATOR_VARIABLE}={got}" if got is not None else f"{ALLOCATOR_VARIABLE} unset"
    if stated.by in ("session", "proto", "handed-on"):
        # `GPUOptions.allocator_type`: what a session's devices were made with is not among what is observed.
        return Verdict(stated, VerdictKind.UNPROVEN, "", reason="the allocator of a session is not shown by a run")
    if stated.by != "environment":
        return Verdict(stated, VerdictKind.NOTHING, words, reason=f"TensorFlow never reads {stated.name}")
    if not seen.result.physical:
        return Verdict(stated, VerdictKind.UNPROVEN, words, reason="TensorFlow saw no GPU in this run")
    known = environment.allowed(ALLOCATOR_VARIABLE) or ()
    value = stated.intent.value
    if got is None or (value is not None and got != value):
        reason = "it is set after the devices were made" if got is None else "another value was there when it was read"
        return Verdict(stated, VerdictKind.NOTHING, words, reason=reason)
    if got not in known:
        return Verdict(stated, VerdictKind.NOTHING, words, reason=f"TensorFlow knows only {', '.join(known)}")
    return Verdict(stated, VerdictKind.HOLDS, words)


BY_PURPOSE: Mapping[Purpose, Decide] = {
    Purpose.GROWTH: growth,
    Purpose.LIMIT: limit,
    Purpose.FRACTION: fraction,
    Purpose.VISIBLE: visible,
    Purpose.ALLOCATOR: allocator,
}


def describe_limits(seen: Observation, facts: GroundFacts, gpus: Sequence[int]) -> str:
    """Describe the limits in force on ``gpus``: ``GPU 0: 4096 MiB (25 %), GPU 1: no limit``."""
    parts = []
    for gpu in gpus:
        if gpu not in seen.visible:
            parts.append(f"GPU {gpu}: not visible")
            continue
        found = seen.limits_of(gpu) or ()
        total = facts.total_mib[gpu] if gpu < len(facts.total_mib) else None
        sizes = " + ".join(f"{size:.0f}" if size == round(size, 0) else f"{size:g}" for size in found)
        share = f" ({100 * sum(found) / total:.0f} %)" if found and total and 0 < sum(found) <= total else ""
        parts.append(f"GPU {gpu}: {sizes} MiB{share}" if found else f"GPU {gpu}: no limit")
    return ", ".join(parts) or "no GPU visible"


def _gpus(number: int) -> str:
    return f"{number} GPU" if number == 1 else f"{number} GPUs"


def _targets(stated: StatedIntent, seen: Observation, asked: Sequence[ConfigCall]) -> list[int]:
    """Return the physical GPUs that an intent is about: those that the run named, or that the program says."""
    named = [gpu_number(call.args[0]) for call in asked if call.args]
    known = sorted({number for number in named if number is not None})
    if known:
        return known
    if isinstance(stated.gpu, int):
        return [stated.gpu] if stated.gpu < seen.result.physical else []
    return list(seen.visible)


def _no_target(stated: StatedIntent, seen: Observation, words: str) -> Verdict:
    if isinstance(stated.gpu, int) and seen.result.physical:
        reason = f"there is no GPU {stated.gpu} in this run (--gpus {stated.gpu + 1} makes one)"
    else:
        reason = "no GPU is visible to TensorFlow in this run"
    return Verdict(stated, VerdictKind.UNPROVEN, words, reason=reason)


def _asked_sizes(asked: Sequence[ConfigCall]) -> dict[int, tuple[float, ...]]:
    """Return the limits in MiB that the last calls set for each GPU, if they can be read."""
    found: dict[int, tuple[float, ...]] = {}
    for call in asked:
        gpu = gpu_number(call.args[0]) if call.args else None
        logical = call.args[1] if len(call.args) > 1 else None
        if gpu is None or not isinstance(logical, list):
            continue
        sizes = [part.get("memory_limit") for part in logical if isinstance(part, dict)]
        numbers = [float(size) for size in sizes if isinstance(size, (int, float))]
        if numbers and len(numbers) == len(logical):
            found[gpu] = tuple(numbers)
    return found


def _same(found: Sequence[float], stated: Sequence[float]) -> bool:
    # TensorFlow keeps sizes as 32-bit floats.
    return len(found) == len(stated) and all(
        math.isclose(size, other, rel_tol=1e-6) or (math.isnan(size) and math.isnan(other))
        for size, other in zip(found, stated, strict=True)
    )


def _in_force(seen: Observation) -> dict[str, Any]:
    config = seen.in_force
    assert config is not None  # `judge` calls no check without one
    return config
