"""Whether a text was of use: what the people and signs of Seedling Vale say that concerns a step.

The words are a few of each text, in small letters, as it stands on the screen.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Evidence
from rlaif.mock_llm.expert.criteria import Opinion

_TELLING: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        1: ("granny fern", "red roof", "briar blade"),
        2: ("orchard has", "cuts bushes", "20 coins", "not enough coins"),
        3: ("no shield?", "20 coins", "wooden shield"),
        4: ("yours to dig", "my shovel", "soft soil", "15 coins", "not enough coins"),
        5: ("bombs crack", "shop has", "15 coins", "ten bombs"),
        6: ("cracked", "old quarry", "weak wall", "bombs crack"),
        7: ("west of my hut", "mossy wood", "lift the stones", "lifts stones"),
        8: ("summer", "vines", "at a stump", "look up"),
        9: ("winter", "were frozen", "seed satchel"),
        10: ("autumn", "toadstools", "four torches", "dry bushes", "dry hollow"),
        11: ("reed lake", "an isle", "deep water is"),
        12: ("gnarled key", "blossom way", "spring", "keyhole"),
        13: ("block for one",),
        14: ("small key", "it is locked"),
        15: ("small key", "still to be found"),
        16: ("weak stone", "small key"),
        17: ("thorn",),
        18: ("sun seed",),
    }
)
"""Objective → words of the texts that tell of it, or of what it takes."""

_LONG_TALK = 0.6
"""Share of the steps from which on a text held the player up."""
_OPENED_AGAIN = 2
"""So many more openings than texts are the same words again."""


def usefulness(evidence: Evidence, objectives: Collection[int]) -> Opinion:
    """Level of the dialog for whoever has these objectives before him; None for no opinion."""
    dialog, share = evidence.dialog, evidence.share(evidence.dialog.steps)
    if not dialog.steps or share is None:
        return None, "no dialog was open" if dialog.steps == 0 else "dialog is unknown"
    closed, opened = dialog.closed or 0, dialog.opened or 0
    if opened and evidence.changes.items_gained:
        return 2, f"a text came with {', '.join(evidence.changes.items_gained)}"
    if dialog.open_at_end and not closed and share > _LONG_TALK:
        return 0, f"a text stayed open for {share:.0%} of the time"
    if opened - (dialog.texts or 0) >= _OPENED_AGAIN:
        return 0, "the same text was opened again and again"
    if dialog.said is None:
        return None, "nobody knows what was said"
    if not closed:
        return 1, "no text was read to its end"
    told = next((number for number in objectives if concerns(dialog.said, number)), None)
    if told is None:
        return 1, "what was said helps with nothing ahead"
    return 2, f"what was said helps with objective {told}"


def concerns(said: Collection[str], objective: int) -> bool:
    """Whether any of these texts tells of an objective."""
    texts = [" ".join(text.split()).casefold() for text in said]
    return any(words in text for words in _TELLING[objective] for text in texts)
