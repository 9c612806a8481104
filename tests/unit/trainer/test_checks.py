"""Inconsistent settings are reported before anything starts, in one message."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.game.captures.capture import segment_id
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.reward_net import artifact
from rlaif.reward_net.network import RewardNet
from rlaif.service.settings import fields_of, flat_values
from rlaif.trainer.checks import WrongSettingsError, by_field, check, with_overrides
from rlaif.trainer.evaluation.policy import data_dir_of
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.kept import is_fixed

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def wrong(tmp_path: Path, **values: Any) -> str:
    """The complaint about these settings."""
    with pytest.raises(WrongSettingsError) as complaint:
        check(TrainerSettings.model_validate({"data_dir": tmp_path, "actions": "seed", **values}))
    text = str(complaint.value)
    assert "\n" not in text
    return text


def test_the_id_of_a_run_leaves_room_for_those_of_its_segments():
    longest = "r" * 40
    assert TrainerSettings(run_id=longest).run_id == longest
    assert segment_id(f"{longest}-99-999-99-9999", 9999)
    with pytest.raises(ValidationError, match="run_id"):
        TrainerSettings(run_id=f"{longest}r")


def test_the_data_directory_may_be_below_the_home_directory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/ada")
    settings = TrainerSettings.model_validate({"data_dir": "~/runs/trainer", "worlds": "1-4"})
    assert settings.data_dir == Path("/home/ada/runs/trainer")
    assert settings.rom_path == Path("/home/ada/runs/worlds/world-1-30/world.gbc")
    assert data_dir_of("~/runs") == Path("/home/ada/runs")


def test_a_batch_smaller_than_the_environments_is_impossible(tmp_path: Path):
    text = wrong(tmp_path, batch_size=64, minibatch_size=32, ray_workers=5, envs_per_worker=16)
    assert "BATCH_SIZE 64 is smaller than the 80 environments" in text


def test_a_minibatch_larger_than_the_batch_is_impossible(tmp_path: Path):
    text = wrong(tmp_path, batch_size=256, minibatch_size=512)
    assert "TRAINER_PPO_MINIBATCH_SIZE 512 is larger than BATCH_SIZE 256" in text


@pytest.mark.parametrize("kind", ["wandb", "mlflow"])
def test_a_tracker_that_is_not_installed_is_reported_before_the_run(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rlaif.trainer.checks.find_spec", lambda name: None)
    assert f"pip install 'rlaif-trainer[{kind}]'" in wrong(tmp_path, metrics_to=kind)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"actions": "macros", "policy": "cnn"}, "TRAINER_ACTIONS is macros, but POLICY is cnn"),
        ({"mode": "quest"}, "TRAINER_MODE is quest"),
    ],
)
def test_a_policy_that_does_not_fit_the_settings_is_reported(
    tmp_path: Path, values: dict[str, Any], text: str
):
    assert text in wrong(tmp_path, **values)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "TRAINER_ACTIONS is seed"),
        ({"actions": "macros"}, "no demonstrations in"),
        ({"actions": "macros", "ray_address": "head:6379"}, "no demonstrations in"),
    ],
)
def test_a_curriculum_that_cannot_be_followed_is_reported(
    tmp_path: Path, values: dict[str, Any], text: str
):
    assert text in wrong(tmp_path, curriculum_path=tmp_path / "found", **values)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
@pytest.mark.parametrize("name", ["RUN_HOURS", "TRAINER_PPO_LEARNING_RATE"])
def test_a_number_is_finite(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    """Stored settings are JSON: the process of a run with RUN_HOURS=inf could not read them."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"finite|greater than 0"):
        TrainerSettings()


def test_a_dashboard_without_a_job_is_refused_since_it_would_have_no_effect(tmp_path: Path):
    assert "TRAINER_RUN_ON is process" in wrong(tmp_path, ray_address="http://head:8265")


@pytest.mark.parametrize("name", ["shaping_weight", "curiosity_weight", "ppo_gamma"])
def test_a_resumed_run_keeps_what_its_critic_learned_to_predict_unless_it_is_set(
    tmp_path: Path, name: str
):
    saved, today = trained(tmp_path, {name: 0.5}), TrainerSettings(data_dir=tmp_path)
    assert flat_values(check(today, saved))[name] == 0.5
    changed = TrainerSettings.model_validate({"data_dir": tmp_path, name: 0.25})
    assert flat_values(check(changed, saved, {name}))[name] == 0.25


def test_a_service_beside_jobs_starts_no_run_and_says_how_to_start_a_job(tmp_path: Path):
    assert "oc create -k deploy/jobs/" in wrong(tmp_path, run_on="none")


def test_demonstrations_of_a_ray_job_lie_on_the_clusters_head(tmp_path: Path):
    values = {
        "curriculum_path": tmp_path / "found", "actions": "macros",
        "run_on": "ray-job", "ray_address": "http://head:8265",
    }  # fmt: skip
    check(TrainerSettings.model_validate({"data_dir": tmp_path} | values))


def trained(home: Path, settings: dict[str, Any], **values: Any) -> Path:
    """A checkpoint of a run that began with these settings; `values` are its manifest's own."""
    begun = TrainerSettings.model_validate({"data_dir": home} | settings)
    record = RunRecord.read(begin_attempt(home, "r-1", begun, NOW))
    known = {
        "hidden": begun.hidden,
        "policy": "decisions" if begun.by_decisions else begun.policy,
        "share_layers": begun.ppo.share_layers,
        "normalize_values": begun.ppo.normalize_values,
    }
    manifest = checkpoints.Manifest(
        run_id="r-1", attempt=0, created_at=NOW, counters=checkpoints.Counters(iteration=4),
        rom_sha256=load_cartridge().sha256, record=record, **(known | values),
    )  # fmt: skip
    return checkpoints.commit(checkpoints.begin(home, 4), manifest)[0]


FIXED = {
    "actions": ("seed", "macros"),
    "frame_skip": (8, 4),
    "policy": ("cnn", "mlp"),
    "hidden": (32, 256),
    "normalize_inputs": (False, True),
    "ppo_share_layers": (True, False),
    "ppo_normalize_values": (False, True),
}
"""What shapes policy and checkpoint: a value, and today's default."""


def begun_with(name: str) -> dict[str, Any]:
    by_buttons = {"actions": "seed"} if name in ("frame_skip", "policy") else {}
    return by_buttons | {name: FIXED[name][0]}


def test_what_shapes_a_policy_is_marked_where_it_is_set():
    assert {each.name for each in fields_of(TrainerSettings) if is_fixed(each)} == FIXED.keys()


@pytest.mark.parametrize("name", FIXED)
def test_a_resumed_run_keeps_what_shapes_its_policy(tmp_path: Path, name: str):
    saved = trained(tmp_path, begun_with(name))
    today = TrainerSettings(data_dir=tmp_path)
    assert flat_values(today)[name] == FIXED[name][1]
    assert flat_values(check(today, saved))[name] == FIXED[name][0]


@pytest.mark.parametrize("name", FIXED)
def test_another_value_is_refused_with_its_variable_and_both_values(tmp_path: Path, name: str):
    began, default = FIXED[name]
    saved = trained(tmp_path, begun_with(name))
    (variable,) = [each.environment for each in fields_of(TrainerSettings) if each.name == name]
    with pytest.raises(WrongSettingsError, match=rf"^{variable} is {default}, .* {began}: leave"):
        check(TrainerSettings(data_dir=tmp_path), saved, {name})


def test_a_checkpoint_from_before_there_was_a_choice_says_enough(tmp_path: Path):
    saved = trained(tmp_path, {"actions": "seed"})
    manifest = json.loads((saved / checkpoints.MANIFEST).read_text())
    for name in ("share_layers", "normalize_values"):
        del manifest[name]
    manifest["record"]["settings"] = "{}"
    (saved / checkpoints.MANIFEST).write_text(json.dumps(manifest))
    settings = check(TrainerSettings(data_dir=tmp_path), saved)
    assert settings.actions == "seed"
    assert (settings.ppo.share_layers, settings.ppo.normalize_values) == (True, False)


def test_a_new_run_that_begins_with_a_policy_takes_its_shape_and_todays_rewards(tmp_path: Path):
    saved = trained(tmp_path, {"hidden": 32, "shaping_weight": 3.0})
    today = TrainerSettings.model_validate({"data_dir": tmp_path, "checkpoint": str(saved)})
    settings = check(today)
    assert settings.hidden == 32
    assert settings.shaping.weight == TrainerSettings().shaping.weight
    assert check(today, saved).shaping.weight == 3.0, "a resumed one is paid as it was"


@pytest.mark.parametrize("mode", ["continuous", "quest"])
def test_only_explicit_values_are_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
):
    monkeypatch.setenv("TRAINER_HIDDEN", "64")
    settings = TrainerSettings.model_validate(
        {"data_dir": tmp_path, "ppo_preset": "seed", "mode": mode, "frame_skip": 4}
    )
    fixed = {each.name for each in fields_of(TrainerSettings) if is_fixed(each)}
    given = {each.name for each in fields_of(TrainerSettings) if settings.gives(each)}
    assert given & fixed == {"hidden", "frame_skip"}, "not what a preset or a mode brings along"


def test_an_unknown_game_is_reported(tmp_path: Path):
    assert "no ROM at" in wrong(tmp_path, rom_path=tmp_path / "none.gbc")
    text_file = tmp_path / "notes.gbc"
    text_file.write_bytes(b"not a game" * 100)
    assert "is not a Game Boy ROM" in wrong(tmp_path, rom_path=text_file)


def test_a_save_state_of_another_game_is_reported(tmp_path: Path):
    rom = bytearray(load_cartridge().data)
    emulator = Emulator(bytes(rom))
    emulator.tick(120)
    state = bytearray(emulator.save_state())
    emulator.close()
    path = tmp_path / "other.state"
    state[0] ^= 0x7F
    path.write_bytes(state)
    assert "TRAINER_INITIAL_STATE_PATH" in wrong(tmp_path, initial_state_path=path)
    assert "no save state at" in wrong(tmp_path, initial_state_path=tmp_path / "none.state")
    assert "no save state at" in wrong(tmp_path, initial_state_paths=f"{tmp_path}/none.state=2")


def test_initial_states_are_drawn_by_their_weights():
    settings = TrainerSettings.model_validate(
        {"initial_state_path": Path("a"), "initial_state_paths": "b=2.5, c,d=e,"}
    )
    drawn = [(str(path), weight) for path, weight in settings.initial_states]
    assert drawn == [("a", 1.0), ("b", 2.5), ("c", 1.0), ("d=e", 1.0)]
    assert TrainerSettings().game.initial_states == ()
    for wrong_weight in ("0", "-1", "nan", "inf"):
        with pytest.raises(ValueError, match="weights must be above 0"):
            TrainerSettings.model_validate({"initial_state_paths": f"a={wrong_weight}"})


def test_a_missing_checkpoint_is_reported(tmp_path: Path):
    assert "needs TRAINER_CHECKPOINT" in wrong(tmp_path, mode="evaluation")
    text = wrong(tmp_path, mode="evaluation", checkpoint="r-none/iteration_00000001")
    assert "no checkpoint 'r-none/iteration_00000001'" in text
    assert "has: none" in text


def test_a_reward_model_of_another_layout_is_reported(tmp_path: Path):
    other = RewardNetSpec(layout_version="of-another-game")
    torch.manual_seed(0)
    path = tmp_path / "rm.safetensors"
    path.write_bytes(artifact.save(RewardNet(other), other, version=1))
    assert "wrong_layout" in wrong(tmp_path, reward_model_path=path)
    assert "no reward model at" in wrong(tmp_path, reward_model_path=tmp_path / "none")


def test_a_run_has_settings_of_its_own_under_either_name(tmp_path: Path):
    service = TrainerSettings.model_validate({"data_dir": tmp_path, "gamma": 0.9})
    own = with_overrides(service, {"EPOCH_STEPS": 5, "TRAINER_PPO_LEARNING_RATE": 0.1, "clip": 0.3})
    assert (own.epoch_steps, own.ppo.learning_rate, own.ppo.clip, own.ppo.gamma) == (
        5,
        0.1,
        0.3,
        0.9,
    )
    assert own.data_dir == tmp_path
    assert by_field({"RUN_HOURS": 1}) == {"run_hours": 1}


@pytest.mark.parametrize("service", [{}, {"mode": "quest"}, {"ppo_preset": "seed"}])
@pytest.mark.parametrize(
    "overrides",
    [
        {"mode": "quest"},
        {"mode": "continuous"},
        {"ppo_preset": "seed"},
        {"ppo_preset": "default"},
        {"guidance_preset": "seed"},
        {"worlds": "7"},
    ],
)
def test_mode_presets_and_worlds_of_a_run_bring_their_values(
    tmp_path: Path, service: dict[str, Any], overrides: dict[str, Any]
):
    given = {"data_dir": tmp_path, "clip": 0.3} | service
    own = with_overrides(TrainerSettings.model_validate(given), overrides)
    assert own == TrainerSettings.model_validate(given | overrides)


@pytest.mark.parametrize(
    ("data_dir", "worlds"), [("/data", "/data/worlds"), ("/srv/zelda/trainer", "/srv/zelda/worlds")]
)
def test_worlds_lie_beside_the_data_or_on_a_volume_in_the_root_in_it(data_dir: str, worlds: str):
    settings = TrainerSettings.model_validate({"data_dir": data_dir, "worlds": "7"})
    assert settings.rom_path == Path(worlds) / "world-7-30" / "world.gbc"


def test_what_the_service_sets_individually_is_kept_in_a_run_with_a_preset(tmp_path: Path):
    service = TrainerSettings.model_validate({"data_dir": tmp_path, "ppo_epochs": 4})
    own = with_overrides(service, {"ppo_preset": "seed"})
    assert (own.ppo.epochs, own.ppo.minibatch_size) == (4, 512)


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        ({"epoch_step": 5}, "unknown setting epoch_step"),
        ({"NATS_URL": "nats://elsewhere"}, "nats_url cannot differ from run to run"),
        ({"data_dir": "/"}, "data_dir cannot differ"),
        ({"EPOCH_STEPS": 0}, "epoch_steps: Input should be greater than or equal to 1"),
        ({"mode": "forever"}, "mode: Input should be"),
        ({"TRAINER_GAMMA": 0.9}, "renamed: set TRAINER_PPO_GAMMA"),
    ],
)
def test_wrong_settings_of_a_run_are_reported(tmp_path: Path, overrides: dict[str, Any], text: str):
    with pytest.raises(WrongSettingsError, match=text):
        with_overrides(TrainerSettings(data_dir=tmp_path), overrides)
