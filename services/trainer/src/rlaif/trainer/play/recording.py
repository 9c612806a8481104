"""Recordings of a runner's games: segments for the judges, the best episodes for films.

Both are streams of the game's own steps, independent of decisions.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import Milestone, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.capturing.recorder import CaptureContext, EnvRecorder, SegmentLog
from rlaif.trainer.play.capturing.selection import SegmentSelector, SelectionRules
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.followers.episode_log import BestRanks, EpisodeLog, RecordedEpisode
from rlaif.trainer.play.game_env import Ended, GameEnv, Row, StepOutcome
from rlaif.trainer.play.start import PARTS
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import steps_lasting

Disagreement = Callable[[npt.NDArray[np.float32]], float]
"""Disagreement of the networks of a reward model on `[B, 128]` observations."""

_SEEN_LAST = 16
"""Decisions before a segment on which the disagreement is measured."""


class Recording:
    """Recorders and logs of N environments, with a shared selection of segments.

    Attributes:
        stories: Milestones of each environment's game.
        recorders: One for each environment.
        captures: Segments of this fragment that were selected and have ended.
        best: Episodes of this fragment that are among the best so far.
    """

    def __init__(
        self,
        config: EnvConfig,
        games: Sequence[GameEnv],
        *,
        env_ids: Sequence[str],
        rng: np.random.Generator,
        seen: Callable[[int, int, int], npt.NDArray[np.float32]],
    ) -> None:
        """Record `games`, which captures call by `env_ids`; `rng` draws what is captured.

        `seen(t, n, limit)` returns the observations of the last decisions, `[S, 128]`: those up to
        row t of environment n, at most `limit`.
        """
        self._games, self._rng, self._seen = games, rng, seen
        self._segment_steps = config.segment_steps
        self.stories = [story_of(game.cartridge.game, game.cartridge.data) for game in games]
        length = steps_lasting(config.game.episode_length, config.game.frame_skip)
        rules = SelectionRules(config.capture.uniform_share, length // config.segment_steps)
        self._selector = SegmentSelector(rules, rng)
        self._disagreement: Disagreement | None = None
        self.recorders = [
            EnvRecorder(
                segment_recorder(game, config.run_id, env_id, config.game.frame_skip),
                game.emulator,
                self._selector,
                SegmentLog(config.segment_steps),
                frame_skip=config.game.frame_skip,
                keyframe_steps=config.capture.keyframe_steps,
                story=story,
            )
            for game, env_id, story in zip(games, env_ids, self.stories, strict=True)
        ]
        self._ranks = BestRanks(config.capture.best_episodes)
        self._logs = [
            EpisodeLog(
                segment_recorder(game, config.run_id, env_id, config.game.frame_skip),
                game.emulator,
            )
            for game, env_id in zip(games, env_ids, strict=True)
            if config.capture.best_episodes
        ]
        self.captures: list[SpooledCapture] = []
        self.best: list[RecordedEpisode] = []

    def begin_fragment(self, quota: int, context: CaptureContext, *, steps: float) -> None:
        self.captures, self.best = [], []
        self._selector.begin_fragment(
            quota,
            starting=steps / self._segment_steps,
            pending=sum(recorder.is_chosen for recorder in self.recorders),
            ranked=self._disagreement is not None,
        )
        for recorder in self.recorders:
            recorder.context = context

    @property
    def skipped(self) -> int:
        return self._selector.skipped

    def ask_about(self, disagreement: Disagreement | None) -> None:
        self._disagreement = disagreement
        self._selector.forget_scores()

    def pay_by(self, model: PayingModel | None) -> None:
        for recorder in self.recorders:
            recorder.paying = model

    def milestones(self, n: int) -> tuple[Milestone, ...]:
        return milestones_reached(read_blocks(self._games[n].emulator), self.stories[n])

    def before_segment(self, t: int, n: int) -> None:
        measure = self._disagreement
        asked = None if measure is None else lambda: measure(self._seen(t, n, _SEEN_LAST))
        self.recorders[n].before_segment(asked)

    def after_step(
        self, n: int, button: int, row: Row, outcome: StepOutcome
    ) -> SpooledCapture | None:
        """Environment `n` played a step, which led to the observation `row`.

        Returns the segment that was captured by it.
        """
        capture = self.recorders[n].after_step(button, self._games[n].square_facts, row, outcome)
        if capture is not None:
            is_part = self._games[n].start.provenance.startswith(PARTS)
            whole = capture.capture.model_copy(update={"from_own_start": not is_part})
            capture = replace(capture, capture=whole)
            self.captures.append(capture)
        if self._logs:
            self._logs[n].add(button, outcome.wait)
        return capture

    def begin_episode(self, n: int, name: str, row: Row, shown: frozenset[str]) -> None:
        """Start an episode of environment `n` at `row`, in a state with these milestones."""
        game = self._games[n]
        keyframe, warm_up = game.start.keyframe, game.start.warm_up
        self.recorders[n].begin_episode(name, keyframe, warm_up, row, game.facts, shown)
        if self._logs:
            self._logs[n].begin(name, keyframe, warm_up)

    def resume_episode(self, n: int, name: str, keyframe: PackedKeyframe, row: Row) -> None:
        """Resume an episode of environment `n`, which is a new one for its captures."""
        shown = frozenset(milestone.name for milestone in self.milestones(n))
        self.recorders[n].begin_episode(name, keyframe, (), row, self._games[n].facts, shown)
        if self._logs:
            self._logs[n].keyframe = None

    def end_episode(self, n: int, gained: Collection[str], reward: float, ended: Ended) -> None:
        """Keep the episode of environment `n` if it is among the best.

        `gained` are its milestones that its start did not show.
        """
        if self._logs and self._logs[n].keyframe and self._ranks.takes((len(gained), reward)):
            whole = self._logs[n].finish(ended, self.recorders[n].context)
            rooms = self._games[n].rooms_visited
            self.best.append(RecordedEpisode(tuple(sorted(gained)), reward, rooms, whole))

    def state_dict(self) -> dict[str, Any]:
        return {
            "select_rng": self._rng.bit_generator.state,
            "selected": self._selector.state_dict(),
            "best_ranks": self._ranks.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["select_rng"]
        self._ranks.load_state_dict(state.get("best_ranks", ()))
        self._selector.load_state_dict(state.get("selected", {"taken": {}, "shown": {}}))


def segment_recorder(game: GameEnv, run_id: str, env_id: str, frame_skip: int) -> SegmentRecorder:
    """A recorder for the steps of a game."""
    return SegmentRecorder(
        run_id=run_id,
        env_id=env_id,
        game=game.cartridge.identity,
        emulator=game.emulator.identity,
        frame_skip=frame_skip,
    )
