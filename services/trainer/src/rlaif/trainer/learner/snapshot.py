"""Everything that decides how training continues: into the files of a checkpoint and back.

Between two iterations only. With one environment runner the update after a restore is bit for bit
the one that would have come without the stop.
"""

import random
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.learner.learner import COMPONENT_OPTIMIZER
from ray.rllib.utils.metrics import WEIGHTS_SEQ_NO
from safetensors.numpy import load_file
from safetensors.numpy import save as serialized

from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.run_folder import checkpoints, exploration_file, npz_tree
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR


def save(
    algorithm: ShapedPPO,
    figures: RunTally,
    directory: Path,
    run_directory: Path,
    patience: float | None = None,
) -> None:
    """Write policy, optimizer, generators, reward state and the runners' games into `directory`.

    Between two iterations, or in the sampling of the next one. Archive and coverage are copied from
    `run_directory`. With `patience` the games are left out, and begin new episodes on resuming,
    when they do not come to the end of their fragments within so many seconds.

    Raises:
        StopAskedError: Without `patience`: the run is to stop, and the games still play.
    """
    learner = algorithm.learner_group.get_state()[COMPONENT_LEARNER]
    # Not `save_file`: what it raises on a full disk is no OSError.
    weights = _plain(learner[COMPONENT_RL_MODULE][DEFAULT_MODULE_ID])
    # RLlib returns a tensor of no dimension, such as a count of rows, as a number.
    policy = serialized({name: np.asarray(value) for name, value in weights.items()})
    (directory / checkpoints.POLICY).write_bytes(policy)
    npz_tree.write(
        directory / checkpoints.LEARNER,
        {
            "optimizer": {
                name: _plain(each["state"]["state"])
                for name, each in learner[COMPONENT_OPTIMIZER].items()
            },
            "weights_seq_no": learner[WEIGHTS_SEQ_NO],
            "algorithm": algorithm.state_dict(patience),
            "generators": _generators(),
            "figures": figures.state_dict(),
        },
    )
    # After `state_dict`, which waits until no runner plays.
    interrupted = algorithm.sampler.interrupted
    for saved in () if interrupted else _on_runners(algorithm, methodcaller("state_dict")):
        npz_tree.write(directory / f"runner-{saved['runner']}.npz", saved)
    live = algorithm.rewards.models.live
    if live is not None:
        (directory / checkpoints.REWARD_MODEL).write_bytes(live.data)
    exploration_file.pack(run_directory / EXPLORATION_DIR, directory / checkpoints.EXPLORATION)


def restore(algorithm: ShapedPPO, figures: RunTally, directory: Path) -> list[str]:
    """Resume with what `save` wrote; gives why some runners begin new episodes instead.

    Raises:
        RewardNetError: A reward model fails a check.
        NpzTreeError: A file is damaged.
    """
    state = npz_tree.read(directory / checkpoints.LEARNER)
    _restore_learner(algorithm, directory, state)
    figures.load_state_dict(state["figures"])
    files = sorted(directory.glob("runner-*.npz"))
    saved = {each["runner"]: each for each in map(npz_tree.read, files)}
    played_from = sorted({sha for each in saved.values() for sha in each["played_from"]})
    answers = _on_runners(algorithm, partial(_resume_games, saved, played_from))
    passed_over = [answer for answer in answers if answer is not None]
    if len(answers) < max(1, algorithm.env_runner_group.num_remote_env_runners()):
        passed_over.append("a runner was lost on the way; its games begin new episodes")
    lost = bool(passed_over) or set(saved) - _indices(algorithm)
    algorithm.load_state_dict(state["algorithm"], games_resume=not lost)
    # Last: building and restoring draws from these.
    _set_generators(state["generators"])
    return passed_over


def restore_policy(algorithm: ShapedPPO, directory: Path) -> None:
    """Take over the networks of a checkpoint and nothing else."""
    _restore_learner(algorithm, directory, None)


def _restore_learner(algorithm: ShapedPPO, directory: Path, state: dict[str, Any] | None) -> None:
    group = algorithm.learner_group
    learner: dict[str, Any] = {
        COMPONENT_RL_MODULE: {DEFAULT_MODULE_ID: load_file(directory / checkpoints.POLICY)}
    }
    if state is not None:
        current = group.get_state()[COMPONENT_LEARNER][COMPONENT_OPTIMIZER]
        # Learning rate and the like are the settings' of now; moments and step counts are kept.
        learner[COMPONENT_OPTIMIZER] = {
            name: {**each, "state": {**each["state"], "state": state["optimizer"][name]}}
            for name, each in current.items()
        }
        learner[WEIGHTS_SEQ_NO] = state["weights_seq_no"]
    group.set_state({COMPONENT_LEARNER: learner})
    algorithm.env_runner_group.sync_weights(
        from_worker_or_learner_group=group, policies=[DEFAULT_MODULE_ID], inference_only=True
    )


def _resume_games(saved: dict[int, Any], played_from: list[str], runner: Any) -> str | None:
    """Give a runner what was saved of it; why it cannot resume, None when it does."""
    index = runner.worker_index or 0
    if index not in saved:
        return f"runner {index}: its games were not saved and begin new episodes"
    why = runner.load_state_dict(saved[index], played_from)
    return None if why is None else f"runner {index}: {why}"


def _indices(algorithm: ShapedPPO) -> set[int]:
    count = algorithm.env_runner_group.num_remote_env_runners()
    return set(range(1, count + 1)) if count else {0}


def _on_runners(algorithm: ShapedPPO, call: Any) -> list[Any]:
    group = algorithm.env_runner_group
    return list(
        group.foreach_env_runner(
            call,
            local_env_runner=group.num_remote_env_runners() == 0,
            timeout_seconds=algorithm.config.sample_timeout_s,
        )
    )


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    return tree.detach().cpu().numpy() if isinstance(tree, torch.Tensor) else tree


def _generators() -> dict[str, Any]:
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002  # RLlib shuffles with it
        "torch": torch.get_rng_state().numpy(),
    }


def _set_generators(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002  # as above
    torch.set_rng_state(torch.from_numpy(state["torch"].copy()))
