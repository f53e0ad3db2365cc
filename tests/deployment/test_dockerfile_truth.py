"""What is read of Dockerfiles, beside what Docker's reference and BuildKit's parser say of them."""

from __future__ import annotations

import pytest

from tfmemlint.deployment.dockerfile import Docker, read_dockerfile


def _set(text: str) -> dict[str, str | None]:
    return {setting.name: setting.value for setting in read_dockerfile(text).settings}


def _started(text: str) -> dict[str, str | None]:
    """The variables that the last program of a Dockerfile gets."""
    docker: Docker = read_dockerfile(text)
    return {setting.name: setting.value for setting in docker.starts[-1].settings}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ENV A=\"1 2\" B=3\\ 4 C='a b'", {"A": "1 2", "B": "3 4", "C": "a b"}),
        ("ENV A 1 B=2", {"A": "1 B=2"}),
        ("ENV A = 1", {"A": "= 1"}),
        ('ENV A="a\\"b" B="a\\nb" C=a\\nb', {"A": 'a"b', "B": "a\\nb", "C": "anb"}),
        ("ENV A=$B C='$B' D=\\$B", {"A": None, "C": "$B", "D": "$B"}),
        ("ENV A='a'$B", {"A": None}),
        ("ENV A=\\\\$B", {"A": None}),
        ("ENV A=$1 B=$$", {"A": None, "B": None}),
        ("ENV A=1\\\n2 B=3", {"A": "12", "B": "3"}),
        ("ENV A=1 \\\n# a comment\n\n  B=2", {"A": "1", "B": "2"}),
    ],
)
def test_values(line: str, expected: dict[str, str | None]) -> None:
    assert _set(f"FROM x\n{line}\n") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("FROM x\nARG B=yes\nENV A=$B", "yes"),
        ("FROM x\nARG B='yes'\nENV A=\"${B}\"", "yes"),
        ("FROM x\nARG B=y\nENV A ${B}es", "yes"),
        ("FROM x\nARG B\nENV A=${B:-yes}", "yes"),
        ("FROM x\nARG B=no\nENV A=${B:-yes}", "no"),
        ("ARG B=yes\nFROM x\nARG B\nENV A=$B", "yes"),
        # An ENV overrides an ARG of its name, and one instruction sees the values from before it (Docker's reference).
        ("FROM x\nENV B=1\nARG B=2\nENV A=$B", "1"),
        ("FROM x\nENV B=1\nENV B=2 A=$B", "1"),
        # Not told by the file: given to the build, of another image, of another stage, not declared in the stage.
        ("FROM x\nARG B\nENV A=$B", None),
        ("FROM x\nENV A=${B:-yes}", None),
        ("ARG B=yes\nFROM x\nENV A=$B", None),
        ("FROM x AS one\nARG B=yes\nFROM y\nENV A=$B", None),
        ("FROM x\nARG B=yes\nENV A=${B:+no}", None),
        ("FROM x\nARG B=yes\nONBUILD ENV A=$B", None),
        ("FROM x\nARG B=yes\nARG B=$C\nENV A=$B", None),
    ],
)
def test_arguments_of_the_build(text: str, value: str | None) -> None:
    assert _set(f"{text}\n")["A"] == value


@pytest.mark.parametrize(
    "run",
    [
        "RUN cat <<EOF > /x && cat <<E-2 > /y\nENV A=1\nEOF\nENV B=1\nE-2",
        'COPY <<"A B" /etc/env\nENV A=1\nA B',
        "RUN <<-EOF cat\n\tENV A=1\n\tEOF",
        'RUN echo "<<EOF"',
        "RUN cat <<<foo",
        "RUN echo $((1<<2))",
    ],
)
def test_what_stands_behind_a_heredoc_is_an_instruction_again(run: str) -> None:
    assert _set(f"FROM x\n{run}\nENV C=1\n") == {"C": "1"}


def test_a_value_over_two_lines_is_the_one_in_force() -> None:
    assert _started("FROM x\nENV A=1\nENV A=2\\\n3\nCMD python a.py\n") == {"A": "23"}


def test_what_is_set_on_build_is_for_other_images() -> None:
    text = "FROM x\nENV A=1\nONBUILD ENV A=2\nCMD python a.py\n"
    assert _started(text) == {"A": "1"}
    assert [setting.value for setting in read_dockerfile(text).settings] == ["1", "2"]


def test_a_stage_begins_with_what_the_one_of_its_name_has() -> None:
    text = "FROM x AS base\nENV A=1\nFROM y AS other\nENV A=2\nFROM Base\nENV B=3\nCMD python a.py\n"
    assert _started(text) == {"A": "1", "B": "3"}
