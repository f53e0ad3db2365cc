"""The release that a document speaks of, where nothing else says it: that of the names in its code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources.documents.blocks import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfmemlint.sources.documents.blocks import Block

LAST_OF_1 = Target.parse("1.15")
_NAME = re.compile(r"(?<![\w.])(?:tf|tensorflow)((?:\.[A-Za-z_]\w*)+)")


def era(blocks: Iterable[Block], target: Target, *, said: bool = False) -> Target:
    """The release to judge the code of these blocks for: TensorFlow 1.15 where that has names which only TensorFlow 1
    knows, and none that only ``target`` does; else ``target``.

    A page about TensorFlow 1 is not wrong because TensorFlow 2 has come. Where both are mixed, the code is meant to run
    on what is there now.

    Args:
        blocks: the code. target: the release that the document is for.
        said: the document says that the code is for TensorFlow 1: it need not have names that only this knows, as
            ``tf.compat.v1.Session`` is in both.
    """
    if target <= LAST_OF_1:
        return target
    text = "\n".join(block.text for block in blocks if block.language == PYTHON)
    used = {f"tf{match[1]}" for match in _NAME.finditer(text)}
    old, new = ({name for name in used if names.missing_part(name, release) is None} for release in (LAST_OF_1, target))
    return LAST_OF_1 if (old - new or (said and old)) and not new - old else target
