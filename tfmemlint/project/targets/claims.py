"""On what grounds a file is judged for a release: stated, inferred from names, or neither."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.knowledge.memory_names import is_about_gpu_memory
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.project.name_uses import EVERY_RELEASE, NameUse
from tfmemlint.project.targets.found import Claim, FoundTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.project.infer import Inference, Inferred

_TARGETS = tuple(Target.parse(release) for release in KNOWN)
_IN_1 = sum(1 << place for place, release in enumerate(_TARGETS) if release.major < 2)

MIN_NAMES_GONE = 3
"""Names that only TensorFlow 1 has, of one file in a project for TensorFlow 2, from which on the file is for 1; and of
the files around one that has nothing but sessions of TensorFlow 1."""


def with_inference(found: FoundTarget, path: str, inference: Callable[[], Inference]) -> FoundTarget:
    """Return what is stated for a file, completed by what the names of its program tell.

    A statement decides, unless it has releases of TensorFlow 1 and of 2, or there is none. Then the program is judged
    for the newest of these releases that has every name which it uses, those about GPU memory aside. Where only texts
    for people rule newer releases out ("TensorFlow 2.0" is what many call all of 2.x) and the program uses names that
    came later, it is judged for the first release that has them.
    """
    judged = _judged(found, path, inference)
    if any(statement.prose for statement in found.used) and judged.target is not None and judged.target.claimed:
        return _raised(judged, path, inference)
    return judged


def _raised(found: FoundTarget, path: str, inference: Callable[[], Inference]) -> FoundTarget:
    """Return the first release, from that which a text tells on, that manifests admit and that has all names."""
    target = found.target
    if target is None or not _is_program(path):
        return found
    candidates = sum(1 << release.index for release in _TARGETS if release >= target)
    for statement in found.used:
        if not statement.prose and statement.releases is not None:
            candidates &= sum(
                1 << release.index for release in _TARGETS if (release.major, release.minor) in statement.releases
            )
    if candidates in (0, 1 << target.index):
        return found
    of_program, deciding = inference().with_all_names(path, candidates, target.index)
    if not of_program:
        # No release has all names of the program, which may be several: those of the file itself count.
        of_program = candidates
        deciding = tuple(use for use in inference().names_in_file(path) if not use.mask >> target.index & 1)[:2]
        for use in inference().names_in_file(path):
            of_program &= use.mask
    if not deciding or not of_program:
        return found
    candidates = of_program
    first = _TARGETS[(candidates & -candidates).bit_length() - 1]
    return replace(found, claim=Claim.INFERRED, inferred=first, deciding=deciding)


def _judged(found: FoundTarget, path: str, inference: Callable[[], Inference]) -> FoundTarget:
    if found.first is not None and found.last is not None and found.first.major == found.last.major:
        gone = _of_tensorflow_1(found, path, inference) if found.last.major >= 2 else ()
        if gone and all(statement.prose or statement.floating for statement in found.used):
            # What a README says of a project need not hold for each of its folders; what "nightly" was is forgotten.
            old = inference().of_file(path, _IN_1)
            if old.mask:
                return replace(found, claim=Claim.INFERRED, inferred=_newest(old.mask), deciding=gone)
        if not gone and found.used and all(statement.floating for statement in found.used) and _is_program(path):
            # What "nightly" was is forgotten: the names of the files around have the say.
            near = _near_tensorflow_1(path, inference)
            if near:
                return replace(found, claim=Claim.INFERRED, inferred=_newest(_IN_1), deciding=near)
        if gone and found.target is not None:
            return replace(
                found, claim=Claim.CONTRADICTORY, inferred=replace(found.target, claimed=False), deciding=gone
            )
        return replace(found, claim=Claim.FOUND)
    admitted = _mask(found.first, found.last)
    newest = _newest(admitted)
    if not _is_program(path):
        return found if found.last is not None else replace(found, claim=Claim.NOT_CLAIMED)
    inferred = _own_if_later(inference().of_file(path, admitted), path, admitted, inference)
    if not inferred.mask:
        target = replace(newest, claimed=False)
        return replace(found, claim=Claim.CONTRADICTORY, inferred=target, deciding=inferred.deciding)
    if inferred.mask & _IN_1 and inferred.mask & ~_IN_1:
        near = _near_tensorflow_1(path, inference)
        if near:
            return replace(found, claim=Claim.INFERRED, inferred=_newest(inferred.mask & _IN_1), deciding=near)
    if not inferred.deciding and found.last is None:
        return replace(found, claim=Claim.NOT_CLAIMED)
    if inferred.mask & _IN_1 and inferred.mask & ~_IN_1:
        target = replace(_newest(inferred.mask), claimed=False, oldest=found.first if found.first != newest else None)
        return replace(found, claim=Claim.NOT_CLAIMED, inferred=target, deciding=inferred.deciding)
    return replace(found, claim=Claim.INFERRED, inferred=_newest(inferred.mask), deciding=inferred.deciding)


def _of_tensorflow_1(found: FoundTarget, path: str, inference: Callable[[], Inference]) -> tuple[NameUse, ...]:
    """Return names of a file that tell TensorFlow 1, where the project states 2; none where other names tell 2.

    One such name may be a mistake; a file with several is code of others, or left behind. Names about GPU memory, which
    are what is judged, do not count.
    """
    if not _is_program(path):
        return ()
    uses = inference().uses_in_file(path, _only_in_1)
    gone = [use for use in uses if _only_in_1(use.mask)]
    return tuple(gone[:2]) if len(gone) >= MIN_NAMES_GONE and all(use.mask & _IN_1 for use in uses) else ()


def _only_in_1(mask: int) -> bool:
    return not mask & ~_IN_1


def _own_if_later(inferred: Inferred, path: str, admitted: int, inference: Callable[[], Inference]) -> Inferred:
    """Return what the names of a file tell by themselves, where its program tells TensorFlow 1 and the file configures
    GPUs with names that only 2 has: then others, whose names it was judged by, are not run with it."""
    if not inferred.mask or inferred.mask & ~_IN_1:
        return inferred
    own = list(inference().names_in_file(path))
    later = [use for use in own if not use.mask & inferred.mask]
    mask = admitted
    for use in own:
        mask &= use.mask
    return replace(inferred, mask=mask, deciding=tuple(later[:2])) if later and mask else inferred


def _near_tensorflow_1(path: str, inference: Callable[[], Inference]) -> tuple[NameUse, ...]:
    """Return names that tell TensorFlow 1, of the files around a file that has nothing but sessions of it.

    The nearest directory decides whose files tell a release; where one of its names tells 2, none are returned. Beside
    code for Keras 2, sessions are those of TensorFlow 1.
    """
    about_memory = [use for use in inference().names_in_file(path) if is_about_gpu_memory(use.name)]
    of_1 = [use for use in about_memory if not use.mask & ~_IN_1]
    if not of_1 or not all(use.mask & _IN_1 for use in about_memory):
        return ()
    beside_asked = False
    for uses in inference().names_around(path):
        if not all(use.mask & _IN_1 for use in uses):
            return ()
        gone = [use for use in uses if not use.mask & ~_IN_1]
        if len(gone) >= MIN_NAMES_GONE:
            return tuple(gone[:2])
        if not beside_asked:
            beside_asked = True
            beside = inference().of_keras_2_beside(path)
            if beside is not None:
                return (beside, of_1[0])
    return ()


def _is_program(path: str) -> bool:
    return path.endswith((".py", ".pyw", ".ipynb")) and os.path.isfile(path)


def _mask(first: Target | None, last: Target | None) -> int:
    if first is None or last is None:
        return EVERY_RELEASE
    return sum(1 << place for place in range(first.index, last.index + 1))


def _newest(mask: int) -> Target:
    return _TARGETS[mask.bit_length() - 1]
