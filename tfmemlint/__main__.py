"""The command ``tfmemlint``, and ``python -m tfmemlint``: neither takes a module from the tree that it checks.

``python -m`` puts the working directory in front of all places that modules are looked for in, an empty item of
``PYTHONPATH`` does so for every program. A ``yaml.py`` there would be imported in the place of the real one, and a
``.dist-info`` could bring rules. So these places are forgotten before anything else is imported. A package
``./tfmemlint/`` is in front of this one before a line of it runs; the installed ``tfmemlint.pth`` (``setup.py``)
imports this one before that place is known. What cannot be helped: ``sitecustomize``, other ``.pth`` files and the
environment that Python itself runs in belong to whoever installed it.
"""

import gc
import os
import sys

_INSTALLED = ("site-packages", "dist-packages")


def _forget_working_directory(*, as_module: bool) -> None:
    """Take the working directory, and what ``PYTHONPATH`` names in it, out of the places that modules come from.

    Args:
        as_module: run by ``python -m``, which has put the working directory first.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        # The directory is gone, and nothing can be in it.
        return
    if as_module and sys.path and not getattr(sys.flags, "safe_path", False) and _place(sys.path[0]) == here:
        del sys.path[0]
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    told = {_place(item) for item in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    if sys.flags.ignore_environment or not os.environ.get("PYTHONPATH"):
        told = set()
    sys.path[:] = [item for item in sys.path if item and not (_place(item) in told and _is_of(_place(item), here, own))]


def _is_of(place: str, here: str, own: str) -> bool:
    """True if modules in a place belong to the working directory: not to what is installed there, nor to this tool."""
    if place == here:
        return True
    inside = place.startswith(os.path.join(here, ""))
    return inside and place != own and not any(name in place.split(os.sep) for name in _INSTALLED)


def _place(item: str) -> str:
    return os.path.realpath(item or os.curdir)


def main() -> int:
    """Run the command line; return the exit code."""
    _forget_working_directory(as_module=__name__ == "__main__")
    from tfmemlint.cli.quick_check import quick_check

    code = quick_check(sys.argv[1:], os.environ)
    if code is not None:
        return code
    from tfmemlint.cli.main import main as run

    code = run()
    # Python looks for garbage when it ends: in the million objects of a run, for nothing but their end.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
