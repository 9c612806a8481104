"""Decisions of an environment: plays policy actions as base steps.

A decision is a policy action. It lasts one base step of `FRAME_SKIP` frames or many:

    step.begin(index)
    while (button := step.button()) is not None:
        ... the emulator plays one base step, `GameEnv.finish_step` returns its outcome ...
        step.note(outcome)
    step.now.reward, step.now.frames, step.now.died, step.now.outcome

The buttons of the `seed` and `buttons` action sets last exactly one base step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.decisions.catalog import BUTTON
from rlaif.game.decisions.in_vain import InVain
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.motion.room_graph import RoomGraph, RoomGraphError
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.game.skills.script import Option
from rlaif.game.starts.waiting import MAX_RESPAWN_STEPS
from rlaif.trainer.play.game_env import GameEnv, StepOutcome
from rlaif.trainer.rewards.learned.shaping import discount_of


@dataclass(slots=True)
class Decision:
    """One decision while it is played.

    Attributes:
        reward: The game's own reward of all base steps; later ones are discounted.
        frames: Game frames, waits included.
        steps: Base steps.
        outcome: Of the last base step.
        died: Whether the player was dead during this decision and the episode continued.
        was_dead: Whether the player was dead before it.
        began: Frames of the episode before it.
        waited: Base steps spent waiting for the respawn.
        option: The running skill; None for a button.
    """

    began: int = 0
    was_dead: bool = False
    died: bool = False
    option: Option | None = None
    reward: float = 0.0
    frames: int = 0
    steps: int = 0
    outcome: StepOutcome | None = None
    waited: int = 0


class DecisionStep:
    """The sequence of decisions of one environment.

    A decision ends when its skill is over or the episode ends. If the player dies it lasts until
    the player has respawned, so that the policy decides only where it has control.

    Attributes:
        now: The current decision, or the last one.
        last: Its number; None before the first decision of an episode.
        in_vain: Decisions that had no effect in the current state. Call `look` on it whenever the
            state before a decision is read.
        before: Decisions of this episode before the current one, since a resume.
    """

    def __init__(self, game: GameEnv, *, gamma: float) -> None:
        """Decide for `game`; `gamma` is the discount of four frames."""
        self._game, self._gamma = game, gamma
        self.begin_episode()

    def begin_episode(self) -> None:
        self._graph = RoomGraph()
        self.in_vain = InVain()
        self.now = Decision()
        self.last: int | None = None
        self.before = -1

    def begin(self, index: int) -> None:
        dead = self._game.square_facts.dead
        self.now = Decision(self._game.frames, dead, dead)
        self.last = index
        self.before += 1
        self.in_vain.decide(index)
        if index >= BUTTON.stop:
            self.now.option = carry_out(index, self._game.ram, graph=self._graph)

    def button(self) -> int | None:
        """The button of the next base step; None if the decision is over."""
        now = self.now
        if now.option is None and not now.died:
            return None if now.steps else self.last
        if now.outcome is not None and now.outcome.is_last:
            return None
        if now.died and not now.was_dead:
            now.waited += 1
            waits = self._game.square_facts.dead and now.waited <= MAX_RESPAWN_STEPS
            return int(Action.NOP) if waits else None
        if now.option is None:
            return None if now.steps else self.last
        choice = now.option.next(self._game.ram)
        if choice.over:
            return None if now.steps else int(Action.NOP)
        return int(choice.action)

    def note(self, outcome: StepOutcome) -> None:
        now, game = self.now, self._game
        if outcome.reward:
            now.reward += discount_of(now.frames, self._gamma) * outcome.reward
        now.frames = game.frames - now.began
        now.steps += 1
        now.outcome = outcome
        if game.square_facts.dead and not outcome.terminated:
            now.died = True

    def write_policy_input(self, row: npt.NDArray[np.float32]) -> None:
        """Write the policy's own input in the current state."""
        ram, settings = self._game.ram, self._game.settings
        write_policy_input(
            ram,
            self.last,
            row,
            arm=settings.actions,
            in_vain=self.in_vain.look(ram),
            names_rooms=not settings.has_many_worlds,
        )

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
