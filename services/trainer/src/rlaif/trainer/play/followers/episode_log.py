"""Whole episodes as captures: start, actions, digests. Films are rendered from them by replay."""

import heapq
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.game_env import Ended
from rlaif.trainer.run_folder.spool import SpooledCapture

_FOLDER = "best_episodes"
_SUFFIX = ".episode"


Rank = tuple[int, float]
"""Order of episodes: milestones reached since the start, then return."""


@dataclass(frozen=True)
class RecordedEpisode:
    """An episode from its first to its last step.

    Attributes:
        milestones: Milestones reached since its start.
        reward: Sum of the game's own reward.
        rooms: Distinct rooms.
        whole: The episode as one capture; the prefix is its warm-up.
    """

    milestones: tuple[str, ...]
    reward: float
    rooms: int
    whole: SpooledCapture

    @property
    def rank(self) -> Rank:
        return len(self.milestones), self.reward

    def pack(self) -> bytes:
        head = {"milestones": self.milestones, "reward": self.reward, "rooms": self.rooms}
        return json.dumps(head).encode() + b"\n" + self.whole.pack()

    @classmethod
    def unpack(cls, data: bytes) -> "RecordedEpisode":
        """Parse the output of `pack`; raises `ValueError` for anything else."""
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        try:
            return cls(
                tuple(head["milestones"]),
                head["reward"],
                head["rooms"],
                SpooledCapture.unpack(rest),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a recorded episode: {error!r}") from error


class EpisodeLog:
    """Records the running episode of one environment; about two bytes per step.

    Attributes:
        keyframe: Start of the episode; None while none is recorded.
    """

    def __init__(self, recorder: SegmentRecorder, emulator: Emulator) -> None:
        self._recorder, self._emulator = recorder, emulator
        self.keyframe: PackedKeyframe | None = None
        self._episode_id = ""

    def begin(
        self, episode_id: str, keyframe: PackedKeyframe, warm_up: Sequence[tuple[int, int]]
    ) -> None:
        self._episode_id, self.keyframe = episode_id, keyframe
        self._recorder.keyframe(keyframe.sha256, step=-len(warm_up))
        for action, wait in warm_up:
            self._recorder.add_step(action, wait=wait)
        self._recorder.start_segment(self._emulator.ram_digest())

    def add(self, action: int, wait: int) -> None:
        if self.keyframe is not None:
            self._recorder.add_step(action, wait=wait)

    def finish(self, ended: Ended, context: CaptureContext) -> SpooledCapture:
        assert self.keyframe is not None
        capture = self._recorder.finish_segment(
            episode_id=self._episode_id,
            index=0,
            ram_sha256=self._emulator.ram_digest(),
            ended=ended,
            **asdict(context),
        )
        named = capture.model_copy(
            update={"segment_id": f"{self._episode_id}-whole", "selected_by": "best"}
        )
        return SpooledCapture(named, self.keyframe.data)


class BestRanks:
    """The ranks of the best episodes so far; decides which episodes are recorded."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._ranks: list[Rank] = []

    def takes(self, rank: Rank) -> bool:
        if len(self._ranks) < self._keep:
            heapq.heappush(self._ranks, rank)
            return True
        return bool(self._ranks) and heapq.heappushpop(self._ranks, rank) != rank

    def state_dict(self) -> list[Rank]:
        return list(self._ranks)

    def load_state_dict(self, ranks: Sequence[Sequence[float]]) -> None:
        self._ranks = [(int(steps), float(reward)) for steps, reward in ranks]
        heapq.heapify(self._ranks)


@dataclass(frozen=True)
class BestEpisodes:
    """A directory of the best `keep` episodes of a run, created with the first one."""

    directory: Path
    keep: int

    @classmethod
    def of_run(cls, run_directory: Path, keep: int) -> "BestEpisodes":
        return cls(run_directory / _FOLDER, keep)

    def add(self, episodes: Iterable[RecordedEpisode]) -> None:
        new = list(episodes)
        if not new:
            return
        for episode in new:
            self._write(episode)
        for path, _ in self.best()[self.keep :]:
            path.unlink(missing_ok=True)

    def best(self) -> list[tuple[Path, RecordedEpisode]]:
        found = []
        for path in sorted(self.directory.glob(f"*{_SUFFIX}")):
            try:
                found.append((path, RecordedEpisode.unpack(path.read_bytes())))
            except (OSError, ValueError):
                continue
        return sorted(found, key=lambda each: each[1].rank, reverse=True)

    def _write(self, episode: RecordedEpisode) -> None:
        path = self.directory / f"{episode.whole.capture.episode_id}{_SUFFIX}"
        write_whole(path, episode.pack())
