"""Write demonstrations as a Minari dataset, for offline RL with other tools.

An episode is a demonstration or a noisy replay. Its steps are decisions of the game; `infos` has
the game frames of each, and whether a policy should imitate it. Needs the extra
`rlaif-trainer[minari]`.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from rlaif.files.failures import CommandError, command
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.settings.game import GameSettings


def write_dataset(
    demonstrations: Sequence[Demonstration], game: GameSettings, dataset_id: str, folder: Path
) -> Any:
    """Write a dataset into a folder of datasets, and return it as Minari reads it.

    Args:
        demonstrations: At least one.
        game: What they play; it gives the space of actions.
        dataset_id: Such as `zelda/seedling-vale-v0`.
        folder: As in MINARI_DATASETS_PATH, which is set for this process.

    Raises:
        ImportError: Minari is not installed.
        ValueError: The id is malformed, or in use.
    """
    os.environ["MINARI_DATASETS_PATH"] = str(folder)
    import minari
    from minari.data_collector import EpisodeBuffer

    size = demonstrations[0].policy_inputs.shape[1]
    own = gym.spaces.Box(-np.inf, np.inf, shape=(size,), dtype=np.float32)
    return minari.create_dataset_from_buffers(
        dataset_id,
        [EpisodeBuffer(**_episode(number, each)) for number, each in enumerate(demonstrations)],
        action_space=actions_of(game),
        observation_space=gym.spaces.Dict({"observation": OBSERVATION_SPACE, "policy_input": own}),
        algorithm_name="search, minimized",
        description="Demonstrations from power-on, and noisy replays of their parts. Observation: "
        "layout v1 of rlaif.contracts.game.observation; policy_input: rlaif.game.policy_input.",
        requirements=[f"rlaif-trainer=={version('rlaif-trainer')}"],
        data_format="arrow",
    )


def _episode(number: int, demonstration: Demonstration) -> dict[str, Any]:
    """Fields of Minari's episode; `infos` begins with the start, before any decision."""
    length = demonstration.length
    ends = [False] * (length - 1) + [True]
    return {
        "id": number,
        "observations": {
            "observation": list(demonstration.observations),
            "policy_input": list(demonstration.policy_inputs),
        },
        "actions": list(demonstration.decisions),
        "rewards": [float(reward) for reward in demonstration.rewards],
        "terminations": [False] * length,
        "truncations": ends,
        "infos": {
            "frames": [0, *map(int, demonstration.frames)],
            "imitated": [False, *map(bool, demonstration.imitated)],
        },
    }


@command("rlaif dataset", DemonstrationsError, ValueError)
def main(arguments: list[str] | None = None) -> int:
    """Write the dataset; return 0, or another exit code after printing an error message."""
    parser = argparse.ArgumentParser(prog="rlaif dataset", description=__doc__)
    add = parser.add_argument
    add("demonstrations", type=Path, help="folder of the demonstrations, such as of a run")
    add("--id", default="zelda/seedling-vale-v0", help="name of the dataset (default: %(default)s)")
    add("--out", type=Path, default=Path("var/datasets"),
        help="folder of datasets (default: %(default)s)")  # fmt: skip
    add("--rom", type=Path, help="ROM file (default: the embedded game)")
    arms = ("buttons", "macros", "options")
    add("--actions", default="macros", choices=arms, help="action set of the demonstrations")
    options = parser.parse_args(arguments)
    game = GameSettings(rom_path=options.rom, actions=options.actions)
    options.out.mkdir(parents=True, exist_ok=True)
    found = library.read(options.demonstrations, library.identity_of(game))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="minari")  # optional fields that are missing
            dataset = write_dataset(found, game, options.id, options.out.resolve())
    except ImportError as error:
        raise CommandError("Minari is an extra: pip install 'rlaif-trainer[minari]'") from error
    sys.stdout.write(
        f"{dataset.total_episodes} episodes with {dataset.total_steps} steps in {options.out}: "
        f"MINARI_DATASETS_PATH={options.out} and minari.load_dataset({options.id!r})\n"
    )
    return 0
