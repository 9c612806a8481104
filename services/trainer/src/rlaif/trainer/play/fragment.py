"""Result of one `sample` call of an environment runner: arrays instead of episode objects."""

from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.policy_input.writer import without_room_numbers
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.followers.episode_log import RecordedEpisode
from rlaif.trainer.play.followers.frame_stack import HEIGHT, WIDTH, PictureFragment
from rlaif.trainer.play.followers.room_log import RoomsPlayed
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.play.start import PARTS as PART_OF_GAME
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import Bool, Float32, Transitions
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.search.jobs import Report


@dataclass(frozen=True)
class EpisodeSummary:
    """A finished episode.

    Attributes:
        length: Emulator steps.
        reward: Sum of the game's own reward, shaping not included.
        rooms: Distinct (group, room) pairs.
        terminated: True when the game ended it, False when a limit cut it.
        fault: Why the stall detector truncated it; None for any other end.
        start: Provenance of its start, such as `power-on` or a file's name.
        frames: Game frames, waits included.
        milestones: Milestones that the game showed at its end, those of its start included.
        milestone_fraction: Share of the main ones among them, 0 to 1.
        gained: Number of `milestones` that its start did not show; None if unknown.
        died: Whether a death ended it; None if deaths do not end episodes.
        game: Name of its game, such as `world-7-30`; None in older checkpoints.
    """

    length: int
    reward: float
    rooms: int
    terminated: bool
    fault: str | None = None
    start: str = ""
    frames: int = 0
    milestones: tuple[str, ...] = ()
    milestone_fraction: float = 0.0
    gained: int | None = None
    died: bool | None = None
    game: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether the search decided in it, or it started on a demonstration.

        Such episodes are excluded from all episode figures.
        """
        return self.start.startswith(PART_OF_GAME)


@dataclass(frozen=True)
class Fragment:
    """T decisions of N environments.

    Attributes:
        continues: Whether it follows the runner's last fragment without a gap, such as a restart.
        actions: `[T, N] int64`, as they were played: numbers of `rlaif.game.decisions`; 0 to 7 are
            the buttons, the only actions of the action set `seed`.
        action_logp: `[T, N] float32`, their log probability under the policy.
        action_dist_inputs: `[T, N, A] float32`, logits of A decisions.
        rewards: `[T, N] float32`, the game's own reward, discounted inside a decision.
        reward_parts: Part → undiscounted sum over the steps of the fragment.
        policy_inputs: `[T+1, N, S] float32`, the policy's input besides the observations
            (`rlaif.game.policy_input`), row by row like them; None with the action set `seed`.
        final_policy_inputs: `[K, S] float32`, the same of `transitions.final_observations`.
        frames_left: `[T+1, N] float32`, game frames until a deadline terminates the attempt, row by
            row like the observations; infinite without a deadline. None in fragments of releases
            before it was recorded.
        base_steps: Base steps; a decision is one or more.
        seconds: Wall time of its play.
        by_planner: `[T, N] bool`, the planner chose the action, not the policy (ADR 0023); all
            False without a planner.
        places: (square, episodes) of each square that episodes which ended inside visited.
        exploring: Number of the last environments that explored: the search chose their actions.
        explored: Their finds; None without any, and after a resume.
        guidance: `[T, N] float32`, rewards for following suggestions, beside `rewards`; None
            without guidance.
        episodes: Episodes that ended inside.
        env_index_of_end: (t, n) of each of `episodes`, in the same order.
        captures: Segments that were selected and ended inside.
        best: Episodes that ended inside and are among the best of this runner so far.
        segments_skipped: Segments that ended inside and were not selected.
        pictures: Input of a policy that reads pictures; None for one that reads RAM alone.
        policy_version: Number of updates of the policy that chose the actions.
        assistance: Figures of the language model; None without a planner.
        course: Figures of this runner's curriculum; None without one.
        rooms: Counts by room; None where they are not recorded.
    """

    runner: int
    continues: bool
    transitions: Transitions
    actions: npt.NDArray[np.int64]
    action_logp: npt.NDArray[np.float32]
    action_dist_inputs: npt.NDArray[np.float32]
    rewards: npt.NDArray[np.float32]
    reward_parts: dict[str, float] = field(default_factory=dict)
    by_planner: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    places: tuple[tuple[int, int], ...] = ()
    exploring: int = 0
    explored: Report | None = None
    guidance: npt.NDArray[np.float32] | None = None
    episodes: tuple[EpisodeSummary, ...] = ()
    env_index_of_end: tuple[tuple[int, int], ...] = ()
    captures: tuple[SpooledCapture, ...] = ()
    best: tuple[RecordedEpisode, ...] = ()
    segments_skipped: int = 0
    pictures: PictureFragment | None = None
    policy_version: int = 0
    assistance: AssistanceFigures | None = None
    policy_inputs: npt.NDArray[np.float32] | None = None
    final_policy_inputs: npt.NDArray[np.float32] | None = None
    frames_left: npt.NDArray[np.float32] | None = None
    base_steps: int = 0
    seconds: float = 0.0
    course: CurriculumFigures | None = None
    rooms: RoomsPlayed | None = None

    def __post_init__(self) -> None:
        if not self.by_planner.size:
            object.__setattr__(self, "by_planner", np.zeros(self.actions.shape, dtype=np.bool_))
        if self.by_planner.shape != self.actions.shape:
            raise ValueError(
                f"by_planner of {self.by_planner.shape} for actions of {self.actions.shape}"
            )

    def of_policy(self) -> "Fragment":
        """The fragment without the environments that explored, which are not learned from."""
        if not self.exploring:
            return self
        trans, own = self.transitions, np.s_[:, : -self.exploring]
        count = trans.terminated.shape[1] - self.exploring
        kept = trans.final_index[:, 1] < count
        every = zip(self.episodes, self.env_index_of_end, strict=True)
        ended = [(episode, at) for episode, at in every if at[1] < count]
        pictures = self.pictures
        if pictures is not None:
            pictures = PictureFragment(pictures.first[:count], pictures.frames[own])
        return replace(
            self,
            exploring=0,
            transitions=replace(
                trans,
                observations=trans.observations[own],
                terminated=trans.terminated[own],
                truncated=trans.truncated[own],
                final_index=trans.final_index[kept],
                final_observations=trans.final_observations[kept],
                frames=None if trans.frames is None else trans.frames[own],
                died=None if trans.died is None else trans.died[own],
                lost=None if trans.lost is None else trans.lost[own],
            ),
            actions=self.actions[own],
            action_logp=self.action_logp[own],
            action_dist_inputs=self.action_dist_inputs[own],
            rewards=self.rewards[own],
            by_planner=self.by_planner[own],
            guidance=None if self.guidance is None else self.guidance[own],
            policy_inputs=None if self.policy_inputs is None else self.policy_inputs[own],
            final_policy_inputs=None
            if self.final_policy_inputs is None
            else self.final_policy_inputs[kept],
            frames_left=None if self.frames_left is None else self.frames_left[own],
            episodes=tuple(episode for episode, _ in ended),
            env_index_of_end=tuple(at for _, at in ended),
            pictures=pictures,
        )

    @property
    def faults(self) -> dict[str, int]:
        return dict(Counter(episode.fault for episode in self.episodes if episode.fault))

    @property
    def steps(self) -> int:
        return int(self.actions.size)

    @property
    def frames(self) -> npt.NDArray[np.int32] | None:
        return self.transitions.frames

    def without_room_numbers(self) -> "Fragment":
        """The fragment with the observations of a policy of several worlds."""
        seen = self.transitions
        return replace(
            self,
            transitions=replace(
                seen,
                observations=without_room_numbers(seen.observations),
                final_observations=without_room_numbers(seen.final_observations),
            ),
        )


@dataclass
class FragmentBuffer:
    """Columns of the fragment that is being filled; see `Fragment`.

    Attributes:
        observations: `[T+1, N, 128] float32`; row t is the input of decision t.
        policy_inputs: `[T+1, N, S] float32`, likewise; None with the `seed` action set.
        bonuses: Rewards for following suggestions.
        parts: `[P] float64`, sums of the parts of the reward.
        pictures: Pictures read by the policy; None for one that reads RAM alone.
        finals: (t, n, observation, policy input) after each truncated step.
        episodes: (t, n, episode) of each that ended.
    """

    observations: Float32
    policy_inputs: Float32 | None
    pictures: PictureFragment | None
    actions: npt.NDArray[np.int64]
    by_planner: Bool
    rewards: Float32
    bonuses: Float32
    terminated: Bool
    truncated: Bool
    frames: npt.NDArray[np.int32]
    died: Bool
    lost: Bool
    frames_left: Float32
    parts: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(PARTS)))
    base_steps: int = 0
    finals: list[tuple[int, int, Float32, Float32 | None]] = field(default_factory=list)
    episodes: list[tuple[int, int, EpisodeSummary]] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        steps: int,
        observations: Float32,
        policy_inputs: Float32 | None,
        stacks: npt.NDArray[np.uint8] | None,
    ) -> "FragmentBuffer":
        """Start T = `steps` steps from `[N, …]` observations, policy inputs and stacks."""
        shape = (steps, len(observations))
        pictures = None
        if stacks is not None:
            frames = np.zeros((*shape, HEIGHT, WIDTH), dtype=np.uint8)
            pictures = PictureFragment(stacks.copy(), frames)
        return cls(
            observations=_column(steps, observations),
            policy_inputs=None if policy_inputs is None else _column(steps, policy_inputs),
            pictures=pictures,
            actions=np.zeros(shape, dtype=np.int64),
            by_planner=np.zeros(shape, dtype=np.bool_),
            rewards=np.zeros(shape, dtype=np.float32),
            bonuses=np.zeros(shape, dtype=np.float32),
            terminated=np.zeros(shape, dtype=np.bool_),
            truncated=np.zeros(shape, dtype=np.bool_),
            frames=np.zeros(shape, dtype=np.int32),
            died=np.zeros(shape, dtype=np.bool_),
            lost=np.zeros(shape, dtype=np.bool_),
            frames_left=np.zeros((steps + 1, shape[1]), dtype=np.float32),
        )

    @property
    def transitions(self) -> Transitions:
        index = np.array([(t, n) for t, n, _, _ in self.finals], dtype=np.int64)
        rows = [row for _, _, row, _ in self.finals]
        return Transitions(
            observations=self.observations,
            terminated=self.terminated,
            truncated=self.truncated,
            final_index=index.reshape(-1, 2),
            final_observations=_stacked(rows, self.observations),
            frames=self.frames,
            died=self.died,
            lost=self.lost,
        )

    @property
    def final_policy_inputs(self) -> Float32 | None:
        if self.policy_inputs is None:
            return None
        return _stacked([row for *_, row in self.finals if row is not None], self.policy_inputs)


def _column(steps: int, first: Float32) -> Float32:
    column = np.zeros((steps + 1, *first.shape), dtype=np.float32)
    column[0] = first
    return column


def _stacked(rows: list[Float32], like: Float32) -> Float32:
    return np.array(rows, dtype=np.float32).reshape(-1, like.shape[-1])


def plain(fragment: Fragment) -> dict[str, Any]:
    """A fragment as plain values and arrays, for a checkpoint."""
    return {
        **_by_field(fragment),
        "explored": None,
        "transitions": _by_field(fragment.transitions),
        "episodes": [asdict(episode) for episode in fragment.episodes],
        "captures": [captured.pack() for captured in fragment.captures],
        "best": [episode.pack() for episode in fragment.best],
        "pictures": None if fragment.pictures is None else _by_field(fragment.pictures),
        "assistance": None if fragment.assistance is None else fragment.assistance.plain(),
        "rooms": None if fragment.rooms is None else fragment.rooms.plain(),
        "course": None if fragment.course is None else fragment.course.plain(),
    }


def _by_field(record: Fragment | Transitions | PictureFragment) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def fragment_of(values: dict[str, Any]) -> Fragment:
    """Restore a fragment from the output of `plain`, also of an older release."""
    known = {each.name for each in fields(Fragment)}
    return Fragment(
        **{
            **{name: value for name, value in values.items() if name in known},
            "transitions": Transitions(**values["transitions"]),
            "places": tuple(map(tuple, values.get("places", ()))),
            "episodes": tuple(EpisodeSummary(**each) for each in values["episodes"]),
            "captures": tuple(SpooledCapture.unpack(each) for each in values["captures"]),
            "best": tuple(RecordedEpisode.unpack(each) for each in values.get("best", ())),
            "pictures": PictureFragment(**values["pictures"]) if values.get("pictures") else None,
            "assistance": AssistanceFigures.of(values["assistance"])
            if values.get("assistance")
            else None,
            "rooms": RoomsPlayed.of(values["rooms"]) if values.get("rooms") else None,
            "course": CurriculumFigures.of(values["course"]) if values.get("course") else None,
        }
    )
