"""Check a verdict on the configuration against the memory that was really taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.model.intent import Purpose
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.verdict import GroundFacts, Verdict, VerdictKind

SLACK_MIB = 64.0
"""The memory beyond limit and overhead that is tolerated. It is far below what a missing limit or growth takes; the
exact number has no deeper reason."""


def confirm(verdict: Verdict, seen: Observation, facts: GroundFacts) -> Verdict:
    """Return the verdict with the observation of each GPU, corrected if the memory contradicts it."""
    probe = seen.result.probe
    if probe is None or verdict.kind in (VerdictKind.RAISES, VerdictKind.UNPROVEN):
        return verdict
    if probe.get("error"):
        return replace(verdict, kind=VerdictKind.UNPROVEN, reason=f"the memory could not be measured: {probe['error']}")
    devices: list[dict[str, Any]] = probe["devices"]
    purpose = verdict.stated.intent.purpose
    if isinstance(verdict.stated.gpu, int):
        devices = [device for device in devices if device["physical"] == verdict.stated.gpu]
    if purpose is Purpose.GROWTH:
        return _growth(verdict, devices, facts)
    if purpose in (Purpose.LIMIT, Purpose.FRACTION):
        return _limit(verdict, devices, facts)
    return verdict


def _growth(verdict: Verdict, devices: Sequence[dict[str, Any]], facts: GroundFacts) -> Verdict:
    words, holds = [], True
    for device in devices:
        first, after = device["first_mib"], device["after_mib"]
        if first is None:
            return replace(verdict, observed=device.get("blind", ""))
        own = first - _overhead(device, facts)
        grown = f"{after - first:+.0f} MiB after {device['granted_mib']:.0f} MiB"
        words.append(f"{device['name']}: {own:.0f} MiB at first use, {grown}{_left(device)}")
        holds = holds and own <= SLACK_MIB + device["held_mib"]
    observed = "; ".join(words)
    wants = verdict.stated.intent.value is not False
    if holds == wants or not words:
        return replace(verdict, observed=observed)
    if verdict.kind is VerdictKind.HOLDS:
        return replace(verdict, kind=VerdictKind.NOTHING, observed=observed, reason="the memory is taken all at once")
    return replace(verdict, observed=observed)


def _limit(verdict: Verdict, devices: Sequence[dict[str, Any]], facts: GroundFacts) -> Verdict:
    words = []
    trouble = ""
    for device in devices:
        limit, after = device["limit_mib"], device["after_mib"]
        part = f"{device['name']}: {device['granted_mib']:.0f} MiB granted"
        part += f", {device['refused_mib']:.0f} refused" if device["refused_mib"] else ""
        if after is not None:
            part += f", {after - _overhead(device, facts):.0f} MiB held"
        part += _left(device)
        words.append(part)
        if limit is None:
            trouble = trouble or f"{device['name']} has no limit"
        elif device.get("trouble"):
            trouble = trouble or str(device["trouble"])
        elif device["refused_mib"] and not device["refusal"].startswith("ResourceExhaustedError"):
            trouble = trouble or device["refusal"]
        elif not device["refused_mib"]:
            trouble = trouble or f"{device['beyond_mib']:.0f} MiB were granted, beyond the limit of {limit:.0f} MiB"
    observed = "; ".join(words)
    trouble = trouble or _too_much(devices, facts)
    if trouble and verdict.kind is VerdictKind.HOLDS:
        return replace(verdict, kind=VerdictKind.NOTHING, observed=observed, reason=trouble)
    return replace(verdict, observed=observed)


def _left(device: dict[str, Any]) -> str:
    """Return the memory that another process would still find free, in words."""
    free = device.get("free_mib")
    return f" ({free:.0f} MiB left to others)" if free is not None else ""


def _too_much(devices: Sequence[dict[str, Any]], facts: GroundFacts) -> str:
    """Return how much is held beyond the limits of a GPU and the overhead of a process; "" if nothing is."""
    for physical in sorted({device["physical"] for device in devices}):
        own = [device for device in devices if device["physical"] == physical]
        held = [device["after_mib"] - _overhead(device, facts) for device in own if device["after_mib"] is not None]
        most = sum(device["limit_mib"] or math.inf for device in own)
        if held and max(held) > most + SLACK_MIB:
            return f"{max(held):.0f} MiB are held of GPU {physical}, more than the limit of {most:.0f} MiB"
    return ""


def _overhead(device: dict[str, Any], facts: GroundFacts) -> float:
    physical = device["physical"]
    return facts.overhead_mib[physical] if physical < len(facts.overhead_mib) else 0.0
