"""The policy switch: what each step shows in, who is to be asked out."""

from rlaif.contracts.plans import Mode
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import (
    has_puzzle,
    is_dialog_state,
    is_menu,
    is_puzzle_state,
    is_text,
)
from rlaif.trainer.rewards.game.facts import GameFacts


def mode_of(ram: RamBlocks) -> Mode | None:
    """What a planner could be asked about at this moment; None for plain play."""
    if is_text(ram):
        return "dialog" if is_dialog_state(ram) else None
    # An open menu is the usual reason that it is none, and looked at sooner than all of them.
    return "puzzle" if not is_menu(ram) and is_puzzle_state(ram) else None


def mode_at(facts: GameFacts, ram: RamBlocks) -> Mode | None:
    """The same of a moment whose facts are known: most need no look at the RAM."""
    if facts.text:
        return mode_of(ram)
    return "puzzle" if facts.control and facts.settled and has_puzzle(ram) else None


class PolicySwitch:
    """Follows the modes of one environment; another one counts when some looks in a row agree.

    Attributes:
        mode: What counts now; None for plain play.
    """

    def __init__(self, looks: int) -> None:
        """Let `looks` equal looks in a row change the mode; 1 has no hysteresis."""
        self._looks = looks
        self.reset()

    def reset(self) -> None:
        """Another episode begins: it is plain play until looks say otherwise."""
        self.mode: Mode | None = None
        self._other: Mode | None = None
        self._agreed = 0

    def look(self, seen: Mode | None) -> Mode | None:
        """Take one step's look; gives the mode that counts from now on."""
        if seen == self.mode:
            self._agreed = 0
            return self.mode
        if seen != self._other:
            self._other, self._agreed = seen, 0
        self._agreed += 1
        if self._agreed >= self._looks:
            self.mode, self._agreed = seen, 0
        return self.mode
