"""Options think in decision steps of about four frames; shorter ones are put together."""

from rlaif.game.machine.actions import DIRECTIONS, Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.options.option import FRAMES_OF_A_STEP, Choice, Option


def steps_of_a_look(frames: int) -> int:
    """How many decision steps of so many frames make one step of an option."""
    return max(1, FRAMES_OF_A_STEP // frames)


class Paced:
    """An option that looks at the RAM once every so many decision steps.

    In between a direction stays held, and a button is let go.
    """

    def __init__(self, option: Option, steps: int) -> None:
        self._option, self._steps = option, steps
        self._left = 0
        self._held = Choice("running")

    def next(self, ram: RamBlocks) -> Choice:
        """What the option said last, or says now."""
        if self._left:
            self._left -= 1
            return self._held
        choice = self._option.next(ram)
        if not choice.over:
            self._left = self._steps - 1
            held = choice.action if choice.action in DIRECTIONS else Action.NOP
            self._held = Choice("running", held)
        return choice
