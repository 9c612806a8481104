"""Plays decisions in an environment, as a policy does, and records the policy's inputs."""

from typing import NamedTuple

import numpy as np

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe
from rlaif.game.decisions.catalog import BUTTON, WALK, in_arm
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import WALKS
from rlaif.game.policy_input.layout import ALLOWED, SIZE
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    Float32,
    KeptState,
    Reached,
)
from rlaif.trainer.play.decisions import DecisionStep
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start
from rlaif.trainer.search.marks import Marks, marks_of
from rlaif.trainer.settings.game import GameSettings

_NO_LIMIT = 1 << 40
_MAX_STEPS_OF_A_WALK = 7
"""Maximum base steps of a WALK that pushes; others have at most four."""


class Play(NamedTuple):
    """A decision as it was played: one digit, the number of a button, for each base step."""

    decision: int
    buttons: str


class _GivenStart:
    """A source of starts that returns the one it was given."""

    start: Start

    def choose(self, rng: np.random.Generator) -> Start:
        return self.start


class Player:
    """Plays decisions in one environment.

    Attributes:
        game: The environment.
        seen: Permanent flags that were set at some time since `begin`.
    """

    def __init__(self, settings: GameSettings) -> None:
        """Start an emulator; of `settings`, warm-ups and limits of episodes do not apply."""
        changed = {"noop_start": 0, "walk_start": 0, "episode_length": _NO_LIMIT}
        self._starts = _GivenStart()
        self.game = GameEnv(
            settings.model_copy(update=changed), np.random.default_rng(0), starts=self._starts
        )
        self._step = DecisionStep(self.game, gamma=1.0)
        self._row = np.zeros(128, dtype=np.float32)
        self.seen: Marks = frozenset()

    @property
    def ram(self) -> RamBlocks:
        """The RAM after the last base step."""
        return self.game.ram

    @property
    def died(self) -> bool:
        """Whether the player was dead at some time during the last decision."""
        return self._step.now.died

    def begin(self, state: bytes) -> None:
        """Begin an episode in a state."""
        self._starts.start = Start(state, "", PackedKeyframe(b"", ""), plays_on=True)
        self.game.reset(self._row)
        self._step.begin_episode()
        self.seen = marks_of(self.ram)

    def decide(self, decision: int) -> Play:
        """Play a decision."""
        step, buttons = self._step, []
        step.begin(decision)
        while (button := step.button()) is not None:
            step.note(self.game.step(button, self._row))
            buttons.append(str(button))
            self.seen |= marks_of(self.ram)
        return Play(decision, "".join(buttons))

    def save(self) -> bytes:
        return self.game.emulator.save_state()

    def digest(self) -> str:
        """Return the digest of the RAM."""
        return self.game.emulator.ram_digest()

    def close(self) -> None:
        self.game.close()


class _Row(NamedTuple):
    """A row of a demonstration; see there."""

    decision: int
    imitated: bool
    frames: int
    reward: float
    observation: Float32
    policy_input: Float32


class Recorder(Player):
    """A player that records a demonstration."""

    def __init__(self, settings: GameSettings, *, states_every: int) -> None:
        """Keep a start state after at most `states_every` decisions, and after each flag."""
        super().__init__(settings)
        self._actions, self._states_every = settings.actions, states_every
        self.clear()

    def clear(self) -> None:
        """Begin a new record."""
        self._rows: list[_Row] = []
        self._states: list[KeptState] = []
        self._reached: list[Reached] = []
        self._marks: Marks = frozenset()

    def begin(self, state: bytes) -> None:
        """Begin an episode in a state, from which the record continues."""
        super().begin(state)
        self._marks |= self.seen
        if self._states and self._states[-1].at == len(self._rows):
            self._states.pop()
        self._keep_state()

    def decide(self, decision: int, *, is_noise: bool = False) -> Play:
        """Play and record a decision; noise is not imitated."""
        policy_input, observation = self._input(), self._row.copy()
        imitated = not is_noise and bool(policy_input[ALLOWED][decision])
        play = super().decide(decision)
        now = self._step.now
        row = _Row(decision, imitated, now.frames, now.reward, observation, policy_input)
        self._rows.append(row)
        self._note_flags()
        return play

    def replay(self, play: Play) -> None:
        """Play a decision again; one outside the action set as walks and buttons."""
        played = ""
        is_own = in_arm(self._actions)[play.decision]
        while len(played) < len(play.buttons):
            following = play.buttons[len(played) :]
            played += self.decide(play.decision if is_own else _first_of(following)).buttons
        assert played == play.buttons, "a decision is a function of the state"

    def allowed(self) -> list[int]:
        """Return the decisions that the action mask allows now."""
        return [int(each) for each in np.flatnonzero(self._input()[ALLOWED])]

    def demonstration(self, name: str, *, part_of: tuple[str, int] | None = None) -> Demonstration:
        """Return the demonstration played since `clear`."""
        rows = self._rows
        return Demonstration(
            name=name,
            decisions=np.array([row.decision for row in rows], dtype=np.int64),
            imitated=np.array([row.imitated for row in rows], dtype=np.bool_),
            frames=np.array([row.frames for row in rows], dtype=np.int32),
            rewards=np.array([row.reward for row in rows], dtype=np.float32),
            observations=np.array([*(row.observation for row in rows), self._row]),
            policy_inputs=np.array([*(row.policy_input for row in rows), self._input()]),
            reached=tuple(self._reached),
            states=tuple(self._states),
            part_of=part_of,
        )

    def _note_flags(self) -> None:
        """Record new flags, and keep a state if one is due."""
        played = len(self._rows)
        if new := self.seen - self._marks:
            self._marks |= new
            self._reached.append(Reached(played, new))
        kept_at = self._states[-1].at
        is_due = played - kept_at >= self._states_every
        follows_flag = bool(self._reached) and self._reached[-1].at > kept_at
        if (is_due or follows_flag) and has_control(self.ram):
            self._keep_state()

    def _keep_state(self) -> None:
        self._states.append(KeptState(len(self._rows), pack_keyframe(self.save()), self.digest()))

    def _input(self) -> Float32:
        row = np.empty(SIZE, dtype=np.float32)
        self._step.write_policy_input(row)
        return row


def _first_of(buttons: str) -> int:
    """Return a decision, a walk or one button, that begins with the first of some buttons."""
    button = int(buttons[0])
    if button in WALKS and buttons.startswith(buttons[0] * _MAX_STEPS_OF_A_WALK):
        return WALK.start + WALKS.index(button)
    return BUTTON.start + button
