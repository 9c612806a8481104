"""Plays a frozen policy on fixed seeds and notes which milestones each episode reaches.

Episode k of an evaluation draws its start, its warm-up and its actions from streams that depend on
the seed and on k alone, and every forward pass has the same number of rows. So the same checkpoint
plays the same episodes, on however many runners they are spread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns

from rlaif.game.encoder.cached import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import MilestoneLatch, Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.learner.options.picture_policy import PICTURES
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.frame_stack import FrameStack
from rlaif.trainer.play.game_env import GameEnv, StepOutcome
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.run_folder.evaluations import EvaluatedEpisode

GROUP = 8
"""Games stepped together, and rows of a forward pass."""

Forward = Callable[..., np.ndarray[Any, Any]]
"""`[GROUP, 128] float32` observations, and for a policy that looks at pictures
`[GROUP, 4, 72, 80] uint8` stacks, to `[GROUP, 8]` logits."""


@dataclass(frozen=True)
class EvaluationTask:
    """What is played; travels to the runners. `greedy` takes the likeliest action, draws none."""

    env: EnvConfig
    seed: int
    greedy: bool

    @classmethod
    def of(cls, env: EnvConfig, *, length: int, seed: int, greedy: bool) -> "EvaluationTask":
        """Play `env` without pictures, for `length` steps an episode."""
        game = env.game.model_copy(update={"episode_length": length})
        return cls(replace(env, game=game, screen_path=None), seed, greedy)


@dataclass
class _Seat:
    """A game that plays an episode, and what it has done."""

    game: GameEnv
    number: int
    draws: np.random.Generator
    latch: MilestoneLatch
    reward: float = 0.0

    def finished(self, outcome: StepOutcome) -> EvaluatedEpisode:
        game = self.game
        return EvaluatedEpisode(
            number=self.number,
            start=game.start.provenance,
            steps=game.steps,
            frames=game.frames,
            ended="terminated" if outcome.terminated else "truncated",
            fault=outcome.fault,
            reward=self.reward,
            rooms=game.rooms_visited,
            milestones=tuple(milestone.name for milestone in self.latch.reached),
            fraction=self.latch.fraction,
        )


def play_on_runners(group: Any, task: EvaluationTask, count: int) -> list[EvaluatedEpisode]:
    """Play `count` episodes, spread over the runners of an RLlib group with the live policy.

    A runner that is lost on the way is a `RuntimeError`.
    """
    runners = max(1, group.num_healthy_remote_env_runners())
    played: list[list[EvaluatedEpisode]] = group.foreach_env_runner(
        partial(_play_share, task, count, runners),
        local_env_runner=group.num_remote_env_runners() == 0,
        timeout_seconds=None,
    )
    episodes = sorted((each for part in played for each in part), key=lambda each: each.number)
    if [each.number for each in episodes] != list(range(count)):
        raise RuntimeError(f"{len(episodes)} of {count} episodes came back: a runner was lost")
    return episodes


def _play_share(
    task: EvaluationTask, count: int, runners: int, runner: Any
) -> list[EvaluatedEpisode]:
    first = max(0, (runner.worker_index or 0) - 1)
    return play(task, range(first, count, runners), partial(_logits, runner.module))


def _logits(
    module: Any,
    observations: np.ndarray[Any, Any],
    pictures: np.ndarray[Any, Any] | None = None,
) -> np.ndarray[Any, Any]:
    batch = {Columns.OBS: torch.from_numpy(observations)}
    if pictures is not None:
        batch[PICTURES] = torch.from_numpy(pictures)
    with torch.inference_mode():
        out = module.forward_inference(batch)
    logits: np.ndarray[Any, Any] = out[Columns.ACTION_DIST_INPUTS].numpy()
    return logits


def play(task: EvaluationTask, numbers: Sequence[int], forward: Forward) -> list[EvaluatedEpisode]:
    """Play the episodes of these numbers, up to `GROUP` at once; gives them in no fixed order."""
    waiting = list(reversed(numbers))
    games: list[GameEnv] = []
    cache = EncoderCache()
    starts: StartSource | None = None
    for number in numbers[:GROUP]:
        game = GameEnv(task.env.game, _stream(task, number), starts=starts, cache=cache)
        starts = game.starts  # the way from power-on takes a second or two: once
        games.append(game)
    rows = np.zeros((GROUP, 128), dtype=np.float32)
    frame_stack = FrameStack(GROUP) if task.env.pictures else None
    done: list[EvaluatedEpisode] = []
    try:
        seats = [_seated(task, game, waiting.pop(), rows[n]) for n, game in enumerate(games)]
        playing = set(range(len(seats)))
        while playing:
            logits = forward(rows) if frame_stack is None else forward(rows, frame_stack.stacks)
            for n in sorted(playing):
                outcome = _step(task, seats[n], logits[n], rows[n])
                if frame_stack is not None:
                    frame_stack.push(n, seats[n].game.emulator.screen())
                if not (outcome.terminated or outcome.truncated):
                    continue
                done.append(seats[n].finished(outcome))
                if frame_stack is not None:
                    frame_stack.clear(n)
                if waiting:
                    seats[n] = _seated(task, seats[n].game, waiting.pop(), rows[n])
                else:
                    playing.discard(n)
    finally:
        for game in games:
            game.close()
    return done


def _step(
    task: EvaluationTask, seat: _Seat, logits: np.ndarray[Any, Any], row: np.ndarray[Any, Any]
) -> StepOutcome:
    noise = 0.0 if task.greedy else seat.draws.gumbel(size=logits.shape)
    action = int((logits + noise).argmax())
    outcome = seat.game.step(action, row, render=task.env.pictures)
    seat.reward += outcome.reward
    seat.latch.update(read_blocks(seat.game.emulator))
    return outcome


def _seated(task: EvaluationTask, game: GameEnv, number: int, row: np.ndarray[Any, Any]) -> _Seat:
    game.use(_stream(task, number))
    game.reset(row)
    story: Story = story_of(game.cartridge.game)
    draws = np.random.default_rng([task.seed, number, 1])
    return _Seat(game, number, draws, MilestoneLatch(story, read_blocks(game.emulator)))


def _stream(task: EvaluationTask, number: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, number, 0])
