"""The language of a block of a document: from the word that marks it, else from its text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from tfmemlint.sources.documents.blocks import CONSOLE, DOCKERFILE, ENV, PYCON, PYTHON, SHELL, UNKNOWN, YAML

_WORDS = {
    **dict.fromkeys(("pyi", "sage", "pyodide", "pyodide-python", "python-exec", "codecell", "code-cell"), PYTHON),
    **dict.fromkeys(("pycon", "pycon3", "python-console", "python-repl", "doctest", "ipythonconsole"), PYCON),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "dash", "shell", "shellscript", "shell-script", "bsh"), SHELL),
    **dict.fromkeys(("console", "shell-session", "shellsession", "bash-session", "sh-session", "terminal"), CONSOLE),
    **dict.fromkeys(("docker", "dockerfile", "containerfile"), DOCKERFILE),
    **dict.fromkeys(("yaml", "yml", "docker-compose", "compose"), YAML),
    **dict.fromkeys(("env", "dotenv"), ENV),
}
KNOWN = frozenset((PYTHON, PYCON, SHELL, CONSOLE, DOCKERFILE, YAML, ENV))
"""Languages that the tool reads."""
_PYTHON = re.compile(r"(?:i?python|py)[\d.]*")
_FILE = re.compile(r"[\w./-]*[\w-]\.(?P<ending>\w+)")
_ENDINGS = {"py": PYTHON, "sh": SHELL, "bash": SHELL, "yml": YAML, "yaml": YAML, "env": ENV}
_PREFIX = re.compile(r"(?:language|lang|highlight)[-=:]+")

_MAGIC = re.compile(r"!\w|%{1,2}[a-z]")
_SETS = re.compile(r"%(?:set_)?env\s+[A-Z]")
_MENTIONS = re.compile(r"\btensorflow\b|\btf\.")
_COMMAND = re.compile(
    r"""^(?:sudo\s+)?(?:[A-Z][A-Z0-9_]*=\S*\s+)*(?:
    (?:export|unset|source|cd|mkdir|echo|pip3?|python[\d.]*|conda|mamba|apt|apt-get|brew|docker|docker-compose|podman
    |nvidia-docker|nvidia-smi|git|kubectl|bazel|sbatch|srun|mpirun|horovodrun|wget|curl|virtualenv|uv|poetry|jupyter)
    (?:\s+\S|\s*$)|\./[\w./-]+(?:\s|$)|export\s+\w+=)""",
    re.VERBOSE,
)
_WORDS_FOLLOW = re.compile(r"(?:sudo\s+)?[\w-]+(?:\s+[a-z]+){4,}[.:]?\s*$")
"""A sentence that begins with the name of a command, as "source of all that is wrong here"."""
_INSTRUCTION = re.compile(
    r"(?i:FROM|RUN|ENV|ARG|CMD|COPY|ADD|WORKDIR|ENTRYPOINT|EXPOSE|LABEL|USER|VOLUME|SHELL|HEALTHCHECK)\s+\S"
)


def named(word: str) -> str:
    """Return the language that a word states, as authors mark their blocks: ``py3``, ``language-python``, ``train.py``.

    Any word that is not a language of a `Block` is returned in lower case.
    """
    word = _PREFIX.sub("", word.strip().lower(), count=1).lstrip(".")
    if word in _WORDS:
        return _WORDS[word]
    if _PYTHON.fullmatch(word):
        return PYTHON
    file = _FILE.fullmatch(word)
    return _ENDINGS.get(file["ending"], word) if file is not None else word


def guessed(code: Sequence[str]) -> str:
    """Return the language of unmarked lines; ``""`` unless it is beyond doubt.

    Python parses, does something, and mentions TensorFlow; in a shell text each line is a command.
    """
    lines = [line for line in code if line.strip()]
    text = "\n".join("" if _MAGIC.match(line) else line for line in code)
    sets = any(_SETS.match(line) for line in code)
    if (_MENTIONS.search(text) and _does_something(text)) or (sets and error(text) is None):
        return PYTHON
    first = next((line for line in lines if not line.startswith("#")), "")
    if re.match(r"(?:ARG\s+\S+\s+)?FROM\s+\S+(?:\s+AS\s+\S+)?\s*$", first) and _all_match(
        _INSTRUCTION, lines, most=0.5
    ):
        return DOCKERFILE if len(lines) > 1 else UNKNOWN
    if _all_match(_COMMAND, lines) and not any(_WORDS_FOLLOW.match(line) for line in lines):
        return SHELL
    return UNKNOWN


def error(text: str) -> SyntaxError | ValueError | None:
    """Return the reason why a text is not Python; None if it is."""
    parsed = _parsed(text)
    return None if isinstance(parsed, ast.Module) else parsed


def _all_match(pattern: re.Pattern[str], lines: Sequence[str], most: float = 1.0) -> bool:
    """Return True if all lines match, apart from comments and continuation lines."""
    matching = counted = 0
    goes_on = False
    for line in lines:
        if not goes_on and not line.startswith("#"):
            counted += 1
            matching += pattern.match(line) is not None
        goes_on = line.rstrip().endswith("\\")
    return counted > 0 and matching >= most * counted


def _does_something(text: str) -> bool:
    tree = _parsed(text)
    if not isinstance(tree, ast.Module):
        return False
    # "tensorflow>=2.4" and "tf.config" can be read as Python too.
    doing = (ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.Call, ast.FunctionDef, ast.ClassDef)
    return any(isinstance(node, doing) for node in ast.walk(tree))


def _parsed(text: str) -> ast.Module | SyntaxError | ValueError:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return error
    except (RecursionError, MemoryError):
        return ValueError("nested too deeply")
