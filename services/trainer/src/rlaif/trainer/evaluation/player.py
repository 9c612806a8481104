"""Plays a frozen policy on fixed seeds and records how far each episode comes.

Episode k of an evaluation draws its start, its warm-up and its actions from streams that depend on
the seed and on k alone, and every forward pass has the same number of rows. So the same policy
plays the same episodes, whatever the number of processes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rlaif.game.encoder.numba_look import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.game.stories.milestones import MilestoneLatch, Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.evaluation.result import EvaluatedEpisode
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.decisions import DecisionStep
from rlaif.trainer.play.followers.episode_log import EpisodeLog, RecordedEpisode
from rlaif.trainer.play.followers.frame_stack import FrameStack
from rlaif.trainer.play.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.play.recording import segment_recorder
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.settings.game import STEP_FRAMES

GROUP = 8
"""Games stepped together, and rows of a forward pass."""

Forward = Callable[..., np.ndarray[Any, Any]]
"""`[GROUP, 128] float32` observations to `[GROUP, A]` logits. A policy with pictures also gets
`pictures`, `[GROUP, 4, 72, 80] uint8` stacks; one with decisions gets `policy_inputs`,
`[GROUP, SIZE] float32`."""

EpisodeCallback = Callable[[EvaluatedEpisode, RecordedEpisode | None], None]

Ended = Literal["terminated", "truncated"]

_ESSENCES = address("wEssencesObtained")


@dataclass(frozen=True)
class EvaluationTask:
    """What is played; pickled to the processes that play it.

    Attributes:
        greedy: Always take the most likely action instead of sampling.
    """

    env: EnvConfig
    seed: int
    greedy: bool

    @classmethod
    def of(cls, env: EnvConfig, *, length: int, seed: int, greedy: bool) -> "EvaluationTask":
        """A task with episodes of at most `length` steps of four frames, without screen files."""
        game = env.game.model_copy(update={"episode_length": length})
        return cls(replace(env, game=game, screens=None), seed, greedy)


@dataclass
class _Seat:
    """A game and its current episode."""

    game: GameEnv
    number: int
    draws: np.random.Generator
    latch: MilestoneLatch
    decision: DecisionStep | None
    main: frozenset[str]
    log: EpisodeLog | None
    was_dead: bool
    reward: float = 0.0
    decisions: int = 0
    deaths: int = 0
    milestone_frames: dict[str, int] = field(default_factory=dict)

    def play(self, index: int, row: Row, *, render: bool) -> StepOutcome:
        """Play an action; returns the outcome of its last step and fills `row`."""
        self.decisions += 1
        if self.decision is None:
            return self._step(index, row, render=render)
        outcome: StepOutcome | None = None
        self.decision.begin(index)
        while (button := self.decision.button()) is not None:
            outcome = self._step(button, row, render=render)
            self.decision.note(outcome)
        assert outcome is not None, "a decision plays one base step at least"
        return outcome

    def _step(self, button: int, row: Row, *, render: bool) -> StepOutcome:
        game = self.game
        outcome = game.step(button, row, render=render)
        self.reward += outcome.reward
        for milestone in self.latch.update(read_blocks(game.emulator)):
            if milestone.name in self.main:
                self.milestone_frames[milestone.name] = game.frames
        self.deaths += game.facts.dead and not self.was_dead
        self.was_dead = game.facts.dead
        if self.log is not None:
            self.log.add(button, outcome.wait)
        return outcome

    def finish(self, outcome: StepOutcome) -> tuple[EvaluatedEpisode, RecordedEpisode | None]:
        game = self.game
        ended: Ended = "terminated" if outcome.terminated else "truncated"
        episode = EvaluatedEpisode(
            number=self.number,
            start=game.start.provenance,
            steps=game.steps,
            frames=game.frames,
            ended=ended,
            fault=outcome.fault,
            reward=self.reward,
            rooms=game.rooms_visited,
            milestones=tuple(milestone.name for milestone in self.latch.reached),
            fraction=self.latch.fraction,
            milestone_frames=self.milestone_frames,
            decisions=self.decisions,
            deaths=self.deaths,
            essences=read_blocks(game.emulator).u8(_ESSENCES).bit_count(),
        )
        if self.log is None:
            return episode, None
        whole = self.log.finish(ended, CaptureContext())
        reached = tuple(self.milestone_frames)
        return episode, RecordedEpisode(reached, episode.reward, episode.rooms, whole)


class _Inputs:
    """Inputs of the policy for a group of games."""

    def __init__(self, env: EnvConfig) -> None:
        self._actions = env.game.actions
        self.rows: Row = np.zeros((GROUP, 128), dtype=np.float32)
        self._frame_stack = FrameStack(GROUP) if env.pictures else None
        decides = env.game.by_decisions
        self._inputs: Row | None = np.zeros((GROUP, SIZE), dtype=np.float32) if decides else None

    def logits(self, forward: Forward) -> np.ndarray[Any, Any]:
        more: dict[str, np.ndarray[Any, Any]] = {}
        if self._frame_stack is not None:
            more["pictures"] = self._frame_stack.stacks
        if self._inputs is not None:
            more["policy_inputs"] = self._inputs
        return forward(self.rows, **more)

    def update(self, n: int, seat: _Seat, *, is_new: bool = False) -> None:
        """Read the state of game `n` after an action, or at the start of an episode."""
        if self._frame_stack is not None:
            if is_new:
                self._frame_stack.clear(n)
            else:
                self._frame_stack.push(n, seat.game.emulator.screen())
        if self._inputs is not None and seat.decision is not None:
            ram, step = read_blocks(seat.game.emulator), seat.decision
            in_vain = step.in_vain.look(ram)
            write_policy_input(ram, step.last, self._inputs[n], arm=self._actions, in_vain=in_vain)


def play(
    task: EvaluationTask,
    numbers: Sequence[int],
    forward: Forward,
    on_episode: EpisodeCallback = lambda episode, recorded: None,
    *,
    record: bool = False,
) -> list[EvaluatedEpisode]:
    """Play the episodes of these numbers, up to `GROUP` at once; returns them in no fixed order.

    Args:
        task: What is played.
        numbers: Numbers of the episodes; each is independent of the others.
        forward: The policy.
        on_episode: Called at the end of each episode, with its recording if `record`.
        record: Whether to record the episodes for `rlaif.trainer.evaluation.replaying`.
    """
    waiting = list(reversed(numbers))
    games: list[GameEnv] = []
    cache = EncoderCache()
    starts: StartSource | None = None
    for number in numbers[:GROUP]:
        game = GameEnv(task.env.game, _stream(task, number), starts=starts, cache=cache)
        starts = game.source.starts  # playing from power-on takes a second or two: once
        games.append(game)
    inputs = _Inputs(task.env)
    done: list[EvaluatedEpisode] = []
    try:
        seats = [
            _begin(task, game, waiting.pop(), inputs, n, record) for n, game in enumerate(games)
        ]
        playing = set(range(len(seats)))
        while playing:
            logits = inputs.logits(forward)
            for n in sorted(playing):
                seat = seats[n]
                index = _chosen(task, seat, logits[n])
                outcome = seat.play(index, inputs.rows[n], render=task.env.pictures)
                inputs.update(n, seat)
                if not (outcome.terminated or outcome.truncated):
                    continue
                episode, recorded = seat.finish(outcome)
                done.append(episode)
                on_episode(episode, recorded)
                if waiting:
                    seats[n] = _begin(task, seat.game, waiting.pop(), inputs, n, record)
                else:
                    playing.discard(n)
    finally:
        for game in games:
            game.close()
    return done


def _chosen(task: EvaluationTask, seat: _Seat, logits: np.ndarray[Any, Any]) -> int:
    noise = 0.0 if task.greedy else seat.draws.gumbel(size=logits.shape)
    return int((logits + noise).argmax())


def _begin(
    task: EvaluationTask, game: GameEnv, number: int, inputs: _Inputs, n: int, record: bool
) -> _Seat:
    """Begin the episode of that number in game `n`."""
    game.source.rng = _stream(task, number)
    game.reset(inputs.rows[n])
    story: Story = story_of(game.cartridge.game)
    seat = _Seat(
        game=game,
        number=number,
        draws=np.random.default_rng([task.seed, number, 1]),
        latch=MilestoneLatch(story, read_blocks(game.emulator)),
        decision=DecisionStep(game, gamma=task.env.gamma) if task.env.game.by_decisions else None,
        main=story.main_names,
        log=_log(game, number) if record else None,
        was_dead=game.facts.dead,
    )
    inputs.update(n, seat, is_new=True)
    return seat


def _log(game: GameEnv, number: int) -> EpisodeLog:
    name = f"trial-{number}"
    log = EpisodeLog(segment_recorder(game, "trial", name, STEP_FRAMES), game.emulator)
    log.begin(name, game.start.keyframe, game.start.warm_up)
    return log


def _stream(task: EvaluationTask, number: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, number, 0])
