"""Check the effect of ``CUDA_VISIBLE_DEVICES``."""

from __future__ import annotations

from tfmemlint.verify.verdict import GroundFacts


def cards_lost(value: str, physical: int, facts: GroundFacts) -> str:
    """Return why TensorFlow sees fewer GPUs than a value of ``CUDA_VISIBLE_DEVICES`` asks for; "" if it doesn't.

    It is also "" if the reason isn't known.
    """
    cards = [card.strip() for card in value.split(",")]
    if cards[0].startswith(("GPU-", "MIG-")):
        return "" if physical else "there is no GPU of that name in this run"
    if not all(card.isascii() and card.isdigit() for card in cards):
        return "" if physical else "CUDA knows no GPU by that name"
    if physical >= len(cards):
        return ""
    if len(set(map(int, cards))) < len(cards):
        return "CUDA shows no GPU at all if one is named twice"
    missing = next((int(card) for card in cards if int(card) >= len(facts.total_mib)), None)
    if facts.ground == "gpu" or missing is None:
        return "there is no such GPU here"
    return f"there is no GPU {missing} in this run (--gpus {missing + 1} makes one)"
