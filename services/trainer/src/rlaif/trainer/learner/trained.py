"""Trained policies: out of a checkpoint into two files, and from them into what plays.

The files hold what plays and not the critic. Who loads them is told what does not fit first.
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError
from ray.rllib.core.columns import Columns
from safetensors.numpy import load_file

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.policy_input.layout import ALLOWED
from rlaif.service.settings import describe, flat_values
from rlaif.trainer.learner.algorithm.decision_module import NEVER, POLICY_INPUTS
from rlaif.trainer.learner.algorithm.ppo import network_of
from rlaif.trainer.learner.evaluation_games import Forward
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.run_folder import checkpoints, trained_policy
from rlaif.trainer.run_folder.trained_policy import PolicyCard, TrainedPolicyError
from rlaif.trainer.settings import TrainerSettings

_PLAYS_BY = frozenset({"game", "network", "ppo"})
_WHERE = frozenset({"rom_path", "initial_state_path", "initial_state_paths"})
_PLAIN: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


def export(run: RunContext, checkpoint: Path) -> PolicyCard:
    """Write the policy of a checkpoint of the run into the run's `trained` folder.

    Raises:
        TrainedPolicyError: It is no policy of decisions.
        CheckpointError: There is no such checkpoint.
    """
    manifest = checkpoints.read_manifest(checkpoint)
    settings = run.settings
    played = _module(settings).state_dict()
    saved = load_file(checkpoint / checkpoints.POLICY)
    card = PolicyCard(
        game=load_cartridge(settings.game.rom_path).game,
        rom_sha256=manifest.rom_sha256,
        arm=settings.game.actions,
        **trained_policy.layouts(),
        run_id=manifest.run_id,
        seed=settings.run.seed,
        iteration=manifest.counters.iteration,
        env_steps=manifest.counters.env_steps,
        trained_seconds=manifest.counters.trained_seconds,
        created_at=datetime.now(UTC),
        settings=_kept_settings(settings),
    )
    weights = {name: saved[name] for name in played}
    return trained_policy.write(run.directory / trained_policy.FOLDER, card, weights)


def settings_of(card: PolicyCard, rom_path: Path | None) -> TrainerSettings:
    """The settings with which it was trained, but for where the ROM lies now.

    Raises:
        TrainedPolicyError: This program has no such settings.
    """
    try:
        return TrainerSettings.model_validate(card.settings | {"rom_path": rom_path})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise TrainedPolicyError(
            f"the policy of run {card.run_id} was trained with settings that this program does not "
            f"know ({'.'.join(map(str, first['loc']))}: {first['msg']}): {trained_policy.MAKE_ONE}"
        ) from error


def forward_of(folder: Path, settings: TrainerSettings) -> Forward:
    """What plays: the policy of these files as `evaluation_games.play` takes it.

    Raises:
        TrainedPolicyError: The files are missing or damaged, or hold another network.
    """
    card, arrays = trained_policy.read(folder)
    module = _module(settings)
    try:
        module.load_state_dict({name: torch.from_numpy(each) for name, each in arrays.items()})
    except RuntimeError as error:
        why = str(error).splitlines()[-1].strip()
        raise TrainedPolicyError(
            f"the policy of run {card.run_id} is another network ({why}): {trained_policy.MAKE_ONE}"
        ) from error
    return partial(_logits, module)


def chance(_: object, policy_inputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A policy that knows nothing: every decision that its arm allows now is as likely."""
    allowed = policy_inputs[:, ALLOWED] > 0.5
    return np.where(allowed, 0.0, NEVER)


def _kept_settings(settings: TrainerSettings) -> dict[str, Any]:
    """What playing depends on, as plain values; no path of the machine that trained."""
    kept = {
        each.name
        for each in describe(TrainerSettings)
        if each.path[0] in _PLAYS_BY and each.name not in _WHERE
    }
    values = {name: value for name, value in flat_values(settings).items() if name in kept}
    return dict(_PLAIN.dump_python(values, mode="json"))


def _module(settings: TrainerSettings) -> Any:
    """The network of these settings without its critic; its first weights."""
    if settings.policy_kind != "decisions":
        raise TrainedPolicyError(
            "only a policy that makes decisions becomes a trained policy: train with "
            "TRAINER_ACTIONS buttons, macros or options"
        )
    spec = network_of(settings)
    spec.observation_space, spec.action_space = OBSERVATION_SPACE, actions_of(settings.game)
    spec.inference_only = True
    return spec.build()


def _logits(
    module: Any, observations: np.ndarray[Any, Any], policy_inputs: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    batch = {
        Columns.OBS: torch.from_numpy(observations),
        POLICY_INPUTS: torch.from_numpy(policy_inputs),
    }
    with torch.inference_mode():
        logits: np.ndarray[Any, Any] = module.forward_inference(batch)[
            Columns.ACTION_DIST_INPUTS
        ].numpy()
    return logits
