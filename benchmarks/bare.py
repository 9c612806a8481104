"""Bare PyBoy, and scripts of the inputs of an environment, waits included, for it to replay."""

import io
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlaif.game.machine.actions import BUTTONS, DIRECTIONS
from rlaif.game.machine.cartridges import Cartridge
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import StartSource

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pyboy imports SDL2, which warns; no window is opened
    from pyboy import PyBoy


@dataclass
class Episode:
    """The play of one environment: start states, warm-ups and steps.

    Each step is (action, frames waited).
    """

    state: bytes
    warm_up: tuple[tuple[int, int], ...]
    steps: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Script:
    """The episodes of one environment and the RAM digest at their end."""

    episodes: list[Episode]
    digest: str

    def frames(self, frame_skip: int, first: int) -> int:
        """Number of game frames from step `first`, including warm-ups of new episodes."""
        frames = at = 0
        for number, episode in enumerate(self.episodes):
            if number and at >= first:
                frames += sum(frame_skip + wait for _, wait in episode.warm_up)
            played = episode.steps[max(0, first - at) :]
            frames += sum(frame_skip + wait for _, wait in played)
            at += len(episode.steps)
        return frames


def script_of(
    config: EnvConfig, starts: StartSource, rng: np.random.Generator, actions: Sequence[int]
) -> Script:
    """Play `actions` and record everything that a bare PyBoy needs to replay them."""
    game = GameEnv(config.game, rng, starts=starts)
    row = np.empty(128, dtype=np.float32)
    episodes = [_begin(game, row)]
    for at, action in enumerate(actions):
        outcome = game.step(action, row)
        episodes[-1].steps.append((action, outcome.wait))
        if (outcome.terminated or outcome.truncated) and at + 1 < len(actions):
            episodes.append(_begin(game, row))
    digest = game.emulator.ram_digest()
    game.close()
    return Script(episodes, digest)


def _begin(game: GameEnv, row: np.ndarray[Any, Any]) -> Episode:
    game.reset(row)
    return Episode(game.start.state, game.start.warm_up)


class Bare:
    """PyBoy driven through its own API."""

    def __init__(self, cartridge: Cartridge) -> None:
        self.pyboy: Any = PyBoy(
            io.BytesIO(cartridge.data),
            window="null",
            no_input=True,
            sound_emulated=cartridge.needs_sound,
            log_level="ERROR",
            cgb=bool(cartridge.data[0x143] & 0x80),
        )
        self.pyboy.set_emulation_speed(0)
        self._held: str | None = None

    def load(self, state: bytes) -> None:
        self.pyboy.load_state(io.BytesIO(state))
        for button in BUTTONS:
            if button is not None:
                self.pyboy.button_release(button)
        self._held = None

    def save(self) -> bytes:
        buffer = io.BytesIO()
        self.pyboy.save_state(buffer)
        return buffer.getvalue()

    def play(self, steps: Iterable[tuple[int, int]], frame_skip: int) -> None:
        pyboy, held = self.pyboy, self._held
        for action, wait in steps:
            if held is not None:
                pyboy.button_release(held)
                held = None
            button = BUTTONS[action]
            if button is None:
                pyboy.tick(frame_skip, False, False)
            else:
                pyboy.button_press(button)
                if action in DIRECTIONS or frame_skip == 1:
                    held = button
                    pyboy.tick(frame_skip, False, False)
                else:
                    pyboy.tick(frame_skip - 1, False, False)
                    pyboy.button_release(button)
                    pyboy.tick(1, False, False)
            if wait:
                if held is not None:
                    pyboy.button_release(held)
                    held = None
                pyboy.tick(wait, False, False)
        self._held = held


class ScriptPlayer:
    """Plays a script on its own bare PyBoy, in batches of steps."""

    def __init__(self, bare: Bare, script: Script, frame_skip: int) -> None:
        self._bare, self._script, self._frame_skip = bare, script, frame_skip
        self.rewind()

    def rewind(self) -> None:
        """Return to the first step of the script."""
        self._episode = self._step = 0
        self._begin()

    def play(self, count: int) -> None:
        """Play the next `count` steps, including starts of episodes."""
        while count:
            steps = self._script.episodes[self._episode].steps
            if self._step == len(steps):
                self._episode, self._step = self._episode + 1, 0
                self._begin()
                continue
            chunk = steps[self._step : self._step + count]
            self._bare.play(chunk, self._frame_skip)
            self._step += len(chunk)
            count -= len(chunk)

    def _begin(self) -> None:
        episode = self._script.episodes[self._episode]
        self._bare.load(episode.state)
        self._bare.play(episode.warm_up, self._frame_skip)
