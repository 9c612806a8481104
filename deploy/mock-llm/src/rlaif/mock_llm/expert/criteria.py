"""One rule per criterion, by its anchors; thresholds such as idle or straight are the expert's own.

A rule returns (level, reason); the level is None if the evidence lacks what the criterion needs.
"""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Evidence

Opinion = tuple[int | None, str]
"""A level from 0 to 2 or None, and the reason in a few words."""

_IDLE, _BUSY = 0.6, 0.3
"""Shares of idle steps above which time was wasted, and below which it was used."""
_MAX_MENU_SHARE = 0.5
_HELPLESS = 0.9
"""Share of steps without control from which on there is nothing to judge."""
_STRAIGHT = 0.35
_LONG_TALK = 0.6
"""Share of steps from which on an open text delayed the player."""
_REOPENED = 2
"""If there are this many more openings than texts, a text was repeated."""


def _progress(evidence: Evidence) -> Opinion:
    """Milestones, small steps, or nothing: for places that are not on the map."""
    rooms, changes = evidence.rooms, evidence.changes
    if rooms.first_visits is None and changes.rupees is None and changes.items_gained is None:
        return None, "rooms and inventory are unknown"
    if evidence.died:
        return 0, "the player died"
    if changes.items_gained:
        return 2, f"gained {', '.join(changes.items_gained)}"
    if changes.treasures > 0:
        return 2, "gained a key or an essence"
    if (rooms.first_visits or 0) >= 3:
        return 2, f"{rooms.first_visits} rooms for the first time"
    small = (rooms.first_visits, changes.rupees, evidence.enemies.defeated, rooms.changes)
    if any((gain or 0) > 0 for gain in small):
        return 1, "a small step: a room, rupees or a defeated enemy"
    return 0, "nothing was gained"


def _efficiency(evidence: Evidence) -> Opinion:
    idle, walked = evidence.movement.idle_share, evidence.movement.pixels
    if idle is None or walked is None or not evidence.segment.steps:
        return None, "positions are unknown"
    if (evidence.share(evidence.control.steps_without) or 0.0) >= _HELPLESS:
        return None, "the player had no control"
    if idle > _IDLE or (evidence.share(evidence.control.menu_steps) or 0.0) > _MAX_MENU_SHARE:
        return 0, f"idle for {idle:.0%} of the steps"
    straight = evidence.movement.straightness
    purposeful = (evidence.rooms.changes or 0) > 0 or straight is None or straight > _STRAIGHT
    if idle < _BUSY and purposeful:
        return 2, f"idle for {idle:.0%} only, {walked} pixels walked"
    return 1, f"idle for {idle:.0%}, some of the way was repeated"


def _puzzle(evidence: Evidence) -> Opinion:
    puzzle = evidence.puzzle
    if puzzle.parts is None and puzzle.events_done is None and puzzle.items_taken is None:
        return None, "puzzles are unknown"
    gave_way = (puzzle.events_done, puzzle.items_taken, evidence.changes.keys)
    if any((times or 0) > 0 for times in gave_way):
        return 2, "a door, a chest or a key gave way"
    if not puzzle.parts:
        return None, "no part of a puzzle is in the evidence"
    for name, (first, highest, last) in puzzle.parts.items():
        if max(highest, last) > first:
            return 1, f"{name} changed"
    return 0, "a puzzle was there and nothing of it changed"


def _novelty(evidence: Evidence) -> Opinion:
    rooms = evidence.rooms.first_visits
    if rooms is None:
        return None, "the rooms are unknown"
    if rooms >= 2:
        return 2, f"{rooms} new rooms"
    return (1, "one new room") if rooms > 0 else (0, "no room was new")


RULES: Mapping[str, Callable[[Evidence], Opinion]] = MappingProxyType(
    {"progress": _progress, "efficiency": _efficiency, "puzzle": _puzzle, "novelty": _novelty}
)

_TEXTS: Mapping[int, tuple[str, ...]] = MappingProxyType(
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
"""Objective → words, in lower case, of the texts that concern it or what it requires."""


def usefulness(evidence: Evidence, objectives: Collection[int]) -> Opinion:
    """Rule of the criterion dialog, for a player whose next objectives are these."""
    dialog, share = evidence.dialog, evidence.share(evidence.dialog.steps)
    if not dialog.steps or share is None:
        return None, "no dialog was open" if dialog.steps == 0 else "dialog is unknown"
    closed, opened = dialog.closed or 0, dialog.opened or 0
    if opened and evidence.changes.items_gained:
        return 2, f"a text came with {', '.join(evidence.changes.items_gained)}"
    if dialog.open_at_end and not closed and share > _LONG_TALK:
        return 0, f"a text stayed open for {share:.0%} of the time"
    if opened - (dialog.texts or 0) >= _REOPENED:
        return 0, "the same text was opened again and again"
    if dialog.said is None:
        return None, "the texts are unknown"
    if not closed:
        return 1, "no text was read to its end"
    helped = next((number for number in objectives if concerns(dialog.said, number)), None)
    if helped is None:
        return 1, "the texts help with no objective ahead"
    return 2, f"the texts help with objective {helped}"


def concerns(said: Collection[str], objective: int) -> bool:
    """Whether any of these texts concerns an objective."""
    texts = [" ".join(text.split()).casefold() for text in said]
    return any(words in text for words in _TEXTS[objective] for text in texts)
