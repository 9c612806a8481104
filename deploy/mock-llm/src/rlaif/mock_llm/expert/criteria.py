"""One rule per criterion, following its anchors; the thresholds are the expert's own.

A rule returns (level, reason); the level is None if the evidence lacks what the criterion needs.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Evidence
from rlaif.mock_llm.expert.world import SEASONS, Change, Objective, World

Opinion = tuple[int | None, str]
"""A level from 0 to 2 or None, and the reason in a few words."""

_IDLE, _BUSY = 0.6, 0.3
"""Shares of idle steps above which time was wasted, and below which it was used."""
_MAX_MENU_SHARE = 0.5
_HELPLESS = 0.9
"""Share of steps without control from which the segment cannot be judged."""
_STRAIGHT = 0.35
_LONG_TALK = 0.6
"""Share of steps from which an open text counts as a delay."""
_REOPENED = 2
"""Openings beyond the number of texts from which a text counts as repeated."""
_COMMON = {"cut", "unlock"}
"""Changes on so many paths that texts about them do not help with any objective."""
_DEEDS = {"lever": ("lever",), "door": ("small key", "locked"), "floor": ("compass",)}
"""Action → words of texts about it, or about its requirement."""
_PARTS = {"torches": "torches", "triggers": "a foot for one"}
"""Element that reveals a chest or a key → its name in texts."""
_NO_HELP = {"", "rupees", "essence", "rod of seasons", "rod_of_seasons"}


def _progress(evidence: Evidence) -> Opinion:
    """Level by milestones and small steps, for places outside the map."""
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


def usefulness(evidence: Evidence, world: World | None, objectives: Collection[int]) -> Opinion:
    """Rule of the criterion dialog, for a player with these next objectives."""
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
    said = dialog.said
    helped = next((it for it in objectives if world and concerns(world, said, it)), None)
    if helped is None:
        return 1, "the texts help with no objective ahead"
    return 2, f"the texts help with objective {helped}"


def concerns(world: World, said: Collection[str], objective: int) -> bool:
    """Whether any of these texts has words about an objective."""
    words = _words_on(world, objective)
    return any(words.search(" ".join(text.split()).casefold()) for text in said)


@lru_cache(maxsize=512)
def _words_on(world: World, number: int) -> re.Pattern[str]:
    """Pattern of an objective's rewards, costs, requirements, places, and earlier changes."""
    objective = world.objective(number)
    steps = (objective, *objective.first, *objective.places)
    found = {objective.title.removeprefix("the ")}
    found |= {step.item.replace("_", " ") for step in steps}
    found |= {f"{coins} coins" for coins in (objective.price, objective.done.rupees) if coins}
    found |= {name for step in steps for name in _names_of(world, step.room)}
    found |= {word for step in steps for word in _DEEDS.get(step.what, ())}
    known = {(it.room, it.tile, it.how) for it in _changes(world.objectives[: number - 1])}
    for change in _changes([objective]):
        if change.how in SEASONS:
            found.add(change.how)
        elif (change.room, change.tile, change.how) not in known and change.how not in _COMMON:
            sign = world.signs[world.sign_at((change.room, change.tile))]
            found |= {sign.name, change.how, *(it for way in sign.ways for it in way.needs)}
    for thing in world.by_name[objective.room].objects:
        if thing.tile == objective.tile and thing.hidden in _PARTS:
            found.add(_PARTS[thing.hidden])
    words = "|".join(re.escape(word.casefold()) for word in sorted(found - _NO_HELP))
    return re.compile(rf"\b({words})(s|es|ed)?\b")


def _changes(objectives: Iterable[Objective]) -> Iterator[Change]:
    for objective in objectives:
        yield from objective.route.changes


def _names_of(world: World, room: str) -> set[str]:
    """The name of a place, its owner, and its last word if it is unique."""
    name = world.by_name[room].name
    owner, last = name.partition("'s ")[0], name.rpartition(" ")[2]
    unique = sum(other.name.endswith(last) for other in world.rooms) == 1
    return {name, owner, last} if unique else {name, owner}
