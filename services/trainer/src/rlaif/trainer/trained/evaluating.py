"""A trial on several processes: settings in, all its episodes out, each told as it ends."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.run_folder import trained_policy
from rlaif.trainer.run_folder.quest_trials import QuestEpisode, QuestTrial, TrialSettings
from rlaif.trainer.spreading import spread
from rlaif.trainer.trained.loading import trial_player


def evaluate(
    trial: TrialSettings,
    episodes: int,
    *,
    workers: int,
    tell: Callable[[QuestEpisode], None] = lambda episode: None,
) -> QuestTrial:
    """Play episodes 0 to `episodes`, spread over `workers` processes; 0 plays in this one.

    The same trial has the same episodes, however many processes play it.

    Raises:
        LostProcessError: A process ended early.
        TrainedPolicyError: The policy is missing or damaged, or does not fit.
    """
    began = time.monotonic()
    card = trained_policy.read_card(trial.folder)
    cartridge = load_cartridge(trial.rom_path)
    done: list[QuestEpisode] = []

    def note(episode: QuestEpisode) -> None:
        done.append(episode)
        tell(episode)

    spread(partial(_work, trial), range(episodes), workers, note)
    return QuestTrial(
        player=trial.player,
        arm=card.arm,
        run_id=card.run_id,
        train_seed=card.seed,
        seed=trial.seed,
        trained_seconds=card.trained_seconds,
        game=card.game,
        rom_sha256=card.rom_sha256,
        milestones_total=len(story_of(cartridge.game).main_names),
        episode_frames=trial.frames,
        created_at=datetime.now(UTC),
        seconds=time.monotonic() - began,
        episodes=tuple(sorted(done, key=lambda each: each.number)),
    )


def _work(
    trial: TrialSettings, numbers: Sequence[int], tell: Callable[[QuestEpisode], None]
) -> None:
    trial_player()(trial, numbers, lambda episode, _: tell(episode))
