"""ANSWER: read an open text to its question, choose, read to the end or to the next question."""

from rlaif.contracts.plans import Answer
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_text, is_text_choice
from rlaif.game.options.attending import read_to_question, see_out
from rlaif.game.options.option import done
from rlaif.game.options.script import GiveUp, Part, Script, tap

_CHOSEN = address("wSelectedTextOption")
_MOVES = 12
_TRIES = 3
_STEPS_TO_CLOSE = 4


def answer(ram: RamBlocks, macro: Answer) -> Script:
    """Done when the text has ended, its question answered if it asked one, or asks again."""
    if not is_text(ram):
        raise GiveUp("impossible", "no text is open")
    ram = yield from read_to_question(ram)
    if not is_text_choice(ram):
        ram = yield from see_out(ram)
        return done("read to its end; nothing was asked")
    ram = yield from _choose(ram, macro.choice)
    for _ in range(_TRIES):
        ram = yield from tap(Action.A)
        for _ in range(_STEPS_TO_CLOSE):
            if not is_text_choice(ram):
                ram = yield from see_out(ram)
                asks = is_text_choice(ram)
                return done("another question is open" if asks else "answered")
            ram = yield Action.NOP
    raise GiveUp("no_progress", "the question stays open")


def _choose(ram: RamBlocks, choice: int) -> Part:
    """Move the cursor until it is on the choice: along the line first, then up and down."""
    for move in range(_MOVES):
        if not is_text_choice(ram):
            raise GiveUp("no_progress", "the question closed by itself")
        chosen = ram.u8(_CHOSEN)
        if chosen == choice:
            return ram
        along = move < _MOVES // 2
        forward = Action.RIGHT if along else Action.DOWN
        back = Action.LEFT if along else Action.UP
        ram = yield from tap(forward if chosen < choice else back)
    raise GiveUp("impossible", f"the question has no choice {choice}")
