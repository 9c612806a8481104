"""Getting control: texts are read to their end, menus are closed, everything else is waited for."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_menu, is_text, is_text_choice
from rlaif.game.navigation.room_graph import RoomId
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.options.script import GiveUp, Part

_TEXT = address("wTextIsActive")
_CANNOT_BE_CLOSED = 0x80


def attend(ram: RamBlocks) -> Part:
    """Until the player has control, or until a question is asked: that is never answered here.

    A button is pressed in every second step at most, because a held one turns no page.
    """
    return (yield from _attended(ram, None))


def see_out(ram: RamBlocks) -> Part:
    """As `attend`, after a deed: also over once the scene that it began has led to another room."""
    return (yield from _attended(ram, standing(ram).room))


def _attended(ram: RamBlocks, room: RoomId | None) -> Part:
    while not _is_attended(ram, room):
        button = _button(ram)
        ram = yield Action.NOP
        if button is not None and _button(ram) == button and not _is_attended(ram, room):
            ram = yield button
    return ram


def _is_attended(ram: RamBlocks, room: RoomId | None) -> bool:
    brought = room is not None and standing(ram).room != room
    return brought or has_control(ram) or is_text_choice(ram)


def take_control(ram: RamBlocks) -> Part:
    """Until the player has control; GiveUp when a question must be answered first."""
    ram = yield from attend(ram)
    if not has_control(ram):
        raise GiveUp("no_control", "a question is open, which wants an ANSWER")
    return ram


def read_to_question(ram: RamBlocks) -> Part:
    """In an open text until it asks something, or has ended without."""
    while is_text(ram) and not is_text_choice(ram):
        ram = yield Action.NOP
        if is_text(ram) and not is_text_choice(ram) and _button(ram) is not None:
            ram = yield Action.A
    return ram


def _button(ram: RamBlocks) -> Action | None:
    """What leads on; None where there is nothing but waiting."""
    if is_menu(ram):
        return Action.START
    if is_text(ram) and ram.u8(_TEXT) != _CANNOT_BE_CLOSED:
        return Action.A
    return None
