"""What is read of YAML files: what the programs that read them make of it, and nothing where that isn't known."""

from __future__ import annotations

import pytest

from tfmemlint.deployment.yaml.reader import read_yaml


@pytest.mark.parametrize("entry", ["{A: }", "{A: null}", "[A]", "{A: ~}"])
def test_a_variable_from_outside_is_not_set_but_not_the_images_either(entry: str) -> None:
    read = read_yaml(f"services:\n  a:\n    environment: {entry}\n")
    (one,) = read.services[0].settings
    assert (one.name, one.value, one.passed) == ("A", None, False)


def test_what_a_conditional_step_hands_on_is_not_known() -> None:
    steps = "    - run: echo A=1 >> $GITHUB_ENV\n{}    - run: python a.py\n"
    for condition, value in (("", "1"), ("      if: always()\n", None)):
        (start,) = read_yaml("jobs:\n  j:\n    steps:\n" + steps.format(condition)).starts
        assert [one.value for one in start.settings] == [value]


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "? " * 100_000, "{a: " * 100_000])
def test_what_is_nested_too_deeply_is_a_problem(text: str) -> None:
    # PyYAML's C part would end the process.
    ((row, words),) = read_yaml(text).problems
    assert row == 1 and words == "it is nested too deeply"


@pytest.mark.parametrize("text", ["{{ " * 10, "a {{ x }} b {{", "{% {{ x }} {%"])
def test_marks_of_templates_that_are_never_closed(text: str) -> None:
    from tfmemlint.sources.config_files.templates import masked

    assert len(masked(text)) == len(text) and "x" not in masked(text)
