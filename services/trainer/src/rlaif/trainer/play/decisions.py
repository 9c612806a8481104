"""Decisions of N environments: policy actions in, base steps and rows of a fragment out.

A decision is a policy action. It lasts one base step of `FRAME_SKIP` frames or many:

    step.begin(index)
    while (button := step.button()) is not None:
        ... the emulator plays one base step, `GameEnv.finish_step` returns its outcome ...
        step.note(outcome)
    step.reward, step.frames, step.died, step.ended

The buttons of the `seed` and `buttons` action sets last exactly one base step.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rlaif.game.decisions.catalog import BUTTON
from rlaif.game.decisions.in_vain import InVain
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import RoomGraph, RoomGraphError
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.game.skills.script import Option
from rlaif.trainer.play.game_env import GameEnv, StepOutcome
from rlaif.trainer.rewards.learned.shaping import discount_of

if TYPE_CHECKING:  # a decision is played without what is recorded of an episode
    from rlaif.trainer.play.config import EnvConfig
    from rlaif.trainer.play.fragment import Fragment

Float32 = npt.NDArray[np.float32]

MAX_RESPAWN_STEPS = 150
"""Base steps that a decision waits for the player to respawn, 10 s; then the policy decides."""

_FIRST_PACE = 8.0
"""Base steps per decision before the first fragment has been measured."""


class DecisionStep:
    """The decisions of one environment, one after the other.

    A decision ends when its skill is over or the episode ends. If the player dies it lasts until
    the player has respawned, so that the policy decides only where it has control.

    Attributes:
        last: The previous decision of this episode; None before the first.
        in_vain: Decisions that had no effect in the present state. Call `look` on it whenever the
            state before a decision is read.
        before: Decisions of this episode before the present one, since a resume.
        reward: The game's own reward of all base steps; later ones are discounted.
        frames: Game frames of this decision, waits included.
        steps: Base steps of this decision.
        died: The player was dead during this decision and the episode continued.
        outcome: Of the last base step.
    """

    frames: int
    outcome: StepOutcome | None

    def __init__(self, game: GameEnv, *, gamma: float) -> None:
        """Decide for `game`; `gamma` is the discount of four frames."""
        self._game, self._gamma = game, gamma
        self.begin_episode()

    def begin_episode(self) -> None:
        self._graph = RoomGraph()
        self.in_vain = InVain()
        self._option: Option | None = None
        self.last: int | None = None
        self.before = -1
        self.died = False
        self.reward, self.frames, self.steps, self.outcome = 0.0, 0, 0, None

    def begin(self, index: int) -> None:
        """Start decision number `index` in the present state of the game."""
        self._began = self._game.frames
        self.reward, self.frames, self.steps, self.outcome = 0.0, 0, 0, None
        self.last = index
        self.before += 1
        self.in_vain.decide(index)
        self._option = None
        self.died = self._was_dead = self._game.facts.dead
        self._waited = 0
        if index >= BUTTON.stop:
            ram = read_blocks(self._game.emulator)
            self._option = carry_out(index, ram, graph=self._graph)

    def button(self) -> int | None:
        """The button of the next base step; None when the decision is over."""
        if self._option is None and not self.died:
            return None if self.steps else self.last
        if self.ended:
            return None
        if self.died and not self._was_dead:
            self._waited += 1
            waits = self._game.facts.dead and self._waited <= MAX_RESPAWN_STEPS
            return int(Action.NOP) if waits else None
        if self._option is None:
            return None if self.steps else self.last
        choice = self._option.next(read_blocks(self._game.emulator))
        if choice.over:
            return None if self.steps else int(Action.NOP)
        return int(choice.action)

    def note(self, outcome: StepOutcome) -> None:
        """Add the outcome of a base step."""
        if outcome.reward:
            self.reward += discount_of(self.frames, self._gamma) * outcome.reward
        self.frames = self._game.frames - self._began
        self.steps += 1
        self.outcome = outcome
        if self._game.facts.dead and not outcome.terminated:
            self.died = True

    @property
    def ended(self) -> bool:
        """Whether the episode ended with this decision."""
        return self.outcome is not None and (self.outcome.terminated or self.outcome.truncated)

    def state_dict(self) -> dict[str, Any]:
        return {
            "last": self.last,
            "ways": self._graph.to_json(),
            "in_vain": self.in_vain.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.begin_episode()
        self.last = state["last"]
        if "in_vain" in state:  # else saved by another version
            self.in_vain.load_state_dict(state["in_vain"])
        try:
            self._graph = RoomGraph.from_json(state["ways"])
        except RoomGraphError:
            self._graph = RoomGraph()  # saved by another version


class DecisionRows:
    """Decisions of N environments row by row, and the policy's own input.

    Attributes:
        steps: The decision of each environment.
        current: `[N, SIZE] float32`, policy input of the next decisions; None with the `seed`
            action set, whose policy reads the observation alone.
        pace: Base steps per decision in the last fragment.
    """

    def __init__(self, config: "EnvConfig", games: Sequence[GameEnv]) -> None:
        self._games, self._actions = games, config.game.actions
        self.steps = [DecisionStep(game, gamma=config.gamma) for game in games]
        self.current: Float32 | None = None
        self.pace = 1.0
        if config.game.by_decisions:
            self.current = np.zeros((len(games), SIZE), dtype=np.float32)
            self.pace = _FIRST_PACE
        self._inputs: Float32 | None = None

    def begin_fragment(self, rows: int) -> None:
        """Allocate the rows; the first one continues the last fragment."""
        shape = (rows, len(self._games))
        self._frames = np.zeros(shape, dtype=np.int32)
        self._died = np.zeros(shape, dtype=np.bool_)
        self._base_steps = 0
        self._finals: list[Float32] = []
        if self.current is not None:
            self._inputs = np.zeros((rows + 1, shape[1], SIZE), dtype=np.float32)
            self._inputs[0] = self.current
            self.current = self._inputs[0]

    def note(self, t: int, n: int) -> None:
        """Environment `n` has played the decision of row `t`."""
        step = self.steps[n]
        self._frames[t, n] = step.frames
        if step.died:
            self._died[t, n] = True
        self._base_steps += step.steps

    def note_final(self, n: int) -> None:
        """The episode of environment `n` is truncated here: keep the critic's input."""
        if self.current is not None:
            final = np.empty(SIZE, dtype=np.float32)
            self._write(n, final)
            self._finals.append(final)

    def read_inputs(self, t: int | None = None) -> None:
        """Read the present states of all environments, for row `t` of the fragment if given."""
        if t is not None and self._inputs is not None:
            self.current = self._inputs[t]
        if self.current is not None:
            for n, row in enumerate(self.current):
                self._write(n, row)

    def end_fragment(self, fragment: "Fragment") -> "Fragment":
        """The fragment with the columns of the decisions."""
        self.pace = self._base_steps / max(1, self._frames.size)
        finals = None
        if self._inputs is not None:
            finals = np.array(self._finals, dtype=np.float32).reshape(-1, SIZE)
        return replace(
            fragment,
            transitions=replace(fragment.transitions, frames=self._frames, died=self._died),
            base_steps=self._base_steps,
            policy_inputs=self._inputs,
            final_policy_inputs=finals,
        )

    def state_dict(self) -> dict[str, Any]:
        return {"pace": self.pace, "steps": [step.state_dict() for step in self.steps]}

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Resume in the middle of the episodes; None of 0.1.0 with the `seed` action set."""
        if state is not None:
            self.pace = state["pace"]
            for step, saved in zip(self.steps, state["steps"], strict=True):
                step.load_state_dict(saved)
        if self.current is not None:
            self.current = np.zeros_like(self.current)
        self.read_inputs()

    def _write(self, n: int, row: Float32) -> None:
        ram, step = read_blocks(self._games[n].emulator), self.steps[n]
        write_policy_input(ram, step.last, row, arm=self._actions, in_vain=step.in_vain.look(ram))
