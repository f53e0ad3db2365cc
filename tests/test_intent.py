"""Wishes in words."""

from __future__ import annotations

import pytest

from tfmemlint.model.intent import Intent, Purpose


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "only GPU 0 visible"),
        ("'0,1'", "only GPUs 0,1 visible"),
        ("", "only some devices visible"),
        ("'-1'", "no GPU visible"),
        ("all", "every GPU visible"),
        ("'all'", "every GPU visible"),
        ("gpus[1:]", "only gpus[1:] visible"),
    ],
)
def test_what_is_to_be_visible(text: str, words: str) -> None:
    assert Intent(Purpose.VISIBLE, text=text).describe() == words
