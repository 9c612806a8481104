"""Demonstrations of a run of mode `quest`: its search's farthest ways, as its policy sees them."""

from collections.abc import Callable

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.curriculum.building import BuildSettings, Built, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.curriculum.replaying import WayMismatchError
from rlaif.trainer.learner.hidden_main import main_module_hidden
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.run_folder.protocol import PhaseTold
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import TreeError


class _StopAskedError(Exception):
    """The run shall end; demonstrations are written whole or not at all."""


def make_demonstrations(run: RunContext, stop_asked: Callable[[], bool]) -> int | None:
    """Make them and give how many ways they are of; None when it was asked to stop.

    Raises:
        WrongSettingsError: The search found nothing of which any could be made.
    """
    settings = run.settings

    def say(words: str) -> None:
        run.tell(PhaseTold(phase="demonstrations", words=words))
        if stop_asked():
            raise _StopAskedError

    try:
        with main_module_hidden():
            made = build(
                [run.directory / SEARCH_FOLDER / TREE],
                run.directory / DEMONSTRATIONS_FOLDER,
                load_cartridge(settings.game.rom_path),
                settings.game.actions,
                BuildSettings(
                    RecordSettings(preset(settings.game.reward_preset)),
                    count=settings.quest.lineages,
                    seed=settings.run.seed,
                    processes=settings.ray.workers,
                ),
                tell=lambda built: say(_words(built)),
                progress=say,
            )
    except _StopAskedError:
        return None
    except (TreeError, WayMismatchError, DemonstrationsError) as error:
        raise WrongSettingsError(
            f"there is nothing to learn along: {error}. Begin a new run that searches longer "
            "(TRAINER_QUEST_SEARCH_MINUTES)"
        ) from error
    return len(made)


def _words(built: Built) -> str:
    return (
        f"a way of {built.seconds / 60:.1f} minutes to level {built.level:g}, "
        f"{built.decisions} decisions, {built.segments} segments"
    )
