"""`ZeldaOracle-v1`: the game as a Gymnasium environment."""

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from rlaif.game.decisions.catalog import COUNT
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.settings.game import GameSettings

ENV_ID = "ZeldaOracle-v1"

OBSERVATION_SPACE = gym.spaces.Box(0.0, 1.0, shape=(128,), dtype=np.float32)
"""Layout v1, `rlaif.contracts.game.observation`."""

ACTION_SPACE: gym.spaces.Discrete[np.int64] = gym.spaces.Discrete(8)
"""UP, DOWN, LEFT, RIGHT, A, B, START, NOP (`rlaif.game.machine.actions`)."""

Observation = npt.NDArray[np.float32]


def actions_of(game: GameSettings) -> "gym.spaces.Discrete[np.int64]":
    """Action space of a policy: the buttons, or all decisions by number."""
    return gym.spaces.Discrete(COUNT) if game.by_decisions else ACTION_SPACE


class ZeldaOracleEnv(gym.Env[Observation, np.int64]):
    """One game, played with the eight buttons (action set `seed`).

    The trainer uses the faster `rlaif.trainer.play.vector`. The same seed and actions give the same
    observations on every machine with this emulator version. The screen is drawn only when
    `render_mode` is `rgb_array`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012  # Gymnasium's own contract
    observation_space = OBSERVATION_SPACE
    action_space = ACTION_SPACE

    def __init__(
        self, env_config: dict[str, Any] | None = None, *, render_mode: str | None = None
    ) -> None:
        """Play with `env` (an `EnvConfig`) and `starts` (a `StartSource`) of `env_config`.

        Without them the built-in cartridge is played with the defaults, and always with buttons.
        """
        given = env_config or {}
        config: EnvConfig = given.get("env") or EnvConfig(run_id="env")
        self._game_settings = config.game.model_copy(update={"actions": "seed"})
        self._starts: StartSource | None = given.get("starts")
        self.render_mode = render_mode
        self._game: GameEnv | None = None
        self._parts = np.zeros(len(PARTS), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        if self._game is None:
            self._game = GameEnv(self._game_settings, self.np_random, starts=self._starts)
        self._game.source.rng = self.np_random
        observation = np.empty(128, dtype=np.float32)
        self._game.reset(observation)
        return observation, {"start": self._game.start.provenance}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one action; the info holds `fault` if the stall detector truncated the episode."""
        if self._game is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        observation = np.empty(128, dtype=np.float32)
        outcome = self._game.step(int(action), observation, render=self.render_mode is not None)
        self._parts = outcome.parts
        info = {} if outcome.fault is None else {"fault": outcome.fault}
        return observation, outcome.reward, outcome.terminated, outcome.truncated, info

    @property
    def reward_parts(self) -> dict[str, float]:
        return dict(zip(PARTS, self._parts.tolist(), strict=True))

    def render(self) -> npt.NDArray[np.uint8] | None:  # type: ignore[override]  # one mode, one type
        if self._game is None or self.render_mode is None:
            return None
        return self._game.emulator.screen()

    @property
    def emulator(self) -> Emulator:
        if self._game is None:
            raise gym.error.ResetNeeded("call reset() first: it starts the emulator")
        return self._game.emulator

    def ram_digest(self) -> str:
        return self.emulator.ram_digest()

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None


def register() -> None:
    """Make `gymnasium.make("ZeldaOracle-v1")` work."""
    if ENV_ID not in gym.registry:
        gym.register(ENV_ID, entry_point="rlaif.trainer.play.zelda_env:ZeldaOracleEnv")
