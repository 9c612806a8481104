"""N games stepped together into preallocated arrays: the sampling loop without RLlib."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.description.words import words_of
from rlaif.game.encoder.numba_look import EncoderCache
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.capturing.recorder import CaptureContext, Ended
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.decisions import DecisionRows
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.frame_stack import HEIGHT, WIDTH, FrameStack, PictureFragment
from rlaif.trainer.play.followers.room_log import RoomLog
from rlaif.trainer.play.followers.screen_feed import ScreenFeed
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.play.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.play.recording import Disagreement, Recording
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import Transitions


class EmulatorVector:
    """Environments of one runner, who follows them, and the fragment being filled.

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
        self._decisions = DecisionRows(config, self._games)
        self._shown = False
        self._pictured: Collection[int] = ()
        self.frame_stack = FrameStack(count) if config.pictures else None
        self._recording = Recording(
            config,
            self._games,
            self._story,
            env_ids=[self._env_id(n) for n in range(count)],
            rng=np.random.default_rng(streams[count]),
            seen=self._seen_last,
        )
        self._episode_numbers = [0] * count
        self._returns = [0.0] * count
        self._shown_at_start: list[frozenset[str] | None] = [None] * count
        self._row_rewards = [0.0] * count
        self._rooms = RoomLog(
            count,
            words_of(self._games[0].cartridge.game, self._games[0].cartridge.data),
            pictures=config.screens is not None,
        )
        if self._assistance is not None:
            self._assistance.on_reply = self._rooms.note_reply
        self._screen = ScreenFeed(config.screens, config.game.watch_fps, runner=runner, count=count)
        self._env_steps = 0
        self._fragments = 0
        self.observations = np.zeros((count, 128), dtype=np.float32)
        self._begun = False
        if begin:
            self._begin()

    def begin_fragment(self, steps: int, *, capture_quota: int, context: CaptureContext) -> None:
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
        if self._assistance is not None:
            self._assistance.begin_fragment()
        if self.frame_stack is not None:
            self._first_stacks = self.frame_stack.stacks.copy()
            self._frames = np.zeros((steps, self.count, HEIGHT, WIDTH), dtype=np.uint8)
        self._decisions.begin_fragment(steps)
        base_steps = steps * self.count * self._decisions.pace
        self._recording.begin_fragment(capture_quota, context, steps=base_steps)

    def ask_about(self, disagreement: Disagreement | None) -> None:
        """Select by another reward model's disagreement from now on; None: by none."""
        self._recording.ask_about(disagreement)

    def pay_by(self, model: PayingModel | None) -> None:
        """Report the shaping rewards of another model; None for none."""
        self._recording.pay_by(model)
        if self._screen.meter is not None:
            self._screen.meter.pay_by(model)

    def step(self, t: int, actions: npt.NDArray[np.int64]) -> None:
        """Play row t: one decision in every environment, episodes restarted where they end.

        `actions` are the policy's; where a planner took over, its button is played (`played`).
        """
        helped = self._assistance
        if helped is not None:
            actions = helped.before_step(actions, self._by_planner[t])
            self._pictured = helped.pictured
            if helped.bonuses is not None:
                self._bonuses[t] = helped.bonuses
        self._actions[t] = actions
        chosen = actions.tolist()
        if self._screen.turned() and self._screen.meter is not None:
            self._screen.meter.resume_at(self._rows[t, self._screen.watched])
        ended = self._play_row(t, chosen)
        if helped is not None:
            helped.after_step(ended)
        self._rewards[t] = self._row_rewards
        self.observations = self._rows[t + 1]
        self._env_steps += self.count
        self._screen.tell_standings(self._games, self._returns)

    def _play_row(self, t: int, chosen: list[int]) -> list[int]:
        """Play one decision in every environment; returns those whose episode ended.

        All environments play their first base step before any of them is evaluated: that keeps the
        emulator's code in the processor's cache.
        """
        meter, measured = self._screen.meter, self._screen.measured
        rows, after = self._decisions, self._rows[t + 1]
        ended: list[int] = []
        begun: list[tuple[int, bool]] = []
        for n, step in enumerate(rows.steps):
            step.begin(chosen[n])
            button = step.button()
            assert button is not None, "a decision has at least one base step"
            begun.append((button, self._press(t, n, button)))
        for n, step in enumerate(rows.steps):
            outcome = self._finish_base_step(t, n, *begun[n])
            step.note(outcome)
            while (button := step.button()) is not None:
                self._show(n)
                outcome = self._finish_base_step(t, n, button, self._press(t, n, button))
                step.note(outcome)
            self._row_rewards[n] = step.reward
            rows.note(t, n)
            game = self._games[n]
            if self.frame_stack is not None:
                self._frames[t, n] = self.frame_stack.push(n, game.emulator.screen())
            if n == measured and meter is not None:
                meter.after_step(
                    after[n],
                    terminated=outcome.terminated,
                    truncated=outcome.truncated,
                    frames=step.frames,
                    died=step.died,
                    env_step=self._env_steps,
                )
            self._show(n)
            if outcome.terminated or outcome.truncated:
                if outcome.truncated:
                    rows.note_final(n)
                self._end_episode(t, n, game, outcome)
                ended.append(n)
        rows.read_inputs(t + 1)
        return ended

    def _press(self, t: int, n: int, button: int) -> bool:
        self._recording.before_step(t, n)
        render = self.frame_stack is not None or n in self._rooms.wanting or n in self._pictured
        if n == self._screen.watched and self._screen.is_due():
            self._shown = render = True
        self._games[n].emulator.step(button, self._frame_skip, render=render)
        return render

    def _finish_base_step(self, t: int, n: int, button: int, render: bool) -> StepOutcome:
        game, row = self._games[n], self._rows[t + 1, n]
        outcome = game.finish_step(button, row, render=render)
        self._note_step(n, row, button, outcome)
        if self._assistance is not None:
            self._assistance.walked(n, button)
        if render and n in self._rooms.wanting:
            self._rooms.take(n, game)
        return outcome

    def _show(self, n: int) -> None:
        """Publish the picture of the last base step, after the meter has counted it."""
        if self._shown and n == self._screen.watched:
            self._shown = False
            self._screen.show(self._games[n], self._env_steps)

    def _note_step(self, n: int, row: Row, button: int, outcome: StepOutcome) -> None:
        """Notify all observers of environment `n` of a base step, up to `row`."""
        game = self._games[n]
        eventful = outcome is not game.uneventful
        if eventful:
            self._returns[n] += outcome.reward
            self._parts += outcome.parts
            if n == self._screen.measured and self._screen.meter is not None:
                self._screen.meter.note(outcome.reward, outcome.parts)
        ended = _ended(outcome) if eventful else "running"
        if game.facts is not self._rooms.seen[n]:
            self._rooms.see(n, game)
        captured = self._recording.after_step(n, button, ended, row, outcome)
        if captured is not None:
            self._rooms.note_capture(n, game, captured.capture)
        if self._followers:
            self._followers[n].after_step(game.emulator, game.facts, button, outcome.wait)

    def end_fragment(
        self,
        action_dist_inputs: npt.NDArray[np.float32],
        action_logp: npt.NDArray[np.float32],
    ) -> Fragment:
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
            captures=tuple(self._recording.captures),
            best=self._recording.best,
            pictures=PictureFragment(self._first_stacks, self._frames)
            if self.frame_stack
            else None,
            segments_skipped=self._recording.skipped,
            rooms=self._rooms.end_fragment(self._games),
        )
        self._fragments += 1
        return self._decisions.end_fragment(fragment)

    @property
    def policy_inputs(self) -> npt.NDArray[np.float32] | None:
        """`[N, S] float32`, what the policy reads beside `observations`; None for the seeds'."""
        return self._decisions.current

    @property
    def played(self) -> npt.NDArray[np.int64]:
        """`[T, N]` actions of this fragment as they were played."""
        return self._actions

    def ram_digests(self) -> list[str]:
        return [game.emulator.ram_digest() for game in self._games]

    def state_dict(self) -> dict[str, Any]:
        """Where these games stand between two fragments, as plain values; 40 ms an environment."""
        more = self._recording.state_dict()
        if self._assistance is not None:
            more["assistance"] = self._assistance.state_dict()
        more["decisions"] = self._decisions.state_dict()
        return more | {
            "played": self._played,
            "observations": self.observations.copy(),
            "games": [game.state_dict() for game in self._games],
            "watchers": [
                follower.state_dict(game.facts)
                for follower, game in zip(self._followers, self._games, strict=False)
            ],
            "returns": list(self._returns),
            "shown_at_start": [
                None if shown is None else sorted(shown) for shown in self._shown_at_start
            ],
            "episode_numbers": list(self._episode_numbers),
            "seen": None if self.frame_stack is None else self.frame_stack.stacks.copy(),
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
        played = {"actions": "seed"} | state["played"]  # which 0.1.0 did not write
        if played != self._played:
            return f"the state is of {played}, this run plays {self._played}"
        rows = np.zeros_like(self.observations)
        for n, game in enumerate(self._games):
            keyframe = game.load_state_dict(state["games"][n], rows[n])
            number = self._episode_numbers[n] = state["episode_numbers"][n]
            self._recording.resume_episode(n, f"{self._env_id(n)}-{number}", keyframe, rows[n])
            self._rooms.begin_episode(n, game)
            self._episode_numbers[n] += 1
            if self._followers and state["watchers"]:
                self._followers[n].load_state_dict(state["watchers"][n], game.facts)
        if self._assistance is not None:
            self._assistance.load_state_dict(state.get("assistance"))
        self._decisions.load_state_dict(state.get("decisions"))
        self._returns = list(state["returns"])
        # What a checkpoint of an older release did not keep is not known of these episodes.
        self._shown_at_start = [
            None if shown is None else frozenset(shown)
            for shown in state.get("shown_at_start", [None] * self.count)
        ]
        self._recording.load_state_dict(state)
        if self.frame_stack is not None and state.get("seen") is not None:
            self.frame_stack.stacks[:] = state["seen"]
        self._env_steps = state["env_steps"]
        self._fragments = state["fragments"]
        self.observations = rows
        if self._screen.meter is not None:
            self._screen.meter.resume_at(rows[self._screen.watched])
        self._begun = True
        return None

    @property
    def _played(self) -> dict[str, Any]:
        cartridge, config = self._games[0].cartridge, self._config
        return {
            "actions": config.game.actions,
            "environments": self.count,
            "rom_sha256": cartridge.sha256,
            "emulator": self._games[0].emulator.identity.model_dump(mode="json"),
            "frame_skip": config.game.frame_skip,
            "reward_preset": config.game.reward_preset,
        }

    def close(self) -> None:
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
        shown = self._shown_at_start[n]
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
                gained=None if shown is None else sum(step.name not in shown for step in reached),
                died=(outcome.terminated and game.facts.dead)
                if self._config.game.ends_at_death
                else None,
            )
        )
        self._ends.append((t, n))
        ended = _ended(outcome)
        self._recording.end_episode(n, reached, reward=self._returns[n], ended=ended)
        self._rooms.end_episode(n, game)
        self._begin_episode(n, row)

    def _begin(self) -> None:
        self._begun = True
        for n in range(self.count):
            self._begin_episode(n, self.observations[n])
        self._decisions.read_inputs()

    def _begin_episode(self, n: int, row: Row) -> None:
        game = self._games[n]
        game.reset(row)
        self._decisions.steps[n].begin_episode()
        if self.frame_stack is not None:
            self.frame_stack.clear(n)
        self._returns[n] = 0.0
        shown = milestones_reached(read_blocks(game.emulator), self._story)
        self._shown_at_start[n] = frozenset(step.name for step in shown)
        name = f"{self._env_id(n)}-{self._episode_numbers[n]}"
        self._recording.begin_episode(n, name, row)
        self._rooms.begin_episode(n, game)
        if self._followers:
            self._followers[n].begin_episode(game.emulator, game.facts, game.start, game.warm_up)
        if self._assistance is not None:
            self._assistance.begin_episode(n)
        if n == self._screen.measured and self._screen.meter is not None:
            self._screen.meter.begin_episode(row)
        self._episode_numbers[n] += 1

    def _env_id(self, n: int) -> str:
        life = f"x{self._config.life:x}" if self._config.life else ""
        return f"{self._config.run_id}-{self._config.attempt}-{self._runner}{life}-{n}"

    def _seen_last(self, t: int, n: int, most: int) -> npt.NDArray[np.float32]:
        seen = min(t, self._decisions.steps[n].before, most - 1)
        return self._rows[t - seen : t + 1, n]


def _ended(outcome: StepOutcome) -> Ended:
    if outcome.terminated:
        return "terminated"
    return "truncated" if outcome.truncated else "running"
