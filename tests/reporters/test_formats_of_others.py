"""The formats of other programs, read by those programs' own readers, or held by their published schemas."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.checkout import ROOT
from tfmemlint.cli.main import main
from tfmemlint.reporters import json_schema

OFFICIAL_SARIF = "SARIF_SCHEMA"
"""Names a copy of OASIS's sarif-schema-2.1.0.json, which no package carries."""

LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)  # tfmemlint: ignore[TFM101] "the" reason
tf.config.experimental.set_memory_growth(gpus[0], True)
x = "\U0001f40d\u00e9"; tf.config.experimental.set_memory_limit(gpus[0], 1024)
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Late\n", "\n", "text"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": LATE},
    ],
    "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
ENV = "TF_FORCE_GPU_ALLOW_GROWTH=yes\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with a program, a notebook, an environment file, names that need quotes, and a program of two files."""
    top = tmp_path_factory.mktemp("project")
    (top / "a folder, [odd];'x").mkdir()
    (top / "a folder, [odd];'x/l\u00e4te.py").write_text(LATE, encoding="utf-8")
    (top / "note.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    (top / ".env").write_text(ENV)
    (top / "train.py").write_text("import tensorflow as tf\nimport gpu\n\ntf.zeros([1])\ngpu.grow()\n")
    call = "tf.config.experimental.set_memory_growth(gpu, True)"
    loop = f'    for gpu in tf.config.list_physical_devices("GPU"):\n        {call}\n'
    (top / "gpu.py").write_text(f"import tensorflow as tf\n\n\ndef grow():\n{loop}")
    return top


@pytest.fixture
def report(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(project)

    def run(name: str, *arguments: str) -> str:
        assert main(["check", "--no-cache", "--output-format", name, *arguments]) == 1
        return capsys.readouterr().out

    return run


def findings_of(report: Any) -> list[dict[str, Any]]:
    found = json.loads(report("json"))
    assert isinstance(found, list) and len(found) > 6
    return found


def test_json_and_json_lines_are_what_the_published_schema_says(report: Any) -> None:
    published = json.loads((ROOT / f"docs/schemas/findings-v{json_schema.VERSION}.json").read_text(encoding="utf-8"))
    assert published == json_schema.schema(), "tools/run.py update writes it"
    jsonschema.Draft7Validator.check_schema(published)
    found = findings_of(report)
    jsonschema.Draft7Validator(published).validate(found)
    assert [json.loads(line) for line in report("json-lines").splitlines()] == found
    # Each key is described: a new one belongs into the schema.
    assert {key for finding in found for key in finding} == set(published["definitions"]["finding"]["properties"])


def test_sarif_is_read_by_a_typed_reader(report: Any) -> None:
    sarif_pydantic = pytest.importorskip("sarif_pydantic")
    log = sarif_pydantic.Sarif.model_validate_json(report("sarif"))
    (run,) = log.runs
    assert {result.rule_id for result in run.results} >= {"TFM101", "TFM202"}


def test_sarif_is_valid_by_the_official_schema(report: Any) -> None:
    if OFFICIAL_SARIF not in os.environ:
        pytest.skip(f"{OFFICIAL_SARIF} does not name the schema")
    official = json.loads(Path(os.environ[OFFICIAL_SARIF]).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(official).validate(json.loads(report("sarif")))


def test_sarif_has_what_code_scanning_shows(report: Any) -> None:
    found = findings_of(report)
    (run,) = json.loads(report("sarif"))["runs"]
    rules = run["tool"]["driver"]["rules"]
    shown = [result for result in run["results"] if "suppressions" not in result]
    assert len(shown) == len(found)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: {rule['name']}")
        assert rule["helpUri"].endswith(f"{rule['id']}.md")
        assert len(result["partialFingerprints"]["tfmemlint/v1"]) == 32
        uri = _uri(result["locations"][0])
        assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)
        for flow in result.get("codeFlows", ()):
            steps = flow["threadFlows"][0]["locations"]
            assert len(steps) == len(result["relatedLocations"]) + 1
    assert any("fixes" in result for result in shown)
    across = [
        result for result in shown if result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "gpu.py"
    ]
    first = across[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]
    assert first == {"uri": "train.py", "uriBaseId": "%SRCROOT%"}


def _uri(location: dict[str, Any]) -> str:
    uri = location["physicalLocation"]["artifactLocation"]["uri"]
    assert isinstance(uri, str)
    return uri


def test_sarif_keeps_what_comments_silence_with_the_reason(report: Any) -> None:
    (run,) = json.loads(report("sarif"))["runs"]
    silenced = [result for result in run["results"] if "suppressions" in result]
    assert [result["ruleId"] for result in silenced] == ["TFM101", "TFM101"]
    assert all(result["suppressions"] == [{"kind": "inSource", "justification": '"the" reason'}] for result in silenced)


def test_fixes_in_sarif_and_rdjson_make_the_text_that_fix_makes(report: Any, project: Path) -> None:
    (name,) = (path for path in project.rglob("l*te.py"))
    text = name.read_text(encoding="utf-8")
    (run,) = json.loads(report("sarif", str(name)))["runs"]
    result = next(result for result in run["results"] if result["ruleId"] == "TFM202")
    (change,) = result["fixes"][0]["artifactChanges"]
    fixed = text
    for replacement in sorted(change["replacements"], key=lambda found: -found["deletedRegion"]["startLine"]):
        region = replacement["deletedRegion"]
        start, end = (_offset(fixed, region[f"{side}Line"], region[f"{side}Column"]) for side in ("start", "end"))
        fixed = fixed[:start] + replacement["insertedContent"]["text"] + fixed[end:]
    compile(fixed, str(name), "exec")
    assert "set_memory_limit" in text and "set_memory_limit" not in fixed and "LogicalDeviceConfiguration" in fixed
    lines = text.split("\n")
    diagnostics = json.loads(report("rdjson", str(name)))["diagnostics"]
    found = next(found for found in diagnostics if found["code"]["value"] == "TFM202")
    line_bytes = lines[found["location"]["range"]["start"]["line"] - 1].encode()
    start, end = (found["location"]["range"][side]["column"] - 1 for side in ("start", "end"))
    assert line_bytes[start:end] == b"tf.config.experimental.set_memory_limit(gpus[0], 1024)"


def _offset(text: str, row: int, column: int) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: row - 1]) + column - 1


def test_junit_is_read_by_a_reader(report: Any) -> None:
    junitparser = pytest.importorskip("junitparser")
    found = findings_of(report)
    suites = junitparser.JUnitXml.fromstring(report("junit").encode())
    cases = [case for suite in suites for case in suite]
    assert len(cases) == len(found)
    assert {case.result[0].type for case in cases} == {finding["severity"] for finding in found}


def test_junit_without_findings_has_a_case_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    junitparser = pytest.importorskip("junitparser")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.py").write_text("x = 1\n")
    assert main(["check", "--output-format", "junit", "clean.py"]) == 0
    (suite,) = junitparser.JUnitXml.fromstring(capsys.readouterr().out.encode())
    assert [case.is_passed for case in suite] == [True]


def test_gitlab_has_what_its_page_requires(report: Any) -> None:
    found = findings_of(report)
    issues = json.loads(report("gitlab"))
    assert len(issues) == len(found)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue in issues:
        assert issue.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert issue["location"]["positions"]["begin"]["line"] >= 1


def test_azure_and_teamcity_escape_what_would_end_a_value(report: Any) -> None:
    found = findings_of(report)
    azure = report("azure").splitlines()
    assert len(azure) == len(found)
    for line in azure:
        head = re.fullmatch(r"##vso\[task\.logissue ((?:[a-z]+=[^;\]]*;)+)\](error|warning|advice): .+", line)
        assert head is not None, line
    assert any("sourcepath=a folder, [odd%5D%3B'x/" in line for line in azure)
    message = re.compile(
        r"##teamcity\[(inspectionType|inspection)((?: \w+='(?:[^'|\[\]\n]|\|['|\[\]n]|\|0x[0-9A-F]{4})*')+)\]"
    )
    lines = report("teamcity").splitlines()
    assert all(message.fullmatch(line) for line in lines)
    assert sum(line.startswith("##teamcity[inspection ") for line in lines) == len(found)


def test_markdown_is_a_table_with_a_row_for_each(report: Any) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt().enable("table").parse(report("markdown"))
    rows = sum(token.type == "tr_open" for token in tokens)
    assert rows == len(findings_of(report)) + 1


@pytest.mark.parametrize("name", ["full", "concise", "grouped"])
def test_formats_for_people_name_every_finding(report: Any, name: str) -> None:
    text = report(name)
    for finding in findings_of(report):
        assert finding["code"] in text


def test_github_is_chosen_by_itself_in_its_jobs(
    report: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["check", "--no-cache", "train.py", "gpu.py"]) == 1
    assert capsys.readouterr().out.startswith("::error file=")
    assert main(["check", "--no-cache", "--output-format", "concise", "train.py", "gpu.py"]) == 1
    assert capsys.readouterr().out.startswith("gpu.py:6:")


def test_a_report_goes_to_a_file(report: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = report("sarif")
    target = tmp_path / "report.sarif"
    assert report("sarif", "--output-file", str(target)) == ""
    assert target.read_text(encoding="utf-8") == expected
    assert main(["check", "--output-file", str(tmp_path / "gone" / "report")]) == 2
    assert "--output-file: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (f"# above\n\n{LATE}", True),
        (LATE.replace("import tensorflow as tf\n", "import os\nimport tensorflow as tf\n"), True),
        (LATE.replace("gpus[0], True)\nx", "gpus[0],\n    True,\n)\nx"), True),
        (LATE.replace("gpus[0], True)\nx", "gpus[1], True)\nx"), False),
    ],
)
def test_fingerprints_survive_moved_and_reformatted_lines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: str,
    same: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = []
    for text in (LATE, changed):
        (tmp_path / "late.py").write_text(text, encoding="utf-8")
        main(["check", "--no-cache", "--output-format", "gitlab", "late.py"])
        names.append({issue["fingerprint"] for issue in json.loads(capsys.readouterr().out)})
    assert (names[0] == names[1]) is same


@pytest.mark.parametrize("command", ["plan", "verify", "fit", "doctor"])
def test_every_command_takes_the_same_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert "--output-format {full,json}" in out and "--output-file FILE" in out and "--json" not in out


def test_plan_writes_its_json(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    main(["plan", "train.py", "--output-format", "json"])
    asked = capsys.readouterr().out
    main(["plan", "train.py", "--json"])
    assert capsys.readouterr().out == asked and json.loads(asked)
