"""The releases that a text for people names: a README, an installation guide, a CI configuration, a badge.

Such a text is weaker than a manifest, and stronger than nothing: ``TensorFlow 1.4.1``, ``tested under TF1.2``, ``pip3
install --user tensorflow-gpu==2.2.0``, ``TensorFlow 2.x``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.targets.clauses import claims_nothing, without_what_is_left_out
from tfmemlint.project.targets.passages import of_other_things
from tfmemlint.project.targets.stated import Stated
from tfmemlint.project.targets.versions import ANY, Releases, Unreadable, admitted

MAX_CHARACTERS = 200_000
"""Characters of a text that are searched: no README states its release further down."""
MAX_HEADER_ROWS = 60
"""Rows of a Python file that are searched for a comment about its release."""
_MAX_COMMENT = 200
"""Characters of a comment that says only for which release code is."""
MAX_STATEMENTS = 40
"""Statements of one text that are kept: a log or a table of results has no end of them."""

# Chinese has no spaces: its characters stand right before and behind names and numbers, and \w matches them.
_PRODUCT = (
    r"(?:(?<![A-Za-z0-9_/.@-])|(?<=\d/)|(?<=\btensorflow/))(?:(?:intel|nvidia)[- ])?(?:tensor[ -]?flow|tf)"
    r"(?:(?:[-_ ]|\[)(?:gpu|cpu|and-cuda|rocm)\]?)?"
)
_MARKUP = r"[\s`*_\]\[()\"':,|：（]{0,6}(?:\((?:https?:)[^)\s]*\)[\s`*_(\[]{0,4})?"
_BETWEEN = (
    r"(?:版本号?|-?version|versions|ver\.?|release|v|r|is|of|at least|backend"
    r"|\(?tested (?:with|on|under)|\()?(?:为|是)?"
    r"[\s`*_\"':=(\[：（-]{0,4}"
)
_ORDER = r"(?P<order>===|==|>=|<=|~=|!=|[<>=^~≥≤])?\s*[\"'`]?"
_NUMBER = (
    r"[vr]?(?P<major>[0-3])(?:\.(?P<minor>\d{1,2}|x|X|\*))?(?:\.(?:\d{1,2}|x|X|\*))?(?:[-.]?(?:rc|alpha|beta|a|b)\d*)?"
)
_AFTER = (
    r"(?P<plus>\s{0,2}\+|\s?[及或]?其?(?:以上|更高|更新)"
    r"|[\s`*_)]{0,3}(?:or|and|\()\s?(?:later|newer|higher|above|up|greater|upwards))?"
    r"(?![A-Za-z0-9_%]|\.\d|/\d)"
)
_STATEMENT = late_pattern(f"{_PRODUCT}{_MARKUP}{_BETWEEN}{_ORDER}{_NUMBER}{_AFTER}", re.IGNORECASE)
_ONLY_MAJOR = late_pattern(r"(?:tensor[ -]?flow|tf)[- ]?v?[12]$", re.IGNORECASE)
_SECOND_BOUND = late_pattern(r"\s*(?:,\s*)?(?:and\s*)?(?P<order><=?)\s*[\"'`]?v?(?P<version>\d+(?:\.\d+)?)")
_MATRIX = late_pattern(
    r"^\s*(?:-\s*)?[\"']?(?:tensorflow|tf|tensorflow[-_]version|tf[-_]version)[\"']?\s*[:=]\s*(?P<values>\[?[\"']?\d+\.\d+.*)$",
    re.IGNORECASE,
)
_VERSION = late_pattern(r"(?<![\d.])(\d+\.\d+)(?:\.\d+)?(?![\d.]*\w)")
_NOT_THIS_CODE = late_pattern(
    r"(?:\bno(?:t| longer)\b|n't\b|deprecat|unsupport|incompatib|\bbranch\b|\bfork|\boriginal(?:ly)?\b|\bported?\b"
    r"|\bmigrat|\bconvert|\bupgrad|\binstead\b|\bprevious(?:ly)?\b|\bonly\b|\bdrop(?:s|ped)?\b|\bTODO\b|\blegacy\b"
    r"|\bolder\b|不(?:支持|兼容|再)|旧版|老版本|迁移|移植|如果|原(?:版|作者|始|项目)"
    r"|\binspired\b|\bbug\b|\bissue|\bwarning\b|\bbefore\b|\bif you\b|\bin case\b|\bhttps?://\S{0,300}(?:blob|tree)/)",
    re.IGNORECASE,
)
"""Words of a line that speaks of other code, or of a release that this code is not for."""
_FOLDER = re.compile(
    r"(?:tensor[-_ ]?flow|tf)[-_. ]?v?(?P<major>[12])"
    r"(?:[-_.]?x|[-_.]?0|[-_.](?P<minor>\d{1,2})(?:[-_.]\d{1,2})?|(?P<run_together>[1-9]\d?))?",
    re.IGNORECASE,
)
_IMPORT = late_pattern(r"\s*(?:import|from)\s+(?:tensorflow|keras)\b(?P<taken>[^#]*)(?:#+\s*(?P<comment>.*))?")
_COMMENT = late_pattern(r"\s*#+\s*(?P<comment>.*)")
_ABOUT_THIS_CODE = late_pattern(
    r"(?:written|tested|works?|working|runs?|running|compatib\w*|using|uses?|versions?|ver|requires?|required|needs?|needed"
    r"|build|built|developed|trained|maintain\w*|keep\w*|kept|backend|code|scripts?|file|notebook|project|this|is|was|the|for|with"
    r"|under|on|and|python|py|keras|cuda|cudnn|gpu|cpu|installed|environment|env"
    r"|版本|环境|使用|基于|兼容|适用|测试|代码|运行|需要|要求|于|在|下|本|的|是|为|用|v|\d+)",
    re.IGNORECASE,
)
"""A word of a comment that says for which release the code beside it is."""
_WORD = late_pattern(r"[A-Za-z]+|\d+|[\u4e00-\u9fff]+")
_OWN_MINOR = late_pattern(r"[0-3]\.\d")
_NEW_MAJOR = {"0": "<1.0", "1": ">=1.0,<2.0", "2": ">=2.0,<3.0", "3": ">=3.0"}


def of_prose(path: str, text: str) -> Iterator[Stated]:
    """Yield the releases of TensorFlow that a text says its code is for, each with its row.

    A badge decides: what the text says besides is only kept as far as it is one of the badge's releases.
    """
    lines = text[:MAX_CHARACTERS].splitlines()
    found: list[tuple[bool, Stated]] = []
    others: frozenset[int] | None = None
    for row, line in enumerate(lines):
        if len(found) >= MAX_STATEMENTS:
            break
        if "tf" not in line.lower() and "flow" not in line.lower():
            continue
        for words, releases in _of_line(line):
            others = of_other_things(lines) if others is None else others
            if row not in others:
                found.append((_is_badge(line), Stated(path, row + 1, words, releases, prose=True)))
    badges = [stated.releases for is_badge, stated in found if is_badge and stated.releases is not None]
    said: Releases = frozenset().union(*badges)
    yield from (stated for _, stated in found if not said or (stated.releases or ANY) <= said)


def of_header(path: str, text: str) -> Iterator[Stated]:
    """Yield the releases of TensorFlow that a Python file names above its code: in comments, or in its docstring."""
    yield from of_prose(path, "\n".join(_header(text.splitlines()[:MAX_HEADER_ROWS])))


def of_import(path: str, text: str) -> Iterator[Stated]:
    """Yield the releases of TensorFlow that comments beside its imports name: behind one, or right above or below.

    Only a comment that says nothing else counts, and only one with a minor release: ``TF 1.x`` beside an import of
    ``tensorflow.compat.v1`` speaks of the interface.
    """
    lines = text.splitlines()
    for place, line in enumerate(lines):
        found = _IMPORT.match(line)
        if found is None:
            continue
        legacy = "compat.v1" in found["taken"]
        beside = [(place, found["comment"] or "")]
        for other in (place - 1, place + 1):
            comment = _COMMENT.match(lines[other]) if 0 <= other < len(lines) else None
            if comment is not None:
                beside.append((other, comment["comment"]))
        for row, said in beside:
            for words, releases in _of_comment(said):
                if not legacy or any(release >= (2, 0) for release in releases):
                    yield Stated(path, row + 1, words, releases, prose=True)


def of_folder(path: str, name: str) -> Stated | None:
    """Return the release of TensorFlow that the name of a folder is: ``tf1``, ``tf2.x``, ``tensorflow_1.14``, ``tf14``;
    None where it is no release."""
    match = _FOLDER.fullmatch(name)
    if match is None:
        return None
    major, minor = match["major"], match["minor"] or match["run_together"]
    releases = _admitted(f"=={major}.{int(minor)}.*" if minor else _NEW_MAJOR[major])
    return Stated(path, 1, name, releases, prose=True) if releases else None


def _header(lines: list[str]) -> Iterator[str]:
    """Yield the rows above the first statement, the docstring among them."""
    quotes = ""
    for line in lines:
        words = line.strip()
        if quotes:
            yield words
            if quotes in words:
                return
        elif words.lstrip("rRuU").startswith(('"""', "'''")):
            words = words.lstrip("rRuU")
            quotes = words[:3]
            yield words
            if quotes in words[3:]:
                return
        elif words and not words.startswith("#"):
            return
        else:
            yield words.lstrip("# ")


def _of_comment(comment: str) -> Iterator[tuple[str, Releases]]:
    """Yield the release that a comment names, where it says nothing else."""
    found = list(_of_line(comment)) if len(comment) <= _MAX_COMMENT else []
    if len(found) != 1 or _OWN_MINOR.search(found[0][0]) is None:
        return
    match = _STATEMENT.search(comment)
    rest = comment[: match.start()] + " " + comment[match.end() :] if match is not None else comment
    if all(map(_says_only, _WORD.findall(rest))):
        yield found[0]


def _says_only(word: str) -> bool:
    """Return True if a word, or a run of Chinese characters, only says for which release code is."""
    if word.isascii():
        return _ABOUT_THIS_CODE.fullmatch(word) is not None
    place = 0
    while place < len(word):
        match = _ABOUT_THIS_CODE.match(word, place)
        if match is None:
            return False
        place = match.end()
    return True


def _of_line(line: str) -> Iterator[tuple[str, Releases]]:
    matrix = _MATRIX.match(line)
    if matrix is not None:
        found: Releases = frozenset()
        for version in _VERSION.findall(matrix["values"]):
            found |= _admitted(f"=={version}.*")
        if found:
            yield line.strip(), found
        return
    shown = unquote(line) if "%" in line else line
    is_badge = _is_badge(shown)
    if is_badge:
        shown = re.sub(r"(?<=[A-Za-z])[-_]+(?=[v<>=~]*\s?\d)", " ", shown.replace("/", " "))
    elif _NOT_THIS_CODE.search(line):
        return
    else:
        shown = without_what_is_left_out(shown)
    for match in _STATEMENT.finditer(shown):
        releases = _releases(match, shown)
        if releases and (is_badge or not claims_nothing(shown, match.start(), match.end())):
            yield " ".join(match[0].strip(" `*_([\"'").split()), releases


def _is_badge(line: str) -> bool:
    return "shields.io" in line or "badge" in line


def _releases(match: re.Match[str], line: str) -> Releases:
    order, major, minor = match["order"] or "", match["major"], match["minor"]
    open_end = bool(match["plus"])
    if minor is None:
        # ``TensorFlow 2`` is a release; ``TensorFlow: 3 GPUs`` is none.
        bare = re.sub(r"[\s`*_]+", " ", match[0]).strip()
        if not order and not open_end and not _ONLY_MAJOR.fullmatch(bare):
            return frozenset()
        minor = "x" if order in ("", "=", "==", "~=", "^", "~") and not open_end else "0"
    if minor in ("x", "X", "*"):
        if order in (">=", ">", "≥") or open_end:
            return _admitted(f">={major}.0")
        return _admitted(_NEW_MAJOR[major])
    version = f"{major}.{minor}"
    second = _SECOND_BOUND.match(line, match.end())
    if order in (">=", "≥", ">", "^") or open_end:
        return _admitted(f">={version}" + (f",{second['order']}{second['version']}" if second else ""))
    if order in ("<=", "≤", "<"):
        return _admitted(f"{'<' if order == '<' else '<='}{version}" + ("" if order == "<" else ".99"))
    if order == "!=":
        return frozenset()
    return _admitted(f"=={version}.*")


def _admitted(specifier: str) -> Releases:
    try:
        return admitted(specifier) & ANY
    except Unreadable:
        return frozenset()
