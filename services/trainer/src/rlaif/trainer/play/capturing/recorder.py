"""Captures the selected segments of an episode; reads the emulator only at their borders."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.captures import Amount, RoomNumber, SegmentPay
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.reward_net.pay import step_pay
from rlaif.trainer.play.capturing.selection import FirstSightings, Reason, SegmentSelector
from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.play.game_env import StepOutcome
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.ledger import NOTHING
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import discount_of
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_DECIMALS = 6
"""Decimals of potentials and rewards; a network's outputs differ more between processors."""

_LONGER_FOR_LATER = 15
"""Factor of the permitted keyframe age while a segment is not selected. Keyframes cost about 1 % of
the speed; one for each segment would cost 10 %."""


class SegmentLog:
    """Records one segment after the other; 0.3 µs per step."""

    def __init__(self, steps: int) -> None:
        self.max_steps = steps
        self._rows: Float32 = np.empty((steps + 1, 0), dtype=np.float32)
        self._clear()

    def _clear(self) -> None:
        self._steps = 0
        self._game: list[Amount] = []
        self._parts: dict[str, list[Amount]] = {}
        self._frames: list[int] = []
        self._dead: list[bool] = []
        self._rooms: dict[RoomNumber, None] = {}

    @property
    def rooms(self) -> tuple[RoomNumber, ...]:
        return tuple(self._rooms)

    def begin(self, row: Float32, facts: GameFacts) -> None:
        self._clear()
        if self._rows.shape[1] != len(row):
            self._rows = np.empty((self.max_steps + 1, len(row)), dtype=np.float32)
        self._rows[0] = row
        self._enter(facts)

    def note(
        self, row: Float32, facts: GameFacts, reward: float, parts: Float32, *, frames: int
    ) -> None:
        """Add a step of `frames` frames to `row` and `facts`, with the parts of its reward."""
        step = self._steps
        self._steps += 1
        self._rows[self._steps] = row
        self._frames.append(frames)
        self._dead.append(facts.dead)
        self._enter(facts)
        if reward:
            self._game.append((step, reward))
        if parts is NOTHING:
            return
        for part in np.flatnonzero(parts):
            self._parts.setdefault(PARTS[part], []).append((step, float(parts[part])))

    def _enter(self, facts: GameFacts) -> None:
        if facts.running and facts.settled:
            self._rooms.setdefault((facts.group, facts.room))

    def pay(self, model: PayingModel | None, *, terminated: bool) -> SegmentPay:
        """Rewards of the segment, with those of `model`; about 0.3 ms.

        `terminated`: whether the game ended with the last step.
        """
        game = {
            "game": tuple(self._game),
            "parts": {name: tuple(amounts) for name, amounts in self._parts.items()},
        }
        if model is None:
            return SegmentPay(**game)
        potentials = model.potential(self._rows[: self._steps + 1]).astype(np.float64)
        if not np.isfinite(potentials).all():  # the learner rejects such a model
            return SegmentPay(**game, reward_model_version=model.version)
        counted = potentials - potentials[0]
        after = counted[1:].copy()
        if terminated:
            after[-1] = 0.0
        gamma = np.array([discount_of(n, model.gamma) for n in self._frames])
        paid = model.weight * step_pay(counted[:-1], after, gamma=gamma)
        if model.mode == "height":
            rises = np.diff(np.maximum.accumulate(potentials))
            paid = model.weight * np.where(self._dead, 0.0, rises)
        return SegmentPay(
            **game,
            reward_model_version=model.version,
            weight=model.weight,
            gamma=model.gamma,
            potentials=_rounded(potentials),
            model=_rounded(paid),
        )


def _rounded(values: Float64) -> tuple[float, ...]:
    return tuple(values.round(_DECIMALS).tolist())


class FirstSightingsReader:
    """Follows one environment, segment by segment."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def begin_episode(self, facts: GameFacts, shown: frozenset[str]) -> None:
        self._known_steps = set(shown)
        self._known_rooms = {facts.room_index}
        self._entered: list[int] = []
        self._place = (facts.group, facts.room)

    def note_step(self, facts: GameFacts) -> None:
        if (facts.group, facts.room) == self._place or not facts.settled:
            return
        self._place = (facts.group, facts.room)
        if facts.room_index not in self._known_rooms:
            self._known_rooms.add(facts.room_index)
            self._entered.append(facts.room_index)

    def collect(self, ram: RamBlocks) -> FirstSightings:
        """First sightings since the last call, at the end of each segment; about 10 µs."""
        found = {step.name for step in milestones_reached(ram, self._story)}
        sightings = FirstSightings(tuple(self._entered), tuple(sorted(found - self._known_steps)))
        self._known_steps |= found
        self._entered = []
        return sightings


@dataclass(frozen=True)
class CaptureContext:
    """The common fields of the captures of one fragment; see `Capture`."""

    env_step: int = 0
    policy_iteration: int = 0
    reward_model_version: int | None = None


@dataclass
class _Episode:
    """The running episode, since its start or a resume.

    Attributes:
        keyframe: The newest save state.
        row: The newest observation.
        facts: The newest facts.
        step: Steps so far.
        chosen: Why the running segment was chosen before its first step; None if it was not.
    """

    id: str
    keyframe: PackedKeyframe
    row: Float32
    facts: GameFacts
    step: int = 0
    chosen: Reason | None = None


class EnvRecorder:
    """Captures the selected segments of one environment.

    A segment is `log.max_steps` base steps of one episode; only whole ones are captured. It is
    chosen before it is played, or at its end for what it showed. The RAM digests that make a
    capture verifiable (0.1 ms each) are taken at the start of segments that may be captured, and at
    the end of those that are; a new keyframe (about 1 ms) only when one would start too far from
    the last.

    Attributes:
        at_border: Whether the last segment ended with the last step.
        context: Common fields of all later captures.
        paying: The live reward model; captures contain its shaping rewards.
    """

    _episode: _Episode

    def __init__(
        self,
        recorder: SegmentRecorder,
        emulator: Emulator,
        selector: SegmentSelector,
        log: SegmentLog,
        *,
        frame_skip: int,
        keyframe_steps: int,
        story: Story,
    ) -> None:
        self._recorder, self._emulator = recorder, emulator
        self._selector, self._log = selector, log
        self._frame_skip = frame_skip
        self._keyframe_frames = keyframe_steps * STEP_FRAMES
        self._sightings = FirstSightingsReader(story)
        self.paying: PayingModel | None = None
        self.context = CaptureContext()

    def begin_episode(
        self,
        episode_id: str,
        keyframe: PackedKeyframe,
        warm_up: Sequence[tuple[int, int]],
        row: Float32,
        facts: GameFacts,
        shown: frozenset[str],
    ) -> None:
        """Start an episode at `keyframe`, after `warm_up`, in a state with these milestones."""
        self._episode = _Episode(episode_id, keyframe, row, facts)
        self.at_border = True
        self._recorder.keyframe(keyframe.sha256, step=-len(warm_up))
        for action, wait in warm_up:
            self._recorder.add_step(action, wait=wait)
        self._sightings.begin_episode(facts, shown)

    @property
    def is_chosen(self) -> bool:
        return self._episode.chosen is not None

    def before_segment(self, disagreement: Callable[[], float] | None) -> None:
        """Choose a segment before its first step, or record its start, to choose it at its end.

        `disagreement` is that of the reward model's networks; None without an ensemble.
        """
        episode = self._episode
        episode.chosen = self._selector.at_start(episode.id, disagreement)
        if episode.chosen is None and not self._selector.looks_back(episode.id):
            return
        longest = self._keyframe_frames * (1 if episode.chosen else _LONGER_FOR_LATER)
        if self._recorder.frames_since_keyframe > longest:
            episode.keyframe = pack_keyframe(self._emulator.save_state())
            self._recorder.keyframe(episode.keyframe.sha256, step=episode.step)
        self._recorder.start_segment(self._emulator.ram_digest())
        self._log.begin(episode.row, episode.facts)

    def after_step(
        self, action: int, facts: GameFacts, row: Float32, outcome: StepOutcome
    ) -> SpooledCapture | None:
        """Add a step; returns the capture at the last step of a selected segment."""
        episode, recorder = self._episode, self._recorder
        recorder.add_step(action, wait=outcome.wait)
        episode.step += 1
        episode.row = row
        if recorder.in_segment:
            frames = self._frame_skip + outcome.wait
            self._log.note(row, facts, outcome.reward, outcome.parts, frames=frames)
        if facts is not episode.facts:
            episode.facts = facts
            self._sightings.note_step(facts)
        self.at_border = episode.step % self._log.max_steps == 0
        return self._end_segment(outcome) if self.at_border else None

    def _end_segment(self, outcome: StepOutcome) -> SpooledCapture | None:
        episode, recorder = self._episode, self._recorder
        chosen, episode.chosen = episode.chosen, None
        seen_first = self._sightings.collect(read_blocks(self._emulator))
        reason = self._selector.at_end(episode.id, chosen, seen_first, provable=recorder.in_segment)
        if reason is None:
            recorder.drop_segment()
            return None
        capture = recorder.finish_segment(
            episode_id=episode.id,
            index=episode.step // self._log.max_steps - 1,
            ram_sha256=self._emulator.ram_digest(),
            ended=outcome.ended,
            selected_by=reason,
            **asdict(self.context),
        )
        more = {
            "rooms": self._log.rooms,
            "milestones": seen_first.milestones,
            "pay": self._log.pay(self.paying, terminated=outcome.terminated and not outcome.lost),
        }
        return SpooledCapture(capture.model_copy(update=more), episode.keyframe.data)
