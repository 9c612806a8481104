"""N games stepped together into preallocated arrays: the sampling loop without RLlib."""

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rlaif.game.encoder_memo import Memory
from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.fragment import EpisodeSummary, Fragment
from rlaif.trainer.env.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.env.recorder import CaptureContext, Ended, EnvRecorder
from rlaif.trainer.env.screen import ScreenSlot
from rlaif.trainer.env.start import StartSource
from rlaif.trainer.env.watching import EpisodeWatcher
from rlaif.trainer.rewards.game import PARTS
from rlaif.trainer.rewards.shaping import Transitions
from rlaif.trainer.runs.spool import SpooledCapture


class EmulatorVector:
    """Environments of one runner, their recorders, and the fragment being filled.

    Attributes:
        count: N.
        observations: `[N, 128] float32`, what the next actions are chosen on; a row of the
            fragment being filled, replaced with each step.
    """

    def __init__(
        self,
        config: EnvConfig,
        *,
        count: int,
        runner: int,
        seed: int,
        starts: StartSource | None = None,
        watch: Callable[[GameEnv, int], EpisodeWatcher] | None = None,
    ) -> None:
        """Start N emulators.

        Args:
            config: Of the run.
            count: N.
            runner: Index of the environment runner; part of ids and seeds.
            seed: Of the run; each environment draws from a stream of its own.
            starts: Where episodes start; None takes the save states of `config`, or power-on.
            watch: Makes who follows the n-th game; it may start episodes elsewhere. None: nobody.
        """
        self._config = config
        self._runner = runner
        self.count = count
        streams = np.random.SeedSequence([seed, runner, config.attempt]).spawn(count + 1)
        memory = Memory()
        self._games: list[GameEnv] = []
        for stream in streams[:count]:
            game = GameEnv(config, np.random.default_rng(stream), starts=starts, memory=memory)
            # Power-on takes a second or two of play: the others start where the first came to.
            starts = game.starts
            self._games.append(game)
        self._watchers: list[EpisodeWatcher] = []
        if watch is not None:
            self._let_watch(watch)
        self._select_rng = np.random.default_rng(streams[count])
        self._quota = 0
        self._chance = 0.0
        self._episode_numbers = [0] * count
        self._returns = [0.0] * count
        self._row_rewards = [0.0] * count
        self._recorders = [self._recorder(n) for n in range(count)]
        self._screen = self._open_screen()
        self._next_picture = 0.0
        self._env_steps = 0
        self._fragments = 0
        self.observations = np.zeros((count, 128), dtype=np.float32)
        for n in range(count):
            self._begin_episode(n, self.observations[n])

    def begin_fragment(self, steps: int, *, capture_quota: int, context: CaptureContext) -> None:
        """Allocate T = `steps` rows; select at most `capture_quota` segments on the way."""
        self._rows = np.zeros((steps + 1, self.count, 128), dtype=np.float32)
        self._rows[0] = self.observations
        self._actions = np.zeros((steps, self.count), dtype=np.int64)
        self._rewards = np.zeros((steps, self.count), dtype=np.float32)
        self._parts = np.zeros(len(PARTS), dtype=np.float64)
        self._terminated = np.zeros((steps, self.count), dtype=np.bool_)
        self._truncated = np.zeros((steps, self.count), dtype=np.bool_)
        self._finals: list[tuple[int, int, npt.NDArray[np.float32]]] = []
        self._episodes: list[EpisodeSummary] = []
        self._ends: list[tuple[int, int]] = []
        self._captures: list[SpooledCapture] = []
        self._skipped = 0
        self._quota = capture_quota
        starting = steps * self.count / self._config.segment_steps
        self._chance = min(1.0, capture_quota / max(1.0, starting))
        for recorder in self._recorders:
            recorder.context = context

    def step(self, t: int, actions: npt.NDArray[np.int64]) -> None:
        """Play row t: one action in every environment, episodes restarted where they end."""
        self._actions[t] = actions
        drawn = 0 if self._picture_due() else None
        chosen = actions.tolist()
        frame_skip = self._config.frame_skip
        for n, game in enumerate(self._games):
            self._recorders[n].before_step()
            game.emulator.step(chosen[n], frame_skip, render=n == drawn)
        rows = self._rows[t + 1]
        for n, game in enumerate(self._games):
            outcome = game.judge(chosen[n], rows[n], render=n == drawn)
            self._returns[n] += outcome.reward
            self._row_rewards[n] = outcome.reward
            self._parts += outcome.parts
            capture = self._recorders[n].after_step(chosen[n], _ended(outcome), outcome.wait)
            if capture is not None:
                self._captures.append(capture)
            if self._watchers:
                self._watchers[n].after_step(game.emulator, game.facts, chosen[n], outcome.wait)
            if n == drawn:
                self._show(game)
            if outcome.terminated or outcome.truncated:
                self._end_episode(t, n, game, outcome)
        self._rewards[t] = self._row_rewards
        self.observations = rows
        self._env_steps += self.count

    def end_fragment(
        self,
        action_dist_inputs: npt.NDArray[np.float32],
        action_logp: npt.NDArray[np.float32],
    ) -> Fragment:
        """What was played since `begin_fragment`."""
        final_index = np.array([(t, n) for t, n, _ in self._finals], dtype=np.int64)
        finals = [row for _, _, row in self._finals]
        fragment = Fragment(
            runner=self._runner,
            continues=self._fragments > 0,
            transitions=Transitions(
                observations=self._rows,
                terminated=self._terminated,
                truncated=self._truncated,
                final_index=final_index.reshape(-1, 2),
                final_observations=np.array(finals, dtype=np.float32).reshape(-1, 128),
            ),
            actions=self._actions,
            action_logp=action_logp,
            action_dist_inputs=action_dist_inputs,
            rewards=self._rewards,
            reward_parts=dict(zip(PARTS, self._parts.tolist(), strict=True)),
            episodes=tuple(self._episodes),
            env_index_of_end=tuple(self._ends),
            captures=tuple(self._captures),
            segments_skipped=self._skipped,
        )
        self._fragments += 1
        return fragment

    def ram_digests(self) -> list[str]:
        """The RAM digest of each environment: equal digests are equal games."""
        return [game.emulator.ram_digest() for game in self._games]

    def close(self) -> None:
        """Stop the emulators."""
        for game in self._games:
            game.close()
        if self._screen is not None:
            self._screen.close()

    def _let_watch(self, watch: Callable[[GameEnv, int], EpisodeWatcher]) -> None:
        for n, game in enumerate(self._games):
            watcher = watch(game, n)
            game.starts = watcher.starts(game.starts)
            game.count_visits(watcher)
            self._watchers.append(watcher)

    def _end_episode(self, t: int, n: int, game: GameEnv, outcome: StepOutcome) -> None:
        row = self._rows[t + 1, n]
        self._terminated[t, n] = outcome.terminated
        self._truncated[t, n] = outcome.truncated
        if outcome.truncated:
            self._finals.append((t, n, row.copy()))
        self._episodes.append(
            EpisodeSummary(
                length=game.steps,
                reward=self._returns[n],
                rooms=game.rooms_visited,
                terminated=outcome.terminated,
                fault=outcome.fault,
                start=game.start.provenance,
                frames=game.frames,
            )
        )
        self._ends.append((t, n))
        self._begin_episode(n, row)

    def _begin_episode(self, n: int, row: Row) -> None:
        game = self._games[n]
        game.reset(row)
        self._returns[n] = 0.0
        self._recorders[n].begin_episode(
            f"{self._env_id(n)}-{self._episode_numbers[n]}", game.start.keyframe, game.warm_up
        )
        if self._watchers:
            self._watchers[n].begin_episode(game.emulator, game.facts, game.start, game.warm_up)
        self._episode_numbers[n] += 1

    def _env_id(self, n: int) -> str:
        return f"{self._config.run_id}-{self._config.attempt}-{self._runner}-{n}"

    def _recorder(self, n: int) -> EnvRecorder:
        game = self._games[n]
        return EnvRecorder(
            run_id=self._config.run_id,
            env_id=self._env_id(n),
            game=game.cartridge.identity,
            emulator=game.emulator,
            frame_skip=self._config.frame_skip,
            segment_steps=self._config.segment_steps,
            keyframe_steps=self._config.keyframe_steps,
            select=self._select,
        )

    def _select(self) -> bool:
        """A uniform share of the segments, as large as the quota allows."""
        if self._quota > 0 and self._select_rng.random() < self._chance:
            self._quota -= 1
            return True
        self._skipped += 1
        return False

    def _open_screen(self) -> ScreenSlot | None:
        watched = self._runner == 1 or self._runner == 0
        if self._config.screen_path is None or not watched or self._config.watch_fps <= 0:
            return None
        return ScreenSlot(self._config.screen_path, create=True)

    def _picture_due(self) -> bool:
        """Whether the watched environment draws this step; drawing does not touch its RAM."""
        if self._screen is None:
            return False
        now = time.monotonic()
        if now < self._next_picture:
            return False
        self._next_picture = now + 1.0 / self._config.watch_fps
        return True

    def _show(self, game: GameEnv) -> None:
        assert self._screen is not None
        facts = game.facts
        self._screen.write(
            game.emulator.screen(),
            env_step=self._env_steps,
            place=(facts.group, facts.room, facts.x, facts.y),
            rooms_visited=game.rooms_visited,
        )


def _ended(outcome: StepOutcome) -> Ended:
    if outcome.terminated:
        return "terminated"
    return "truncated" if outcome.truncated else "running"
