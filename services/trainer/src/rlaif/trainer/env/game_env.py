"""One emulator played in episodes: the part that the Gymnasium and the vector form share."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.game.actions import Action
from rlaif.game.blocks import read_blocks
from rlaif.game.cartridges import load_cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.encoder import encode_into
from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.facts import read_facts
from rlaif.trainer.env.recorder import Keyframe
from rlaif.trainer.env.start import initial_state
from rlaif.trainer.rewards.game import EpisodeRewards, GameFacts, preset


@dataclass(frozen=True)
class StepOutcome:
    """What one decision step gave.

    Attributes:
        reward: The game's own reward; the sum of the parts.
        parts: `[P] float32` in the order of `rewards.game.PARTS`.
        terminated: The player died.
        truncated: The episode reached its limit.
    """

    reward: float
    parts: npt.NDArray[np.float32]
    terminated: bool
    truncated: bool


class GameEnv:
    """Plays episodes that start at one save state and differ by their warm-up.

    Attributes:
        emulator: The running machine.
        facts: What the rewards saw after the last step.
        steps: Decision steps of this episode.
        warm_up: NOP steps played before its first one.
    """

    def __init__(self, config: EnvConfig, rng: np.random.Generator) -> None:
        """Start an emulator and bring it to the initial state.

        Args:
            config: Of the run.
            rng: Draws the length of each episode's warm-up.
        """
        self._config = config
        self._rng = rng
        self.cartridge = load_cartridge(config.rom_path)
        self.emulator = PyBoyEmulator(
            self.cartridge.data, sound_emulated=self.cartridge.is_oracle_of_seasons
        )
        self.initial_state = initial_state(self.emulator, config.initial_state_path)
        self.initial_keyframe = Keyframe.of(self.initial_state)
        self._rewards = EpisodeRewards(preset(config.reward_preset))
        self.warm_up = 0
        self.steps = 0
        self.facts: GameFacts

    def use(self, rng: np.random.Generator) -> None:
        """Draw from another generator from now on."""
        self._rng = rng

    def reset(self, out: npt.NDArray[np.float32]) -> None:
        """Start an episode; writes the first observation into `out`, `[128] float32`."""
        self.emulator.load_state(self.initial_state)
        self.warm_up = int(self._rng.integers(0, self._config.noop_start + 1))
        for _ in range(self.warm_up):
            self.emulator.step(Action.NOP, self._config.frame_skip)
        self.steps = 0
        self._rewards.begin(self._observe(out))

    def step(
        self, action: int, out: npt.NDArray[np.float32], *, render: bool = False
    ) -> StepOutcome:
        """Play one action; writes the observation after it into `out`."""
        self.emulator.step(action, self._config.frame_skip, render=render)
        self.steps += 1
        parts = self._rewards.step(self._observe(out), action)
        terminated = self.facts.dead
        return StepOutcome(
            reward=float(parts.sum()),
            parts=parts,
            terminated=terminated,
            truncated=not terminated and self.steps >= self._config.episode_length,
        )

    @property
    def rooms_visited(self) -> int:
        """Distinct rooms of this episode."""
        return self._rewards.rooms_visited

    def close(self) -> None:
        """Stop the emulator."""
        self.emulator.close()

    def _observe(self, out: npt.NDArray[np.float32]) -> GameFacts:
        ram = read_blocks(self.emulator)
        encode_into(ram, out)
        self.facts = read_facts(ram)
        return self.facts
