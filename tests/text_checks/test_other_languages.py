"""Sentences in Chinese, Japanese, Korean, German and Spanish: advice is reported, warnings and questions are not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tfmemlint.knowledge.releases import Target
from tfmemlint.text_checks import mentions

LINES = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()
SENTENCES = [tuple(line.split(" ", 2)) for line in LINES]
"""The language, what the sentence is (``advice``, ``against``, ``question``), and the sentence."""
LANGUAGES = ("zh", "ja", "ko", "de", "es")


def _is_reported(sentence: str) -> bool:
    return bool(mentions(f"TensorFlow\n\n{sentence}\n", Target.newest()))


@pytest.mark.parametrize(("language", "kind", "sentence"), SENTENCES, ids=lambda text: text[:60])
def test_advice_alone_is_reported(language: str, kind: str, sentence: str) -> None:
    assert _is_reported(sentence) is (kind == "advice")


def test_every_language_has_ten_sentences_of_all_kinds() -> None:
    counts = Counter(language for language, _, _ in SENTENCES)
    assert all(counts[language] >= 10 for language in LANGUAGES)
    assert {(language, kind) for language, kind, _ in SENTENCES} == {
        (language, kind) for language in LANGUAGES for kind in ("advice", "against", "question")
    }
