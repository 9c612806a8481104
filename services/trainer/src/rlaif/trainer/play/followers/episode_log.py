"""Whole episodes as captures: start, actions, digests. Films are made of them, by replay, later."""

import heapq
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlaif.contracts.game.captures import GameIdentity
from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.trainer.play.capturing.recorder import CaptureContext, Ended
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.run_folder.spool import SpooledCapture

_FOLDER = "best_episodes"
_SUFFIX = ".episode"


Rank = tuple[int, float]
"""Story steps reached since the start, then return: what makes an episode one of the best."""


@dataclass(frozen=True)
class RecordedEpisode:
    """An episode from its first to its last step.

    Attributes:
        milestones: Story steps reached since its start.
        reward: Sum of the game's own reward.
        rooms: Distinct rooms.
        whole: All of it as one capture; the prefix is its warm-up.
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
        """Read what `pack` wrote; raises `ValueError` for anything else."""
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
    """Records the running episode of one environment; about two bytes per step."""

    def __init__(
        self, *, run_id: str, env_id: str, game: GameIdentity, emulator: Emulator, frame_skip: int
    ) -> None:
        self._emulator = emulator
        self._recorder = SegmentRecorder(
            run_id=run_id,
            env_id=env_id,
            game=game,
            emulator=emulator.identity,
            frame_skip=frame_skip,
        )
        self._keyframe: PackedKeyframe | None = None
        self._episode_id = ""

    def begin(
        self, episode_id: str, keyframe: PackedKeyframe, warm_up: Sequence[tuple[int, int]]
    ) -> None:
        self._episode_id, self._keyframe = episode_id, keyframe
        self._recorder.keyframe(keyframe.sha256, step=-len(warm_up))
        for action, wait in warm_up:
            self._recorder.add_step(action, wait=wait)
        self._recorder.start_segment(self._emulator.ram_digest())

    def skip(self) -> None:
        self._keyframe = None

    def add(self, action: int, wait: int) -> None:
        if self._keyframe is not None:
            self._recorder.add_step(action, wait=wait)

    @property
    def records(self) -> bool:
        return self._keyframe is not None

    def finish(self, ended: Ended, context: CaptureContext) -> SpooledCapture:
        assert self._keyframe is not None
        capture = self._recorder.finish_segment(
            episode_id=self._episode_id,
            index=0,
            ram_sha256=self._emulator.ram_digest(),
            ended=ended,
            env_step=context.env_step,
            policy_iteration=context.policy_iteration,
            reward_model_version=context.reward_model_version,
        )
        named = capture.model_copy(
            update={"segment_id": f"{self._episode_id}-whole", "selected_by": "best"}
        )
        return SpooledCapture(named, self._keyframe.data)


class BestRanks:
    """The ranks of the best episodes so far; says which episodes are worth recording."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._ranks: list[Rank] = []

    def takes(self, rank: Rank) -> bool:
        if self._keep == 0:
            return False
        if len(self._ranks) < self._keep:
            heapq.heappush(self._ranks, rank)
            return True
        return rank > self._ranks[0] and heapq.heapreplace(self._ranks, rank) is not None

    def state_dict(self) -> list[Rank]:
        return list(self._ranks)

    def load_state_dict(self, ranks: Sequence[Sequence[float]]) -> None:
        self._ranks = [(int(steps), float(reward)) for steps, reward in ranks]
        heapq.heapify(self._ranks)


class BestEpisodeRecorder:
    """Records the running episodes of all environments, and gives those among the best so far.

    Attributes:
        logs: One an environment; empty when no episode is kept.
        found: Episodes of this fragment that are among the best.
    """

    def __init__(self, logs: Sequence[EpisodeLog], keep: int, story: Story) -> None:
        self.logs = logs
        self.ranks = BestRanks(keep)
        self.found: list[RecordedEpisode] = []
        self._story = story
        self._first_steps: list[frozenset[str]] = [frozenset()] * len(logs)

    def begin_fragment(self) -> None:
        self.found = []

    def begin_episode(self, n: int, episode_id: str, game: GameEnv) -> None:
        """Environment `n` starts an episode; what its start shows does not count for it."""
        if self.logs:
            self.logs[n].begin(episode_id, game.start.keyframe, game.warm_up)
            shown = milestones_reached(read_blocks(game.emulator), self._story)
            self._first_steps[n] = frozenset(step.name for step in shown)

    def skip_episode(self, n: int) -> None:
        if self.logs:
            self.logs[n].skip()

    def end_episode(
        self,
        n: int,
        game: GameEnv,
        reached: frozenset[str],
        *,
        reward: float,
        ended: Ended,
        context: CaptureContext,
    ) -> None:
        """Keep the episode that has just ended in environment `n` if it is among the best."""
        if not self.logs or not self.logs[n].records:
            return
        gained = tuple(sorted(reached - self._first_steps[n]))
        if self.ranks.takes((len(gained), reward)):
            whole = self.logs[n].finish(ended, context)
            self.found.append(RecordedEpisode(gained, reward, game.rooms_visited, whole))


@dataclass(frozen=True)
class BestEpisodes:
    """A directory of `*.episode` files, made when the first one comes; the best `keep` stay."""

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
