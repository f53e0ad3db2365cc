"""The library: what `import tfmemlint` gives, apart from the command line (docs/api.md)."""

from tfmemlint.api.functions import check, fix, plan
from tfmemlint.api.planned import Device, EntryPoint, PlannedIntent, PlanResult, Program, RuntimeStart
from tfmemlint.api.request import ConfigError
from tfmemlint.api.results import Change, CheckResult, Edit, Finding, Fix, FixResult, Intent, Place, Problem, Step

__all__ = [
    "Change",
    "CheckResult",
    "ConfigError",
    "Device",
    "Edit",
    "EntryPoint",
    "Finding",
    "Fix",
    "FixResult",
    "Intent",
    "Place",
    "PlanResult",
    "PlannedIntent",
    "Problem",
    "Program",
    "RuntimeStart",
    "Step",
    "check",
    "fix",
    "plan",
]
