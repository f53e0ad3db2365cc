"""The options that hold for each file: the nearest configuration file, what it extends, variables, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.checkout import ROOT
from tfmemlint.cli.main import main
from tfmemlint.config.describe import schema
from tfmemlint.config.options import OPTIONS
from tfmemlint.rulekit.rule import rules

LATE = """\
import tensorflow as tf

tf.zeros([1])
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
MODULE = "import tensorflow as tf\n\n\ndef grow():\n" + "".join(f"    {line}\n" for line in LATE.splitlines()[3:])
CLEAN, FOUND, FAILED = 0, 1, 2


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with the same late call at its top and in a project below."""
    for path in ("late.py", "nest/project/late.py", "nest/project/deep/er/late.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(LATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, list[str]]]:
    """Return the exit code, and the codes that are found, by file."""
    code = main(["check", "--no-cache", "--output-format", "json", *arguments])
    captured = capsys.readouterr()
    found: dict[str, list[str]] = {}
    for finding in json.loads(captured.out or "[]"):
        found.setdefault(str(Path(finding["filename"]).relative_to(Path.cwd())), []).append(finding["code"])
    return code, found


ALL_LATE = {"late.py", "nest/project/late.py", "nest/project/deep/er/late.py"}


@pytest.mark.parametrize("name", ["pyproject.toml", "tfmemlint.toml", ".tfmemlint.toml"])
@pytest.mark.parametrize("arguments", [(), ("nest/project", "late.py"), tuple(sorted(ALL_LATE))])
def test_the_nearest_file_counts_for_each_checked_file(
    tree: Path, capsys: pytest.CaptureFixture[str], name: str, arguments: tuple[str, ...]
) -> None:
    head = "[tool.tfmemlint]\n" if name == "pyproject.toml" else ""
    (tree / "nest/project" / name).write_text(f'{head}ignore = ["TFM101"]\n')
    assert check(capsys, *arguments) == (FOUND, {"late.py": ["TFM101"]})
    assert check(capsys, "--isolated", *arguments)[1].keys() == ALL_LATE


def test_it_counts_alone_unless_it_extends_another(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tfmemlint.toml").write_text('ignore = ["TFM101"]\n')
    nearer = tree / "nest/project/tfmemlint.toml"
    nearer.write_text("unsafe-fixes = true\n")
    assert check(capsys)[1].keys() == ALL_LATE - {"late.py"}
    nearer.write_text('extend = "../../tfmemlint.toml"\nunsafe-fixes = true\n')
    assert check(capsys) == (CLEAN, {})
    nearer.write_text('extend = "../../tfmemlint.toml"\nextend-select = ["TFM101"]\n')
    assert check(capsys)[1].keys() == ALL_LATE - {"late.py"}


def test_files_that_extend_each_other_are_an_error(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tfmemlint.toml").write_text('extend = "other.toml"\n')
    (tree / "other.toml").write_text('extend = "tfmemlint.toml"\n')
    assert main(["check", "late.py"]) == FAILED
    assert "other.toml: extend: tfmemlint.toml extends this file in turn" in capsys.readouterr().err


def test_patterns_are_relative_to_the_file_that_has_them(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tfmemlint.toml").write_text('exclude = ["deep"]\n[per-file-ignores]\n"late.py" = ["TFM101"]\n')
    (tree / "nest/project/tfmemlint.toml").write_text('[per-file-ignores]\n"deep/*" = ["TFM101"]\n')
    assert check(capsys) == (FOUND, {"nest/project/late.py": ["TFM101"]})
    (tree / "nest/project/tfmemlint.toml").write_text('exclude = ["deep/"]\n')
    assert check(capsys) == (FOUND, {"nest/project/late.py": ["TFM101"]})
    assert check(capsys, "nest")[1].keys() == {"nest/project/late.py"}


def test_a_module_is_judged_by_its_own_file_in_the_programs_of_others(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "train.py").write_text("import tensorflow as tf\nimport lib.gpu\n\ntf.zeros([1])\nlib.gpu.grow()\n")
    (tree / "lib").mkdir()
    (tree / "lib/__init__.py").touch()
    (tree / "lib/gpu.py").write_text(MODULE)
    arguments = ("train.py", "lib/gpu.py")
    assert check(capsys, *arguments) == (FOUND, {"lib/gpu.py": ["TFM101"]})
    (tree / "lib/tfmemlint.toml").write_text('severity = { TFM101 = "advice" }\n')
    assert main(["check", "--no-cache", *arguments]) == FOUND
    assert "Found 1 piece of advice." in capsys.readouterr().out
    (tree / "lib/tfmemlint.toml").write_text('ignore = ["TFM101"]\n')
    assert check(capsys, *arguments) == (CLEAN, {})


def test_a_named_file_counts_for_all(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "nest/project/tfmemlint.toml").write_text('select = ["TFM2"]\n')
    (tree / "other.toml").write_text('per-file-ignores = { "nest/**" = ["TFM101"] }\n')
    assert check(capsys, "--config", "other.toml") == (FOUND, {"late.py": ["TFM101"]})
    assert check(capsys, "--config", "ignore = ['TFM101']") == (CLEAN, {})
    assert main(["check", "--config", "gone.toml"]) == FAILED
    assert "gone.toml: no such configuration file" in capsys.readouterr().err
    assert main(["check", "--config", "ignroe = ['TFM101']"]) == FAILED
    assert "--config: unknown option 'ignroe'; did you mean 'ignore'?" in capsys.readouterr().err


def test_variables_come_between_files_and_the_command_line(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "tfmemlint.toml").write_text('select = ["TFM1"]\n')
    monkeypatch.setenv("TFMEMLINT_SELECT", "TFM2, TFM3")
    assert check(capsys) == (CLEAN, {})
    assert check(capsys, "--select", "TFM1")[1].keys() == ALL_LATE
    monkeypatch.setenv("TFMEMLINT_PER_FILE_IGNORES", "late.py:TFM101")
    assert check(capsys, "--select", "TFM1") == (CLEAN, {})
    monkeypatch.setenv("TFMEMLINT_UNSAFE_FIXES", "maybe")
    assert main(["check"]) == FAILED
    assert "TFMEMLINT_UNSAFE_FIXES: expected true or false, found 'maybe'" in capsys.readouterr().err


def test_a_variable_that_is_none_is_named(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFMEMLINT_SELCT", "TFM2")
    assert main(["check", "late.py"]) == FOUND
    words = "TFMEMLINT_SELCT is no variable of tfmemlint; did you mean TFMEMLINT_SELECT?"
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("option", [key for key in OPTIONS if not key.startswith("respect-")])
def test_every_option_is_also_one_of_the_command_line(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert f"--{option}" in capsys.readouterr().out


def test_severities_by_configuration(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tfmemlint.toml").write_text('[severity]\nTFM1 = "warning"\ngrowth-after-init = "advice"\n')
    assert main(["check", "--no-cache", "late.py"]) == FOUND
    assert "Found 1 piece of advice." in capsys.readouterr().out
    assert check(capsys, "--min-severity", "warning") == (CLEAN, {})
    assert check(capsys, "--severity", "TFM101:error", "--min-severity", "error")[1].keys() == ALL_LATE


def test_a_nearer_file_that_cannot_be_followed_ends_the_run(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "nest/project/tfmemlint.toml").write_text('ignore = ["TFM999"]\n')
    for paths in ((), ("nest/project/late.py",)):
        assert main(["check", *paths]) == FAILED
        assert "project/tfmemlint.toml: unknown rule selector 'TFM999' in ignore" in capsys.readouterr().err


def test_the_command_shows_what_holds_and_where_it_is_from(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "base.toml").write_text('ignore = ["TFM102"]\ngpu-memory = "8GiB"\n')
    file = tree / "nest/project/tfmemlint.toml"
    file.write_text('extend = "../../base.toml"\nignore = ["TFM101"]\ngpu-memory = "16GiB"\n')
    monkeypatch.setenv("TFMEMLINT_TARGET_VERSION", "2.15")
    assert main(["config", "nest/project/late.py", "--output-format", "json", "--severity", "TFM1:warning"]) == CLEAN
    shown = json.loads(capsys.readouterr().out)
    assert shown["file"] == str(file)
    assert shown["options"] == {
        "ignore": [
            {"value": ["TFM102"], "from": str(tree / "base.toml")},
            {"value": ["TFM101"], "from": str(file)},
        ],
        "gpu-memory": [{"value": "16384MiB", "from": str(file)}],
        "target-version": [{"value": "2.15", "from": "TFMEMLINT_TARGET_VERSION"}],
        "severity": [{"value": {"TFM1": "warning"}, "from": "the command line"}],
    }
    assert main(["config", "nest/project"]) == CLEAN
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"# configuration file: {file}"
    assert any(line.startswith('gpu-memory = "16384MiB"') and line.endswith(f"# {file}") for line in lines)
    assert main(["config", "gone"]) == FAILED


def test_the_published_schema_is_the_one_of_the_options() -> None:
    text = (ROOT / "docs/schemas/configuration.json").read_text(encoding="utf-8")
    assert json.loads(text) == schema(rules()), "tools/run.py update writes it"


def test_the_page_has_the_options() -> None:
    from tools.make_schemas import with_table

    page = (ROOT / "docs/options.md").read_text(encoding="utf-8")
    assert page == with_table(page), "tools/run.py update writes it"
    assert all(f"| `{key}` |" in page for key in OPTIONS)


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"select": ["TFM1", "growth-after-init", "ALL", "XYZ1"], "extend": "../base.toml"}, True),
        ({"per-file-ignores": {"tests/*": ["TFM101"]}, "severity": {"TFM101": "warning"}}, True),
        ({"gpu-memory": "16GiB", "target-version": "2.15", "kinds": ["python"], "output-format": "json"}, True),
        ({"selekt": []}, False),
        ({"select": "TFM1"}, False),
        ({"severity": {"TFM101": "fatal"}}, False),
        ({"kinds": ["pyhton"]}, False),
        ({"gpu-memory": 16}, False),
        ({"unsafe-fixes": "yes"}, False),
    ],
)
def test_the_schema_says_what_the_reader_says(options: dict[str, object], valid: bool) -> None:
    made = schema(rules())
    jsonschema.Draft7Validator.check_schema(made)
    assert jsonschema.Draft7Validator(made).is_valid(options) is valid
