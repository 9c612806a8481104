"""`python -m rlaif.trainer.videos RUN`: films of a run's best episodes.

Exit codes: 0 all were made; 1 one could not be made; 2 there is no such run, nothing to film, or
PyAV is missing.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.files.failures import command
from rlaif.game.captures.capture import KeyframeError
from rlaif.game.captures.replay import ReplayError
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.rom_checks import CartridgeError
from rlaif.trainer.play.followers.best_episodes import BestEpisodes
from rlaif.trainer.run_folder.record import record_path

_NAME = "rlaif-videos"


@command(_NAME)
def main(argv: Sequence[str] | None = None) -> int:
    """Make the films; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        from rlaif.trainer.videos.film import film  # the encoder takes a moment to load
    except ModuleNotFoundError as error:
        if error.name != "av":
            raise
        return _complain("films need PyAV, an extra: pip install 'rlaif-trainer[films]'")
    record = record_path(options.data_dir, options.run)
    if not record.exists():
        return _complain(f"no run {options.run} in {options.data_dir}: see `--data-dir`")
    found = BestEpisodes.of_run(record.parent, options.best).best()[: options.best]
    if not found:
        return _complain(
            f"run {options.run} has kept no episode yet: one must end, and "
            "TRAINER_BEST_EPISODES be above 0"
        )
    try:
        cartridge = load_cartridge(options.rom)
    except CartridgeError as error:
        return _complain(str(error))
    folder = options.out / options.run
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, (_, episode) in enumerate(found, start=1):
        name = f"{number}-{episode.whole.capture.episode_id}.{options.format}"
        try:
            count = film(
                episode,
                cartridge,
                folder / name,
                form=options.format,
                scale=options.scale,
                speed=options.speed,
            )
        except (ReplayError, KeyframeError) as error:
            sys.stderr.write(f"{_NAME}: {name} was not made: {error}\n")
            failed += 1
            continue
        sys.stdout.write(
            f"{folder / name}: {count} steps, {len(episode.milestones)} milestones, "
            f"return {episode.reward:.2f}\n"
        )
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME,
        description="Films a run's best episodes: replays their actions from their start, draws "
        "every step and proves by the RAM's digest that it was the same play.",
    )
    parser.add_argument("run", help="Id of the run.")
    parser.add_argument(
        "--data-dir", type=Path, default=Path("var/trainer"), help="TRAINER_DATA_DIR of the run."
    )
    parser.add_argument(
        "--out", type=Path, default=Path("zelda_videos"), help="Films go to OUT/RUN/."
    )
    parser.add_argument("--best", type=int, default=3, help="So many at most, the best first.")
    parser.add_argument(
        "--format", choices=("mp4", "webm", "webp"), default="mp4", help="Of the films."
    )
    parser.add_argument("--scale", type=int, default=3, help="Size of a pixel; 3 is 480 x 432.")
    parser.add_argument("--speed", type=int, default=1, help="Times faster than the game.")
    parser.add_argument("--rom", type=Path, help="ROM of the run; unset: the built-in cartridge.")
    return parser


def _complain(message: str) -> int:
    sys.stderr.write(f"{_NAME}: error: {message}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
