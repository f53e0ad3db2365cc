"""The triggers of all rules: the words without which no rule fires, so that most files need not be parsed.

Each rule states its own (`Rule.triggers`). Those of the tool's own rules are in `tfmemlint.facts.search_index`, since
importing the rules takes longer than checking a small project; those of other packages are asked of their rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property, lru_cache

from tfmemlint.facts.line_search import LineSearch
from tfmemlint.facts.prefilter import Prefilter
from tfmemlint.facts.search_index import LAUNCHED, TRIGGERS


class _Triggers:
    """The triggers of some rules.

    Attributes:
        words: triggers of all the rules.
        launch_words: triggers that count only if a configuration file launches the program.
        everything: some rule states no triggers, and may fire in any file.
    """

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.launch_words: set[str] = set()
        self.everything = False

    def add(self, words: Iterable[str] | None, launch_words: Iterable[str] = ()) -> None:
        """Add the triggers of one rule."""
        self.everything = self.everything or words is None
        self.words.update(words or ())
        self.launch_words.update(launch_words)


class _RulePrefilter:
    """The prefilter's questions, compiled from the rules when they are first asked.

    The rules of other packages are only looked up once a file has none of the tool's own triggers.
    """

    @cached_property
    def _own(self) -> LineSearch:
        return LineSearch(TRIGGERS)

    @cached_property
    def _of_others(self) -> LineSearch:
        return LineSearch.of(triggers_of_others().words)

    @cached_property
    def _where_launched(self) -> LineSearch:
        return LineSearch(LAUNCHED)

    @cached_property
    def _of_others_where_launched(self) -> LineSearch:
        return LineSearch.of(triggers_of_others().launch_words)

    def matches(self, data: bytes) -> bool:
        if self._own(data):
            return True
        return triggers_of_others().everything or self._of_others(data)

    def matches_where_launched(self, data: bytes) -> bool:
        return self._where_launched(data) or self._of_others_where_launched(data)


@lru_cache(maxsize=1)
def prefilter() -> Prefilter:
    """Return the prefilter, which is compiled from the triggers of all rules."""
    made = _RulePrefilter()
    return Prefilter(made.matches, made.matches_where_launched)


def may_matter(data: bytes) -> bool:
    """True if a rule may fire in a stretch of a document, which need not mention TensorFlow."""
    return prefilter().may_matter(data)


def matters(data: bytes) -> bool:
    """True if a rule may fire in a file of Python."""
    return prefilter().matters(data)


def scan(data: bytes) -> int:
    """Return all answers about a file of Python (`Prefilter.scan`)."""
    return prefilter().scan(data)


def scan_document(data: bytes) -> int:
    """Return all answers about a document or a configuration file (`Prefilter.scan_document`)."""
    return prefilter().scan_document(data)


def digest() -> bytes:
    """Return a digest of all triggers: answers of another prefilter are void."""
    from hashlib import blake2b

    found = triggers_of_others()
    others = sorted(found.words), sorted(found.launch_words), found.everything
    return blake2b(repr((TRIGGERS, LAUNCHED, others)).encode(), digest_size=8).digest()


@lru_cache(maxsize=1)
def triggers_of_others() -> _Triggers:
    """Return the triggers of the rules that other packages bring."""
    from tfmemlint.rulekit.other_packages import modules_of_others

    found = _Triggers()
    for module in modules_of_others():
        _add_rules(module, found)
    return found


def _add_rules(module: object, found: _Triggers) -> None:
    from tfmemlint.rulekit.rule import classes_in

    for cls in classes_in(module):
        found.add(cls.triggers, cls.launch_triggers)


def reads_every_tensorflow_file(selected: Collection[str]) -> bool:
    """True if one of the rules that a selection names may fire in any file that mentions TensorFlow.

    Args:
        selected: the codes of the rules that a selector names, and no rule that merely runs by default.
    """
    if not selected:
        return False
    from tfmemlint.rulekit.rule import rules

    return any(rule.any_tensorflow_file and rule.code in selected for rule in rules())


def search_of_any_file(selected: Collection[str]) -> Callable[[bytes], bool] | None:
    """Return the search for files of any kind, about TensorFlow or not, in which the selected rules may fire.

    None if the selection names no such rule.
    """
    if not selected:
        return None
    from tfmemlint.rulekit.rule import rules

    words = [word for rule in rules() if rule.any_file and rule.code in selected for word in rule.triggers or ()]
    return LineSearch.of(words) if words else None
