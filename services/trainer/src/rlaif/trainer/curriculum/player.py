"""Plays emulator steps or decisions in one emulator and records the buttons."""

from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.trainer.play.start import plays_alone

FRAMES = 4
"""Frames per emulator step."""

MAX_WAITED_STEPS = 60
"""Maximum emulator steps of a wait while the game runs on its own."""


class Player:
    """One game.

    Attributes:
        ram: The RAM after the last emulator step.
        actions: One digit per emulator step since `begin`.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._graph = RoomGraph()
        self.ram: RamBlocks
        self.actions = ""

    def begin(self, state: bytes) -> None:
        self._emulator.load_state(state)
        self.ram = read_blocks(self._emulator)
        self.begin_here()

    def begin_here(self) -> None:
        """Continue from the present state as if it had just been loaded."""
        self._graph = RoomGraph()
        self.actions = ""

    def step(self, action: Action) -> None:
        self._emulator.step(action, FRAMES)
        self.actions += str(int(action))
        self.ram = read_blocks(self._emulator)

    def press(self, decision: int, digits: str) -> None:
        """Play a decision as exactly these emulator steps."""
        for digit in digits:
            self.step(Action(int(digit)))

    def decide(self, decision: int) -> None:
        """Play a decision as it is carried out from the present state."""
        option = carry_out(decision, self.ram, graph=self._graph)
        while not (choice := option.next(self.ram)).over:
            self.step(choice.action)

    def wait(self) -> None:
        """Wait while the game runs on its own, as an environment does."""
        before = len(self.actions)
        while plays_alone(self.ram) and len(self.actions) - before < MAX_WAITED_STEPS:
            self.step(Action.NOP)

    def save(self) -> bytes:
        """Return the save state."""
        return self._emulator.save_state()

    def digest(self) -> str:
        """Return the digest of the RAM."""
        return self._emulator.ram_digest()

    @property
    def frames(self) -> int:
        """Game frames since `begin`."""
        return FRAMES * len(self.actions)
