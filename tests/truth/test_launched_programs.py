"""Programs that configuration files start, before and after a fix, as they are started, on the installed TensorFlow."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fixture_files import SETTINGS, strip_markers
from tests.truth.harness import SECONDS, failure
from tfmemlint.deployment.launches import Launch, launches_of
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.interpreter.values import Const
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.result import Result

pytestmark = pytest.mark.slow

FIXED = sorted((SETTINGS / "projects").rglob("*.fixed.py"))


def _run(edge: Edge, launch: Launch, code: str) -> Result:
    variables = {write.name: str(write.value.value) for write in launch.environment if isinstance(write.value, Const)}
    # A container has the GPUs that are chosen for it, and numbers them itself.
    gpus = launch.gpus if launch.gpus is not None else 4
    return edge.run(
        code,
        gpus=gpus,
        env=variables,
        argv=[word or "" for word in launch.arguments],
        cwd=Path(launch.program).parent,
        filename=launch.program,
        timeout=SECONDS,
    )


@pytest.mark.parametrize("fixed", FIXED, ids=lambda path: path.parent.name)
def test_a_fixed_program_runs_wherever_it_is_started(fixed: Path, tmp_path: Path, edge: Edge) -> None:
    project = next(folder for folder in fixed.parents if folder.parent.name == "projects")
    root = tmp_path / project.name
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("*.fixed.*"))
    program = root / fixed.relative_to(project).with_name(fixed.name.replace(".fixed", ""))
    before, _, _ = strip_markers(program.read_text(encoding="utf-8"))
    program.write_text(before, encoding="utf-8")
    (found,) = run([(str(program), True)], RunContext(explain_fixes="never"))
    says = any("raises IndexError" in one.outcome and not one.details["caught"] for one in found.findings)
    launches = launches_of([str(path) for path in root.rglob("*") if path.is_file()])[str(program)]
    ends = [failure(_run(edge, launch, before)) for launch in launches]
    for launch in launches:
        assert not failure(_run(edge, launch, fixed.read_text(encoding="utf-8")))
    assert any(end.startswith("IndexError: list index out of range") for end in ends) is says
