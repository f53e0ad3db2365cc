"""The rules that are enabled, and for which files: ruff's selectors and ruff's precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Severity
from tfmemlint.model.records import dataclass
from tfmemlint.sources.kinds import DOCUMENTS, kind_of

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule

ALL = "ALL"


class ConfigError(Exception):
    """An option is invalid: ``path`` is the place where it was given, ``message`` describes the error in a line."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True, slots=True)
class Layer:
    """The selectors of one place: of a configuration file, or of the command line, which comes after it.

    Attributes:
        origin: the file, for messages; "" for the command line.
        select: the rules to run instead of those selected before; None if it isn't given.
        extend_select: further rules to run.
        ignore, extend_ignore: rules not to run; both mean the same.
    """

    origin: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileIgnores:
    """Rules that are off in some files.

    Attributes:
        pattern: the files; with ``!`` before it, all others.
        selectors: the rules.
        root: the directory that the pattern is relative to.
        origin: the place that says so, for messages; "" for the command line.
    """

    pattern: str
    selectors: tuple[str, ...]
    root: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules that are enabled, by code, and the files in which some of them are disabled.

    Attributes:
        codes: the codes of the rules that are enabled anywhere.
        named: the codes that some selector names.
        per_file: a pattern for the whole path or the last part of it, True if it means the files that do **not** match
            (``!``), and the codes that are off there.
        in_texts: the codes that are additionally enabled in documents.
    """

    codes: frozenset[str]
    named: frozenset[str] = frozenset()
    per_file: tuple[tuple[re.Pattern[str], bool, frozenset[str]], ...] = ()
    in_texts: frozenset[str] = frozenset()

    @classmethod
    def resolve(
        cls,
        rules: Sequence[Rule],
        layers: Sequence[Layer] = (),
        per_file_ignores: Sequence[FileIgnores] = (),
    ) -> Selection:
        """Return the rules that ``layers`` enable, in their order; without any, all rules but those of severity advice.

        Within a layer the more specific selector wins (``TFM101`` over ``TFM1`` over ``TFM`` over ``ALL``), and of
        two equal ones the one that ignores. A layer with ``select`` starts anew; one without changes what was before.

        Raises:
            ConfigError: a selector stands for no rule.
        """
        enabled = {rule.code for rule in rules if rule.severity is not Severity.ADVICE}
        in_texts = enabled | {rule.code for rule in rules if rule.default_in_documents}
        named: set[str] = set()
        for layer in layers:
            enabled = _follow(layer, enabled, rules)
            in_texts = _follow(layer, in_texts, rules)
            for each in (*(layer.select or ()), *layer.extend_select):
                named |= codes_of(each, rules, layer.origin, "select")
        per_file = []
        for ignores in per_file_ignores:
            bare = ignores.pattern.removeprefix("!")
            option = f"per-file-ignores of {bare!r}"
            codes = {code for each in ignores.selectors for code in codes_of(each, rules, ignores.origin, option)}
            per_file.append((_pattern(bare, ignores.root), bare != ignores.pattern, frozenset(codes)))
        return cls(frozenset(enabled), frozenset(named & enabled), tuple(per_file), frozenset(in_texts - enabled))

    def enabled(self, rule: Rule, path: str) -> bool:
        """True if ``rule`` is enabled for the file at ``path``, which is relative to the working directory."""
        known = rule.code in self.codes or (rule.code in self.in_texts and is_document(path))
        return known and rule.code not in self.ignored(path)

    def ignored(self, path: str) -> frozenset[str]:
        """Return the codes that ``per-file-ignores`` switches off for the file at ``path``."""
        if not self.per_file:
            return frozenset()
        whole = os.path.abspath(path).replace(os.sep, "/")
        off: set[str] = set()
        for pattern, negated, codes in self.per_file:
            if bool(pattern.fullmatch(whole) or pattern.fullmatch(whole.rsplit("/", 1)[-1])) != negated:
                off |= codes
        return frozenset(off)


def is_document(path: str) -> bool:
    """Return True if a file of this name is not a program, but may contain programs."""
    return kind_of(os.path.basename(path)) in DOCUMENTS


def _follow(layer: Layer, enabled: set[str], rules: Sequence[Rule]) -> set[str]:
    wanted = [("select", each) for each in layer.select or ()]
    wanted += [("extend-select", each) for each in layer.extend_select]
    unwanted = [("ignore", each) for each in layer.ignore]
    unwanted += [("extend-ignore", each) for each in layer.extend_ignore]
    verdicts = [(specificity(selector, rules), True, option, selector) for option, selector in wanted]
    verdicts += [(specificity(selector, rules), False, option, selector) for option, selector in unwanted]
    result = set() if layer.select is not None else set(enabled)
    # the least specific first, and of equals the one that ignores last: the last word on a rule counts
    for _, wants, option, selector in sorted(verdicts, key=lambda verdict: (verdict[0], not verdict[1])):
        codes = codes_of(selector, rules, layer.origin, option)
        result = result | codes if wants else result - codes
    return result


def specificity(selector: str, rules: Sequence[Rule]) -> int:
    """Return how special a selector is: the larger, the fewer rules it stands for."""
    if selector.upper() == ALL:
        return 0
    named = _named(selector, rules)
    return len(named if named is not None else selector)


def codes_of(selector: str, rules: Sequence[Rule], origin: str, option: str) -> set[str]:
    """Return the codes of the rules that a selector stands for: a code, a beginning of codes, or a name, in any letter
    case.

    Args:
        origin: the file or variable that it is from, for messages; "" for the command line.
        option: the option that it is the value of, for messages.

    Raises:
        ConfigError: it stands for no rule; the message names the nearest selector.
    """
    upper = selector.upper()
    named = _named(selector, rules)
    found = {rule.code for rule in rules if upper == ALL or rule.code == named or _covers(upper, rule.code)}
    if found:
        return found
    shown = option if origin else f"--{option}"
    hint = suggestion(selector, rules)
    raise ConfigError(
        origin, f"unknown rule selector {selector!r} in {shown}{f'; did you mean {hint}?' if hint else ''}"
    )


def _named(selector: str, rules: Sequence[Rule]) -> str | None:
    """Return the code of the rule with this name; None if there is none."""
    wanted = selector.lower().replace("_", "-")
    return next((rule.code for rule in rules if rule.name == wanted), None)


def _covers(selector: str, code: str) -> bool:
    """Return True if ``selector`` is ``code`` or a prefix of it that has all of its letters."""
    return code.startswith(selector) and len(selector) >= len(code.rstrip("0123456789"))


def suggestion(selector: str, rules: Sequence[Rule]) -> str:
    """Return the selector or the name of a rule that is most like a wrong selector; "" if none is."""
    import difflib

    upper, lower = selector.upper(), selector.lower().replace("_", "-")
    real = sorted(_selectors(rules))
    alike = [each for each in real if len(each) == len(selector)]
    near = difflib.get_close_matches(upper, alike, n=len(alike) or 1) or difflib.get_close_matches(upper, real, n=1)
    if near:
        # The first digits are the group: of equally long codes, one of the same group is meant rather.
        return max(near, key=lambda code: _shared_length(code, upper))
    names = difflib.get_close_matches(lower, sorted({rule.name for rule in rules}), n=1)
    return names[0] if names else ""


def _shared_length(code: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return next((at for at, (own, its) in enumerate(zip(code, other, strict=False)) if own != its), len(other))


def _selectors(rules: Sequence[Rule]) -> Iterator[str]:
    yield ALL
    for code in {rule.code for rule in rules}:
        letters = code.rstrip("0123456789")
        yield from (code[:end] for end in range(len(letters), len(code) + 1))


def _pattern(glob: str, root: str) -> re.Pattern[str]:
    """Return a pattern for the last part of a path, or for the whole of it: relative ones are relative to ``root``.

    As in ruff, ``*`` matches across ``/``, ``**/`` matches any number of directories, ``{a,b}`` is a choice. A
    directory with ``/`` at its end means everything in it.
    """
    glob = glob.replace(os.sep, "/").removeprefix("./")
    if glob.endswith("/"):
        glob += "**"
    base = re.escape(os.path.abspath(root).replace(os.sep, "/").rstrip("/")) + "/" if root else "(?:.*/)?"
    body = _translate(glob)
    return re.compile(body if glob.startswith("/") else f"(?:{base})?{body}", re.DOTALL)


def _translate(glob: str) -> str:
    tokens = re.findall(r"\*\*/|\*+|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|.", glob, re.DOTALL)
    out = []
    for token in tokens:
        if token == "**/":
            out.append("(?:.*/)?")
        elif token.startswith("*"):
            out.append(".*")
        elif token == "?":
            out.append(".")
        elif len(token) > 2 and token[0] == "[":
            inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]")
        elif len(token) > 1 and token[0] == "{":
            out.append(f"(?:{'|'.join(map(_translate, token[1:-1].split(',')))})")
        else:
            out.append(re.escape(token))
    return "".join(out)
