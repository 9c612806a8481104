"""N games stepped together into preallocated arrays: the sampling loop without RLlib."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.description.words import words_of
from rlaif.game.encoder.numba_look import EncoderCache
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.stories.milestones import fraction
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.decisions import DecisionStep
from rlaif.trainer.play.exploring import Explorer, ExploringSeat
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.frame_stack import FrameStack
from rlaif.trainer.play.followers.room_log import RoomLog
from rlaif.trainer.play.followers.screen_feed import ScreenFeed
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment, FragmentBuffer
from rlaif.trainer.play.game_env import UNEVENTFUL, GameEnv, Row, StepOutcome
from rlaif.trainer.play.recording import Disagreement, Recording
from rlaif.trainer.play.start import StartSource
from rlaif.trainer.rewards.game.presets import PARTS

_FIRST_PACE = 8.0
"""Base steps per decision before the first fragment has been measured."""


@dataclass
class _Seat:
    """One environment and its running episode.

    Attributes:
        name: Its id, the prefix of those of its episodes.
        episodes: Episodes that it has started.
        reward: Sum of the game's own reward.
        shown: Milestones that the start showed; None if unknown.
        explores: Its follower, if that decides instead of the policy.
    """

    game: GameEnv
    step: DecisionStep
    name: str
    follower: EpisodeFollower | None = None
    explores: ExploringSeat | None = None
    episodes: int = 0
    reward: float = 0.0
    shown: frozenset[str] | None = None


@dataclass
class _Progress:
    """Progress of the runner.

    Attributes:
        pace: Base steps per decision in the last fragment.
        has_begun: Whether the first episodes have been started.
    """

    pace: float
    env_steps: int = 0
    fragments: int = 0
    has_begun: bool = False


class EmulatorVector:
    """The environments of one runner, their observers, and the fragment being filled.

    Attributes:
        runner: Its number.
        observations: `[N, 128] float32`, the input of the next actions; a row of the fragment being
            filled, replaced with each step.
        policy_inputs: `[N, S] float32`, the policy's input besides `observations`; None with the
            `seed` action set, whose policy reads the observation alone.
        frame_stack: Input of a policy that reads pictures; None for one that reads RAM alone.
    """

    _buffer: FragmentBuffer

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
        explorer: Explorer | None = None,
    ) -> None:
        """Start N = `count` emulators, each with its own random stream.

        Without `starts`, episodes start at the save states of `config`, or at power-on. `follow`
        makes the follower of the n-th game; it may start episodes elsewhere. `assist` makes the
        assistance of the games that the policy plays, if any. Unless `begin`, the episodes start
        with a saved state or the first fragment. The `explorer` decides in the last games.
        """
        self._config, self.runner = config, runner
        drawn_from = [seed, runner, config.attempt, *([config.life] if config.life else [])]
        streams = np.random.SeedSequence(drawn_from).spawn(count + 1)
        self._seats = self._new_seats(streams[:count], starts)
        games = self.games
        if explorer is not None:
            for seat in self._seats[count - explorer.seats :]:
                seat.explores = seat.follower = ExploringSeat(explorer, seat.game)
        if follow is not None:
            for n, seat in enumerate(self._seats[: self._own]):
                seat.follower = follow(seat.game, n)
        self._assistance = None
        if assist is not None and self._own:
            self._assistance = assist(games[: self._own])
        self.frame_stack = FrameStack(count) if config.pictures else None
        self._recording = Recording(
            config,
            games,
            env_ids=[seat.name for seat in self._seats],
            rng=np.random.default_rng(streams[count]),
            seen=self._seen_last,
        )
        cartridge = games[0].cartridge
        words = words_of(cartridge.game, cartridge.data)
        self._rooms = RoomLog(count, words, pictures=config.screens is not None)
        if self._assistance is not None:
            self._assistance.on_reply = self._rooms.note_reply
        self._screen = ScreenFeed(config.screens, config.game.watch_fps, runner=runner, count=count)
        self._progress = _Progress(_FIRST_PACE if config.game.by_decisions else 1.0)
        self.observations = np.zeros((count, 128), dtype=np.float32)
        self.policy_inputs: npt.NDArray[np.float32] | None = None
        if config.game.by_decisions:
            self.policy_inputs = np.zeros((count, SIZE), dtype=np.float32)
        if begin:
            self._begin()

    @property
    def games(self) -> list[GameEnv]:
        return [seat.game for seat in self._seats]

    @property
    def count(self) -> int:
        return len(self._seats)

    @property
    def _own(self) -> int:
        """Number of environments that the policy plays, which are the first ones."""
        return sum(seat.explores is None for seat in self._seats)

    @property
    def played(self) -> npt.NDArray[np.int64]:
        """`[T, N]` actions of this fragment as they were played."""
        return self._buffer.actions

    def begin_fragment(self, steps: int, *, capture_quota: int, context: CaptureContext) -> None:
        if not self._progress.has_begun:
            self._begin()
        self._screen.open()
        stacks = None if self.frame_stack is None else self.frame_stack.stacks
        self._buffer = FragmentBuffer.begin(steps, self.observations, self.policy_inputs, stacks)
        self._read_deadlines(0)
        if self._assistance is not None:
            self._assistance.begin_fragment()
        base_steps = steps * self.count * self._progress.pace
        self._recording.begin_fragment(capture_quota, context, steps=base_steps)

    def ask_about(self, disagreement: Disagreement | None) -> None:
        """Select by the disagreement of another reward model from now on; None for no model."""
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
        helped, buffer, screen, own = self._assistance, self._buffer, self._screen, self._own
        buffer.actions[t] = actions
        if helped is not None:
            buffer.actions[t, :own] = helped.before_step(actions[:own], buffer.by_planner[t, :own])
            if helped.bonuses is not None:
                buffer.bonuses[t, :own] = helped.bonuses
        for n, seat in enumerate(self._seats[own:], start=own):
            assert seat.explores is not None
            buffer.actions[t, n] = seat.explores.decide()
        if screen.turned() and screen.meter is not None:
            screen.meter.resume_at(buffer.observations[t, screen.watched])
        ended = self._play_row(t, buffer.actions[t].tolist())
        if helped is not None:
            helped.after_step(ended)
        self._read_deadlines(t + 1)
        self.observations = buffer.observations[t + 1]
        if buffer.policy_inputs is not None:
            self.policy_inputs = buffer.policy_inputs[t + 1]
            self._read_inputs()
        self._progress.env_steps += self.count
        screen.publish_players(self.games, [seat.reward for seat in self._seats])

    def _play_row(self, t: int, chosen: list[int]) -> list[int]:
        """Play one decision in every environment; returns those whose episode ended.

        All environments play their first base step before any of them is evaluated: that keeps the
        emulator's code in the processor's cache.
        """
        seats, screen = self._seats, self._screen
        ended: list[int] = []
        started: list[tuple[int, bool]] = []
        for n, seat in enumerate(seats):
            seat.step.begin(chosen[n])
            button = seat.step.button()
            assert button is not None, "a decision has at least one base step"
            started.append((button, self._press(t, n, button)))
        for n, (seat, row) in enumerate(zip(seats, self._buffer.observations[t + 1], strict=True)):
            step = seat.step
            outcome = self._finish_base_step(n, row, *started[n])
            step.note(outcome)
            while (button := step.button()) is not None:
                if screen.is_drawn:
                    self._show(n)
                outcome = self._finish_base_step(n, row, button, self._press(t, n, button))
                step.note(outcome)
            self._end_decision(t, n, outcome)
            self._show(n)
            if outcome.terminated or outcome.truncated:
                self._end_episode(t, n, outcome)
                ended.append(n)
        return ended

    def _press(self, t: int, n: int, button: int) -> bool:
        if self._recording.recorders[n].at_border:
            self._recording.before_segment(t, n)
        helped, screen = self._assistance, self._screen
        render = self.frame_stack is not None or n in self._rooms.wanting
        if helped is not None and n in helped.pictured:
            render = True
        if n == screen.watched and screen.is_due():
            render = True
        game = self._seats[n].game
        game.emulator.step(button, self._config.game.frame_skip, render=render)
        return render

    def _finish_base_step(self, n: int, row: Row, button: int, render: bool) -> StepOutcome:
        """Evaluate a base step, which led to the observation `row`, and notify all observers."""
        seat, rooms = self._seats[n], self._rooms
        game = seat.game
        outcome = game.finish_step(button, row, render=render)
        if outcome is not UNEVENTFUL:
            seat.reward += outcome.reward
            if seat.explores is None:
                self._buffer.parts += outcome.parts
            if n == self._screen.measured and self._screen.meter is not None:
                self._screen.meter.note(outcome.reward, outcome.parts)
        if game.square_facts is not rooms.seen[n]:
            rooms.see(n, game)
        captured = self._recording.after_step(n, button, row, outcome)
        if captured is not None:
            rooms.note_capture(captured.capture)
        if seat.follower is not None:
            seat.follower.after_step(game.square_facts, button, outcome.wait)
        if self._assistance is not None and seat.explores is None:
            self._assistance.walked(n, button)
        if render and n in rooms.wanting:
            rooms.take(n, game)
        return outcome

    def _end_decision(self, t: int, n: int, outcome: StepOutcome) -> None:
        seat, buffer = self._seats[n], self._buffer
        now = seat.step.now
        buffer.rewards[t, n] = now.reward
        buffer.frames[t, n] = now.frames
        if now.died:
            buffer.died[t, n] = True
        buffer.base_steps += now.steps
        if seat.explores is not None:
            seat.explores.played(now)
        if self.frame_stack is not None and buffer.pictures is not None:
            screen = seat.game.emulator.screen()
            buffer.pictures.frames[t, n] = self.frame_stack.push(n, screen)
        if n == self._screen.measured and self._screen.meter is not None:
            self._screen.meter.after_step(
                buffer.observations[t + 1, n],
                terminated=outcome.terminated,
                truncated=outcome.truncated,
                frames=now.frames,
                died=now.died,
                lost=outcome.lost,
                env_step=self._progress.env_steps,
            )

    def _show(self, n: int) -> None:
        """Publish the picture of the last base step, after the meter has counted it."""
        screen = self._screen
        if screen.is_drawn and n == screen.watched:
            screen.show(self._seats[n].game, self._progress.env_steps)

    def end_fragment(
        self,
        action_dist_inputs: npt.NDArray[np.float32],
        action_logp: npt.NDArray[np.float32],
    ) -> Fragment:
        buffer, helped = self._buffer, self._assistance
        fragment = Fragment(
            runner=self.runner,
            continues=self._progress.fragments > 0,
            transitions=buffer.transitions,
            actions=buffer.actions,
            by_planner=buffer.by_planner,
            exploring=self.count - self._own,
            assistance=None if helped is None else helped.end_fragment(),
            action_logp=action_logp,
            action_dist_inputs=action_dist_inputs,
            rewards=buffer.rewards,
            reward_parts=dict(zip(PARTS, buffer.parts.tolist(), strict=True)),
            guidance=buffer.bonuses if helped is not None and helped.guides else None,
            episodes=tuple(episode for _, _, episode in buffer.episodes),
            env_index_of_end=tuple((t, n) for t, n, _ in buffer.episodes),
            captures=tuple(self._recording.captures),
            best=tuple(self._recording.best),
            pictures=buffer.pictures,
            segments_skipped=self._recording.skipped,
            rooms=self._rooms.end_fragment(self.games),
            base_steps=buffer.base_steps,
            frames_left=buffer.frames_left,
            policy_inputs=buffer.policy_inputs,
            final_policy_inputs=buffer.final_policy_inputs,
        )
        self._progress.fragments += 1
        self._progress.pace = buffer.base_steps / max(1, buffer.actions.size)
        return fragment

    def state_dict(self) -> dict[str, Any]:
        """State of the games between two fragments, as plain values; 40 ms per environment."""
        more = self._recording.state_dict()
        if self._assistance is not None:
            more["assistance"] = self._assistance.state_dict()
        seats, progress = self._seats, self._progress
        return more | {
            "decisions": {
                "pace": progress.pace,
                "steps": [seat.step.state_dict() for seat in seats],
            },
            "played": self._played,
            "observations": self.observations.copy(),
            "games": [seat.game.state_dict() for seat in seats],
            "watchers": [seat.follower and seat.follower.state_dict() for seat in seats],
            "returns": [seat.reward for seat in seats],
            "shown_at_start": [
                None if seat.shown is None else sorted(seat.shown) for seat in seats
            ],
            "episode_numbers": [seat.episodes for seat in seats],
            "seen": None if self.frame_stack is None else self.frame_stack.stacks.copy(),
            "env_steps": progress.env_steps,
            "fragments": progress.fragments,
        }

    def load_state_dict(self, state: dict[str, Any]) -> str | None:
        """Resume in the middle of the episodes.

        Returns the reason if that is impossible; nothing is changed then. Captures treat a resumed
        episode as a new one whose keyframe is the loaded state. A running takeover is dropped.

        Raises:
            KeyframeError: A save state in it is damaged.
            SaveStateError: The emulator cannot load one.
        """
        played = {"actions": "seed"} | state["played"]  # which 0.1.0 did not write
        if played != self._played:
            return f"the state is of {played}, but this run plays {self._played}"
        # Older releases did not save all of these.
        shown = state.get("shown_at_start", [None] * self.count)
        decisions, watchers = state.get("decisions"), state["watchers"] or [None] * self.count
        rows = np.zeros_like(self.observations)
        for n, seat in enumerate(self._seats):
            keyframe = seat.game.load_state_dict(state["games"][n], rows[n])
            seat.reward, seat.episodes = state["returns"][n], state["episode_numbers"][n]
            seat.shown = None if shown[n] is None else frozenset(shown[n])
            self._recording.resume_episode(n, f"{seat.name}-{seat.episodes}", keyframe, rows[n])
            self._rooms.begin_episode(n, seat.game)
            seat.episodes += 1
            if seat.explores is not None:
                seat.explores.abandon()
            elif seat.follower is not None and watchers[n]:
                seat.follower.load_state_dict(watchers[n])
            if decisions is not None:
                seat.step.load_state_dict(decisions["steps"][n])
        if self._assistance is not None:
            self._assistance.load_state_dict(state.get("assistance"))
        self._recording.load_state_dict(state)
        if self.frame_stack is not None and state.get("seen") is not None:
            self.frame_stack.stacks[:] = state["seen"]
        pace = self._progress.pace if decisions is None else decisions["pace"]
        self._progress = _Progress(pace, state["env_steps"], state["fragments"], has_begun=True)
        self.observations = rows
        self._read_inputs()
        if self._screen.meter is not None:
            self._screen.meter.resume_at(rows[self._screen.watched])
        return None

    @property
    def _played(self) -> dict[str, Any]:
        game, settings = self._seats[0].game, self._config.game
        return {
            "actions": settings.actions,
            "environments": self.count,
            "rom_sha256": game.cartridge.sha256,
            "emulator": game.emulator.identity.model_dump(mode="json"),
            "frame_skip": settings.frame_skip,
            "reward_preset": settings.reward_preset,
        }

    def close(self) -> None:
        for game in self.games:
            game.close()
        if self._assistance is not None:
            self._assistance.close()
        self._screen.close()

    def _new_seats(
        self, streams: Sequence[np.random.SeedSequence], starts: StartSource | None
    ) -> list[_Seat]:
        config, cache = self._config, EncoderCache()
        life = f"x{config.life:x}" if config.life else ""
        seats = []
        first: dict[Path | None, StartSource] = {}
        for n, stream in enumerate(streams):
            rom = config.game.rom_of(self.runner * len(streams) + n)
            rng, its_starts = np.random.default_rng(stream), starts or first.get(rom)
            game = GameEnv(config.game, rng, starts=its_starts, cache=cache, rom_path=rom)
            # Power-on takes 1-2 s of play: the others start at the state that the first reached.
            first[rom] = game.source.starts
            name = f"{config.run_id}-{config.attempt}-{self.runner}{life}-{n}"
            seats.append(_Seat(game, DecisionStep(game, gamma=config.gamma), name))
        return seats

    def _end_episode(self, t: int, n: int, outcome: StepOutcome) -> None:
        seat, buffer = self._seats[n], self._buffer
        game, row = seat.game, buffer.observations[t + 1, n]
        buffer.terminated[t, n], buffer.lost[t, n] = outcome.terminated, outcome.lost
        buffer.truncated[t, n] = outcome.truncated
        if outcome.truncated:
            final_input = None
            if self.policy_inputs is not None:
                final_input = np.empty(SIZE, dtype=np.float32)
                seat.step.write_policy_input(final_input)
            buffer.finals.append((t, n, row.copy(), final_input))
        reached = self._recording.milestones(n)
        names = [milestone.name for milestone in reached]
        shown = seat.shown
        episode = EpisodeSummary(
            length=game.steps,
            reward=seat.reward,
            rooms=game.rooms_visited,
            terminated=outcome.terminated,
            fault=outcome.fault,
            start=game.start.provenance,
            frames=game.frames,
            milestones=tuple(names),
            milestone_fraction=fraction(reached, self._recording.stories[n]),
            game=game.cartridge.game,
            gained=None if shown is None else len(set(names) - shown),
            died=(outcome.terminated and game.facts.dead)
            if self._config.game.ends_at_death
            else None,
        )
        buffer.episodes.append((t, n, episode))
        gained = set(names) - (shown or set())
        self._recording.end_episode(n, gained, seat.reward, outcome.ended)
        self._rooms.end_episode(n, game)
        self._begin_episode(n, row)

    def _begin(self) -> None:
        self._progress.has_begun = True
        for n in range(self.count):
            self._begin_episode(n, self.observations[n])
        self._read_inputs()

    def _begin_episode(self, n: int, row: Row) -> None:
        seat = self._seats[n]
        game = seat.game
        game.reset(row)
        seat.step.begin_episode()
        if self.frame_stack is not None:
            self.frame_stack.clear(n)
        seat.reward = 0.0
        seat.shown = frozenset(milestone.name for milestone in self._recording.milestones(n))
        self._recording.begin_episode(n, f"{seat.name}-{seat.episodes}", row, seat.shown)
        self._rooms.begin_episode(n, game)
        if seat.follower is not None:
            seat.follower.begin_episode(game.facts, game.start)
        if self._assistance is not None and seat.explores is None:
            self._assistance.begin_episode(n)
        if n == self._screen.measured and self._screen.meter is not None:
            self._screen.meter.begin_episode(row)
        seat.episodes += 1

    def _read_inputs(self) -> None:
        if self.policy_inputs is not None:
            for seat, row in zip(self._seats, self.policy_inputs, strict=True):
                seat.step.write_policy_input(row)

    def _read_deadlines(self, row: int) -> None:
        left = [seat.game.frames_left for seat in self._seats]
        self._buffer.frames_left[row] = [np.inf if each is None else each for each in left]

    def _seen_last(self, t: int, n: int, limit: int) -> npt.NDArray[np.float32]:
        seen = min(t, self._seats[n].step.before, limit - 1)
        return self._buffer.observations[t - seen : t + 1, n]
