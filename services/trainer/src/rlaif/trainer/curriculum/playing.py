"""Plays decisions in one emulator: base steps or decisions in, RAM and what was pressed out."""

from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.trainer.play.start import plays_alone

FRAMES = 4
"""Of a base step."""

MOST_WAITED_STEPS = 60
"""Base steps that an environment waits while the game plays alone."""


class Player:
    """One game.

    Attributes:
        ram: The RAM after the last base step.
        actions: One digit a base step since `begin`.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._graph = RoomGraph()
        self.ram: RamBlocks
        self.actions = ""

    def begin(self, state: bytes) -> None:
        """Go to a state."""
        self._emulator.load_state(state)
        self.ram = read_blocks(self._emulator)
        self.begin_here()

    def begin_here(self) -> None:
        """Go on from where the game stands as if it had been loaded there."""
        self._graph = RoomGraph()
        self.actions = ""

    def step(self, action: Action) -> None:
        """Play a base step."""
        self._emulator.step(action, FRAMES)
        self.actions += str(int(action))
        self.ram = read_blocks(self._emulator)

    def press(self, decision: int, digits: str) -> None:
        """Play a decision as exactly these base steps."""
        for digit in digits:
            self.step(Action(int(digit)))

    def decide(self, decision: int) -> None:
        """Play a decision as it is carried out here."""
        option = carry_out(decision, self.ram, graph=self._graph)
        while not (choice := option.next(self.ram)).over:
            self.step(choice.action)

    def wait(self) -> None:
        """Let the game play on while it plays alone, as an environment does."""
        before = len(self.actions)
        while plays_alone(self.ram) and len(self.actions) - before < MOST_WAITED_STEPS:
            self.step(Action.NOP)

    def save(self) -> bytes:
        """The state; about 31 ms."""
        return self._emulator.save_state()

    def digest(self) -> str:
        """Of the RAM now."""
        return self._emulator.ram_digest()

    @property
    def frames(self) -> int:
        """Game frames since `begin`."""
        return FRAMES * len(self.actions)
