"""A run whose environments play different generated worlds."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError

from rlaif.contracts.game.observation import slot_index
from rlaif.exporter.messages import Message, decode
from rlaif.exporter.replay_process import Replayer
from rlaif.exporter.replayers import segment_files, start_request
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.memory_map import address
from rlaif.game.policy_input.layout import POLICY_INPUT, SIZE
from rlaif.game.worlds.making import make_world
from rlaif.trainer.checks import WrongSettingsError, check
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.settings import TrainerSettings

WORLDS = ["world-1-20", "world-2-20"]
STEPS, COUNT = 160, 3


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    data_dir = tmp_path_factory.mktemp("data") / "trainer"
    return TrainerSettings.model_validate(
        {"worlds": "1-2x20", "data_dir": data_dir, "actions": "seed", "episode_length": 100}
    )


@pytest.fixture(scope="module")
def fragment(settings):
    config = EnvConfig(run_id="run-1", game=settings.game)
    vector = EmulatorVector(config, count=COUNT, runner=1, seed=1)
    assert [game.cartridge.game for game in vector.games] == [WORLDS[1], WORLDS[0], WORLDS[1]]
    context = CaptureContext(env_step=0, policy_iteration=0, reward_model_version=None)
    vector.begin_fragment(STEPS, capture_quota=100, context=context)
    actions = np.random.default_rng(4).integers(0, 6, (STEPS, COUNT))
    for step in range(STEPS):
        vector.step(step, actions[step - step % 9])
    shape = (STEPS, COUNT)
    found = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    return found


def test_every_episode_records_its_world(fragment):
    played = Counter(episode.game for episode in fragment.episodes)
    assert {*played} == {*WORLDS}
    assert played[WORLDS[1]] > played[WORLDS[0]]


def test_captures_of_all_worlds_are_replayed_by_an_exporter_of_the_embedded_game(fragment):
    replayer = Replayer(Message(*start_request(load_cartridge(), ReplaySettings())))
    roms = {name: make_world(int(name.split("-")[1]), 20).rom for name in WORLDS}
    assert {each.capture.game.title for each in fragment.captures} == {*WORLDS}
    for each in fragment.captures:
        capture = each.capture
        assert capture.game.rom_sha256 == hashlib.sha256(roms[capture.game.title]).hexdigest()
        request = Message({}, (capture.model_dump_json().encode(), each.keyframe))
        files = segment_files(decode(replayer.answer(request)))
        assert f'"{capture.game.title}"'.encode() in files.states


def test_a_capture_of_a_world_of_another_version_is_refused(fragment):
    replayer = Replayer(Message(*start_request(load_cartridge(), ReplaySettings())))
    each = fragment.captures[0]
    other = each.capture.game.model_copy(update={"rom_sha256": "0" * 64})
    capture = each.capture.model_copy(update={"game": other})
    request = Message({}, (capture.model_dump_json().encode(), each.keyframe))
    assert decode(replayer.answer(request)).header["refused"] == "wrong_game"


def test_one_world_is_a_rom_path(settings, tmp_path):
    one = TrainerSettings.model_validate({"worlds": "7", "data_dir": tmp_path / "trainer"})
    assert one.rom_path == tmp_path / "worlds/world-7-30/world.gbc"
    assert one.game.rom_of(5) == one.rom_path
    assert not one.has_many_worlds


@pytest.mark.parametrize("worlds", ["2-1", "1-", "a", "1x5"])
def test_ranges_of_seeds_that_are_none_are_refused(worlds):
    with pytest.raises(ValidationError):
        TrainerSettings.model_validate({"worlds": worlds})


def test_what_is_of_one_world_is_refused_for_several(settings):
    quest = TrainerSettings.model_validate(
        {"worlds": "1-2x20", "mode": "quest", "data_dir": settings.data_dir}
    )
    with pytest.raises(WrongSettingsError, match="several worlds"):
        check(quest)


def test_a_policy_of_several_worlds_sees_no_numbers_of_rooms_and_texts(settings):
    """Which mean something else in each world; those of one world stay."""
    seen = {}
    for worlds in ("1-2x20", "1-1x20"):
        game = settings.game.model_copy(update={"worlds": worlds, "actions": "macros"})
        vector = EmulatorVector(EnvConfig(run_id="run-1", game=game), count=2, runner=0, seed=1)
        assert vector.policy_inputs is not None
        seen[worlds] = vector.policy_inputs.copy()
        numbers = {game.ram.u8(address("wActiveRoom")) for game in vector.games}
        vector.close()
    several, one = seen.values()
    room = POLICY_INPUT["room"].span
    assert {*one[:, room].ravel()} == numbers
    assert not several[:, room].any()
    others = np.ones(SIZE, dtype=bool)
    others[room] = others[POLICY_INPUT["text"].span] = False
    assert np.array_equal(several[0, others], one[0, others])


def test_the_learner_gets_what_the_policy_saw(fragment):
    hidden = fragment.without_room_numbers().transitions.observations
    bits = slice(slot_index("room_bit_0"), slot_index("dungeon"))
    assert fragment.transitions.observations[..., bits].any()
    assert not hidden[..., bits].any()
    assert np.array_equal(
        hidden[..., : bits.start], fragment.transitions.observations[..., : bits.start]
    )


def test_a_game_is_named_once(settings, tmp_path):
    both = TrainerSettings.model_validate({"worlds": "1-2x20", "rom_path": tmp_path / "own.gbc"})
    with pytest.raises(WrongSettingsError, match="ROM_PATH and TRAINER_WORLDS"):
        check(both)
