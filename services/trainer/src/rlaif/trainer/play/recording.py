"""What is recorded of a runner's games: segments for the judges, the best episodes for films.

Both are streams of the game's own steps, whatever a policy decided.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.game.stories.milestones import Milestone, Story
from rlaif.trainer.play.capturing.recorder import CaptureContext, Ended, EnvRecorder, SegmentLog
from rlaif.trainer.play.capturing.selection import SegmentSelector, SelectionRules
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.followers.episode_log import (
    BestEpisodeRecorder,
    EpisodeLog,
    RecordedEpisode,
)
from rlaif.trainer.play.game_env import GameEnv, Row, StepOutcome
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import steps_lasting

Disagreement = Callable[[npt.NDArray[np.float32]], float]
"""How much the networks of a reward model disagree on `[B, 128]` observations."""

_SEEN_LAST = 16
"""Decisions before a segment on which the disagreement is measured."""


class Recording:
    """Recorders and logs of N environments; they share what selects segments.

    Attributes:
        captures: Segments of this fragment that were selected and have ended.
    """

    def __init__(
        self,
        config: EnvConfig,
        games: Sequence[GameEnv],
        story: Story,
        *,
        env_ids: Sequence[str],
        rng: np.random.Generator,
        seen: Callable[[int, int, int], npt.NDArray[np.float32]],
    ) -> None:
        """Record `games`, which captures call by `env_ids`; `rng` draws what is captured.

        `seen` gives the observations on which was decided last, `[S, 128]`: those up to row t of
        environment n, at most so many.
        """
        self._config, self._games, self._story = config, games, story
        self._rng, self._seen = rng, seen
        length = steps_lasting(config.game.episode_length, config.game.frame_skip)
        self._selector = SegmentSelector(
            SelectionRules(
                uniform_share=config.capture.uniform_share,
                episode_segments=length // config.segment_steps,
            ),
            rng,
        )
        self._disagreement: Disagreement | None = None
        named = list(zip(games, env_ids, strict=True))
        self._recorders = [self._recorder(game, env_id) for game, env_id in named]
        keep = config.capture.best_episodes
        logs = [self._log(game, env_id) for game, env_id in named] if keep else []
        self._best = BestEpisodeRecorder(logs, keep, story)
        self._newest: list[Row | None] = [None] * len(games)
        self.captures: list[SpooledCapture] = []

    def begin_fragment(self, quota: int, context: CaptureContext, *, steps: float) -> None:
        """Select at most `quota` segments in the `steps` of all games that come now."""
        self.captures = []
        self._best.begin_fragment()
        self._selector.begin_fragment(
            quota,
            starting=steps / self._config.segment_steps,
            pending=sum(recorder.chosen is not None for recorder in self._recorders),
            ranked=self._disagreement is not None,
        )
        for recorder in self._recorders:
            recorder.context = context

    @property
    def best(self) -> tuple[RecordedEpisode, ...]:
        return tuple(self._best.found)

    @property
    def skipped(self) -> int:
        return self._selector.skipped

    def ask_about(self, disagreement: Disagreement | None) -> None:
        """Select by another reward model's disagreement from now on; None: by none."""
        self._disagreement = disagreement
        self._selector.forget_scores()

    def pay_by(self, model: PayingModel | None) -> None:
        """Captures say what another reward model pays from now on; None: none does."""
        for recorder in self._recorders:
            recorder.paying = model

    def steps_of(self, n: int) -> int:
        """Steps of the episode of environment `n` so far; of its part since a resume."""
        return self._recorders[n].step

    def before_step(self, t: int, n: int) -> None:
        recorder = self._recorders[n]
        if recorder.at_border:
            newest = self._newest[n]
            assert newest is not None, "an episode begins before its steps"
            recorder.before_segment(newest, self._asked(t, n))

    def after_step(
        self, n: int, button: int, ended: Ended, row: Row, outcome: StepOutcome
    ) -> SpooledCapture | None:
        """Environment `n` played a step, which led to the observation `row`.

        Gives the segment captured by it.
        """
        facts = self._games[n].facts
        capture = self._recorders[n].after_step(button, ended, facts, row, outcome)
        self._newest[n] = row
        if capture is not None:
            self.captures.append(capture)
        if self._best.logs:
            self._best.logs[n].add(button, outcome.wait)
        return capture

    def begin_episode(self, n: int, name: str, row: Row) -> None:
        self._newest[n] = row
        game = self._games[n]
        self._recorders[n].begin_episode(name, game.start.keyframe, game.warm_up, game.facts)
        self._best.begin_episode(n, name, game)

    def resume_episode(self, n: int, name: str, keyframe: PackedKeyframe, row: Row) -> None:
        self._newest[n] = row
        self._recorders[n].begin_episode(name, keyframe, (), self._games[n].facts)
        self._best.skip_episode(n)

    def end_episode(
        self, n: int, reached: Sequence[Milestone], *, reward: float, ended: Ended
    ) -> None:
        self._best.end_episode(
            n,
            self._games[n],
            frozenset(milestone.name for milestone in reached),
            reward=reward,
            ended=ended,
            context=self._recorders[n].context,
        )

    def state_dict(self) -> dict[str, Any]:
        return {
            "select_rng": self._rng.bit_generator.state,
            "selected": self._selector.state_dict(),
            "best_ranks": self._best.ranks.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["select_rng"]
        self._best.ranks.load_state_dict(state.get("best_ranks", ()))
        self._selector.load_state_dict(state.get("selected", {"taken": {}, "shown": {}}))

    def _asked(self, t: int, n: int) -> Callable[[], float] | None:
        measure = self._disagreement
        return None if measure is None else lambda: measure(self._seen(t, n, _SEEN_LAST))

    def _log(self, game: GameEnv, env_id: str) -> EpisodeLog:
        return EpisodeLog(
            run_id=self._config.run_id,
            env_id=env_id,
            game=game.cartridge.identity,
            emulator=game.emulator,
            frame_skip=self._config.game.frame_skip,
        )

    def _recorder(self, game: GameEnv, env_id: str) -> EnvRecorder:
        return EnvRecorder(
            run_id=self._config.run_id,
            env_id=env_id,
            game=game.cartridge.identity,
            emulator=game.emulator,
            frame_skip=self._config.game.frame_skip,
            log=SegmentLog(self._config.segment_steps),
            keyframe_steps=self._config.capture.keyframe_steps,
            story=self._story,
            selector=self._selector,
        )
