"""The instructions of Dockerfiles, beside those that BuildKit's parser finds (the package dockerfile binds it)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.fixture_files import strip_markers
from tfmemlint.sources.config_files.dockerfile import FLAG, INSTRUCTION, Instructions, strings_of, words_of
from tfmemlint.sources.config_files.text_places import Places

dockerfile: Any = pytest.importorskip("dockerfile", reason="there is no BuildKit parser (pip install dockerfile)")

Found = list[dict[str, Any]]


def theirs(text: str) -> Found | None:
    """Each instruction, as BuildKit has it; None where it refuses the file."""
    try:
        commands = dockerfile.parse_string(text)
    except dockerfile.GoParseError:
        return None
    found: Found = []
    for command in commands:
        name = command.cmd.upper()
        said: dict[str, Any] = {"name": name, "row": command.start_line}
        if name in ("RUN", "COPY", "ADD"):
            said["heredocs"] = [heredoc.content for heredoc in command.heredocs]
            said["flags"] = [flag.strip() for flag in command.flags]
        if name in ("CMD", "ENTRYPOINT", "RUN", "SHELL") and command.json:
            said["strings"] = list(command.value)
        if name == "ENV":
            said["variables"] = list(command.value)
        found.append(said)
    return found


def ours(text: str) -> Found:
    """The same, as the project has them."""
    found: Found = []
    places = Places(text)
    instructions = Instructions(text)
    for line in instructions:
        match = INSTRUCTION.match(line.text)
        if match is None:
            continue
        name, at = match[1].upper(), match.end()
        said: dict[str, Any] = {"name": name, "row": places.of_part(line.offsets).span(0, 1).row}
        if name in ("RUN", "COPY", "ADD"):
            said["heredocs"] = [text[start:end] for start, end in line.heredocs]
            said["flags"] = []
            while (flag := FLAG.match(line.text, at)) is not None:
                said["flags"].append(flag[0].strip())
                at = flag.end()
        rest = line.text[at:].strip()
        strings = strings_of(rest) if rest.startswith("[") else None
        if name in ("CMD", "ENTRYPOINT", "RUN", "SHELL") and strings is not None:
            said["strings"] = strings
        if name == "ENV":
            said["variables"] = _variables(line.text, at, instructions.escape)
        found.append(said)
    return found


def _variables(text: str, at: int, escape: str) -> list[str]:
    words = [text[start:end] for start, end in words_of(text, at, escape)]
    if words and "=" not in words[0]:
        start, end = words_of(text, at, escape)[0]
        return [text[start:end], text[end:].strip()]
    return [part for word in words for part in word.partition("=")[::2]]


HAND_MADE = {
    "continued": "FROM a\nENV A=1 \\\n  B=2 \\\n\n  # a comment\n  C=3\nRUN d\n",
    "the other escape": "# escape=`\nFROM a\nENV A=1 `\n  B=c:\\d\nRUN e\n",
    "a directive that is none": "FROM a\n# escape=`\nENV A=1 \\\n  B=2\n",
    "quotes": 'FROM a\nENV A="b c" D=\'e f\' G=h\\ i J="k\\"l"\n',
    "the old form": 'FROM a\nENV A b c d\nENV  E   f  \nENV G "h i"\n',
    "heredocs": "FROM a\nRUN <<EOF\nb\n# c\n\\\nEOF\nRUN <<'A' <<-B d\ne\nA\n\tf\n\tB\nRUN g\n",
    "copied heredocs": 'FROM a\nCOPY <<X <<Y /b/\nc\nX\nd\nY\nADD <<"Z" /e\n$f\nZ\n',
    "no heredoc elsewhere": "FROM a\nENV A=<<B\nCMD <<C\nRUN b\n",
    "flags": "FROM --platform=x a AS b\nRUN --mount=type=cache,target=/c --network=none d --e\n"
    "COPY --from=b --chown=1:2 f g\n",
    "lists": 'FROM a\nCMD ["b", "c d", "\\u0065"]\nENTRYPOINT [ "f" ]\nRUN ["g"]\n'
    'CMD [h]\nCMD ["i" "j"]\nSHELL ["k", "-c"]\n',
    "case and blanks": "from a\n  run b\n\tEnv C=d\n\n\n   # e\nRuN f\n",
    "carriage returns": "FROM a\r\nENV A=1 \\\r\n  B=2\r\nRUN <<E\r\nb\r\nE\r\nRUN c\r\n",
    "the end of the file": "FROM a\nRUN b \\\n  c",
    "a heredoc in a continued line": "FROM a\nRUN b && \\\n  cat <<X > y && \\\n  c\nd\nX\nRUN e\n",
}


@pytest.mark.parametrize("kind", HAND_MADE)
def test_instructions_are_those_of_buildkit(kind: str) -> None:
    expected = theirs(HAND_MADE[kind])
    assert expected is not None, "BuildKit refuses it"
    assert ours(HAND_MADE[kind]) == expected


def test_dockerfiles_of_the_fixtures_are_read_as_by_buildkit() -> None:
    files = sorted(path for path in (ROOT / "fixtures").rglob("*") if "ockerfile" in path.name and path.is_file())
    compared = 0
    for path in files:
        # Without what is expected: they would follow arrays.
        text, _, _ = strip_markers(path.read_text(encoding="utf-8"))
        expected = theirs(text)
        if expected is None:
            continue
        compared += 1
        assert ours(text) == expected, path.as_posix()
    assert compared > 0.8 * len(files)


WORDS = ("a", "b=c", '"d e"', "'f g'", "h\\ i", "$j", "${k:-l}", "--m=n", "#o", "p#q")
BREAKS = (" ", " ", "\t", " \\\n  ", " \\\n# a comment\n ")


def generated(chance: random.Random) -> str:
    """An instruction."""

    def words(number: int = 3, breaks: tuple[str, ...] = BREAKS) -> str:
        return "".join(chance.choice(WORDS) + chance.choice(breaks) for _ in range(number)) + "z"

    match chance.randint(0, 6):
        case 0:
            pairs = (f"V{number}={chance.choice(WORDS)}{chance.choice(BREAKS)}" for number in range(3))
            return f"ENV {''.join(pairs)}Z=z"
        case 1:
            return f"ENV OLD {words(2, (' ',))}"
        case 2:
            return f"RUN --mount=type=cache,target=/x --network=none {words()}"
        case 3:
            return f"RUN <<EOF a{chance.randint(0, 9)}\n{words(2, (' ',))}\n\nEOF"
        case 4:
            return f"COPY <<'X' <<-Y /z\n{words(1, (' ',))}\nX\n\t{words(1, (' ',))}\n\tY"
        case 5:
            return f"CMD {json.dumps([chance.choice(WORDS) for _ in range(3)])}"
    return f"\n# {words(2, (' ',))}\n  RUN {words()}\n"


@pytest.mark.parametrize("seed", range(3))
def test_generated_dockerfiles_are_read_as_by_buildkit(seed: int) -> None:
    chance = random.Random(seed)
    text = "FROM a\n" + "\n".join(generated(chance) for _ in range(300)) + "\n"
    expected = theirs(text)
    assert expected is not None, "the generator made something that BuildKit refuses"
    found = ours(text)
    assert found == expected, next(pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1])
