from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.config.files import Config, ConfigError, Layer, Table, load, parse_memory, read
from tfmemlint.config.selection import FileIgnores
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule
from tfmemlint.sources.walking import Excluding


class Growth(Rule):
    """Memory growth is set late."""

    code = "TFM101"
    name = "growth-after-init"
    severity = Severity.ERROR

    def check(self, program: Any) -> Iterator[Finding]:
        return iter(())


EVERYTHING = """\
select = ["TFM1", "TFM201"]
extend-select = ["TFM406"]
ignore = ["TFM102"]
extend-ignore = ["TFM103"]
exclude = ["build"]
extend-exclude = ["third_party"]
target-version = "2.15"
output-format = "concise"
unsafe-fixes = true
gpu-memory = "16GiB"
respect-gitignore = false
respect-gitattributes = false

[per-file-ignores]
"tests/*" = ["TFM101"]
"""


def project(directory: Path, text: str, name: str = "pyproject.toml") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def table(text: str) -> str:
    """The text of a tfmemlint.toml as it stands in a pyproject.toml."""
    return "[tool.tfmemlint]\n" + text.replace("[per-file-ignores]", "[tool.tfmemlint.per-file-ignores]")


@pytest.mark.parametrize("name", ["pyproject.toml", "tfmemlint.toml"])
def test_every_option_is_read(name: str, tmp_path: Path) -> None:
    path = project(tmp_path, EVERYTHING if name == "tfmemlint.toml" else table(EVERYTHING), name)
    config = load(tmp_path)
    assert config.layers == (Layer(str(path), ("TFM1", "TFM201"), ("TFM406",), ("TFM102",), ("TFM103",)),)
    assert config.per_file_ignores == (FileIgnores("tests/*", ("TFM101",), str(tmp_path), str(path)),)
    assert config.exclude == (Excluding(str(tmp_path), ("build",)), Excluding(str(tmp_path), ("third_party",)))
    assert (config.root, config.path) == (str(tmp_path), str(path))
    assert (config.target_version, config.output_format, config.unsafe_fixes) == (Target(2, 15), "concise", True)
    assert (config.gpu_memory_mib, config.respect_gitignore, config.respect_gitattributes) == (16384.0, False, False)


def test_without_a_file_there_are_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, "[tool.other]\n")
    monkeypatch.chdir(tmp_path)
    config = load()
    assert (config.root, config.path, config.layers, config.exclude) == (str(tmp_path), None, (), ())
    assert config.respect_gitignore and config.respect_gitattributes and not config.unsafe_fixes


def test_the_nearest_file_counts_and_those_of_others_are_passed_by(tmp_path: Path) -> None:
    project(tmp_path, table('select = ["TFM1"]'))
    project(tmp_path / "a", "[tool.ruff]\nline-length = 100\n")
    project(tmp_path / "a/b", "# tfmemlint is only spoken of\n[tool.other]\n")
    project(tmp_path / "a/b/c", 'name = "x"\n[project]\ndependencies = ["tfmemlint"]\n')
    (tmp_path / "a/b/c/d.py").touch()
    for start in ("a", "a/b", "a/b/c", "a/b/c/d.py"):
        assert load(tmp_path / start).root == str(tmp_path)
    project(tmp_path / "a", table(""))
    assert load(tmp_path / "a/b/c").root == str(tmp_path / "a")
    assert load(tmp_path / "a/b/c").layers == ()


def test_tfmemlint_toml_comes_before_pyproject(tmp_path: Path) -> None:
    project(tmp_path, table('select = ["TFM1"]'))
    project(tmp_path, 'select = ["TFM2"]', "tfmemlint.toml")
    assert load(tmp_path).layers[0].select == ("TFM2",)
    project(tmp_path, 'select = ["TFM3"]', ".tfmemlint.toml")
    assert load(tmp_path).layers[0].select == ("TFM3",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selekt = []", "unknown option 'selekt'; did you mean 'select'?"),
        ("per_file_ignores = {}", "unknown option 'per_file_ignores'; did you mean 'per-file-ignores'?"),
        ("colour = 1", "unknown option 'colour'; there are select, extend-select,"),
        ('target-version = "2.99"', "target-version: TensorFlow 2.99 is not known; the newest that is known is 2."),
        ('severity = { TFM101 = "fatal" }', "severity: 'fatal' is no severity; there are error, warning, advice"),
        ('severity = "error"', "severity: expected a table of rules and severities, found a string"),
        ('min-severity = "high"', "min-severity: 'high' is no severity; there are error, warning, advice"),
        ('kinds = ["pyhton"]', "kinds: 'pyhton' is no kind of file; did you mean python?"),
        ("extend = 3", "extend: expected the path of a configuration file"),
        ('extend = "gone.toml"', "extend: gone.toml: no such file"),
        ('select = "TFM1"', "select: expected a list of strings, found a string"),
        ("select = 3", "select: expected a list of strings, found a number"),
        ('select = ["TFM1", 2]', "select: expected a list of strings, found a number in it"),
        ("exclude = true", "exclude: expected a list of strings, found true or false"),
        ('per-file-ignores = ["TFM1"]', "per-file-ignores: expected a table of file patterns and lists of rules"),
        ('per-file-ignores = { "a" = "TFM1" }', "per-file-ignores: expected a list of strings, found a string"),
        ('unsafe-fixes = "yes"', "unsafe-fixes: expected true or false, found a string"),
        ("respect-gitignore = 1", "respect-gitignore: expected true or false, found a number"),
        ("target-version = 2.15", "target-version: expected a string, found a number"),
        ('target-version = "py310"', "target-version: 'py310' is not a TensorFlow version"),
        (
            'output-format = "pdf"',
            "output-format: 'pdf' is no output format; there are full, concise, ",
        ),
        ("gpu-memory = 16384", "gpu-memory: '16384' has no unit; write 16384MiB"),
        ("gpu-memory = true", "gpu-memory: expected a string, found true or false"),
        ('gpu-memory = "lots"', "gpu-memory: 'lots' is not an amount of memory; write it as in 16GiB"),
        ("select = [", "is not TOML: "),
        ("select = []\nselect = []", "is not TOML: "),
    ],
)
def test_what_cannot_be_followed_is_one_line_that_names_the_file(text: str, message: str, tmp_path: Path) -> None:
    path = project(tmp_path, table(text))
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["tool = 3 # tfmemlint", "[tool]\ntfmemlint = 3"])
def test_a_table_that_is_none_is_refused_or_passed_by(text: str, tmp_path: Path) -> None:
    path = project(tmp_path, text)
    if text.startswith("tool = 3"):
        assert read(path) is None
        return
    with pytest.raises(ConfigError, match=r"tool\.tfmemlint is not a table"):
        read(path)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_bytes(b"select = ['\xff']")
    with pytest.raises(ConfigError, match=r"tfmemlint\.toml: is not UTF-8"):
        load(tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file or directory"):
        read(tmp_path / "gone.toml")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_bytes(b"\xef\xbb\xbfselect = ['TFM1']")
    assert load(tmp_path).layers[0].select == ("TFM1",)


def test_an_unknown_rule_in_the_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = project(tmp_path, table('ignore = ["TFM999"]'))
    with pytest.raises(ConfigError) as caught:
        load(tmp_path).selection([Growth()])
    assert str(caught.value).startswith(f"{path}: unknown rule selector 'TFM999' in ignore")


def test_the_command_line_comes_after_the_file(tmp_path: Path) -> None:
    project(tmp_path, table('select = ["TFM1"]'))
    config = load(tmp_path)
    assert "TFM101" in config.selection([Growth()]).codes
    with_more = Config.of((*config.tables, Table("", str(tmp_path), {"ignore": ("TFM1",)})))
    assert with_more.selection([Growth()]).codes == frozenset()


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("16GiB", 16384),
        ("16 GiB", 16384),
        (" 16gib ", 16384),
        ("16g", 16384),
        ("16G", 16384),
        ("1.5GiB", 1536),
        ("16384MiB", 16384),
        ("16384m", 16384),
        ("1TiB", 1048576),
        ("1048576KiB", 1024),
        ("16GB", 16e9 / 2**20),
        ("16000MB", 16e9 / 2**20),
    ],
)
def test_an_amount_of_memory_in_mib(text: str, mib: float) -> None:
    assert parse_memory(text) == pytest.approx(mib, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16", "'16' has no unit; write 16GiB"),
        ("16384", "'16384' has no unit; write 16384MiB"),
        ("0", "'0' has no unit; write 16GiB"),
        ("0GiB", "not an amount of memory that a GPU can have"),
        ("-1GiB", "not an amount of memory; write it as in 16GiB"),
        ("nan", "not an amount"),
        ("nanGiB", "not an amount"),
        ("inf", "not an amount"),
        ("1" * 400 + "GiB", "not an amount of memory that a GPU can have"),
        ("", "not an amount"),
        ("GiB", "not an amount"),
        ("16 parsecs", "unknown unit; write GiB, GB, MiB or MB"),
        ("16GiB/s", "not an amount"),
        ("1_000MiB", "not an amount"),
        ("\u0661\u0666GiB", "not an amount"),
    ],
)
def test_what_is_no_amount_of_memory(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_memory(text)


def test_importing_it_is_cheap() -> None:
    heavy = "{'rich', 'pathspec', 'tomllib', 'libcst', 'difflib'}"
    code = f"import sys, tfmemlint.config.files; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
