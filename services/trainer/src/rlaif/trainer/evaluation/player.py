"""Plays a frozen policy on fixed seeds and records the progress of each episode.

Episode k of an evaluation draws its start, its warm-up and its actions from streams that depend on
the seed and on k only, and every forward pass has the same number of rows. So the same policy plays
the same episodes for any number of processes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rlaif.game.encoder.numba_look import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import without_room_numbers
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
    """Parameters of an evaluation; pickled to the playing processes.

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


class _Inputs:
    """Inputs of the policy for a group of games."""

    def __init__(self, env: EnvConfig) -> None:
        self._many_worlds = env.game.has_many_worlds
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
        rows = without_room_numbers(self.rows) if self._many_worlds else self.rows
        return forward(rows, **more)

    def update(self, n: int, episode: "_Episode", *, is_new: bool = False) -> None:
        """Read the state of game `n` after an action, or at the start of an episode."""
        if self._frame_stack is not None:
            if is_new:
                self._frame_stack.clear(n)
            else:
                self._frame_stack.push(n, episode.game.emulator.screen())
        if self._inputs is not None and episode.decision is not None:
            episode.decision.write_policy_input(self._inputs[n])


class _Episode:
    """A running episode of a game."""

    def __init__(
        self, task: EvaluationTask, game: GameEnv, number: int, row: Row, *, record: bool
    ) -> None:
        """Start episode `number`; fills `row` with the first observation."""
        game.source.rng = _stream(task, number)
        game.reset(row)
        story: Story = story_of(game.cartridge.game, game.cartridge.data)
        self.game, self.number, self._main = game, number, story.main_names
        self._noise = None if task.greedy else np.random.default_rng([task.seed, number, 1])
        self._latch = MilestoneLatch(story, read_blocks(game.emulator))
        by_decisions = task.env.game.by_decisions
        self.decision = DecisionStep(game, gamma=task.env.gamma) if by_decisions else None
        self._was_dead = game.facts.dead
        self._log = _log(game, number) if record else None
        self._counts: Counter[str] = Counter()
        self._reward = 0.0
        self._milestone_frames: dict[str, int] = {}

    def play(self, logits: np.ndarray[Any, Any], row: Row, *, render: bool) -> StepOutcome:
        """Play the action chosen by the logits; fills `row` and returns the last outcome."""
        noise = 0.0 if self._noise is None else self._noise.gumbel(size=logits.shape)
        index = int((logits + noise).argmax())
        self._counts["decisions"] += 1
        if self.decision is None:
            return self._step(index, row, render=render)
        outcome: StepOutcome | None = None
        self.decision.begin(index)
        while (button := self.decision.button()) is not None:
            outcome = self._step(button, row, render=render)
            self.decision.note(outcome)
        assert outcome is not None, "a decision plays at least one base step"
        return outcome

    def _step(self, button: int, row: Row, *, render: bool) -> StepOutcome:
        game = self.game
        outcome = game.step(button, row, render=render)
        self._reward += outcome.reward
        for milestone in self._latch.update(read_blocks(game.emulator)):
            if milestone.name in self._main:
                self._milestone_frames[milestone.name] = game.frames
        self._counts["deaths"] += game.facts.dead and not self._was_dead
        self._was_dead = game.facts.dead
        if self._log is not None:
            self._log.add(button, outcome.wait)
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
            reward=self._reward,
            rooms=game.rooms_visited,
            milestones=tuple(milestone.name for milestone in self._latch.reached),
            fraction=self._latch.fraction,
            milestone_frames=self._milestone_frames,
            decisions=self._counts["decisions"],
            deaths=self._counts["deaths"],
            essences=read_blocks(game.emulator).u8(_ESSENCES).bit_count(),
        )
        if self._log is None:
            return episode, None
        whole = self._log.finish(ended, CaptureContext())
        reached = tuple(self._milestone_frames)
        return episode, RecordedEpisode(reached, episode.reward, episode.rooms, whole)


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
        task: The parameters.
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
        starts = game.source.starts  # playing from power-on takes 1-2 s: only once
        games.append(game)
    inputs, playing = _Inputs(task.env), dict(enumerate(games))
    episodes: dict[int, _Episode] = {}
    done: list[EvaluatedEpisode] = []

    def begin(n: int) -> None:
        episodes[n] = _Episode(task, games[n], waiting.pop(), inputs.rows[n], record=record)
        inputs.update(n, episodes[n], is_new=True)

    try:
        for n in playing:
            begin(n)
        while playing:
            logits = inputs.logits(forward)
            for n in sorted(playing):
                episode = episodes[n]
                outcome = episode.play(logits[n], inputs.rows[n], render=task.env.pictures)
                inputs.update(n, episode)
                if not (outcome.terminated or outcome.truncated):
                    continue
                evaluated, recorded = episode.finish(outcome)
                done.append(evaluated)
                on_episode(evaluated, recorded)
                if waiting:
                    begin(n)
                else:
                    del playing[n]
    finally:
        for game in games:
            game.close()
    return done


def _log(game: GameEnv, number: int) -> EpisodeLog:
    name = f"trial-{number}"
    log = EpisodeLog(segment_recorder(game, "trial", name, STEP_FRAMES), game.emulator)
    log.begin(name, game.start.keyframe, game.start.warm_up)
    return log


def _stream(task: EvaluationTask, number: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, number, 0])
