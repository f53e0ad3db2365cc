"""Whatever a configuration file holds, reading it raises nothing, and places are places of its text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.processor_time import assert_linear
from tfmemlint.deployment import program_of, read
from tfmemlint.fixes.text_editor import TextEditor
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Span
from tfmemlint.sources import Source
from tfmemlint.sources.documents import blocks

LANGUAGES = (blocks.DOCKERFILE, blocks.SHELL, blocks.ENV, blocks.YAML, blocks.MAKEFILE)

PIECES = st.sampled_from(
    [
        "export ", "TF_FORCE_GPU_ALLOW_GROWTH=1", "CUDA_VISIBLE_DEVICES=", "python train.py", "ENV ",
        "FROM x AS y\n", "RUN ", "<<EOF\n", "EOF\n", "\\\n", "\\", "'", '"', "`", "$(", "${", ")", "}", "((", "[[",
        "]]", "if ", "then\n", "fi\n", "case x in\n", "a)", ";;\n", "esac\n", "for i in 1; do\n", "done\n",
        "f() {\n", "| ", "&& ", "|| ", "& ", "> x ", ">> $GITHUB_ENV ", "#", "# c\n", "\n", "\r\n", "\r", "\t", " ",
        "  ", "\ufeff", "\x00", "\x0c", "\u2028", "services:\n", "  a:\n", "    environment:\n", "      X: 1\n",
        "      - A=b\n", "{{ x }}", "{% if %}\n", "${{ y }}", "jobs:\n", "  j:\n    steps:\n", "    - run: |\n",
        "        export X=1\n", "    - run: >-\n", "&a ", "*a", "<<: *a\n", "[", "]", "{", ": ", "- ", "!!x ",
        "---\n", 'CMD ["python", "a.py"]\n', "COPY . .\n", "WORKDIR /a\n", "X=\u00e9\u00fc", "=", "bash -c '",
        "docker run -e ", "--gpus 1 ", "env ", "srun --export=ALL,", "set -a\n", "\ue000", "\U0001f600",
        "apiVersion: v1\nkind: Pod\n", "containers:\n", "- env:\n", "  - {name: A, value: '1'}\n",
        "dependencies: []\n", "variables:\n", "# escape=`\n", "# syntax=x\n", "ONBUILD ",
        "a: b\n\t", "\t", "$(X)", "$$X", "ifdef X\n", "else\n", "endif\n", "define X\n", "endef\n", ".ONESHELL:\n",
        "a: export X=1\n", "X ?= 1\n", "X := $(Y)\n", "export\n", "include x\n", "sudo ", "ssh a ", "cd a && ",
        "#SBATCH --export=ALL,X=1\n", "train:\n", "  script:\n", "  extends: a\n", "  variables:\n    A: 1\n",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


def _slice(text: str, span: Span) -> str:
    lines = text.split("\n")[span.row - 1 : span.end_row]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def _inside(text: str, span: Span) -> bool:
    rows = text.split("\n")
    return (
        1 <= span.row <= span.end_row <= len(rows)
        and 1 <= span.column <= len(rows[span.row - 1]) + 1
        and 1 <= span.end_column <= len(rows[span.end_row - 1]) + 1
        and (span.row, span.column) <= (span.end_row, span.end_column)
    )


@settings(max_examples=400, deadline=None)
@example("\\\nA=")
@example("A \\\n  = \\\n 1 # no value\n")
@given(TEXTS)
def test_places_are_places_of_the_text(text: str) -> None:
    for language in LANGUAGES:
        found = read(language, text)
        assert found is not None
        for setting in found.settings:
            assert _inside(text, setting.key) and _slice(text, setting.key).strip("\"'").replace("\\\n", "").startswith(
                setting.name[:1]
            )
            if setting.key.row == setting.key.end_row:
                assert _slice(text, setting.key).strip("\"'") == setting.name
            if setting.given is not None and setting.given.row == setting.given.end_row:
                assert _inside(text, setting.given)
                if setting.quote is not None and setting.value is not None:
                    written = _slice(text, setting.given)
                    assert (
                        written == f"{setting.quote}{setting.value}{setting.quote}" or written.lower() == setting.value
                    )
            assert _inside(text, setting.statement)
        for start in found.starts:
            assert _inside(text, start.span)
        for granted in found.gpus:
            assert _inside(text, granted.span)
        for row, words in found.problems:
            assert 1 <= row <= text.count("\n") + 2 and words
        assert program_of(Source("x", text), language, Target.newest()) is not None


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_only_what_is_named_changes(text: str) -> None:
    for language in LANGUAGES:
        found = read(language, text)
        assert found is not None
        for setting in found.settings:
            editor = TextEditor(text, language, Target.newest())
            if (
                setting.given is None
                or not setting.value
                or setting.value == "true"
                or sum(each.given == setting.given for each in found.settings) > 1
            ):
                continue
            try:
                editor.replace(editor.expression_at(setting.given), "true")
                new = editor.finish()
            except Withheld:
                continue
            before, after = text.split("\n"), new.split("\n")
            assert len(before) == len(after)
            assert [row for row, (old, now) in enumerate(zip(before, after, strict=True), 1) if old != now] in (
                [setting.given.row],
                [],
            )


LARGE_CHARACTERS = 20_000
"""Texts beyond this cost enough for a quarter of them to show that the cost is out of proportion, if it is by much."""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "X=1 " * 50_000,
        "ENV " + "A=b " * 50_000,
        "((" * 50_000,
        "$(" * 50_000,
        '"$(' * 50_000,
        "${" * 50_000,
        "`" * 50_001,
        "{" * 5_000,
        "[" * 5_000,
        "- " * 3_000,
        "'" * 50_001,
        "<<A " * 2_000 + "\n" + "x\n" * 2_000,
        "if x; then " * 3_000,
        "export X=1 \\\n" * 20_000,
        "export TF_X=$Y\npython a.py\n" * 400,
        "{{ x }}" * 20_000,
        "a: &a\n" + "".join(f"  b{n}: &b{n} [*a, *a]\n" for n in range(50)),
        "x: &x\n  services: *x\n  <<: *x\n",
        "[" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "{{ " * 100_000,
        "( " * 20_000,
        "{ true && " * 20_000,
        "case a in b) " * 20_000,
        "f() { " * 20_000,
        "x=$(cat <<A\n" * 20_000,
        "#!/bin/sh\npython a.py\n" + "export X=1\n" * 20_000,
        "X=1 bash -c 'python a.py'\n" * 5_000,
        "FROM x AS a\n" + "FROM a AS a\nENV X=1\nCMD python a.py\n" * 4_000,
        "jobs:\n  a:\n    steps:\n" + "    - run: echo A=1 >> $GITHUB_ENV\n" * 4_000,
        "before_script:\n" + "  - X=1\n" * 2_000 + "".join(f"j{n}:\n  script: [python a.py]\n" for n in range(1_000)),
        "j0:\n  script: [a]\n" + "".join(f"j{n}:\n  extends: j{n - 1}\n  variables: {{A: 1}}\n" for n in range(1, 999)),
        "a: &b0 []\n" + "".join(f"b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, 60)) + "j: {script: *b59}\n",
        "b0: &b0 {X: 1}\n"
        + "".join(f"b{n}: &b{n} {{<<: [*b{n - 1}, *b{n - 1}]}}\n" for n in range(1, 60))
        + "services: *b59\n",
    ],
    ids=lambda text: text[:8] + text[-8:],
)
@pytest.mark.parametrize("share", [4, pytest.param(2, marks=pytest.mark.slow)], ids=["a quarter", "a half"])
def test_the_cost_of_large_and_odd_texts_grows_with_their_length(language: str, text: str, share: int) -> None:
    if len(text) > LARGE_CHARACTERS:
        text = text[: len(text) // share]

    def hold(text: str) -> None:
        assert read(language, text) is not None

    assert_linear(lambda: hold(text), lambda: hold(text + text))
