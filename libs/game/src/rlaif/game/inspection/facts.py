"""What a ROM or a moment of a game is, as JSON-able values: for `rlaif-game inspect`."""

import hashlib
from typing import Any

from rlaif.game.description.describe import describe
from rlaif.game.description.mapview import Marked, marked_entities, room_map, visited_map
from rlaif.game.description.words import words_of
from rlaif.game.inspection.summary import summary
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory import predicates
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import PART_ITEM_DROP, is_riding
from rlaif.game.memory.memory_map import SMALL_ROOM
from rlaif.game.memory.names import DROP_NAMES, ENEMY_NAMES, PART_NAMES
from rlaif.game.memory.puzzles import puzzle_elements
from rlaif.game.memory.readers import Value, decode, number, raw
from rlaif.game.memory.rooms import on_screen, room_size
from rlaif.game.memory.state import decode as decode_state
from rlaif.game.memory.symbols import GROUPS, Symbol
from rlaif.game.stories.milestones import Milestone, fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of


def rom_facts(cartridge: Cartridge) -> dict[str, Any]:
    """What a ROM is."""
    return {
        "title": cartridge.title,
        "game": cartridge.game,
        "modified": cartridge.is_modified,
        "size_bytes": len(cartridge.data),
        "sha1": hashlib.sha1(cartridge.data, usedforsecurity=False).hexdigest(),
        "sha256": cartridge.sha256,
    }


def moment_facts(emulator: Emulator, cartridge: Cartridge) -> dict[str, Any]:
    """The decoded memory of an emulator: flags, symbols by group, maps and story."""
    ram = read_blocks(emulator)
    state = decode_state(ram)
    story = story_of(cartridge.game)
    reached = milestones_reached(ram, story)
    names = {step.name for step in reached}
    to_come = [step for step in story.milestones if step.is_main and step.name not in names]
    camera = _camera(emulator, ram)
    words = words_of(cartridge.game, cartridge.data)
    return {
        "ram_sha256": emulator.ram_digest(),
        "moment": _moment(ram),
        "summary": summary(state, words),
        "description": describe(state, words),
        "symbols": {
            group: [_symbol(place, raw(emulator, place)) for place in places]
            for group, places in GROUPS.items()
        },
        "room_map": room_map(ram),
        "objects": [_object(marked, cartridge, camera) for marked in marked_entities(ram)],
        "puzzle": [element._asdict() for element in puzzle_elements(ram)],
        "visited_map": visited_map(ram),
        "milestones": {
            "fraction": round(fraction(reached, story), 4),
            "reached": [_step(step) for step in reached],
            "next": _step(to_come[0]) if to_come else None,
            "to_come": [step.name for step in to_come],
        },
    }


def _moment(ram: RamBlocks) -> dict[str, bool]:
    return {
        "running": predicates.is_running(ram),
        "has_control": predicates.has_control(ram),
        "dialog": predicates.is_dialog_state(ram),
        "choice": predicates.is_text_choice(ram),
        "puzzle": predicates.is_puzzle_state(ram),
        "menu": predicates.is_menu(ram),
        "scrolling": predicates.is_scrolling(ram),
        "fading": predicates.is_fading(ram),
        "cutscene": predicates.is_cutscene(ram),
        "dying": predicates.is_dying(ram),
        "riding": is_riding(ram),
    }


def _symbol(place: Symbol, data: bytes) -> dict[str, Any]:
    return {
        "name": place.name,
        "bank": place.bank,
        "address": f"0x{place.address:04X}",
        "encoding": place.encoding,
        "raw": data.hex(),
        "value": _plain(decode(place, data)),
        "confidence": place.confidence,
        "meaning": place.meaning,
    }


def _plain(value: Value) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, bytes | tuple) else value


def _camera(emulator: Emulator, ram: RamBlocks) -> tuple[int, int]:
    if room_size(ram) == SMALL_ROOM:
        return 0, 0
    return number(emulator, "hCameraX"), number(emulator, "hCameraY")


def _object(marked: Marked, cartridge: Cartridge, camera: tuple[int, int]) -> dict[str, Any]:
    entity = marked.entity
    told: dict[str, Any] = {
        "mark": marked.mark,
        "kind": marked.kind,
        "slot": f"0x{entity.slot:04X}",
        "id": f"0x{entity.id:02X}",
        "subid": f"0x{entity.subid:02X}",
        "x": entity.x,
        "y": entity.y,
        "on_screen": on_screen(entity.x, entity.y, *camera),
        "angle": entity.angle if entity.heading else None,
        "health": entity.health,
    }
    if cartridge.game == "oracle-of-seasons" and (name := _name(marked)):
        told["name"] = name
    return told


def _name(marked: Marked) -> str | None:
    if marked.kind == "enemy":
        return ENEMY_NAMES.get(marked.entity.id)
    if marked.entity.slot & 0xC0 != 0xC0:
        return None
    if marked.entity.id == PART_ITEM_DROP:
        return DROP_NAMES.get(marked.entity.subid)
    return PART_NAMES.get(marked.entity.id)


def _step(step: Milestone) -> dict[str, Any]:
    return {"name": step.name, "title": step.title, "main": step.is_main}
