"""Skills that wait for control: read texts to their end, close menus, else wait."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_menu, is_text, is_text_choice
from rlaif.game.motion.room_watcher import place_of
from rlaif.game.skills.script import GiveUp, Part

_TEXT = address("wTextIsActive")
_CANNOT_BE_CLOSED = 0x80


def attend(ram: RamBlocks) -> Part:
    """Wait until the player has control, or until a question is asked, which stays open.

    A button is pressed in every second step at most, because holding it does not turn pages.
    """
    return (yield from _attended(ram, None))


def see_out(ram: RamBlocks) -> Part:
    """Like `attend`; also ends once a scene has led to another room."""
    return (yield from _attended(ram, place_of(ram)))


def _attended(ram: RamBlocks, room: bytes | None) -> Part:
    while not _is_attended(ram, room):
        button = _button(ram)
        ram = yield Action.NOP
        if button is not None and _button(ram) == button and not _is_attended(ram, room):
            ram = yield button
    return ram


def _is_attended(ram: RamBlocks, room: bytes | None) -> bool:
    brought = room is not None and place_of(ram) != room
    return brought or has_control(ram) or is_text_choice(ram)


def take_control(ram: RamBlocks) -> Part:
    """Wait until the player has control; GiveUp if a question has to be answered first."""
    ram = yield from attend(ram)
    if not has_control(ram):
        raise GiveUp("no_control", "a question is open and needs an ANSWER")
    return ram


def read_to_question(ram: RamBlocks) -> Part:
    """Read an open text until it asks a question or ends."""
    while is_text(ram) and not is_text_choice(ram):
        ram = yield Action.NOP
        if is_text(ram) and not is_text_choice(ram) and _button(ram) is not None:
            ram = yield Action.A
    return ram


def _button(ram: RamBlocks) -> Action | None:
    """The button that continues; None if the player can only wait."""
    if is_menu(ram):
        return Action.START
    if is_text(ram) and ram.u8(_TEXT) != _CANNOT_BE_CLOSED:
        return Action.A
    return None
