"""Sentences that name a release of TensorFlow, and yet don't say that the code beside them runs on it.

They speak of a possibility, a plan, a failure, a question, a past, a comparison, other people's code, or of what
readers with another release should do.
"""

from __future__ import annotations

import re

from tfmemlint.model.patterns import late_pattern

_MAX_SENTENCE = 2_000
"""Characters on either side of a release that are searched for the ends of its sentence."""
_TF = r"(?:tensor[ -]?flow|tf)"
_SENTENCE_END = late_pattern(r"[.!?;](?=[\s*_)\"'\u201d]|$)|[。！？；]|\s\|\s")
_CLAUSE_END = late_pattern(
    r"(?:,|(?<![\s,]))\s+(?:but|although|though|however|while)\b|,\s+(?:and|or|it|which|so|you)\b|[,，]\s*(?:但|不过|也|并)",
    re.IGNORECASE,
)
_ASIDE = late_pattern(r"\([^()\n]{0,200}\)")
_OTHER_RELEASES = late_pattern(r"\b(?:newer|later|other|older|different|higher|lower)\b|\d\.\d", re.IGNORECASE)

_MAY = late_pattern(r"\b(?:may|might|could)\b|可能|也许|可以?(?:修改|改)")
"""In lower case: May is a month."""
_POSSIBLE = late_pattern(
    r"\b(?:can|should|to)\s+(?:\w+\s+){0,3}(?:modif\w*|adapt\w*|chang\w*|updat\w*|rewr\w*|mov\w*|switch\w*|transition\w*)"
    r"|\bshould\s+(?:also|probably|theoretically|in theory)\b"
    r"|\b(?:probably|presumably|theoretically|in theory|perhaps|maybe|hopefully|possible to|possibly|straightforward)\b"
    r"|\b(?:moving|switching|changing|transitioning)\s+to\b",
    re.IGNORECASE,
)
_PLANNED = late_pattern(
    r"\bwill\s+(?:\w+\s+){0,2}(?:add\w*|support\w*|releas\w*|mov\w*|switch\w*|implement\w*|provid\w*|publish\w*|follow|come)\b"
    r"|\bplan(?:s|ned|ning)?\b|\bsoon\b|\bfuture\b|\broad ?map\b|\bupcoming\b|\bin progress\b|\bWIP\b|\bunder way\b"
    r"|\bunderway\b|\bnot yet\b|\bsomeday\b|\beventually\b|\bwould (?:be|like)\b|^\s*(?:[-*+]|\d+[.)])\s*\[ \]"
    r"|未来|将(?:来|会|支持)|暂|后续|计划|尚未",
    re.IGNORECASE,
)
_FAILED = late_pattern(
    r"\bfail\w*|\bcrash\w*|\bbroken?\b|\bbreaks?\b|\berrors?\b|\w(?:Error|Exception|Warning)\b|\btraceback\b|\buntested\b"
    r"|\bunless\b|\bexcept\b|\bwithout\b|\bneither\b|\bnever\b|报错|错误|未测试",
    re.IGNORECASE,
)
_PAST = late_pattern(
    rf"\b(?:since|as of|starting (?:with|from)|prior to|until)\s+{_TF}|\bformerly\b|\bused to\b|\bin the past\b"
    rf"|\bback then\b|\bat the time\b|\bearlier versions?\b|\bold version|^\W*In {_TF}\b"
    r"|以前|之前|曾|当时",
    re.IGNORECASE,
)
_COMPARED = late_pattern(
    r"\bunlike\b|\bcompar(?:ed|ison|ing)\b|\b(?:faster|slower|better|worse|easier|less) than\b|\bvs\b|\bversus\b"
    r"|\bwhereas\b|\brather than\b|\bdiffer(?:s|ence|ences|ent)\b|对比|相比|区别|比较",
    re.IGNORECASE,
)
_CHANGED = late_pattern(
    r"^\s*(?:[-*+]\s+)?(?:fix(?:ed|es)?|add(?:ed|s)?|bump(?:ed|s)?|chang(?:ed|e|es)|remov(?:ed|e|es)|improv(?:ed|e|es))\b"
    r"|\badd(?:s|ed)? (?:\w+ )?support\b|\b(?:removed|introduced|renamed|replaced|changed|dropped)\b"
    r"|^[\s#*+\[-]{0,8}v?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?\]?\s*(?:[:(\u2013-]|\s-)",
    re.IGNORECASE,
)
_OTHERS = late_pattern(
    r"\bbaselines?\b|\b(?:official|authors?['\u2019]?s?|their)\s+(?:\w+\s+)?(?:implementation|code|repo\w*|release)\b"
    r"|\bby the authors?\b|\btitle\s*=|\b(?:required|needed|used|supported|provided|shipped) by (?:the )?"
    rf"{_TF}|官方(?:实现|代码)",
    re.IGNORECASE,
)
_ELSEWHERE = late_pattern(
    rf"\b(?:version|implementation|port|variant|code)\W{{0,5}}(?:is |are |can be |could be |:)?\s*(?:also )?"
    r"(?:available|found|see|here|at|in the)\b"
    rf"|^\W*For (?:a|an|the) {_TF}"
    rf"|^\W*(?:(?:for|on)(?: (?:those|users|people) (?:with|of|on))?|when using|users of|if using|with)\s+{_TF}"
    r"[^,;]{0,24}[,:]?\s+(?:please\s+|you\s+|users?\s+)?(?:can\s+|should\s+|must\s+)?(?:use|see|set|run|switch|check|try|refer|go)\b"
    r"|^\W*(?:see|learn more|read|refer to|check out)\b",
    re.IGNORECASE,
)
_GUIDE = late_pattern(
    r"\[[^\]\n]{0,120}\b(?:guides?|tutorials?|documentation|docs|book|course|blog|article|effective|manual)\b[^\]\n]{0,120}\]"
    r"\(https?:",
    re.IGNORECASE,
)
_QUESTION = late_pattern(r"[?？]\W{0,5}$|^\W{0,6}Q[:.]|吗|为什么|是否")
_STRUCK_OUT = late_pattern(r"~~[^~\n]{1,400}~~")
_COMMAND_LEFT_OUT = late_pattern(
    r"^\s*(?:#+|//)\s*(?:[-!%$>]\s*)?(?:RUN\s+)?(?:sudo\s+|python3?\s+-m\s+|uv\s+)*(?:pip3?|conda|mamba)\s+install\b"
    rf"|^\s*#+\s*(?:-\s*)?{_TF}(?:-gpu|-cpu)?\s*[=~<>]=",
    re.IGNORECASE,
)
_CLAIMS_NOTHING = (_MAY, _POSSIBLE, _PLANNED, _FAILED, _PAST, _COMPARED, _CHANGED, _OTHERS, _ELSEWHERE)


def without_what_is_left_out(line: str) -> str:
    """Return a line without what is struck out; nothing of a command that is commented out."""
    if _COMMAND_LEFT_OUT.match(line) is not None:
        return ""
    return _STRUCK_OUT.sub(lambda match: " " * len(match[0]), line) if "~~" in line else line


def claims_nothing(line: str, start: int, end: int) -> bool:
    """Return True if the sentence around ``line[start:end]``, a release of TensorFlow, leaves open whether the code
    beside it runs on that."""
    sentence, start, end = _part(line, start, end, _SENTENCE_END)
    if _QUESTION.search(sentence) or _GUIDE.search(sentence):
        return True
    clause, start, end = _part(sentence, start, end, _CLAUSE_END)
    clause = _without_asides(clause, start, end)
    return any(pattern.search(clause) is not None for pattern in _CLAIMS_NOTHING)


def _part(text: str, start: int, end: int, ends: re.Pattern[str]) -> tuple[str, int, int]:
    """Return the part of a text between two ends that holds ``text[start:end]``, and the place of that in it."""
    first, last = max(0, start - _MAX_SENTENCE), min(len(text), end + _MAX_SENTENCE)
    for match in ends.finditer(text, first, start):
        first = match.end()
    after = ends.search(text, max(end, first), last)
    # The sign at the end belongs to the sentence: it tells questions.
    last = last if after is None else after.start() + (1 if after[0] in "?？" else 0)
    return text[first:last], start - first, end - first


def _without_asides(clause: str, start: int, end: int) -> str:
    """Return a clause without the brackets that speak of other releases than ``clause[start:end]``."""

    def shown(match: re.Match[str]) -> str:
        holds = match.start() < end and start < match.end()
        return match[0] if holds or _OTHER_RELEASES.search(match[0]) is None else " " * len(match[0])

    return _ASIDE.sub(shown, clause) if "(" in clause else clause
