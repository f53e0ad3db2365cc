"""What is read of YAML files: what the programs that read them make of it, and nothing where that isn't known."""

from __future__ import annotations

import pytest

from tfmemlint.deployment.yaml.reader import read_yaml


@pytest.mark.parametrize("entry", ["{A: }", "{A: null}", "[A]", "{A: ~}"])
def test_a_variable_from_outside_is_not_set_but_not_the_images_either(entry: str) -> None:
    read = read_yaml(f"services:\n  a:\n    environment: {entry}\n")
    (setting,) = read.services[0].settings
    assert (setting.name, setting.value, setting.passed) == ("A", None, False)


def test_what_a_conditional_step_hands_on_is_not_known() -> None:
    steps = "    - run: echo A=1 >> $GITHUB_ENV\n{}    - run: python a.py\n"
    for condition, value in (("", "1"), ("      if: always()\n", None)):
        (start,) = read_yaml("jobs:\n  j:\n    steps:\n" + steps.format(condition)).starts
        assert [setting.value for setting in start.settings] == [value]


@pytest.mark.parametrize(
    ("parents", "value"), [("[a, b]", "b"), ("[b, a]", "a"), ("c", "a"), ("[c, b]", "b"), ("d", "d")]
)
def test_the_last_job_that_a_job_of_gitlab_extends_wins(parents: str, value: str) -> None:
    jobs = "".join(f"{name}:\n  variables: {{X: {name}}}\n" for name in "abd")
    jobs += "c:\n  extends: a\ntrain:\n  script: [python train.py]\n"
    (start,) = read_yaml(f"{jobs}  extends: {parents}\n").starts
    assert [setting.value for setting in start.settings] == [value]


def test_jobs_of_gitlab_that_extend_each_other_are_read() -> None:
    read = read_yaml("a:\n  extends: b\n  script: [python a.py]\nb:\n  extends: a\n")
    assert [start.program for start in read.starts] == ["a.py", "a.py"]


def test_the_before_script_of_a_gitlab_job_replaces_the_default_one() -> None:
    text = "default:\n  before_script: [export A=1]\njob:\n  script: [python a.py]\n{}"
    for own, given in (
        ("", [("A", "1")]),
        ("  before_script: []\n", []),
        ("  before_script: export B=2\n", [("B", "2")]),
    ):
        (start,) = read_yaml(text.format(own)).starts
        assert [(setting.name, setting.value) for setting in start.settings] == given


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "? " * 100_000, "{a: " * 100_000])
def test_what_is_nested_too_deeply_is_a_problem(text: str) -> None:
    # PyYAML's C part would end the process.
    ((row, words),) = read_yaml(text).problems
    assert row == 1 and words == "it is nested too deeply"


@pytest.mark.parametrize("text", ["{{ " * 10, "a {{ x }} b {{", "{% {{ x }} {%"])
def test_marks_of_templates_that_are_never_closed(text: str) -> None:
    from tfmemlint.sources.config_files.templates import masked

    assert len(masked(text)) == len(text) and "x" not in masked(text)
