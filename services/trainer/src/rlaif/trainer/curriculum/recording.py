"""Notes what a policy would see while decisions are played: a play in, a demonstration out."""

from collections.abc import Iterator
from dataclasses import dataclass

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
from rlaif.trainer.curriculum.playing import FRAMES, Player
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.start import plays_alone
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import RewardWeights
from rlaif.trainer.search.marks import Marks, marks_of

_STEPS_OF_A_WALK = 4


@dataclass(frozen=True)
class RecordSettings:
    """How a play is recorded.

    Attributes:
        weights: Of the game's rewards.
        states_every: Decisions from one save state to the next, beside those at marks.
    """

    weights: RewardWeights
    states_every: int = 4


class Recorder(Player):
    """A player that is looked over the shoulder.

    Decisions at moments in which the game plays alone are nobody's: an environment waits there.
    They are played, and their frames belong to the decision before.
    """

    def __init__(
        self, emulator: Emulator, identity: DemonstrationIdentity, settings: RecordSettings
    ) -> None:
        """Record plays on `emulator`, which it has for itself."""
        super().__init__(emulator)
        self._identity, self._settings = identity, settings
        self._arm: Arm = identity.actions
        self._own = in_arm(self._arm)
        self._marks: Marks = frozenset()

    def begin(self, state: bytes) -> None:
        """Go to a state and begin a record there."""
        super().begin(state)
        self._rewards = EpisodeRewards(self._settings.weights)
        self._facts = read_facts(self.ram)
        self._rewards.begin(self._facts)
        self._last: int | None = None
        self._in_vain = InVain()
        self._marks = marks_of(self.ram)
        self._decisions: list[int] = []
        self._imitated: list[bool] = []
        self._frames: list[int] = []
        self._paid: list[float] = []
        self._observations: list[Float32] = []
        self._inputs: list[Float32] = []
        self._reached: list[Reached] = []
        self._states: list[KeptState] = []
        self._keep_state()

    def go_on_from(self, state: bytes) -> None:
        """Go to a state, and go on with the same record there; the change of place pays nothing."""
        super().begin(state)
        self._facts = read_facts(self.ram)
        self._rewards.step(self._facts, Action.NOP)
        self._marks |= marks_of(self.ram)
        if self._states[-1].at == len(self._decisions):
            self._states.pop()
        self._keep_state()

    def step(self, action: Action) -> None:
        """Play a base step; its frames and its pay belong to the decision of now."""
        super().step(action)
        self._facts = read_facts(self.ram, self._facts)
        paid = total(self._rewards.step(self._facts, action))
        if self._decisions:
            self._frames[-1] += FRAMES
            self._paid[-1] += paid

    def press(self, decision: int, digits: str) -> None:
        """Play a decision as exactly these base steps.

        One that the arm has not is played, and noted, as walks and buttons.
        """
        parts = [(decision, digits)] if self._own[decision] else _as_buttons(digits)
        for index, steps in parts:
            self._note(index, is_noise=not self._own[index])
            super().press(index, steps)
            self._end()

    def decide(self, decision: int, *, is_noise: bool = False) -> None:
        """Play a decision as it is carried out here; noise is noted as no example."""
        self._note(decision, is_noise=is_noise)
        super().decide(decision)
        self._end()

    def wait(self) -> None:
        """See `Player.wait`."""
        super().wait()
        self._end()

    @property
    def marks(self) -> Marks:
        """All marks that were there since `begin`."""
        return self._marks

    def allowed(self) -> list[int]:
        """Decisions that the arm lets a policy choose from now."""
        return [int(each) for each in np.flatnonzero(self._input()[ALLOWED])]

    def demonstration(self, name: str, *, part_of: tuple[str, int] | None = None) -> Demonstration:
        """What was played since `begin`."""
        return Demonstration(
            name=name,
            identity=self._identity,
            decisions=np.array(self._decisions, dtype=np.int64),
            imitated=np.array(self._imitated, dtype=np.bool_),
            frames=np.array(self._frames, dtype=np.int32),
            rewards=np.array(self._paid, dtype=np.float32),
            observations=np.array([*self._observations, encode(self.ram)], dtype=np.float32),
            policy_inputs=np.array([*self._inputs, self._input()], dtype=np.float32),
            reached=tuple(self._reached),
            states=tuple(self._states),
            part_of=part_of,
        )

    def _note(self, decision: int, *, is_noise: bool) -> None:
        """A decision is made now, unless the game plays alone."""
        if self._decisions and plays_alone(self.ram):
            return
        seen = self._input()
        self._observations.append(encode(self.ram))
        self._inputs.append(seen)
        self._decisions.append(decision)
        self._imitated.append(not is_noise and bool(seen[ALLOWED][decision]))
        self._frames.append(0)
        self._paid.append(0.0)
        self._last = decision
        self._in_vain.decide(decision)

    def _end(self) -> None:
        """After a decision: marks that are new, and now and then a state."""
        played = len(self._decisions)
        new = marks_of(self.ram) - self._marks
        if new:
            self._marks |= new
            self._reached.append(Reached(played, new))
        since = played - self._states[-1].at
        is_due = since >= self._settings.states_every
        follows_a_mark = bool(self._reached) and self._reached[-1].at > self._states[-1].at
        if since and (is_due or follows_a_mark) and has_control(self.ram):
            self._keep_state()

    def _keep_state(self) -> None:
        keyframe = pack_keyframe(self.save())
        self._states.append(KeptState(len(self._decisions), keyframe, self.digest()))

    def _input(self) -> Float32:
        in_vain = self._in_vain.look(self.ram)
        return policy_input(self.ram, self._last, arm=self._arm, in_vain=in_vain)


def _as_buttons(digits: str) -> Iterator[tuple[int, str]]:
    """Base steps as walks where four go one way, and as buttons: (decision, its base steps)."""
    at = 0
    while at < len(digits):
        run = digits[at : at + _STEPS_OF_A_WALK]
        action = Action(int(run[0]))
        if action in WALKS and run == run[0] * _STEPS_OF_A_WALK:
            yield WALK.start + WALKS.index(action), run
            at += _STEPS_OF_A_WALK
        else:
            yield int(action), run[0]
            at += 1
