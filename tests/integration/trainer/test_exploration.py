"""Exploration on the built-in cartridge: archived states load, give no reward, and are
reproducible."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.approach import DISTANCES, states_before
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.exploration.lineage import (
    LineageMismatchError,
    play,
    replay_lineage,
)
from rlaif.trainer.play.exploration.practice import MORE_STEPS, PATIENCE
from rlaif.trainer.play.exploration.states import ArchiveRecord, Cell, block_of
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.settings.game import ExploreSettings, GameSettings

GAME = GameSettings(actions="seed", episode_length=150)
LONG = GAME.model_copy(update={"episode_length": 2_000})
STEPS = 600


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def played(directory: Path) -> Iterator[tuple[GameEnv, Explorer]]:
    """Some hundred random steps, each action held for a while, states saved often."""
    rng = np.random.default_rng(3)
    game = GameEnv(GAME, rng)
    explorer = Explorer.of_game(
        ExploreConfig(directory, ExploreSettings(restarts=0.5), save_every=30, sync_every=1),
        runner=1,
        cartridge=game.cartridge,
        emulator=game.emulator,
        frame_skip=GAME.frame_skip,
    )
    watcher = explorer.environment(0, game)
    game.source.starts = watcher.starts(game.source.starts)
    row = np.zeros(128, dtype=np.float32)
    ended = True
    for step in range(STEPS):
        if ended:
            game.reset(row)
            watcher.begin_episode(game.emulator, game.facts, game.start, game.start.warm_up)
        if step % 12 == 0:
            action = int(rng.integers(5))
        outcome = game.step(action, row)
        watcher.after_step(game.emulator, game.facts, action, outcome.wait)
        ended = outcome.terminated or outcome.truncated
    explorer.sync()
    yield game, explorer
    game.close()


def test_every_state_is_reproduced_by_its_record(
    played: tuple[GameEnv, Explorer],
):
    game, explorer = played
    assert explorer.archive is not None
    records = [record for record in explorer.archive.records if record.parent is not None]
    assert len(records) >= 3
    assert any(len(explorer.archive.lineage(r.sha256)) > 2 for r in records), "through others"
    second = Emulator(game.cartridge.data, sound_emulated=game.cartridge.needs_sound)
    for record in records:
        assert replay_lineage(explorer.archive, record.sha256, second) == record.steps
    second.close()


def test_a_changed_record_is_detected(played: tuple[GameEnv, Explorer], tmp_path: Path):
    game, explorer = played
    assert explorer.archive is not None
    start = next(r for r in explorer.archive.records if r.parent is None)
    record = next(r for r in explorer.archive.records if r.parent == start.sha256)
    archive = StateArchive(tmp_path, explorer.archive.identity, CellCounts())
    archive.put(start, explorer.archive.load(start.sha256)[1])
    forged = record.model_copy(update={"actions": record.actions[:-1]})
    archive.put(forged, explorer.archive.load(record.sha256)[1])
    second = Emulator(game.cartridge.data, sound_emulated=game.cartridge.needs_sound)
    with pytest.raises(LineageMismatchError, match="the record is wrong"):
        replay_lineage(archive, record.sha256, second)
    second.close()


def test_an_episode_from_the_archive_starts_in_its_cell_without_reward(
    played: tuple[GameEnv, Explorer],
):
    game, explorer = played
    assert explorer.archive is not None
    calm = GameEnv(
        GameSettings(actions="seed", noop_start=0, walk_start=0),
        np.random.default_rng(0),
        starts=explorer.starts(game.source.starts),
    )
    row = np.zeros(128, dtype=np.float32)
    found = 0
    for _ in range(20):
        calm.reset(row)
        record = explorer.archive.get(calm.start.keyframe.sha256)
        assert record is not None
        if record.parent is None:
            continue
        found += 1
        facts = calm.facts
        assert Cell(facts.room_index, block_of(facts.x, facts.y), record.milestones) == record.cell
        outcome = calm.step(Action.NOP, row)
        assert outcome.parts[outcome.parts > 0].sum() == 0
    calm.close()
    assert found >= 5


def test_visited_places_are_on_the_map(played: tuple[GameEnv, Explorer]):
    _, explorer = played
    shown = explorer.coverage.union().as_json()
    assert shown["rooms"]
    assert explorer.archive is not None
    assert load_cartridge().sha256 == explorer.archive.identity.game.rom_sha256


def test_a_watched_vector_counts_places_and_starts_episodes_at_archived_states(tmp_path: Path):
    explore = ExploreConfig(tmp_path, ExploreSettings(restarts=1.0), save_every=20, sync_every=1)
    explorers: list[Explorer] = []

    def watch(game: GameEnv, n: int) -> EpisodeFollower:
        if not explorers:
            made = Explorer.of_game(
                explore,
                runner=1,
                cartridge=game.cartridge,
                emulator=game.emulator,
                frame_skip=GAME.frame_skip,
            )
            explorers.append(made)
        return explorers[0].environment(n, game)

    config = EnvConfig(run_id="t", game=GameSettings(actions="seed", episode_length=60))
    vector = EmulatorVector(config, count=2, runner=1, seed=1, follow=watch)
    vector.begin_fragment(300, capture_quota=0, context=CaptureContext())
    rng = np.random.default_rng(6)
    for t in range(300):
        if t % 12 == 0:
            actions = rng.integers(0, 5, 2)
        vector.step(t, actions)
    none = np.zeros((300, 2), dtype=np.float32)
    fragment = vector.end_fragment(np.zeros((300, 2, 8), dtype=np.float32), none)
    vector.close()
    (explorer,) = explorers
    assert set(explorer.coverage.maps) == {"1-0", "1-1"}, "a map for each environment"
    assert explorer.coverage.union().episodes.total() > 0
    assert any(episode.start.startswith("archive:") for episode in fragment.episodes)
    assert explorer.archive is not None
    assert len(explorer.archive.cells) >= 2
    assert sum(fragment.reward_parts.values()) == pytest.approx(fragment.rewards.sum(), rel=1e-5)


@pytest.fixture
def practised(played: tuple[GameEnv, Explorer]) -> tuple[StateArchive, ArchiveRecord]:
    """The archive, and a state in it that was reached through others."""
    archive = played[1].archive
    assert archive is not None
    reached = [r for r in archive.records if len(archive.lineage(r.sha256)) > 2]
    return archive, max(reached, key=lambda record: record.steps)


def test_states_before_a_state_lead_to_it_and_the_emulator_is_restored(
    played: tuple[GameEnv, Explorer], practised: tuple[StateArchive, ArchiveRecord]
):
    archive, record = practised
    game = played[0]
    second = Emulator(game.cartridge.data, sound_emulated=game.cartridge.needs_sound)
    second.load_state(game.start.state)
    second.step(Action.LEFT, GAME.frame_skip)
    before = second.save_state()
    moments = states_before(archive, record, second)
    second.step(Action.NOP, GAME.frame_skip)
    after = second.ram_digest()
    second.load_state(before)
    second.step(Action.NOP, GAME.frame_skip)
    assert second.ram_digest() == after

    far = [distance for distance in DISTANCES if distance < record.steps]
    assert [moment.distance for moment in moments] == far[::-1]
    parts = [part for part in archive.lineage(record.sha256) if part.parent is not None]
    for moment in moments:
        second.load_state(unpack_keyframe(moment.keyframe.data, moment.keyframe.sha256))
        at = next(n for n, part in enumerate(parts) if part.parent == moment.parent)
        done = len(moment.actions)
        rest = parts[at].model_copy(
            update={
                "actions": parts[at].actions[done:],
                "waits": tuple((t - done, wait) for t, wait in parts[at].waits if t >= done),
            }
        )
        played_on = sum(1 for part in (rest, *parts[at + 1 :]) for _ in play(part, second))
        assert second.ram_digest() == record.ram_sha256
        assert played_on == moment.distance
    second.close()


def test_states_found_in_practice_have_a_complete_lineage(
    played: tuple[GameEnv, Explorer],
    practised: tuple[StateArchive, ArchiveRecord],
    directory: Path,
    tmp_path: Path,
):
    record = practised[1]
    copied = shutil.copytree(directory, tmp_path / "run")
    explore = ExploreConfig(copied, ExploreSettings(restarts=0.0, practice=1.0), save_every=1)
    game = GameEnv(LONG, np.random.default_rng(5), starts=played[0].source.starts)
    explorer = Explorer.of_game(
        explore, runner=1, cartridge=game.cartridge, emulator=game.emulator, frame_skip=4
    )
    assert explorer.archive is not None
    known = explorer.archive.digests
    explorer.practice.learn("test", states_before(explorer.archive, record, game.emulator))
    watcher = explorer.environment(0, game)
    game.source.starts = watcher.starts(game.source.starts)
    row, rng = np.zeros(128, dtype=np.float32), np.random.default_rng(6)
    for _ in range(6):
        game.reset(row)
        watcher.begin_episode(game.emulator, game.facts, game.start, game.start.warm_up)
        assert game.start.provenance.startswith("practice:")
        moment = explorer.practice.moment(game.start.provenance)
        assert moment is not None
        ended, frames = False, 4 * (PATIENCE * moment.distance + MORE_STEPS)
        while not ended:
            if game.steps % 12 == 0:
                action = int(rng.integers(5))
            outcome = game.step(action, row)
            watcher.after_step(game.emulator, game.facts, action, outcome.wait)
            ended = outcome.truncated or outcome.terminated
        assert outcome.terminated or game.frames >= min(frames, 4 * LONG.episode_length)
        assert game.frames - outcome.wait < frames + 4, "an unsuccessful attempt ends there"
    new = explorer.archive.digests - known
    kept = [found for found in explorer.archive.records if found.sha256 in new]
    assert any(found.parent in explorer.practice.parents for found in kept)
    for found in kept:
        assert replay_lineage(explorer.archive, found.sha256, game.emulator) == found.steps
    game.close()
