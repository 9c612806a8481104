import random

import pytest
import zstandard
from pydantic import ValidationError

from rlaif.contracts.game.captures import Capture, EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import (
    LARGEST_STATE_BYTES,
    KeyframeError,
    SegmentRecorder,
    pack_keyframe,
    segment_id,
    unpack_keyframe,
)
from rlaif.game.captures.replay import (
    ReplayMismatchError,
    WrongEmulatorError,
    WrongGameError,
    replay,
    replay_frames,
    segment_frames,
)

ROM = "a" * 64


def recorder_for(emulator, frame_skip=4):
    return SegmentRecorder(
        run_id="run-1",
        env_id="env-0",
        game=GameIdentity(title="TINY", rom_sha256=ROM),
        emulator=emulator.identity,
        frame_skip=frame_skip,
    )


@pytest.fixture
def recorded(emulators):
    """A capture with a prefix, taken while a direction was held, and its keyframe."""
    emulator, rng = emulators(), random.Random(1)
    recorder = recorder_for(emulator)
    emulator.step(2, 4)
    keyframe = pack_keyframe(emulator.save_state())
    recorder.keyframe(keyframe.sha256, step=10)

    def play(steps):
        for _ in range(steps):
            action = rng.randrange(8)
            emulator.step(action, 4)
            recorder.add_step(action)

    play(5)
    recorder.start_segment(emulator.ram_digest())
    play(20)
    capture = recorder.finish_segment(
        episode_id="ep-1", index=3, ram_sha256=emulator.ram_digest(), env_step=1234
    )
    return capture, keyframe


def test_a_segment_id_is_made_of_episode_and_number():
    assert segment_id("ep-1", 7) == "ep-1-s00007"
    with pytest.raises(ValueError, match="longer than 64"):
        segment_id("e" * 60, 1)


def test_a_replay_yields_every_step_and_passes_its_proof(recorded, emulators):
    capture, keyframe = recorded
    steps = list(
        replay(emulators(), capture, keyframe.data, rom_sha256=ROM, render_steps=frozenset({0, 19}))
    )
    assert [s.index for s in steps] == list(range(20))
    assert [s.frame for s in steps] == list(range(4, 84, 4))
    assert "".join(str(int(s.action)) for s in steps) == capture.actions
    assert [s.index for s in steps if s.rendered] == [0, 19]


@pytest.mark.parametrize("place", [0, 10, 19])
def test_a_tampered_action_is_a_mismatch_at_the_end(recorded, emulator, place):
    capture, keyframe = recorded
    digits = list(capture.actions)
    digits[place] = "0" if digits[place] != "0" else "1"
    tampered = capture.model_copy(update={"actions": "".join(digits)})
    with pytest.raises(ReplayMismatchError, match="at the end of segment ep-1-s00003") as caught:
        list(replay(emulator, tampered, keyframe.data, rom_sha256=ROM))
    assert caught.value.expected == capture.end_ram_sha256
    assert caught.value.found != capture.end_ram_sha256


def test_a_tampered_prefix_is_a_mismatch_at_the_start(recorded, emulator):
    capture, keyframe = recorded
    prefix = ("0" if capture.prefix_actions[0] != "0" else "1") + capture.prefix_actions[1:]
    tampered = capture.model_copy(update={"prefix_actions": prefix})
    with pytest.raises(ReplayMismatchError, match="at the start"):
        next(replay(emulator, tampered, keyframe.data, rom_sha256=ROM))


def test_another_game_is_refused_before_anything_is_played(recorded, emulator):
    capture, keyframe = recorded
    before = emulator.ram_digest()
    with pytest.raises(WrongGameError, match="same ROM"):
        next(replay(emulator, capture, keyframe.data, rom_sha256="b" * 64))
    assert emulator.ram_digest() == before


def test_another_emulator_setting_is_refused(recorded, emulator):
    capture, keyframe = recorded
    other = EmulatorIdentity(version=emulator.identity.version, sound_emulated=True)
    foreign = capture.model_copy(update={"emulator": other})
    with pytest.raises(WrongEmulatorError, match="same version and settings"):
        next(replay(emulator, foreign, keyframe.data, rom_sha256=ROM))


def test_a_keyframe_survives_packing(emulator):
    state = emulator.save_state()
    keyframe = pack_keyframe(state)
    assert unpack_keyframe(keyframe.data, keyframe.sha256) == state
    assert len(keyframe.data) < len(state) / 5


def test_a_damaged_keyframe_is_refused(recorded, emulator):
    capture, keyframe = recorded
    bomb = zstandard.compress(bytes(2 * LARGEST_STATE_BYTES))
    cut, changed = keyframe.data[:-20], keyframe.data[:40] + keyframe.data[44:]
    for data in (b"", b"junk" * 10, cut, changed, bomb):
        with pytest.raises(KeyframeError):
            next(replay(emulator, capture, data, rom_sha256=ROM))


def test_another_keyframe_is_refused(recorded, emulator):
    capture, _ = recorded
    other = pack_keyframe(emulator.save_state())
    with pytest.raises(KeyframeError, match="the capture names"):
        next(replay(emulator, capture, other.data, rom_sha256=ROM))


def test_a_keyframe_that_is_no_state_is_refused(recorded, emulator):
    capture, _ = recorded
    junk = pack_keyframe(b"\x0f" + bytes(1000))
    foreign = capture.model_copy(update={"keyframe_sha256": junk.sha256})
    with pytest.raises(KeyframeError, match="version 15"):
        next(replay(emulator, foreign, junk.data, rom_sha256=ROM))


def test_a_keyframe_that_unpacks_to_gigabytes_is_refused_unread():
    import zstandard

    bomb = zstandard.ZstdCompressor().compress(bytes(8 * 1024 * 1024))
    with pytest.raises(KeyframeError, match="claims 8388608 bytes"):
        unpack_keyframe(bomb, "0" * 64)


def test_a_segment_needs_a_keyframe_and_a_step(emulator):
    recorder = recorder_for(emulator)
    with pytest.raises(ValueError, match="no keyframe"):
        recorder.start_segment("0" * 64)
    recorder.keyframe("1" * 64, step=0)
    recorder.start_segment("0" * 64)
    with pytest.raises(ValueError, match="no segment to finish"):
        recorder.finish_segment(episode_id="ep", index=0, ram_sha256="0" * 64, env_step=0)


def test_a_new_keyframe_starts_a_new_prefix(emulator):
    recorder = recorder_for(emulator)
    recorder.keyframe("1" * 64, step=0)
    recorder.add_step(1)
    recorder.start_segment("0" * 64)
    recorder.keyframe("2" * 64, step=1)
    assert not recorder.in_segment
    assert recorder.steps_since_keyframe == 0


def test_a_dropped_segment_becomes_prefix(emulator):
    recorder = recorder_for(emulator)
    recorder.keyframe("1" * 64, step=0)
    recorder.start_segment("0" * 64)
    recorder.add_step(3)
    recorder.drop_segment()
    recorder.start_segment("0" * 64)
    recorder.add_step(4)
    capture = recorder.finish_segment(
        episode_id="ep", index=0, ram_sha256="0" * 64, env_step=0, ended="terminated"
    )
    assert (capture.prefix_actions, capture.actions, capture.ended) == ("3", "4", "terminated")


WAITS = {1: 30, 6: 1, 9: 45}
"""Frames left alone after these steps of the whole play: one before the segment, two inside."""


@pytest.fixture
def waited(emulators):
    """A capture of a play that was left alone after some steps, and its keyframe."""
    emulator = emulators()
    recorder = recorder_for(emulator)
    keyframe = pack_keyframe(emulator.save_state())
    recorder.keyframe(keyframe.sha256, step=0)
    for index, action in enumerate([0, 0, 4, 1, 2, 3, 0, 5, 0, 1, 0, 7]):
        if index == 4:
            recorder.start_segment(emulator.ram_digest())
        emulator.step(action, 4)
        wait = WAITS.get(index, 0)
        for _ in range(wait):
            emulator.tick(1)
        recorder.add_step(action, wait=wait)
    assert recorder.frames_since_keyframe == 12 * 4 + 76
    capture = recorder.finish_segment(
        episode_id="ep-1", index=0, ram_sha256=emulator.ram_digest(), env_step=0
    )
    return capture, keyframe


def test_waits_are_recorded_where_they_happened_and_replayed(waited, emulators):
    capture, keyframe = waited
    assert capture.prefix_waits == ((1, 30),)
    assert capture.waits == ((2, 1), (5, 45))
    again = Capture.model_validate_json(capture.model_dump_json())
    steps = list(
        replay(emulators(), again, keyframe.data, rom_sha256=ROM, render_steps=frozenset({2, 7}))
    )
    assert [step.frame for step in steps] == [4, 8, 13, 17, 21, 70, 74, 78]
    assert segment_frames(capture) == 78
    assert replay_frames(capture) == 12 * 4 + 76


def test_a_capture_without_its_waits_is_a_mismatch(waited, emulator):
    capture, keyframe = waited
    for changed in ({"waits": ()}, {"waits": ((2, 1), (5, 44))}, {"prefix_waits": ()}):
        tampered = capture.model_copy(update=changed)
        with pytest.raises(ReplayMismatchError):
            list(replay(emulator, tampered, keyframe.data, rom_sha256=ROM))


@pytest.mark.parametrize("waits", [[[20, 4]], [[3, 0]], [[-1, 4]], [[4, 1], [2, 1]], [[2, 1]] * 2])
def test_waits_that_fit_no_step_are_refused(recorded, waits):
    capture, _ = recorded
    with pytest.raises(ValidationError):
        Capture.model_validate(capture.model_dump() | {"waits": waits})


def test_a_capture_of_an_earlier_release_has_no_waits(recorded):
    capture, _ = recorded
    old = capture.model_dump(exclude={"waits", "prefix_waits"})
    assert Capture.model_validate(old) == capture
