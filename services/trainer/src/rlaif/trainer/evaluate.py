"""`rlaif evaluate`: evaluate a policy, show it in a window, or film it.

Exit codes: 0 done; 1 an episode could not be played, shown or filmed; 2 there is no such policy or
recording, it does not fit the game, or an option is wrong.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

from rlaif.files.failures import CommandError, command
from rlaif.files.options import finite, whole
from rlaif.game.captures.capture import KeyframeError
from rlaif.game.captures.replay import ReplayError
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.evaluation import policy, result
from rlaif.trainer.evaluation.player import EpisodeCallback, EvaluationTask, Forward, play
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.evaluation.result import EvaluatedEpisode, Evaluation
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_log import BestEpisodes, RecordedEpisode
from rlaif.trainer.run_folder.checkpoints import Manifest
from rlaif.trainer.run_folder.record import record_path
from rlaif.trainer.settings.game import STEP_FRAMES, CaptureSettings
from rlaif.trainer.spreading import LostProcessError, spread

DONE, BROKEN = 0, 1

_NAME = "rlaif evaluate"
_FRAMES_PER_MINUTE = 3_600
_EPISODES, _EPISODES_TO_FILM = 64, 8


@dataclass(frozen=True)
class Trial:
    """An evaluation of a policy from power-on; pickled to the processes that play it.

    Attributes:
        folder: Folder of the policy.
        rom_path: The game's ROM; None for the embedded game.
        frames: Game frames after which an episode is truncated.
        greedy: Always take the most likely action instead of sampling.
        random: Choose among the allowed actions at random instead of by the policy.
    """

    folder: Path
    rom_path: Path | None
    seed: int
    frames: int
    greedy: bool = False
    random: bool = False

    @property
    def length(self) -> int:
        """Maximum length of an episode, in steps of four frames."""
        return max(1, self.frames // STEP_FRAMES)

    def play(
        self, numbers: Sequence[int], on_episode: EpisodeCallback, *, record: bool = False
    ) -> None:
        """Play the episodes of these numbers.

        Raises:
            PolicyError: The policy is missing, damaged or does not fit.
        """
        # Ray warns about its own deprecated parts, which is irrelevant to the caller.
        logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)
        import torch

        from rlaif.trainer.learner import evaluating

        torch.set_num_threads(1)  # processes must not compete for cores
        manifest = policy.read_manifest(self.folder)
        settings = evaluating.settings_of(manifest, self.rom_path)
        forward: Forward = evaluating.random_policy
        if not self.random:
            forward = evaluating.forward_of(self.folder, settings)
        # From power-on, regardless of the start states of the training.
        starts = {"initial_state_path": None, "initial_state_paths": ""}
        env = EnvConfig(
            run_id=manifest.run_id,
            game=settings.game.model_copy(update=starts),
            capture=CaptureSettings(best_episodes=0),
            gamma=settings.ppo.gamma,
        )
        task = EvaluationTask.of(env, length=self.length, seed=self.seed, greedy=self.greedy)
        play(task, numbers, forward, on_episode, record=record)

    def report(
        self, numbers: Sequence[int], on_episode: Callable[[EvaluatedEpisode], None]
    ) -> None:
        """As `play`, without recordings."""
        self.play(numbers, lambda episode, _: on_episode(episode))


def evaluate(
    trial: Trial,
    episodes: int,
    *,
    workers: int,
    on_episode: Callable[[EvaluatedEpisode], None] = lambda episode: None,
) -> Evaluation:
    """Play episodes 0 to `episodes - 1` in `workers` processes; 0 plays in this one.

    The result does not depend on the number of processes.

    Raises:
        LostProcessError: A process ended early.
        PolicyError: The policy is missing, damaged or does not fit.
    """
    began = time.monotonic()
    manifest = policy.read_manifest(trial.folder)
    cartridge = load_cartridge(trial.rom_path)
    done: list[EvaluatedEpisode] = []

    def note(episode: EvaluatedEpisode) -> None:
        done.append(episode)
        on_episode(episode)

    spread(trial.report, range(episodes), workers, note)
    return result.evaluation_of(
        manifest,
        sorted(done, key=lambda each: each.number),
        evaluation_id=f"{manifest.run_id}-{'random' if trial.random else 'trained'}",
        checkpoint=f"{manifest.run_id}/{trial.folder.name}",
        seconds=time.monotonic() - began,
        rom_sha256=cartridge.sha256,
        game=cartridge.game,
        seed=trial.seed,
        policy="greedy" if trial.greedy else "sampled",
        player="random" if trial.random else "trained",
        episode_length=trial.length,
        milestones_total=len(story_of(cartridge.game, cartridge.data).main_names),
    )


@command(_NAME, PolicyError, CartridgeError)
def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate, show or film; returns the exit code."""
    options = _parser().parse_args(argv)
    if options.recorded and options.policy is None:
        raise CommandError("--recorded needs the id of the run whose episodes it films")
    try:
        if options.recorded:
            return _film_recorded(options)
        folder = policy.find(options.data_dir, options.policy)
        manifest = policy.read_manifest(folder)
        policy.check(manifest, load_cartridge(options.rom))
        _say(
            f"{'random play with the actions of the ' if options.random else ''}"
            f"policy of run {manifest.run_id}, iteration {manifest.counters.iteration}, "
            f"{manifest.counters.trained_seconds / 60:.0f} minutes of training, in {folder}"
        )
        run = _show if options.show else _film if options.film else _evaluate
        return run(options, _trial(options, folder, manifest))
    except LostProcessError as error:
        raise CommandError(str(error), BROKEN) from error
    except KeyboardInterrupt:
        raise CommandError("stopped; nothing was written", BROKEN) from None


def _trial(options: argparse.Namespace, folder: Path, manifest: Manifest) -> Trial:
    train_seed = int(json.loads(manifest.record.settings).get("seed", 0))
    return Trial(
        folder=folder,
        rom_path=options.rom,
        seed=result.trial_seed(train_seed) if options.seed is None else options.seed,
        frames=round(options.minutes * _FRAMES_PER_MINUTE),
        greedy=options.greedy,
        random=options.random,
    )


def _evaluate(options: argparse.Namespace, trial: Trial) -> int:
    episodes = options.episodes or _EPISODES
    counts: list[int] = []

    def report(episode: EvaluatedEpisode) -> None:
        counts.append(len(episode.milestone_frames))
        _say(
            f"{len(counts)} of {episodes} episodes: number {episode.number} reached {counts[-1]}"
            f"{', the essence' * bool(episode.essences)}; mean {fmean(counts):.2f}"
        )

    found = evaluate(trial, episodes, workers=options.workers, on_episode=report)
    for name, share in found.milestones.items():
        _say(f"  {share:6.1%}  {name}")
    is_shipped = trial.folder == policy.shipped()
    kept = options.out or (options.data_dir if is_shipped else trial.folder)
    try:
        _say(f"written to {result.write_trial(kept, found)}")
    except OSError as error:
        _say(f"not written: {error}; name a folder with --out")
    _say(json.dumps(found.line()))
    return DONE


def _show(options: argparse.Namespace, trial: Trial) -> int:
    from rlaif.game.play.window import ScreenError, WindowScreen
    from rlaif.trainer.evaluation.replaying import show

    cartridge = load_cartridge(options.rom)
    try:
        screen = WindowScreen(cartridge.title, scale=options.scale)
    except ScreenError as error:
        raise CommandError(f"{error}; make film-trained makes a film instead", BROKEN) from error
    try:
        ((_, recorded),) = _recorded(trial, [options.number])
        show(recorded, cartridge, screen, options.speed)
    finally:
        screen.close()
    return DONE


def _film(options: argparse.Namespace, trial: Trial) -> int:
    make = _film_maker(options)
    name = f"{policy.read_manifest(trial.folder).run_id}.{options.format}"
    path: Path = options.out or Path("var/films") / name
    if path.is_dir():
        path /= name
    if path.suffix not in (".mp4", ".webp"):
        raise CommandError(f"{path}: the name of a film ends with .mp4 or .webp")
    episodes = _recorded(trial, range(options.episodes or _EPISODES_TO_FILM))
    best, recorded = max(
        episodes,
        key=lambda each: (len(each[0].milestone_frames), each[0].essences, -each[0].frames),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    make(recorded, path)
    _say(f"filmed episode {best.number}: {path}")
    return DONE


def _film_recorded(options: argparse.Namespace) -> int:
    make = _film_maker(options)
    record = record_path(options.data_dir, str(options.policy))
    if not record.exists():
        raise CommandError(f"no run {options.policy} in {options.data_dir}: see --data-dir")
    found = BestEpisodes.of_run(record.parent, options.recorded).best()[: options.recorded]
    if not found:
        raise CommandError(f"run {options.policy} has recorded no episode yet: one must end first")
    folder = (options.out or Path("zelda_videos")) / options.policy
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, (_, episode) in enumerate(found, start=1):
        name = f"{number}-{episode.whole.capture.episode_id}.{options.format}"
        try:
            count = make(episode, folder / name)
        except (ReplayError, KeyframeError) as error:
            sys.stderr.write(f"{name} was not made: {error}\n")
            failed += 1
            continue
        _say(
            f"{folder / name}: {count} pictures, {len(episode.milestones)} milestones, "
            f"return {episode.reward:.2f}"
        )
    return BROKEN if failed else DONE


def _film_maker(options: argparse.Namespace) -> Callable[[RecordedEpisode, Path], int]:
    """Write a film of an episode; return its number of pictures."""
    from rlaif.trainer.evaluation.replaying import film

    if find_spec("av") is None:
        raise CommandError("films need PyAV, an extra: pip install 'rlaif-trainer[films]'")
    cartridge, speed = load_cartridge(options.rom), max(1, round(options.speed))

    def make(episode: RecordedEpisode, path: Path) -> int:
        return film(episode, cartridge, path, scale=options.scale, speed=speed)

    return make


def _recorded(
    trial: Trial, numbers: Sequence[int]
) -> list[tuple[EvaluatedEpisode, RecordedEpisode]]:
    found: list[tuple[EvaluatedEpisode, RecordedEpisode]] = []

    def keep(episode: EvaluatedEpisode, recorded: RecordedEpisode | None) -> None:
        assert recorded is not None, "recording was requested"
        found.append((episode, recorded))

    trial.play(numbers, keep, record=True)
    found.sort(key=lambda each: each[0].number)
    for episode, _ in found:
        minutes = episode.frames / _FRAMES_PER_MINUTE
        reached = ", ".join(episode.milestone_frames) or "nothing"
        _say(f"episode {episode.number}, {minutes:.1f} minutes, {episode.deaths} deaths: {reached}")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME,
        description="Evaluate a policy without training it: play episodes from power-on with "
        "random starts and print one line of JSON at the end. With --show, show an episode in a "
        "window; with --film, film one.",
    )
    add = parser.add_argument
    add("policy", nargs="?", metavar="RUN|POLICY", help="a run's id, RUN/iteration_N or a folder; "
        "default: the newest trained policy, else the included one")  # fmt: skip
    add("--data-dir", type=policy.data_dir_of, default=Path("var/trainer"), help="data "
        "directory of the trainer, or of a demo (default: %(default)s)")  # fmt: skip
    add("--rom", type=Path, help="the game's ROM; default: the embedded game")
    add("--seed", type=whole(), help="seed of the episodes; default: one that no training used")
    add("--minutes", type=finite(above_zero=True), default=17.0, help="maximum length of an "
        "episode, in minutes of the game (default: %(default)s)")  # fmt: skip
    add("--greedy", action="store_true", help="always take the most likely action")
    add("--random", action="store_true", help="play at random instead, with the same actions")
    add("--episodes", type=whole(1), help=f"number of episodes (default: {_EPISODES}; "
        f"with --film {_EPISODES_TO_FILM}, of which the best is filmed)")  # fmt: skip
    add("--workers", type=whole(maximum=1024), default=2, help="number of processes; 0: plays "
        "in this one (default: %(default)s)")  # fmt: skip
    add("--out", type=Path, help="folder of the result file (default: the policy's, or DATA_DIR "
        "for the included one); with --film the film (var/films/RUN.mp4); with --recorded the "
        "folder of the films (zelda_videos)")  # fmt: skip
    show = parser.add_argument_group("showing and filming")
    add, one = show.add_argument, show.add_mutually_exclusive_group().add_argument
    one("--show", action="store_true", help="play one episode and show it in a window")
    add("--number", type=whole(), default=0, help="episode to show, by its number; each has "
        "its own start state (default: %(default)s)")  # fmt: skip
    one("--film", action="store_true", help="film the best of some episodes")
    one("--recorded", type=whole(1), default=0, metavar="N", help="film the N best episodes that "
        "the run RUN recorded in training, instead of playing new ones")  # fmt: skip
    add("--format", choices=("mp4", "webp"), default="mp4", help="format of films without "
        "a file name (default: %(default)s)")  # fmt: skip
    add("--scale", type=whole(1, 16), default=3, help="screen pixels per game pixel "
        "(default: %(default)s)")  # fmt: skip
    add("--speed", type=finite(maximum=1000), default=1.0, help="multiple of the console's speed; "
        "0: unlimited in a window (default: %(default)s)")  # fmt: skip
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
