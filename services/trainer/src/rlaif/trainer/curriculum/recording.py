"""Records the policy's inputs while decisions are played, and returns them as a demonstration."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.decisions.catalog import WALK, Arm, in_arm
from rlaif.game.decisions.in_vain import InVain
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import WALKS
from rlaif.game.policy_input.layout import ALLOWED
from rlaif.game.policy_input.writer import policy_input
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    DemonstrationIdentity,
    Float32,
    KeptState,
    Reached,
)
from rlaif.trainer.curriculum.player import FRAMES, Player
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.start import plays_alone
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import RewardWeights
from rlaif.trainer.search.marks import Marks, marks_of

_STEPS_PER_WALK = 4


@dataclass(frozen=True)
class RecordSettings:
    """How a demonstration is recorded.

    Attributes:
        weights: Weights of the game's rewards.
        states_every: Maximum decisions between save states; flags cause further ones.
    """

    weights: RewardWeights
    states_every: int = 4


@dataclass
class _Record:
    """What was played since `begin`, as in `Demonstration`."""

    decisions: list[int] = field(default_factory=list)
    imitated: list[bool] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    observations: list[Float32] = field(default_factory=list)
    inputs: list[Float32] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    states: list[KeptState] = field(default_factory=list)


class Recorder(Player):
    """A player that records.

    While the game runs on its own, an environment waits and the policy makes no decision. Recorded
    decisions in such states are played, and their frames belong to the decision before.
    """

    def __init__(
        self, emulator: Emulator, identity: DemonstrationIdentity, settings: RecordSettings
    ) -> None:
        """Record on `emulator`, which must not be used by others."""
        super().__init__(emulator)
        self._identity, self._settings = identity, settings
        self._arm: Arm = identity.actions
        self._own = in_arm(self._arm)
        self._marks: Marks = frozenset()

    def begin(self, state: bytes) -> None:
        """Load a state and start a new record."""
        super().begin(state)
        self._rewards = EpisodeRewards(self._settings.weights)
        self._facts = read_facts(self.ram)
        self._rewards.begin(self._facts)
        self._last: int | None = None
        self._in_vain = InVain()
        self._marks = marks_of(self.ram)
        self._record = _Record()
        self._keep_state()

    def continue_from(self, state: bytes) -> None:
        """Load a state and continue the record there; the change of state gives no reward."""
        super().begin(state)
        self._facts = read_facts(self.ram)
        self._rewards.step(self._facts, Action.NOP)
        self._marks |= marks_of(self.ram)
        if self._record.states[-1].at == len(self._record.decisions):
            self._record.states.pop()
        self._keep_state()

    def step(self, action: Action) -> None:
        """Play an emulator step; its frames and reward belong to the present decision."""
        super().step(action)
        self._facts = read_facts(self.ram, self._facts)
        reward = total(self._rewards.step(self._facts, action))
        if self._record.decisions:
            self._record.frames[-1] += FRAMES
            self._record.rewards[-1] += reward

    def press(self, decision: int, digits: str) -> None:
        """Play a decision as exactly these emulator steps.

        A decision outside the action set is played and recorded as walks and buttons.
        """
        parts = [(decision, digits)] if self._own[decision] else _as_buttons(digits)
        for index, steps in parts:
            self._note(index, is_noise=not self._own[index])
            super().press(index, steps)
            self._end()

    def decide(self, decision: int, *, is_noise: bool = False) -> None:
        """Play a decision as it is carried out from the present state; noise is not imitated."""
        self._note(decision, is_noise=is_noise)
        super().decide(decision)
        self._end()

    def wait(self) -> None:
        super().wait()
        self._end()

    @property
    def marks(self) -> Marks:
        """All flags that were set at some time since `begin`."""
        return self._marks

    def allowed(self) -> list[int]:
        """Return the decisions that the action mask allows now."""
        return [int(each) for each in np.flatnonzero(self._input()[ALLOWED])]

    def demonstration(self, name: str, *, part_of: tuple[str, int] | None = None) -> Demonstration:
        """Return what was played since `begin`."""
        return Demonstration(
            name=name,
            identity=self._identity,
            decisions=np.array(self._record.decisions, dtype=np.int64),
            imitated=np.array(self._record.imitated, dtype=np.bool_),
            frames=np.array(self._record.frames, dtype=np.int32),
            rewards=np.array(self._record.rewards, dtype=np.float32),
            observations=np.array([*self._record.observations, encode(self.ram)], dtype=np.float32),
            policy_inputs=np.array([*self._record.inputs, self._input()], dtype=np.float32),
            reached=tuple(self._record.reached),
            states=tuple(self._record.states),
            part_of=part_of,
        )

    def _note(self, decision: int, *, is_noise: bool) -> None:
        """Record a decision, unless the game runs on its own."""
        if self._record.decisions and plays_alone(self.ram):
            return
        seen = self._input()
        self._record.observations.append(encode(self.ram))
        self._record.inputs.append(seen)
        self._record.decisions.append(decision)
        self._record.imitated.append(not is_noise and bool(seen[ALLOWED][decision]))
        self._record.frames.append(0)
        self._record.rewards.append(0.0)
        self._last = decision
        self._in_vain.decide(decision)

    def _end(self) -> None:
        """Finish a decision: record new flags, and save a state if one is due."""
        played = len(self._record.decisions)
        new = marks_of(self.ram) - self._marks
        if new:
            self._marks |= new
            self._record.reached.append(Reached(played, new))
        since = played - self._record.states[-1].at
        is_due = since >= self._settings.states_every
        follows_flag = (
            bool(self._record.reached) and self._record.reached[-1].at > self._record.states[-1].at
        )
        if since and (is_due or follows_flag) and has_control(self.ram):
            self._keep_state()

    def _keep_state(self) -> None:
        keyframe = pack_keyframe(self.save())
        self._record.states.append(KeptState(len(self._record.decisions), keyframe, self.digest()))

    def _input(self) -> Float32:
        in_vain = self._in_vain.look(self.ram)
        return policy_input(self.ram, self._last, arm=self._arm, in_vain=in_vain)


def _as_buttons(digits: str) -> Iterator[tuple[int, str]]:
    """Convert emulator steps to (decision, steps): walks of four equal directions, else buttons."""
    at = 0
    while at < len(digits):
        run = digits[at : at + _STEPS_PER_WALK]
        action = Action(int(run[0]))
        if action in WALKS and run == run[0] * _STEPS_PER_WALK:
            yield WALK.start + WALKS.index(action), run
            at += _STEPS_PER_WALK
        else:
            yield int(action), run[0]
            at += 1
