"""tfmemlint: what TensorFlow will really do with GPU memory, found before a GPU is touched.

`check`, `fix` and `plan` are functions of this package; docs/api.md describes them and their results. They are imported
when they are first used, so that the command starts fast.
"""

TYPE_CHECKING = False  # `typing` would be looked for in the working directory, where `python -m` begins
if TYPE_CHECKING:
    from tfmemlint.api import (
        Change,
        CheckResult,
        ConfigError,
        Device,
        Edit,
        EntryPoint,
        Finding,
        Fix,
        FixResult,
        Intent,
        Place,
        PlannedIntent,
        PlanResult,
        Problem,
        Program,
        RuntimeStart,
        Step,
        check,
        fix,
        plan,
    )

__version__ = "0.2.0"

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
    "__version__",
    "check",
    "fix",
    "plan",
]


def __getattr__(name: str) -> object:
    """Return a part of the library, which is imported now."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfmemlint import api

    found = globals()[name] = getattr(api, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
