"""`rlaif-trained`, or `python -m rlaif.trainer.trained`: what a trained policy can do.

Exit codes: 0 done; 1 it could not be shown, or the trial broke; 2 there is no such policy, it does
not fit the game, or an option is wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from rlaif.files.failures import command
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.trainer.run_folder import quest_trials, trained_policy
from rlaif.trainer.run_folder.quest_trials import (
    QuestEpisode,
    TrialSettings,
    reached_shares,
    trial_seed,
)
from rlaif.trainer.run_folder.trained_policy import PolicyCard, TrainedPolicyError
from rlaif.trainer.spreading import LostProcessError
from rlaif.trainer.trained.loading import trial_player

if TYPE_CHECKING:
    from rlaif.trainer.play.followers.episode_log import RecordedEpisode

DONE, BROKEN, WRONG = 0, 1, 2

_NAME = "rlaif-trained"
_FRAMES_A_MINUTE = 3_600


@command(_NAME)
def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate, play or film; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        folder = trained_policy.find(options.data_dir, options.policy)
        card = trained_policy.read_card(folder)
        trained_policy.check(card, load_cartridge(options.rom))
    except (TrainedPolicyError, CartridgeError) as error:
        return _complain(str(error), WRONG)
    _say(
        f"policy of run {card.run_id} ({card.arm}, seed {card.seed}, "
        f"{card.trained_seconds / 60:.0f} minutes of training) in {folder}"
    )
    try:
        return int(options.run(options, folder, card))
    except TrainedPolicyError as error:
        return _complain(str(error), WRONG)
    except KeyboardInterrupt:
        return _complain("stopped; nothing was written", BROKEN)


def evaluate(options: argparse.Namespace, folder: Path, card: PolicyCard) -> int:
    """Play episodes; ends with one line of JSON."""
    from rlaif.trainer.trained.evaluating import evaluate as play

    done: list[QuestEpisode] = []

    def tell(episode: QuestEpisode) -> None:
        done.append(episode)
        mean = fmean(len(each.milestones) for each in done)
        _say(
            f"{len(done)} of {options.episodes} episodes: number {episode.number} reached "
            f"{len(episode.milestones)}{', the essence' * bool(episode.essences)}; mean {mean:.2f}"
        )

    trial = _trial(options, folder, card)
    try:
        found = play(trial, options.episodes, workers=options.workers, tell=tell)
    except LostProcessError as error:
        return _complain(str(error), BROKEN)
    for name, share in reached_shares([found]).items():
        _say(f"  {share:6.1%}  {name}")
    kept = options.out or (options.data_dir if folder == trained_policy.shipped() else folder)
    try:
        _say(f"written to {quest_trials.write(kept, found)}")
    except OSError as error:
        _say(f"not written: {error}; name a folder with --out")
    _say(json.dumps(found.line()))
    return DONE


def play(options: argparse.Namespace, folder: Path, card: PolicyCard) -> int:
    """Play an episode and show it in a window."""
    from rlaif.game.play.screens import ScreenError
    from rlaif.game.play.window import WindowScreen
    from rlaif.trainer.trained.showing import show

    cartridge = load_cartridge(options.rom)
    try:
        screen = WindowScreen(cartridge.title, scale=options.scale)
    except ScreenError as error:
        return _complain(f"{error}; make film-trained makes a film instead", BROKEN)
    try:
        (episode, recorded), *_ = _recorded(options, folder, card, [options.number])
        _say(_told(episode))
        show(recorded, cartridge, screen, options.speed)
    finally:
        screen.close()
    return DONE


def film(options: argparse.Namespace, folder: Path, card: PolicyCard) -> int:
    """Play some episodes and film the one that came farthest."""
    try:
        from rlaif.trainer.videos.film import film as make_film
        from rlaif.trainer.videos.film import form_of
    except ModuleNotFoundError as error:
        if error.name != "av":
            raise
        return _complain("films need PyAV, an extra: pip install 'rlaif-trainer[films]'", WRONG)
    episodes = _recorded(options, folder, card, range(options.episodes))
    for episode, _ in episodes:
        _say(_told(episode))
    best, recorded = max(
        episodes, key=lambda each: (len(each[0].milestones), each[0].essences, -each[0].frames)
    )
    path: Path = options.out or Path("var/films") / f"{card.run_id}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    cartridge = load_cartridge(options.rom)
    make_film(
        recorded,
        cartridge,
        path,
        form=form_of(path),
        scale=options.scale,
        speed=max(1, int(options.speed)),
    )
    _say(f"filmed episode {best.number}: {path}")
    return DONE


def _recorded(
    options: argparse.Namespace, folder: Path, card: PolicyCard, numbers: Sequence[int]
) -> list[tuple[QuestEpisode, "RecordedEpisode"]]:
    found: list[tuple[QuestEpisode, RecordedEpisode]] = []

    def keep(episode: QuestEpisode, recorded: "RecordedEpisode | None") -> None:
        assert recorded is not None, "episodes are recorded on request"
        found.append((episode, recorded))

    trial_player()(_trial(options, folder, card), numbers, keep, record=True)
    return sorted(found, key=lambda each: each[0].number)


def _trial(options: argparse.Namespace, folder: Path, card: PolicyCard) -> TrialSettings:
    return TrialSettings(
        folder=folder,
        rom_path=options.rom,
        player="chance" if options.chance else "trained",
        seed=trial_seed(card.seed) if options.seed is None else options.seed,
        frames=round(options.minutes * _FRAMES_A_MINUTE),
        greedy=options.greedy,
    )


def _told(episode: QuestEpisode) -> str:
    minutes = episode.frames / _FRAMES_A_MINUTE
    reached = ", ".join(episode.milestones) or "nothing"
    return f"episode {episode.number}, {minutes:.1f} minutes, {episode.deaths} deaths: {reached}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME, description="Evaluates, shows or films a trained policy, which learns no more."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    about = {
        "evaluate": (
            evaluate,
            "play episodes from power-on with random starts; ends with one line of JSON",
        ),
        "play": (play, "play an episode and show it in a window"),
        "film": (film, "play some episodes and film the one that came farthest"),
    }
    for name, (run, text) in about.items():
        command = commands.add_parser(name, help=text, description=text)
        _add_options(command)
        command.set_defaults(run=run)
        _ADD[name](command)
    return parser


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--policy", metavar="NAME", help="a run's id or a folder; the newest when left out")
    add("--data-dir", type=Path, default=Path("var/trainer"), help="where runs are (var/trainer)")
    add("--rom", type=Path, help="the game; the embedded one when left out")
    add("--seed", type=_natural, help="of the episodes; left out: one that no training had")
    add("--minutes", type=float, default=17.0, help="of the game that an episode has at most (17)")
    add("--greedy", action="store_true", help="always take the likeliest decision, draw none")
    add("--chance", action="store_true", help="play at random instead, with the same decisions")


def _add_evaluate(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--episodes", type=_positive, default=64, help="how many (64)")
    add("--workers", type=_natural, default=2, help="processes that play; 0: in this one (2)")
    help_out = (
        "folder for the raw episodes; left out: the policy's, or DATA_DIR for the shipped one"
    )
    add("--out", type=Path, help=help_out)


def _add_play(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--number", type=_natural, default=0, help="of the episode: another one, another start (0)")
    add("--scale", type=int, default=4, help="size of the window (4)")
    add("--speed", type=float, default=1.0, help="times the speed of the console; 0: at once (1)")


def _add_film(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--episodes", type=_positive, default=8, help="how many to choose from (8)")
    add("--out", type=Path, help="film to write, .mp4, .webm or .webp (var/films/RUN.mp4)")
    add("--scale", type=int, default=3, help="size of a pixel; 3 is 480 x 432 (3)")
    add("--speed", type=float, default=1.0, help="times faster than the game (1)")


_ADD = {"evaluate": _add_evaluate, "play": _add_play, "film": _add_film}


def _positive(text: str) -> int:
    return _at_least(1, text)


def _natural(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is below {least}")
    return number


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"{_NAME}: error: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
