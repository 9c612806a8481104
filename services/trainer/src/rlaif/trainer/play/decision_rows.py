"""Decisions of N environments row by row, and the columns of a fragment that only they have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rlaif.game.decisions.catalog import Arm
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.decision_step import DecisionStep
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.game_env import GameEnv

Float32 = npt.NDArray[np.float32]

_FIRST_PACE = 8.0
"""Base steps a decision, before any fragment has shown how many they are."""


class DecisionRows:
    """What N environments decide, and what their policy reads.

    Attributes:
        steps: The decision of each environment.
        current: `[N, SIZE] float32`, what the policy reads to decide next.
        pace: Base steps a decision, as the last fragment had them.
    """

    def __init__(self, games: Sequence[GameEnv], *, arm: Arm, gamma: float) -> None:
        """Decide for `games` from an arm; `gamma` is the discount of four frames."""
        self._games, self._arm = games, arm
        self.steps = [DecisionStep(game, gamma=gamma) for game in games]
        self.current: Float32 = np.zeros((len(games), SIZE), dtype=np.float32)
        self.pace = _FIRST_PACE

    @classmethod
    def of(cls, config: EnvConfig, games: Sequence[GameEnv]) -> Self | None:
        """Those of a run; None where each decision is one step."""
        if not config.game.by_decisions:
            return None
        return cls(games, arm=config.game.actions, gamma=config.gamma)

    def begin_fragment(self, rows: int) -> None:
        """Allocate that many rows; the first one is where the last fragment ended."""
        shape = (rows, len(self._games))
        self._frames = np.zeros(shape, dtype=np.int32)
        self._died = np.zeros(shape, dtype=np.bool_)
        self._inputs: Float32 = np.zeros((rows + 1, shape[1], SIZE), dtype=np.float32)
        self._inputs[0] = self.current
        self.current = self._inputs[0]
        self._finals: list[Float32] = []
        self._base_steps = 0

    def note(self, t: int, n: int) -> None:
        """Environment `n` has played the decision of row `t`."""
        step = self.steps[n]
        self._frames[t, n], self._died[t, n] = step.frames, step.died
        self._base_steps += step.steps

    def note_final(self, n: int) -> None:
        """The episode of environment `n` is cut here: keep what the critic reads of its end."""
        final = np.empty(SIZE, dtype=np.float32)
        self._write(n, final)
        self._finals.append(final)

    def look(self, t: int) -> None:
        """Read what all environments show now: row `t` is decided on it."""
        self.current = self._inputs[t]
        self.look_at_start()

    def look_at_start(self) -> None:
        """The same outside a fragment."""
        for n, row in enumerate(self.current):
            self._write(n, row)

    def end_fragment(self, fragment: Fragment) -> Fragment:
        """The fragment with what belongs to decisions."""
        self.pace = self._base_steps / max(1, self._frames.size)
        return replace(
            fragment,
            transitions=replace(fragment.transitions, frames=self._frames, died=self._died),
            policy_inputs=self._inputs,
            final_policy_inputs=np.array(self._finals, dtype=np.float32).reshape(-1, SIZE),
            base_steps=self._base_steps,
        )

    def state_dict(self) -> dict[str, Any]:
        """What counts between two fragments, as plain values."""
        return {"pace": self.pace, "steps": [step.state_dict() for step in self.steps]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of the episodes; the games stand where they stood."""
        self.pace = state["pace"]
        for step, saved in zip(self.steps, state["steps"], strict=True):
            step.load_state_dict(saved)
        self.current = np.zeros_like(self.current)
        self.look_at_start()

    def _write(self, n: int, row: Float32) -> None:
        ram, step = read_blocks(self._games[n].emulator), self.steps[n]
        write_policy_input(ram, step.last, row, arm=self._arm, in_vain=step.in_vain.look(ram))
