"""Plays a frozen policy on fixed seeds and notes which milestones each episode reaches.

Episode k of an evaluation draws its start, its warm-up and its actions from streams that depend on
the seed and on k alone, and every forward pass has the same number of rows. So the same checkpoint
plays the same episodes, on however many runners they are spread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from ray.rllib.core.columns import Columns

from rlaif.game.encoder.cached import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.game.stories.milestones import MilestoneLatch, Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.learner.algorithm.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.options.picture_policy import PICTURES
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.decision_step import DecisionStep
from rlaif.trainer.play.followers.frame_stack import FrameStack
from rlaif.trainer.play.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.run_folder.evaluations import EvaluatedEpisode

GROUP = 8
"""Games stepped together, and rows of a forward pass."""

Forward = Callable[..., np.ndarray[Any, Any]]
"""`[GROUP, 128] float32` observations to `[GROUP, A]` logits. A policy that looks at pictures is
also given `pictures`, `[GROUP, 4, 72, 80] uint8` stacks; one that makes decisions `policy_inputs`,
`[GROUP, SIZE] float32`."""


class EpisodeWatcher(Protocol):
    """Looks on while an episode is played."""

    def after_step(self, game: GameEnv, button: int, wait: int) -> None:
        """A base step was played, and `wait` frames after it."""
        ...

    def after_decision(self) -> None:
        """A decision is over."""
        ...

    def end(self, game: GameEnv, episode: EvaluatedEpisode) -> None:
        """The episode is over; the game still stands at its end."""
        ...


Watch = Callable[[GameEnv, int], EpisodeWatcher]
"""Begins to watch an episode: its game, which stands at the start, and its number."""


@dataclass(frozen=True)
class EvaluationTask:
    """What is played; travels to the runners. `greedy` takes the likeliest decision, draws none."""

    env: EnvConfig
    seed: int
    greedy: bool

    @classmethod
    def of(cls, env: EnvConfig, *, length: int, seed: int, greedy: bool) -> "EvaluationTask":
        """Play `env` unwatched, for `length` steps of four frames an episode."""
        game = env.game.model_copy(update={"episode_length": length})
        return cls(replace(env, game=game, screens=None), seed, greedy)


@dataclass
class _Seat:
    """A game that plays an episode, and what it has done."""

    game: GameEnv
    number: int
    draws: np.random.Generator
    latch: MilestoneLatch
    decision: DecisionStep | None
    reward: float = 0.0
    watcher: EpisodeWatcher | None = None

    def play(self, index: int, row: Row, *, render: bool) -> StepOutcome:
        """Play a decision; gives the outcome of its last step, `row` is what it led to."""
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
        outcome = self.game.step(button, row, render=render)
        self.reward += outcome.reward
        self.latch.update(read_blocks(self.game.emulator))
        if self.watcher is not None:
            self.watcher.after_step(self.game, button, outcome.wait)
        return outcome

    def finished(self, outcome: StepOutcome) -> EvaluatedEpisode:
        game = self.game
        episode = EvaluatedEpisode(
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
        if self.watcher is not None:
            self.watcher.end(game, episode)
        return episode


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
    files = getattr(runner, "files", None)  # RLlib's own runner has none
    task = task if files is None else replace(task, env=files.environment(task.env))
    return play(task, range(first, count, runners), partial(_logits, runner.module))


def _logits(
    module: Any,
    observations: np.ndarray[Any, Any],
    pictures: np.ndarray[Any, Any] | None = None,
    policy_inputs: np.ndarray[Any, Any] | None = None,
) -> np.ndarray[Any, Any]:
    batch = {Columns.OBS: torch.from_numpy(observations)}
    if pictures is not None:
        batch[PICTURES] = torch.from_numpy(pictures)
    if policy_inputs is not None:
        batch[POLICY_INPUTS] = torch.from_numpy(policy_inputs)
    with torch.inference_mode():
        out = module.forward_inference(batch)
    logits: np.ndarray[Any, Any] = out[Columns.ACTION_DIST_INPUTS].numpy()
    return logits


class _Seen:
    """What the policy is shown of a group of games."""

    def __init__(self, env: EnvConfig) -> None:
        self._arm = env.game.actions
        self.rows: Row = np.zeros((GROUP, 128), dtype=np.float32)
        self.frame_stack = FrameStack(GROUP) if env.pictures else None
        decides = env.game.by_decisions
        self._inputs: Row | None = np.zeros((GROUP, SIZE), dtype=np.float32) if decides else None

    def ask(self, forward: Forward) -> np.ndarray[Any, Any]:
        """The logits of all games, `[GROUP, A]`."""
        more: dict[str, np.ndarray[Any, Any]] = {}
        if self.frame_stack is not None:
            more["pictures"] = self.frame_stack.stacks
        if self._inputs is not None:
            more["policy_inputs"] = self._inputs
        return forward(self.rows, **more)

    def played(self, n: int, seat: _Seat) -> None:
        """Game `n` has played on."""
        if self.frame_stack is not None:
            self.frame_stack.push(n, seat.game.emulator.screen())
        self._look(n, seat)

    def begun(self, n: int, seat: _Seat) -> None:
        """Game `n` begins an episode."""
        if self.frame_stack is not None:
            self.frame_stack.clear(n)
        self._look(n, seat)

    def _look(self, n: int, seat: _Seat) -> None:
        if self._inputs is not None and seat.decision is not None:
            ram, step = read_blocks(seat.game.emulator), seat.decision
            in_vain = step.in_vain.look(ram)
            write_policy_input(ram, step.last, self._inputs[n], arm=self._arm, in_vain=in_vain)


def play(
    task: EvaluationTask,
    numbers: Sequence[int],
    forward: Forward,
    watch: Watch | None = None,
) -> list[EvaluatedEpisode]:
    """Play the episodes of these numbers, up to `GROUP` at once; gives them in no fixed order."""
    waiting = list(reversed(numbers))
    games: list[GameEnv] = []
    cache = EncoderCache()
    starts: StartSource | None = None
    for number in numbers[:GROUP]:
        game = GameEnv(task.env.game, _stream(task, number), starts=starts, cache=cache)
        starts = game.starts  # the way from power-on takes a second or two: once
        games.append(game)
    seen = _Seen(task.env)
    done: list[EvaluatedEpisode] = []
    try:
        seats = [_seated(task, game, waiting.pop(), seen, n, watch) for n, game in enumerate(games)]
        playing = set(range(len(seats)))
        while playing:
            logits = seen.ask(forward)
            for n in sorted(playing):
                seat = seats[n]
                index = _chosen(task, seat, logits[n])
                outcome = seat.play(index, seen.rows[n], render=task.env.pictures)
                if seat.watcher is not None:
                    seat.watcher.after_decision()
                seen.played(n, seat)
                if not (outcome.terminated or outcome.truncated):
                    continue
                done.append(seat.finished(outcome))
                if waiting:
                    seats[n] = _seated(task, seat.game, waiting.pop(), seen, n, watch)
                else:
                    playing.discard(n)
    finally:
        for game in games:
            game.close()
    return done


def _chosen(task: EvaluationTask, seat: _Seat, logits: np.ndarray[Any, Any]) -> int:
    noise = 0.0 if task.greedy else seat.draws.gumbel(size=logits.shape)
    return int((logits + noise).argmax())


def _seated(
    task: EvaluationTask, game: GameEnv, number: int, seen: _Seen, n: int, watch: Watch | None
) -> _Seat:
    """Begin the episode of that number in game `n`."""
    game.use(_stream(task, number))
    game.reset(seen.rows[n])
    story: Story = story_of(game.cartridge.game)
    draws = np.random.default_rng([task.seed, number, 1])
    decision = DecisionStep(game, gamma=task.env.gamma) if task.env.game.by_decisions else None
    latch = MilestoneLatch(story, read_blocks(game.emulator))
    seat = _Seat(game, number, draws, latch, decision)
    if watch is not None:
        seat.watcher = watch(game, number)
    seen.begun(n, seat)
    return seat


def _stream(task: EvaluationTask, number: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, number, 0])
