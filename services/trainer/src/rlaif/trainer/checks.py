"""Checks for inconsistent settings and missing files before anything starts."""

import hashlib
import json
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlaif.contracts.game.names import world_names
from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError, new_emulator
from rlaif.game.starts.power_on import NoStartError
from rlaif.game.starts.savestates import load_state_file
from rlaif.reward_net.artifact import load
from rlaif.reward_net.errors import RewardNetError
from rlaif.service.cli import complaint
from rlaif.service.settings import PER_SERVICE, describe, fields_of, flat_values, renamed, stored
from rlaif.trainer.planning.planner import PlannerSettingsError, check_planner
from rlaif.trainer.play.start import check_starts
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.settings import RENAMED, TrainerSettings
from rlaif.trainer.settings.kept import is_fixed, is_kept


class WrongSettingsError(ValueError):
    """The run cannot start with these settings; the message contains the reason and a remedy."""


def with_overrides(settings: TrainerSettings, overrides: dict[str, Any]) -> TrainerSettings:
    """Return the settings of one run: the service's, with overrides by flat name or variable.

    Raises:
        WrongSettingsError: A name is unknown or is a setting of the service, or a value is wrong.
    """
    named, values = by_field(overrides), flat_values(settings)
    # Without what mode, presets and worlds of the service imply: the run may have others.
    own = {
        each.name: values[each.name] for each in fields_of(TrainerSettings) if settings.sets(each)
    }
    try:
        return TrainerSettings.model_validate(own | named)
    except ValidationError as error:
        lines = [
            complaint(describe(TrainerSettings), each["loc"], each["msg"])
            for each in error.errors(include_input=False, include_url=False)
        ]
        raise WrongSettingsError("; ".join(lines)) from error


def by_field(overrides: dict[str, Any]) -> dict[str, Any]:
    """Return the overrides by flat name, accepting earlier names; raises as `with_overrides`."""
    variables = {each.environment: each.name for each in describe(TrainerSettings)}
    scopes = {each.name: each.scope for each in describe(TrainerSettings)}
    found = {}
    for name, value in overrides.items():
        if name in RENAMED:
            raise WrongSettingsError(f"{name} was renamed: set {RENAMED[name]} instead")
        found[variables.get(name) or renamed(TrainerSettings, name)] = value
    unknown = sorted(found.keys() - scopes.keys())
    if unknown:
        raise WrongSettingsError(
            f"unknown setting {', '.join(unknown)}: see docs/configuration.md for the names"
        )
    fixed = sorted(name for name in found if scopes[name] == PER_SERVICE["scope"])
    if fixed:
        raise WrongSettingsError(
            f"{', '.join(fixed)} cannot differ from run to run: set it where the service starts"
        )
    return found


def check(
    settings: TrainerSettings, resumed: Path | None = None, given: Collection[str] = ()
) -> TrainerSettings:
    """Check that a run can start, and return its effective settings; takes about a second.

    With `resumed`, the run's newest checkpoint, the checkpoint and the reward model from which it
    was started need not exist. Settings that determine the policy of a checkpoint are taken from
    it, regardless of current defaults; `given` names the settings that were set explicitly.

    Raises:
        WrongSettingsError: The run cannot start with these settings.
    """
    if settings.run_on == "none":
        raise WrongSettingsError(
            "TRAINER_RUN_ON is none, so this service starts no run. Start a job: oc create -k "
            "deploy/jobs/ENVIRONMENT/pipeline -l app.kubernetes.io/component=training-job "
            "(docs/cluster.md, Train)"
        )
    own = resumed is not None and settings.mode != "evaluation"
    path = resumed if own else _named_checkpoint(settings)
    manifest, name = None, ""
    if path is not None:
        manifest = checkpoints.read_manifest(path)
        name = f"{manifest.run_id}/{path.name}"
        settings = _with_checkpoint_settings(settings, manifest, name, given, resumes=own)
    _check_worlds(settings)
    _check_sizes(settings)
    _check_tracker(settings)
    _check_policy(settings)
    _check_curriculum(settings)
    try:
        check_planner(settings.planner)
    except PlannerSettingsError as error:
        raise WrongSettingsError(str(error)) from error
    cartridge = _check_game(settings)
    if settings.reward_model_path is not None and not own:
        read_reward_model(settings.reward_model_path)
    if manifest is not None:
        fits(manifest, cartridge.sha256, name)
    is_dashboard = (settings.ray_address or "").startswith("http")
    if settings.run_on == "process" and is_dashboard:
        raise WrongSettingsError(
            f"RAY_ADDRESS is a dashboard, {settings.ray_address}, but TRAINER_RUN_ON is process: "
            "set TRAINER_RUN_ON to ray-job, or RAY_ADDRESS to HOST:6379 to place only the runners "
            "on the cluster"
        )
    if settings.run_on == "ray-job" and not is_dashboard:
        raise WrongSettingsError(
            "TRAINER_RUN_ON is ray-job, but RAY_ADDRESS is "
            f"{settings.ray_address or 'not set'}: give the cluster's dashboard, such as "
            "http://ray-head:8265"
        )
    return settings


def check_start(settings: TrainerSettings) -> None:
    """Check that an episode can begin; takes a second, or twenty for Oracle of Seasons.

    The training process calls this first: in an environment, the error would end a runner and be
    retried, whereas a `WrongSettingsError` is final.
    """
    try:
        cartridge = load_cartridge(settings.rom_path)
        check_starts(cartridge, [path for path, _ in settings.initial_states])
    except CartridgeError as error:
        raise WrongSettingsError(f"ROM_PATH: {error}") from error
    except EmulatorError as error:
        raise WrongSettingsError(f"TRAINER_INITIAL_STATE_PATH: {error}") from error
    except NoStartError as error:
        raise WrongSettingsError(
            f"{cartridge.title or 'the game'} cannot be started: {error}. Play it to where "
            "episodes should start (make play ROM=…), save with F5, and set "
            "TRAINER_INITIAL_STATE_PATH to the file that it names"
        ) from error


def read_reward_model(path: Path) -> tuple[bytes, int]:
    """Return the bytes and version of a reward model; raises `WrongSettingsError` if unusable."""
    try:
        data = path.read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        return data, load(data, sha256=sha256, layout_version=LAYOUT_VERSION).version
    except OSError as error:
        raise WrongSettingsError(
            f"no reward model at {path} ({error.strerror}): correct TRAINER_REWARD_MODEL_PATH, or "
            "unset it to wait for the champion"
        ) from error
    except RewardNetError as error:
        raise WrongSettingsError(f"the reward model {path} cannot be used: {error}") from error


def _check_worlds(settings: TrainerSettings) -> None:
    names = world_names(settings.worlds)
    if names and (settings.rom_path is None or settings.rom_path.parent.name != names[0]):
        raise WrongSettingsError("both ROM_PATH and TRAINER_WORLDS name a game: unset one of them")
    if len(names) < 2:
        return
    given = {
        "TRAINER_MODE=quest": settings.mode == "quest",
        "TRAINER_CURRICULUM_PATH": settings.curriculum.path is not None,
        "TRAINER_INITIAL_STATE_PATH": bool(settings.initial_states),
        "TRAINER_PLANNER_BASE_URL": settings.planner.is_on,
    }
    if wrong := [name for name, is_given in given.items() if is_given]:
        raise WrongSettingsError(
            f"TRAINER_WORLDS names several worlds, but {wrong[0]} needs a single one: unset it, or "
            "name one world"
        )


def _check_tracker(settings: TrainerSettings) -> None:
    kind = settings.metrics_to
    if kind is not None and settings.run_on == "process" and find_spec(kind) is None:
        raise WrongSettingsError(
            f"METRICS_TO={kind} needs an extra: pip install 'rlaif-trainer[{kind}]'; or leave it "
            "out"
        )


def _check_sizes(settings: TrainerSettings) -> None:
    runners = max(1, settings.ray_workers)
    environments = runners * settings.envs_per_worker
    if settings.batch_size < environments:
        raise WrongSettingsError(
            f"BATCH_SIZE {settings.batch_size} is smaller than the {environments} environments "
            f"({runners} x {settings.envs_per_worker}), so that not each can play a step: "
            "raise BATCH_SIZE, or lower RAY_WORKERS or ENVS_PER_WORKER"
        )
    if settings.ppo.minibatch_size > settings.batch_size:
        raise WrongSettingsError(
            f"TRAINER_PPO_MINIBATCH_SIZE {settings.ppo.minibatch_size} is larger than BATCH_SIZE "
            f"{settings.batch_size}: a gradient step cannot take more than the batch has"
        )


def _check_policy(settings: TrainerSettings) -> None:
    if settings.by_decisions and settings.policy == "cnn":
        raise WrongSettingsError(
            f"TRAINER_ACTIONS is {settings.actions}, but POLICY is cnn, which chooses among the "
            "eight buttons: set POLICY to mlp, or TRAINER_ACTIONS to seed"
        )
    if settings.mode == "quest" and not settings.by_decisions:
        raise WrongSettingsError(
            "TRAINER_MODE is quest, but TRAINER_ACTIONS is seed, and trajectories of a search "
            "consist of decisions: set TRAINER_ACTIONS to macros, buttons or options"
        )


def _check_curriculum(settings: TrainerSettings) -> None:
    path = settings.curriculum.path
    if path is None or not settings.curriculum_counts:
        return
    if not settings.by_decisions:
        raise WrongSettingsError(
            "TRAINER_CURRICULUM_PATH is set, but TRAINER_ACTIONS is seed, whose policy does not "
            "use demonstrations: set TRAINER_ACTIONS to the action set of the demonstrations"
        )
    # Here, because it imports numba: 60 MB that the service needs only for this.
    from rlaif.trainer.curriculum import library

    # A Ray job reads it on the cluster's head, where it is checked again.
    if settings.run_on == "process" and not library.exists(path):
        raise WrongSettingsError(
            f"no demonstrations in {path}: correct TRAINER_CURRICULUM_PATH, or make some "
            "(rlaif demonstrations)"
        )


def _check_game(settings: TrainerSettings) -> Cartridge:
    try:
        cartridge = load_cartridge(settings.rom_path)
    except CartridgeError as error:
        raise WrongSettingsError(f"ROM_PATH: {error}") from error
    paths = [path for path, _ in settings.initial_states]
    if not paths:
        return cartridge
    emulator = new_emulator(cartridge)
    try:
        for path in paths:
            load_state_file(emulator, cartridge, path)
    except EmulatorError as error:
        raise WrongSettingsError(f"TRAINER_INITIAL_STATE_PATH: {error}") from error
    finally:
        emulator.close()
    return cartridge


def _named_checkpoint(settings: TrainerSettings) -> Path | None:
    """Return the checkpoint to evaluate, or whose policy a new run starts with."""
    if settings.checkpoint is None:
        if settings.mode == "evaluation":
            raise WrongSettingsError(
                "an evaluation needs TRAINER_CHECKPOINT: a run's id, RUN/iteration_N or a directory"
            )
        return None
    try:
        return checkpoints.find(settings.data_dir.resolve(), settings.checkpoint)
    except checkpoints.CheckpointError as error:
        raise WrongSettingsError(f"TRAINER_CHECKPOINT: {error}") from error


def _with_checkpoint_settings(
    settings: TrainerSettings,
    manifest: checkpoints.Manifest,
    name: str,
    given: Collection[str],
    *,
    resumes: bool,
) -> TrainerSettings:
    """Apply a checkpoint's fixed settings, and for a resumed run all that it keeps.

    Raises:
        WrongSettingsError: A fixed setting was set to another value.
    """
    values, original = flat_values(settings), _settings_of(manifest)
    kept = {}
    for setting in fields_of(TrainerSettings):
        flat = setting.name
        if flat not in original or not (is_fixed(setting) or (resumes and is_kept(setting))):
            continue
        if flat in given and original[flat] != values[flat]:
            if not is_fixed(setting):
                continue
            raise WrongSettingsError(
                f"{setting.environment} is {values[flat]}, but {name} was trained with "
                f"{original[flat]}: leave {setting.environment} unset, or start a new run"
            )
        kept[flat] = original[flat]
    return TrainerSettings.model_validate(values | kept)


def _settings_of(manifest: checkpoints.Manifest) -> dict[str, Any]:
    """Return flat name → value of the settings at a checkpoint, also of an earlier release.

    Older records lack newer settings; values in the manifest itself take precedence.
    """
    values = {"value_loss": "squared"} | json.loads(manifest.record.settings)
    values |= manifest.model_dump(include={"hidden", "share_layers", "normalize_values"})
    original = stored(TrainerSettings, values)
    if manifest.policy != "decisions":
        original |= {"actions": "seed", "policy": manifest.policy}
    return original


def fits(manifest: checkpoints.Manifest, rom_sha256: str, name: str) -> None:
    """Raise `WrongSettingsError` unless a checkpoint is of this game."""
    if manifest.rom_sha256 != rom_sha256:
        raise WrongSettingsError(
            f"checkpoint {name} was trained on another game (SHA-256 {manifest.rom_sha256[:12]}, "
            f"this one has {rom_sha256[:12]}): set ROM_PATH to that game, or start a new run"
        )
