"""N games stepped together into preallocated arrays: the sampling loop without RLlib."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.encoder.cached import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.assistance import Assistance
from rlaif.trainer.play.capturing.recorder import CaptureContext, Ended, EnvRecorder
from rlaif.trainer.play.capturing.selection import SegmentSelector, SelectionRules
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.episode_log import BestEpisodeRecorder, EpisodeLog
from rlaif.trainer.play.followers.frame_stack import HEIGHT, WIDTH, FrameStack, PictureFragment
from rlaif.trainer.play.followers.pay_meter import PayingModel
from rlaif.trainer.play.followers.screen_feed import ScreenFeed
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.play.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import Transitions
from rlaif.trainer.run_folder.spool import SpooledCapture

Disagreement = Callable[[npt.NDArray[np.float32]], float]
"""How much the networks of a reward model disagree on `[B, 128]` observations."""

_WATCHED = 0
"""The environment whose picture and pay are shown, of the first runner."""

_SEEN_LAST = 16
"""Steps before a segment on which the disagreement is measured."""


class EmulatorVector:
    """Environments of one runner, their recorders, and the fragment being filled.

    Attributes:
        observations: `[N, 128] float32`, what the next actions are chosen on; a row of the
            fragment being filled, replaced with each step.
        frame_stack: What a policy that looks at pictures sees; None for one that reads RAM alone.
    """

    def __init__(
        self,
        config: EnvConfig,
        *,
        count: int,
        runner: int,
        seed: int,
        starts: StartSource | None = None,
        follow: Callable[[GameEnv, int], EpisodeFollower] | None = None,
        assist: Callable[[Sequence[GameEnv]], Assistance | None] | None = None,
        begin: bool = True,
    ) -> None:
        """Start N = `count` emulators; each draws from a stream of its own.

        Without `starts`, episodes start at the save states of `config`, or at power-on. `follow`
        makes who follows the n-th game; it may start episodes elsewhere. `assist` makes who plays
        along with all of them, if anybody does. Unless `begin`, a saved state or the first fragment
        begins the episodes.
        """
        self._config = config
        self._frame_skip = config.game.frame_skip
        self._runner = runner
        self.count = count
        drawn_from = [seed, runner, config.attempt, *([config.life] if config.life else [])]
        streams = np.random.SeedSequence(drawn_from).spawn(count + 1)
        cache = EncoderCache()
        self._games: list[GameEnv] = []
        for stream in streams[:count]:
            game = GameEnv(config.game, np.random.default_rng(stream), starts=starts, cache=cache)
            # Power-on takes a second or two of play: the others start where the first came to.
            starts = game.starts
            self._games.append(game)
        self._story = story_of(self._games[0].cartridge.game)
        self._followers: list[EpisodeFollower] = []
        if follow is not None:
            self._let_follow(follow)
        self._assistance = None if assist is None else assist(self._games)
        self.frame_stack = FrameStack(count) if config.pictures else None
        self._select_rng = np.random.default_rng(streams[count])
        self._selector = SegmentSelector(
            SelectionRules(
                uniform_share=config.capture.uniform_share,
                episode_segments=config.game.episode_length // config.segment_steps,
            ),
            self._select_rng,
        )
        self._disagreement: Disagreement | None = None
        self._episode_numbers = [0] * count
        self._returns = [0.0] * count
        self._row_rewards = [0.0] * count
        self._recorders = [self._recorder(n) for n in range(count)]
        keep = config.capture.best_episodes
        logs = [self._log(n) for n in range(count)] if keep else []
        self._best = BestEpisodeRecorder(logs, keep, self._story)
        is_watched = runner in (0, 1)
        self._screen = ScreenFeed(config.screen_path if is_watched else None, config.game.watch_fps)
        self._env_steps = 0
        self._fragments = 0
        self.observations = np.zeros((count, 128), dtype=np.float32)
        self._begun = False
        if begin:
            self._begin()

    def begin_fragment(self, steps: int, *, capture_quota: int, context: CaptureContext) -> None:
        """Allocate T = `steps` rows; select at most `capture_quota` segments on the way."""
        if not self._begun:
            self._begin()
        self._screen.open()
        self._rows = np.zeros((steps + 1, self.count, 128), dtype=np.float32)
        self._rows[0] = self.observations
        self._actions = np.zeros((steps, self.count), dtype=np.int64)
        self._by_planner = np.zeros((steps, self.count), dtype=np.bool_)
        self._rewards = np.zeros((steps, self.count), dtype=np.float32)
        self._bonuses = np.zeros((steps, self.count), dtype=np.float32)
        self._parts = np.zeros(len(PARTS), dtype=np.float64)
        self._terminated = np.zeros((steps, self.count), dtype=np.bool_)
        self._truncated = np.zeros((steps, self.count), dtype=np.bool_)
        self._finals: list[tuple[int, int, npt.NDArray[np.float32]]] = []
        self._episodes: list[EpisodeSummary] = []
        self._ends: list[tuple[int, int]] = []
        self._captures: list[SpooledCapture] = []
        self._best.begin_fragment()
        if self._assistance is not None:
            self._assistance.begin_fragment()
        if self.frame_stack is not None:
            self._first_stacks = self.frame_stack.stacks.copy()
            self._frames = np.zeros((steps, self.count, HEIGHT, WIDTH), dtype=np.uint8)
        self._selector.begin_fragment(
            capture_quota,
            starting=steps * self.count / self._config.segment_steps,
            pending=sum(recorder.chosen is not None for recorder in self._recorders),
            ranked=self._disagreement is not None,
        )
        for recorder in self._recorders:
            recorder.context = context

    def ask_about(self, disagreement: Disagreement | None) -> None:
        """Select by another reward model's disagreement from now on; None: by none."""
        self._disagreement = disagreement
        self._selector.forget_scores()

    def pay_by(self, model: PayingModel | None) -> None:
        """Show by another reward model what the watched game is paid; None: by none."""
        if self._screen.meter is not None:
            self._screen.meter.pay_by(model)

    def step(self, t: int, actions: npt.NDArray[np.int64]) -> None:
        """Play row t: one action in every environment, episodes restarted where they end.

        `actions` are the policy's; where a planner took over, its button is played (`played`).
        """
        helped = self._assistance
        if helped is not None:
            actions = helped.before_step(actions, self._by_planner[t])
            self._bonuses[t] = helped.bonuses
        self._actions[t] = actions
        chosen = actions.tolist()
        shown = _WATCHED if self._screen.is_due() else None
        drawn = self._drawn(shown)
        self._press(t, chosen, drawn)
        logs, followers, meter = self._best.logs, self._followers, self._screen.meter
        rows = self._rows[t + 1]
        for n, game in enumerate(self._games):
            outcome = game.finish_step(chosen[n], rows[n], render=n in drawn)
            eventful = outcome is not game.uneventful
            if self.frame_stack is not None:
                self._frames[t, n] = self.frame_stack.push(n, game.emulator.screen())
            self._row_rewards[n] = outcome.reward
            if eventful:
                self._returns[n] += outcome.reward
                self._parts += outcome.parts
            capture = self._recorders[n].after_step(
                chosen[n], _ended(outcome) if eventful else "running", game.facts, outcome.wait
            )
            if logs:
                logs[n].add(chosen[n], outcome.wait)
            if capture is not None:
                self._captures.append(capture)
            if followers:
                followers[n].after_step(game.emulator, game.facts, chosen[n], outcome.wait)
            if n == _WATCHED and meter is not None:
                meter.after_step(
                    rows[n], terminated=outcome.terminated, truncated=outcome.truncated
                )
            if n == shown:
                self._screen.show(game, self._env_steps)
            if eventful and (outcome.terminated or outcome.truncated):
                self._end_episode(t, n, game, outcome)
            elif helped is not None:
                helped.after_step(n, chosen[n])
        self._rewards[t] = self._row_rewards
        self.observations = rows
        self._env_steps += self.count

    def _drawn(self, shown: int | None) -> Collection[int]:
        """The environments whose picture somebody looks at in the step that comes now."""
        if self.frame_stack is not None:
            return range(self.count)
        watched = () if shown is None else (shown,)
        return watched if self._assistance is None else (*watched, *self._assistance.pictured)

    def _press(self, t: int, chosen: list[int], drawn: Collection[int]) -> None:
        """Play the actions of row t in all emulators."""
        for n, game in enumerate(self._games):
            if self._recorders[n].at_border:
                self._recorders[n].before_segment(self._asked(t, n))
            game.emulator.step(chosen[n], self._frame_skip, render=n in drawn)

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
            by_planner=self._by_planner,
            assistance=None if self._assistance is None else self._assistance.end_fragment(),
            action_logp=action_logp,
            action_dist_inputs=action_dist_inputs,
            rewards=self._rewards,
            reward_parts=dict(zip(PARTS, self._parts.tolist(), strict=True)),
            guidance=self._bonuses if self._assistance and self._assistance.guides else None,
            episodes=tuple(self._episodes),
            env_index_of_end=tuple(self._ends),
            captures=tuple(self._captures),
            best=tuple(self._best.found),
            pictures=PictureFragment(self._first_stacks, self._frames)
            if self.frame_stack
            else None,
            segments_skipped=self._selector.skipped,
        )
        self._fragments += 1
        return fragment

    @property
    def played(self) -> npt.NDArray[np.int64]:
        """`[T, N]` actions of this fragment as they were played."""
        return self._actions

    def ram_digests(self) -> list[str]:
        """The RAM digest of each environment: equal digests are equal games."""
        return [game.emulator.ram_digest() for game in self._games]

    def state_dict(self) -> dict[str, Any]:
        """Where these games stand between two fragments, as plain values; 40 ms an environment."""
        assisted = {} if self._assistance is None else {"assistance": self._assistance.state_dict()}
        return assisted | {
            "played": self._played,
            "observations": self.observations.copy(),
            "games": [game.state_dict() for game in self._games],
            "watchers": [
                follower.state_dict(game.facts)
                for follower, game in zip(self._followers, self._games, strict=False)
            ],
            "returns": list(self._returns),
            "episode_numbers": list(self._episode_numbers),
            "select_rng": self._select_rng.bit_generator.state,
            "selected": self._selector.state_dict(),
            "seen": None if self.frame_stack is None else self.frame_stack.stacks.copy(),
            "best_ranks": self._best.ranks.state_dict(),
            "env_steps": self._env_steps,
            "fragments": self._fragments,
        }

    def load_state_dict(self, state: dict[str, Any]) -> str | None:
        """Resume in the middle of the episodes; gives why that cannot be, and then changes nothing.

        For the captures a new episode begins there: its keyframe is the state that was loaded. A
        takeover that was under way is over, and the policy plays on.

        Raises:
            KeyframeError: A save state in it is damaged.
            SaveStateError: The emulator cannot load one.
        """
        if state["played"] != self._played:
            return f"it was taken of {state['played']}, this run plays {self._played}"
        rows = np.zeros_like(self.observations)
        for n, game in enumerate(self._games):
            keyframe = game.load_state_dict(state["games"][n], rows[n])
            number = self._episode_numbers[n] = state["episode_numbers"][n]
            self._recorders[n].begin_episode(
                f"{self._env_id(n)}-{number}", keyframe, (), game.facts
            )
            self._best.skip_episode(n)
            self._episode_numbers[n] += 1
            if self._followers and state["watchers"]:
                self._followers[n].load_state_dict(state["watchers"][n], game.facts)
        if self._assistance is not None:
            self._assistance.load_state_dict(state.get("assistance"))
        self._returns = list(state["returns"])
        self._select_rng.bit_generator.state = state["select_rng"]
        if self.frame_stack is not None and state.get("seen") is not None:
            self.frame_stack.stacks[:] = state["seen"]
        self._best.ranks.load_state_dict(state.get("best_ranks", ()))
        self._selector.load_state_dict(state.get("selected", {"taken": {}, "shown": {}}))
        self._env_steps = state["env_steps"]
        self._fragments = state["fragments"]
        self.observations = rows
        if self._screen.meter is not None:
            self._screen.meter.resume_at(rows[_WATCHED])
        self._begun = True
        return None

    @property
    def _played(self) -> dict[str, Any]:
        """What a saved state depends on."""
        cartridge, config = self._games[0].cartridge, self._config
        return {
            "environments": self.count,
            "rom_sha256": cartridge.sha256,
            "emulator": self._games[0].emulator.identity.model_dump(mode="json"),
            "frame_skip": config.game.frame_skip,
            "reward_preset": config.game.reward_preset,
        }

    def close(self) -> None:
        """Stop the emulators."""
        for game in self._games:
            game.close()
        if self._assistance is not None:
            self._assistance.close()
        self._screen.close()

    def _let_follow(self, follow: Callable[[GameEnv, int], EpisodeFollower]) -> None:
        for n, game in enumerate(self._games):
            follower = follow(game, n)
            game.starts = follower.starts(game.starts)
            game.count_visits(follower)
            self._followers.append(follower)

    def _end_episode(self, t: int, n: int, game: GameEnv, outcome: StepOutcome) -> None:
        row = self._rows[t + 1, n]
        self._terminated[t, n] = outcome.terminated
        self._truncated[t, n] = outcome.truncated
        if outcome.truncated:
            self._finals.append((t, n, row.copy()))
        reached = milestones_reached(read_blocks(game.emulator), self._story)
        self._episodes.append(
            EpisodeSummary(
                length=game.steps,
                reward=self._returns[n],
                rooms=game.rooms_visited,
                terminated=outcome.terminated,
                fault=outcome.fault,
                start=game.start.provenance,
                frames=game.frames,
                milestones=tuple(milestone.name for milestone in reached),
                milestone_fraction=fraction(reached, self._story),
            )
        )
        self._ends.append((t, n))
        self._best.end_episode(
            n,
            game,
            frozenset(step.name for step in reached),
            reward=self._returns[n],
            ended=_ended(outcome),
            context=self._recorders[n].context,
        )
        self._begin_episode(n, row)

    def _begin(self) -> None:
        self._begun = True
        for n in range(self.count):
            self._begin_episode(n, self.observations[n])

    def _begin_episode(self, n: int, row: Row) -> None:
        game = self._games[n]
        game.reset(row)
        if self.frame_stack is not None:
            self.frame_stack.clear(n)
        self._returns[n] = 0.0
        name = f"{self._env_id(n)}-{self._episode_numbers[n]}"
        self._recorders[n].begin_episode(name, game.start.keyframe, game.warm_up, game.facts)
        self._best.begin_episode(n, name, game)
        if self._followers:
            self._followers[n].begin_episode(game.emulator, game.facts, game.start, game.warm_up)
        if self._assistance is not None:
            self._assistance.begin_episode(n)
        if n == _WATCHED and self._screen.meter is not None:
            self._screen.meter.begin_episode(row)
        self._episode_numbers[n] += 1

    def _env_id(self, n: int) -> str:
        life = f"x{self._config.life:x}" if self._config.life else ""
        return f"{self._config.run_id}-{self._config.attempt}-{self._runner}{life}-{n}"

    def _log(self, n: int) -> EpisodeLog:
        game = self._games[n]
        return EpisodeLog(
            run_id=self._config.run_id,
            env_id=self._env_id(n),
            game=game.cartridge.identity,
            emulator=game.emulator,
            frame_skip=self._config.game.frame_skip,
        )

    def _recorder(self, n: int) -> EnvRecorder:
        game = self._games[n]
        return EnvRecorder(
            run_id=self._config.run_id,
            env_id=self._env_id(n),
            game=game.cartridge.identity,
            emulator=game.emulator,
            frame_skip=self._config.game.frame_skip,
            segment_steps=self._config.segment_steps,
            keyframe_steps=self._config.capture.keyframe_steps,
            story=self._story,
            selector=self._selector,
        )

    def _asked(self, t: int, n: int) -> Callable[[], float] | None:
        """The reward model's disagreement on what environment `n` has seen last."""
        measure = self._disagreement
        if measure is None:
            return None
        seen = min(t, self._recorders[n].step, _SEEN_LAST - 1)
        return lambda: measure(self._rows[t - seen : t + 1, n])


def _ended(outcome: StepOutcome) -> Ended:
    if outcome.terminated:
        return "terminated"
    return "truncated" if outcome.truncated else "running"
