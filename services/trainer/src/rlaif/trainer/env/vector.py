"""N games stepped together into preallocated arrays: the sampling loop without RLlib."""

import time

import numpy as np
import numpy.typing as npt

from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.fragment import EpisodeSummary, Fragment
from rlaif.trainer.env.game_env import GameEnv, StepOutcome
from rlaif.trainer.env.recorder import CaptureContext, Ended, EnvRecorder
from rlaif.trainer.env.screen import ScreenSlot
from rlaif.trainer.rewards.game import PARTS
from rlaif.trainer.rewards.shaping import Transitions
from rlaif.trainer.runs.spool import SpooledCapture


class EmulatorVector:
    """Environments of one runner, their recorders, and the fragment being filled.

    Attributes:
        count: N.
        observations: `[N, 128] float32`, what the next actions are chosen on.
    """

    def __init__(self, config: EnvConfig, *, count: int, runner: int, seed: int) -> None:
        """Start N emulators.

        Args:
            config: Of the run.
            count: N.
            runner: Index of the environment runner; part of ids and seeds.
            seed: Of the run; each environment draws from a stream of its own.
        """
        self._config = config
        self._runner = runner
        self.count = count
        streams = np.random.SeedSequence([seed, runner, config.attempt]).spawn(count + 1)
        self._games = [GameEnv(config, np.random.default_rng(s)) for s in streams[:count]]
        self._select_rng = np.random.default_rng(streams[count])
        self._quota = 0
        self._chance = 0.0
        self._episode_numbers = [0] * count
        self._returns = np.zeros(count)
        self._recorders = [self._recorder(n) for n in range(count)]
        self._screen = self._open_screen()
        self._next_picture = 0.0
        self._env_steps = 0
        self._fragments = 0
        self.observations = np.zeros((count, 128), dtype=np.float32)
        for n in range(count):
            self._begin_episode(n)

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
        picture_due = self._picture_due()
        for n, game in enumerate(self._games):
            recorder = self._recorders[n]
            recorder.before_step()
            watched = picture_due and n == 0
            outcome = game.step(int(actions[n]), self.observations[n], render=watched)
            if watched:
                self._show(game)
            self._note(t, n, game, outcome)
            ended = outcome.terminated or outcome.truncated
            capture = recorder.after_step(int(actions[n]), _ended(outcome))
            if capture is not None:
                self._captures.append(capture)
            if ended:
                self._end_episode(t, n, game, outcome)
        self._rows[t + 1] = self.observations
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

    def close(self) -> None:
        """Stop the emulators."""
        for game in self._games:
            game.close()
        if self._screen is not None:
            self._screen.close()

    def _note(self, t: int, n: int, game: GameEnv, outcome: StepOutcome) -> None:
        self._rewards[t, n] = outcome.reward
        self._returns[n] += outcome.reward
        self._parts += outcome.parts
        self._terminated[t, n] = outcome.terminated
        self._truncated[t, n] = outcome.truncated

    def _end_episode(self, t: int, n: int, game: GameEnv, outcome: StepOutcome) -> None:
        if outcome.truncated:
            self._finals.append((t, n, self.observations[n].copy()))
        self._episodes.append(
            EpisodeSummary(
                length=game.steps,
                reward=float(self._returns[n]),
                rooms=game.rooms_visited,
                terminated=outcome.terminated,
            )
        )
        self._ends.append((t, n))
        self._begin_episode(n)

    def _begin_episode(self, n: int) -> None:
        game = self._games[n]
        game.reset(self.observations[n])
        self._returns[n] = 0.0
        self._recorders[n].begin_episode(
            f"{self._env_id(n)}-{self._episode_numbers[n]}", game.initial_keyframe, game.warm_up
        )
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
