"""Plays a frozen policy from power-on and notes how far each episode comes.

Episodes draw their starts and decisions from streams of the trial's seed and their own number
alone, so that the same trial is played on any number of processes.
"""

from collections.abc import Callable, Sequence

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.stories.milestones import MilestoneLatch, Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.learner import trained
from rlaif.trainer.learner.evaluation_games import EvaluationTask, Forward, play
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_log import EpisodeLog, RecordedEpisode
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.run_folder import trained_policy
from rlaif.trainer.run_folder.evaluations import EvaluatedEpisode
from rlaif.trainer.run_folder.quest_trials import QuestEpisode, TrialSettings
from rlaif.trainer.run_folder.trained_policy import PolicyCard
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.capture import CaptureSettings
from rlaif.trainer.settings.game import STEP_FRAMES

_ESSENCES = address("wEssencesObtained")


Told = Callable[[QuestEpisode, RecordedEpisode | None], None]


def play_trial(
    trial: TrialSettings, numbers: Sequence[int], tell: Told, *, record: bool = False
) -> None:
    """Play the episodes of these numbers; each is told when it is over, in no fixed order.

    Args:
        trial: What is played.
        numbers: Of the episodes; each by itself is the same in any company.
        tell: Called with each episode, and its record.
        record: Whether to record episodes, to be shown or filmed; else their record is None.

    Raises:
        TrainedPolicyError: The policy is missing or damaged, or does not fit.
    """
    card = trained_policy.read_card(trial.folder)
    cartridge = load_cartridge(trial.rom_path)
    trained_policy.check(card, cartridge)
    settings = trained.settings_of(card, trial.rom_path)
    forward: Forward = trained.chance
    if trial.player == "trained":
        forward = trained.forward_of(trial.folder, settings)
    task = EvaluationTask.of(
        _environment(card, settings),
        length=max(1, trial.frames // STEP_FRAMES),
        seed=trial.seed,
        greedy=trial.greedy,
    )
    story = story_of(cartridge.game)

    def watch(game: GameEnv, number: int) -> _Episode:
        return _Episode(game, number, story, tell, _log(game, number) if record else None)

    play(task, numbers, forward, watch)


def _environment(card: PolicyCard, settings: TrainerSettings) -> EnvConfig:
    """As it was trained in, but from power-on, whatever else training started from."""
    game = settings.game.model_copy(update={"initial_state_path": None, "initial_state_paths": ""})
    return EnvConfig(
        run_id=card.run_id,
        game=game,
        capture=CaptureSettings(best_episodes=0),
        gamma=settings.ppo.gamma,
    )


def _log(game: GameEnv, number: int) -> EpisodeLog:
    log = EpisodeLog(
        run_id="trial",
        env_id=f"trial-{number}",
        game=game.cartridge.identity,
        emulator=game.emulator,
        frame_skip=STEP_FRAMES,
    )
    log.begin(f"trial-{number}", game.start.keyframe, game.warm_up)
    return log


class _Episode:
    """Looks on at one episode."""

    def __init__(
        self, game: GameEnv, number: int, story: Story, tell: Told, log: EpisodeLog | None
    ) -> None:
        self._number, self._tell, self._log = number, tell, log
        self._main = story.main_names
        self._latch = MilestoneLatch(story, read_blocks(game.emulator))
        self._reached: dict[str, int] = {}
        self._decisions = self._deaths = 0
        self._was_dead = game.facts.dead

    def after_step(self, game: GameEnv, button: int, wait: int) -> None:
        """A base step was played, and `wait` frames after it."""
        for milestone in self._latch.update(read_blocks(game.emulator)):
            if milestone.name in self._main:
                self._reached[milestone.name] = game.frames
        self._deaths += game.facts.dead and not self._was_dead
        self._was_dead = game.facts.dead
        if self._log is not None:
            self._log.add(button, wait)

    def after_decision(self) -> None:
        """A decision is over."""
        self._decisions += 1

    def end(self, game: GameEnv, episode: EvaluatedEpisode) -> None:
        """The episode is over."""
        found = QuestEpisode(
            number=self._number,
            milestones=self._reached,
            essences=read_blocks(game.emulator).u8(_ESSENCES).bit_count(),
            frames=episode.frames,
            decisions=self._decisions,
            deaths=self._deaths,
            rooms=episode.rooms,
            ended=episode.ended,
            fault=episode.fault,
        )
        record = None
        if self._log is not None:
            whole = self._log.finish(episode.ended, CaptureContext())
            record = RecordedEpisode(tuple(self._reached), episode.reward, episode.rooms, whole)
        self._tell(found, record)
