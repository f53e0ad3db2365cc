"""Programs that import the same package report the same, whichever of them was interpreted first."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from tests.project.trees import write
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.programs import analyze_program
from tfmemlint.engine.results import ProgramResult
from tfmemlint.engine.run import run
from tfmemlint.interpreter import replays
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations import imports
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.model.finding import Finding, Step
from tfmemlint.project.entries import entry_of
from tfmemlint.sources import walk

PACKAGE = {
    "net/__init__.py": """
        import os

        from net import registry
        from net.device import DEVICE

        os.environ.setdefault("TF_GPU_ALLOCATOR", "cuda_malloc_async")
        if os.environ.get("NET_BACKEND") == "none":
            raise ImportError("no backend")
        """,
    "net/device.py": """
        import os

        import tensorflow as tf

        from net import registry

        DEVICE = tf.constant(1.0) if os.environ.get("NET_EAGER") != "0" else None


        @registry.register
        def grow():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        """,
    "net/registry.py": """
        KNOWN = []


        def register(function):
            KNOWN.append(function)
            return function


        def call_all():
            for function in KNOWN:
                function()


        def names():
            for function in KNOWN:
                yield function.__name__


        COUNT = len(list(names()))
        """,
}
"""A package that starts the runtime when it is imported, and puts code into a list that others go through."""
LATE = """
    import net
    from net import device

    device.grow()
    """
ENTRIES = {
    "late.py": LATE,
    "later.py": "import logging\n\nlogging.info('starting')\n" + dedent(LATE),
    "in_a_function.py": """
        import tensorflow as tf


        def main():
            import net

            net.registry.call_all()


        if __name__ == "__main__":
            main()
        """,
    "in_time.py": """
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        import net

        net.registry.call_all()
        """,
    "other_environment.py": """
        import os

        os.environ["NET_EAGER"] = "0"
        import net

        net.device.grow()
        print(net.DEVICE)
        """,
    "guarded.py": """
        try:
            import net
        except ImportError:
            net = None

        from net import device

        device.grow()
        """,
    "through_another.py": """
        import helper

        helper.net.device.grow()
        """,
    "helper.py": """
        import net
        """,
    "tests/test_net.py": """
        import unittest

        import tensorflow as tf

        from net import device


        class NetTest(unittest.TestCase):
            def test_growth(self):
                device.grow()
        """,
    "tests/test_registry.py": """
        import tensorflow as tf

        from net import registry


        def test_all():
            registry.call_all()
        """,
}
"""Programs that import the package in different ways."""


def findings(root: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> list[Finding]:
    """Return all that is found in these files; the package is there, and its files are not given."""
    monkeypatch.chdir(root)
    results = run([(name, False) for name in names], RunContext(explain_fixes="never"))
    return sorted((finding for result in results for finding in result.findings), key=lambda found: found.sort_key)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "pyproject.toml", '[project]\nname = "net"\ndependencies = ["tensorflow==2.15"]\n')
    for name, text in {**PACKAGE, **ENTRIES}.items():
        write(tmp_path / name, dedent(text))
    return tmp_path


def test_a_repeated_import_is_what_it_would_be_if_interpreted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    names = walk(["."]).files
    repeated: list[bool] = []

    def watched(context: Context, name: str, node: ast.AST) -> bool:
        repeated.append(replays.use_replay(context, name, node))
        return repeated[-1]

    monkeypatch.setattr(imports, "use_replay", watched)
    found = findings(project, monkeypatch, names)
    assert any(repeated), "no program repeats what another one has done"
    assert {finding.code for finding in found} >= {"TFM101"}
    with monkeypatch.context() as patch:
        patch.setattr(imports, "begin_recording", lambda context: None)
        assert findings(project, patch, names) == found
    assert findings(project, monkeypatch, names[::-1]) == found


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in ("helper.py", "late.py")])
def test_a_program_after_another_is_the_same_as_alone(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its findings, with their traces, and the places that it reaches."""
    monkeypatch.chdir(project)

    def result(context: RunContext, path: str) -> ProgramResult:
        listings = context.modules.listings
        entry = entry_of(path, Path(path).read_bytes(), listings)
        assert entry is not None
        return analyze_program(entry, context)

    alone = result(RunContext(), name)
    context = RunContext()
    result(context, "late.py")
    assert result(context, name) == alone
    assert alone.reached


def test_a_program_is_followed_as_far_whatever_was_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps of a module are not those of the program that happens to import it first."""
    monkeypatch.setattr("tfmemlint.interpreter.context.MAX_STEPS_OF_PROJECT_PROGRAM", 1_000)
    write(tmp_path / "pyproject.toml", "")
    write(tmp_path / "large.py", "import os\nos.environ['TF_GPU_ALLOCATOR'] = 'cuda_malloc'\n" + "x = 1\n" * 400)
    for name in ("first.py", "second.py"):
        write(tmp_path / name, "import large\n" + "y = 2\n" * 400 + "print(large.x)\n")
    monkeypatch.chdir(tmp_path)
    context = RunContext()
    results = []
    for name in ("first.py", "second.py"):
        entry = entry_of(name, Path(name).read_bytes(), context.modules.listings)
        assert entry is not None
        results.append(analyze_program(entry, context))
    assert [result.gave_up for result in results] == [(), ()]


@pytest.mark.parametrize(
    ("held", "is_kept"), [("STEPS = [grow]\nlist(n for n in (1, 2))", True), ("STEPS = [grow()]", False)]
)
def test_a_generator_that_a_module_holds_runs_in_each_program(
    held: str, is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has run, and that nothing holds, does not keep the import from being repeated."""
    write(tmp_path / "pyproject.toml", '[project]\nname = "held"\ndependencies = ["tensorflow==2.15"]\n')
    growing = """
        import tensorflow as tf


        def grow():
            for gpu in tf.config.list_physical_devices("GPU"):
                yield tf.config.experimental.set_memory_growth(gpu, True)


        def count():
            yield 1


        NUMBER = len(list(count()))
        STARTED = tf.constant(1.0)
        """
    write(tmp_path / "held.py", f"{dedent(growing)}{held}\n")
    steps = "held.STEPS[0]()" if is_kept else "held.STEPS[0]"
    for name in ("first.py", "second.py"):
        write(tmp_path / name, f"import held\n\nfor _ in {steps}:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    context = RunContext()
    for name in ("first.py", "second.py"):
        entry = entry_of(name, Path(name).read_bytes(), context.modules.listings)
        assert entry is not None
        found = analyze_program(entry, context).findings
        assert {finding.code for finding in found} == {"TFM101"}
        assert any(context.modules.replays.values()) == is_kept


def test_a_program_is_left_while_it_imports_where_nothing_can_configure_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "net/__init__.py": "from net import config\nfrom net import layers\n",
        "net/config.py": (
            "import os\n\nKNOWN = {}\n\n\ndef export(function):\n    KNOWN[function.__name__] = function\n"
            "    return function\n\n\nif os.environ.get('NET') != 'tensorflow':\n"
            "    os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n\n\n@export\n"
            "def backend():\n    return 'tensorflow'\n"
        ),
        "net/layers.py": "import tensorflow as tf\n\nONE = tf.constant(1.0)\n",
        **{f"{name}_test.py": "import net\n\n\ndef test_one():\n    net.layers.ONE\n" for name in "ab"},
    }
    for name, text in files.items():
        write(tmp_path / name, text)
    monkeypatch.chdir(tmp_path)
    followed: list[str] = []
    run_module = imports.run_module

    def seen(context: Context, unit: ModuleInstance, call: Step | None) -> None:
        followed.append(unit.name)
        run_module(context, unit, call)

    monkeypatch.setattr(imports, "run_module", seen)
    results = run([(path, False) for path in walk(["."]).files], RunContext(cache=False))
    assert len([result for result in results if result.entries]) >= 2
    assert "net.config" in followed
    assert "net.layers" not in [name for name in followed if name]
