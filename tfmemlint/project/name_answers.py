"""Questions about single files, by which a release is inferred, with the answers of earlier runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeVar

from tfmemlint.model.records import dataclass
from tfmemlint.project.name_hints import telling_masks
from tfmemlint.project.name_questions import MASKS, NAMES, STORED
from tfmemlint.project.name_uses import FileNames, NameUse, may_name, names_in, stored_in

_AnswerT = TypeVar("_AnswerT")
_NOTEBOOK = ".ipynb"
MAX_ANSWERS = 20_000
"""Answers that are kept, of this run and of earlier ones; beyond it, those of this run alone."""


@dataclass(slots=True)
class NameAnswers:
    """The answers about files, by the contents of these files. What earlier runs have answered is not asked again.

    Attributes:
        known: answers of earlier runs, as `kept` has returned them.
    """

    known: dict[str, Any] = field(default_factory=dict)
    _asked: dict[str, Any] = field(default_factory=dict)

    def names_in(self, path: str, data: bytes) -> FileNames:
        """Return the names of TensorFlow in a file (`tfmemlint.project.name_uses.names_in`)."""

        def read(answer: Any) -> FileNames:
            uses, memory_uses, of_keras_2 = (
                tuple(NameUse(name, path, row, mask) for name, row, mask in part) for part in answer
            )
            return FileNames(uses, memory_uses, of_keras_2)

        def keep(found: FileNames) -> Any:
            parts = (found.uses, found.memory_uses, found.of_keras_2)
            return [[[use.name, use.row, use.mask] for use in part] for part in parts]

        return self._answer(NAMES, path, data, names_in, keep, read)

    def telling_masks(self, path: str, data: bytes) -> frozenset[int] | None:
        """Return the releases that have each name which a file may use and some release lacks; None if only its tree
        tells."""
        if not may_name(data):
            return frozenset()
        if path.endswith(_NOTEBOOK):
            return None
        return self._answer(
            MASKS,
            path,
            data,
            lambda _, data: telling_masks(data),
            lambda masks: None if masks is None else sorted(masks),
            lambda answer: None if answer is None else frozenset(answer),
        )

    def stored_in(self, path: str, data: bytes) -> frozenset[str]:
        """Return the names that a file puts into TensorFlow."""
        return self._answer(STORED, path, data, stored_in, sorted, frozenset)

    def kept(self) -> dict[str, Any] | None:
        """Return all answers as plain data; None if this run has asked nothing new."""
        if self._asked.keys() <= self.known.keys():
            return None
        union = {**self.known, **self._asked}
        return union if len(union) <= MAX_ANSWERS else dict(self._asked)

    def _answer(
        self,
        question: str,
        path: str,
        data: bytes,
        ask: Callable[[str, bytes], _AnswerT],
        keep: Callable[[_AnswerT], Any],
        read: Callable[[Any], _AnswerT],
    ) -> _AnswerT:
        """Return the answer to a question about a file: that of an earlier run, or a new one."""
        kind = (question + _NOTEBOOK * path.endswith(_NOTEBOOK)).encode()
        key = f"{question}:{hashlib.blake2b(data, digest_size=12, person=kind).hexdigest()}"
        if key in self.known:
            self._asked[key] = self.known[key]
            return read(self.known[key])
        found = ask(path, data)
        self._asked[key] = keep(found)
        return found
