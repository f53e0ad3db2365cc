"""The order of configuration and start is repaired across the files of a program, by the least intrusive change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tests.fixes.projects import GROW, STARTER, fix, left, make
from tests.fixes.repaired_conditions import REPAIRED
from tests.fixture_runs import command
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Applicability


@pytest.fixture(params=REPAIRED)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One project in the current directory."""
    make(tmp_path, REPAIRED[request.param].files)
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def _texts() -> dict[str, str]:
    return {path.as_posix(): path.read_text("utf-8") for path in sorted(Path().rglob("*.py"))}


def test_a_repair_changes_these_files_and_says_what_it_did(case: str) -> None:
    repaired = REPAIRED[case]
    before = _texts()
    results = fix()
    changed = {path: text for path, text in _texts().items() if text != before[path]}
    assert changed == {path: code(text) for path, text in repaired.after.items()}
    fixes = [finding.fix for result in results for finding in result.applied]
    assert [fix.message for fix in fixes if fix] == [repaired.message]
    assert {fix.applicability for fix in fixes if fix} == {Applicability.UNSAFE}


def test_nothing_is_left_and_a_second_fix_changes_nothing(case: str) -> None:
    fix()
    assert not left()
    once = _texts()
    fix()
    assert _texts() == once


def test_check_shows_the_edits_of_all_files(case: str) -> None:
    found = json.loads(command("check", "--no-cache", "--output-format", "json", ".").out)
    (finding,) = [each for each in found if each["fix"]]
    edited = {Path(edit["filename"]).relative_to(Path.cwd()).as_posix() for edit in finding["fix"]["edits"]}
    assert edited == set(REPAIRED[case].after)
    assert finding["fix"]["message"] == REPAIRED[case].message


def test_without_unsafe_fixes_nothing_changes(case: str) -> None:
    before = _texts()
    results = run([(path, True) for path in before], RunContext(fix=True, write=True))
    assert _texts() == before
    assert {f.withheld for result in results for f in result.findings} == {"unsafe: needs --unsafe-fixes"}


def test_a_file_that_was_not_named_changes_only_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, REPAIRED["configuration is taken out of a class in another file"].files)
    monkeypatch.chdir(tmp_path)
    before = _texts()
    seen = command("fix", "--unsafe-fixes", "--no-cache", "train.py")
    assert _texts() == before
    assert "needs a change in trainer.py, which was not named: give --whole-program" in " ".join(seen.out.split())
    command("fix", "--unsafe-fixes", "--no-cache", "--whole-program", "train.py")
    assert {path for path, text in _texts().items() if text != before[path]} == {"train.py", "trainer.py"}


def test_a_refused_question_changes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, REPAIRED["output keeps its order"].files)
    monkeypatch.chdir(tmp_path)
    before = _texts()
    asked = []

    def ask(finding: object, changes: list[tuple[object, object]]) -> bool:
        asked.append([old.path for old, _ in changes])  # type: ignore[attr-defined]
        return False

    run([(path, True) for path in before], RunContext(fix=True, write=True, unsafe=True, ask=ask))  # type: ignore[arg-type]
    assert asked == [["gpu.py", "train.py"]]
    assert _texts() == before


_RUNNER = """
    from core.yolov4 import decode
    from core.config import grow


    def run():
        grow()
        decode(1)
    """


@pytest.mark.parametrize("programs", [3, 4])
def test_check_looks_for_no_fix_where_too_many_programs_run_a_file(
    programs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfmemlint.engine.order_repairs.MAX_EXPLAINED_PROGRAMS", 3)
    scripts = {f"run_{number}.py": "from runner import run\n\nrun()\n" for number in range(programs)}
    make(tmp_path, {"core/config.py": GROW, "runner.py": _RUNNER, **scripts})
    monkeypatch.chdir(tmp_path)
    found = json.loads(command("check", "--no-cache", "--output-format", "json", ".").out)
    assert [bool(each["fix"]) for each in found] == [programs == 3]
    text = " ".join(command("check", "--no-cache", ".").out.split())
    assert ("more than 3 programs run this file: `fix --diff` looks for a fix" in text) == (programs == 4)
    command("fix", "--unsafe-fixes", "--no-cache", ".")
    assert not left()


_DETECT = """
    import tensorflow as tf
    from absl import app

    from core.yolov4 import decode

    HANDLERS = {"decode": decode}


    def main(argv):
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices(gpus[int(argv[-1])], "GPU")
        print(HANDLERS["decode"](1.0))


    app.run(main)
    """


def test_a_repair_in_a_module_leaves_nothing_to_report_of_its_other_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = STARTER.replace("tf.Variable([1.0, 2.0])", "tf.constant([1.0, 2.0])")
    make(tmp_path, {"detect.py": _DETECT, "evaluate.py": _DETECT, "core/yolov4.py": starter})
    monkeypatch.chdir(tmp_path)
    before = _texts()
    seen = command("fix", "--unsafe-fixes", "--no-cache", ".")
    assert {path for path, text in _texts().items() if text != before[path]} == {"core/yolov4.py"}
    assert "remaining" not in seen.out or "0 remaining" in seen.out
    assert command("check", "--no-cache", ".").out.splitlines()[0] == "All checks passed!"


CIRCLE = {
    "models.py": """
        import tensorflow as tf

        CLASSES = tf.constant(["cat", "dog"])

        import training


        class Classifier:
            trainer = training.Trainer
        """,
    "training.py": """
        import tensorflow as tf

        import models

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


        class Trainer:
            classes = models.CLASSES
        """,
    "train.py": "import models\n\nprint(models.Classifier)\n",
}


def test_an_import_that_leads_back_in_a_circle_does_not_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, CIRCLE)
    monkeypatch.chdir(tmp_path)
    fix()
    text = (tmp_path / "models.py").read_text("utf-8")
    assert text.index("CLASSES =") < text.index("import training") < text.index("class Classifier")


def test_growth_under_a_condition_is_not_forced_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        import sys

        import tensorflow as tf

        state = tf.Variable(tf.random.normal([2]))


        def show():
            print(state)


        def main():
            show()
            if "--growth" in sys.argv:
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
            print(state)


        main()
        """
    make(tmp_path, {"train.py": text})
    monkeypatch.chdir(tmp_path)
    fix()
    assert "TF_FORCE" not in (tmp_path / "train.py").read_text("utf-8")


def test_a_late_call_that_reads_an_env_file_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = """
        import os


        def load_dotenv():
            with open(".env") as lines:
                for line in lines:
                    key, _, value = line.strip().partition("=")
                    os.environ[key] = value
        """
    train = """
        import tensorflow as tf
        from dotenv import load_dotenv

        {}
        print(x.shape)
        """
    before = code(train).format("x = tf.ones((2, 2))\nload_dotenv()")
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[project]\nname = "p"\n')
    Path(".env").write_text("TF_FORCE_GPU_ALLOW_GROWTH=true\n")
    Path("dotenv.py").write_text(code(reader))
    Path("train.py").write_text(before)
    fix()
    assert Path("train.py").read_text() == code(train).format("load_dotenv()\nx = tf.ones((2, 2))")
    assert not left()


def test_an_automatic_fixture_becomes_statements_of_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[project]\nname = "p"\n')
    files = {
        "tests/shapes.py": """
            import tensorflow as tf

            UNIT = tf.ones(2)
            """,
        "tests/test_shapes.py": """
            from shapes import UNIT


            def test_unit(unit):
                assert unit is UNIT
            """,
        "tests/conftest.py": """
            import pytest
            import tensorflow as tf

            from shapes import UNIT


            @pytest.fixture(scope="session", autouse=True)
            def gpu_growth():
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)


            @pytest.fixture
            def unit():
                return UNIT
            """,
    }
    Path("tests").mkdir()
    for name, text in files.items():
        Path(name).write_text(code(text))
    fix()
    expected = """
        import pytest
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        # GPU memory is configured before this import: it starts TensorFlow's runtime
        # isort: split
        from shapes import UNIT  # noqa: E402


        @pytest.fixture
        def unit():
            return UNIT
        """
    assert Path("tests/conftest.py").read_text() == code(expected)


CONFTEST = """
    import pytest
    import tensorflow as tf


    @pytest.fixture(scope="session", autouse=True)
    def growth():
        \"\"\"Set growth.\"\"\"
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        yield


    @pytest.fixture
    def size():
        return 2
    """


@pytest.mark.parametrize("used", [False, True])
def test_a_fixture_becomes_statements_of_its_conftest_unless_a_test_names_it(
    used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tests").mkdir()
    Path("pyproject.toml").write_text("[project]\nname = 'sizes'\n")
    Path("conftest.py").write_text(code(CONFTEST))
    names = "growth, size" if used else "size"
    test = f"""
        import tensorflow as tf

        SAMPLE = tf.ones(2)


        def test_size({names}):
            assert SAMPLE.shape == (size,)
        """
    Path("tests/test_size.py").write_text(code(test))
    fix()
    expected = """
        import pytest
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


        @pytest.fixture
        def size():
            return 2
        """
    assert Path("conftest.py").read_text() == code(CONFTEST if used else expected)
    assert (Path("tests/test_size.py").read_text() == code(test)) is not used


def test_what_a_class_of_tests_sets_up_becomes_statements_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = """
        import unittest

        import tensorflow as tf


        class NetTest(unittest.TestCase):
            weights = tf.ones(2)

            @classmethod
            def setUpClass(cls):
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)

            def test_size(self):
                self.assertEqual(len(self.weights), 2)
        """
    after = """
        import unittest

        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


        class NetTest(unittest.TestCase):
            weights = tf.ones(2)

            def test_size(self):
                self.assertEqual(len(self.weights), 2)
        """
    Path("test_net.py").write_text(code(before))
    fix()
    assert Path("test_net.py").read_text() == code(after)
