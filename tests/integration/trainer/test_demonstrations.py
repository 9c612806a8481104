"""Demonstrations of a trajectory to the sword and beyond: from a search tree to training data."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.decisions.catalog import (
    BUTTON,
    INTERACT,
    LEAVE,
    WALK,
    Arm,
    go_to,
    in_arm,
    item,
)
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.grid import TilePlace
from rlaif.testing.decided_way import tree_of_way
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.building import BuildSettings, Built, build, identity_of
from rlaif.trainer.curriculum.demonstrations import Demonstration, segments
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.curriculum.replaying import TrajectoryMismatchError
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.settings.game import GameSettings

LEFT, RIGHT = 2, 3
HOUSE, HOUSE_EXIT = go_to(TilePlace(3, 2)), go_to(TilePlace(7, 4))
GIVER, BUSH, TOOL = go_to(TilePlace(2, 5)), go_to(TilePlace(5, 8)), go_to(TilePlace(4, 3))
TO_THE_SWORD = [[HOUSE], [GIVER, INTERACT]]
OUT_AND_IN = [[HOUSE_EXIT], [HOUSE]]
TO_THE_TOOL = [
    [WALK.start + LEFT, WALK.start + RIGHT, HOUSE_EXIT],
    [BUSH, item("sword")],
    [LEAVE.start + RIGHT],
    [TOOL, INTERACT],
]
CARTRIDGE = load_cartridge(None)
SETTINGS = BuildSettings(RecordSettings(preset("default"), states_every=2), noised=2)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To the sword, out of the house and in again, which is useless, and to a tool."""
    folder = tmp_path_factory.mktemp("search")
    return tree_of_way(folder, CARTRIDGE, TO_THE_SWORD + OUT_AND_IN + TO_THE_TOOL)


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    made = Emulator(CARTRIDGE.data, sound_emulated=CARTRIDGE.needs_sound)
    yield made
    made.close()


class Made:
    """The built demonstrations, read again."""

    def __init__(self, tree: Path, folder: Path, emulator: Emulator, arm: Arm) -> None:
        self.told: list[Built] = []
        self.said: list[str] = []
        tell, say = self.told.append, self.said.append
        self.built = build([tree], folder, CARTRIDGE, arm, SETTINGS, on_built=tell, progress=say)
        self.found = library.read(folder, identity_of(CARTRIDGE, emulator, arm))
        self.whole = next(each for each in self.found if each.part_of is None)
        self.noised = [each for each in self.found if each.part_of is not None]


@pytest.fixture(scope="module")
def made(tree: Path, tmp_path_factory: pytest.TempPathFactory, emulator: Emulator) -> Made:
    return Made(tree, tmp_path_factory.mktemp("run") / "demonstrations", emulator, "macros")


def goals(demonstration: Demonstration) -> list[frozenset[str]]:
    return [part.goal for part in segments(demonstration, demonstration.marks)]


def test_a_trajectory_to_two_flags_has_two_subtasks(made: Made) -> None:
    sword, tool = goals(made.whole)
    assert "treasure:5" in sword
    assert "treasure:15" in tool
    assert made.told == list(made.built)
    assert [(each.name, each.segments) for each in made.built] == [(made.whole.name, 2)]
    assert made.said == [f"minimized part {done} of 2 (1 trajectories)" for done in (1, 2)]


def test_loops_and_ineffective_decisions_are_removed(made: Made) -> None:
    played = made.whole.decisions.tolist()
    assert played.count(HOUSE) == 1
    assert played.count(HOUSE_EXIT) == 1
    assert not {WALK.start + LEFT, WALK.start + RIGHT} & set(played)
    assert made.built[0].cut_seconds > 0
    assert [each for each in played if each >= LEAVE.start] == [
        HOUSE,
        GIVER,
        HOUSE_EXIT,
        BUSH,
        LEAVE.start + RIGHT,
        TOOL,
    ]


def test_a_part_is_minimized_once(tree: Path, tmp_path: Path, made: Made) -> None:
    settings = replace(SETTINGS, noised=0, minimized=tmp_path / "minimized")
    said: list[str] = []
    for folder in ("first", "second"):
        found = tmp_path / folder
        build([tree], found, CARTRIDGE, "macros", settings, progress=said.append)
        (again,) = library.read(found, made.whole.identity)
        assert again.name == made.whole.name
    assert said == made.said


def test_without_trials_a_trajectory_keeps_its_loops(tree: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, noised=0, max_trial_steps=0)
    (built,) = build([tree], tmp_path / "found", CARTRIDGE, "macros", settings)
    assert built.cut_seconds <= 0


def test_every_start_state_is_exact_and_leads_to_the_goal(made: Made, emulator: Emulator) -> None:
    player = Player(emulator)
    for part in segments(made.whole, made.whole.marks):
        for index in part.starts:
            kept = made.whole.states[index]
            player.begin(unpack_keyframe(kept.keyframe.data, kept.keyframe.sha256))
            assert player.digest() == kept.ram_sha256
            for decision in made.whole.decisions[kept.at : part.last].tolist():
                player.wait()
                player.decide(decision)
            assert part.goal <= marks_of(player.ram)


def test_its_decisions_succeed_in_the_policys_environment(made: Made) -> None:
    game = GameSettings(actions="macros", noop_start=0, walk_start=0)
    vector = EmulatorVector(EnvConfig(run_id="t", game=game), count=1, runner=0, seed=0)
    vector.begin_fragment(made.whole.length, capture_quota=0, context=CaptureContext())
    for t, decision in enumerate(made.whole.decisions):
        seen = vector.policy_inputs
        assert seen is not None
        if t == 0:
            assert np.array_equal(seen[0], made.whole.policy_inputs[0])
        vector.step(t, np.array([decision]))
    logits = np.zeros((made.whole.length, 1, 1), dtype=np.float32)
    fragment = vector.end_fragment(logits, logits[..., 0])
    marks = marks_of(read_blocks(vector.games[0].emulator))
    vector.close()
    assert made.whole.marks <= marks
    assert fragment.frames is not None
    # The environment waits by single frames, a trajectory by steps of four.
    assert abs(int(fragment.frames.sum()) - int(made.whole.frames.sum())) < 4 * made.whole.length


def test_recorded_rewards_are_those_of_the_game(made: Made) -> None:
    at_the_sword = made.whole.reached[0].at - 1
    assert made.whole.rewards[at_the_sword] == made.whole.rewards.max() > 1


def test_noisy_replays_succeed_and_mark_their_noise(made: Made) -> None:
    assert made.noised
    assert made.built[0].noised == len(made.noised) <= made.built[0].tried == 4
    for part in made.noised:
        assert part.part_of is not None
        name, last = part.part_of
        assert name == made.whole.name
        (goal,) = [each.marks for each in made.whole.reached if each.at == last]
        assert goal <= part.marks
        assert 0 < part.imitated.sum() < part.length


def test_an_action_set_without_macros_gets_walks_and_buttons(
    tree: Path, tmp_path: Path, emulator: Emulator, made: Made
) -> None:
    other = Made(tree, tmp_path / "found", emulator, "buttons").whole
    assert in_arm("buttons")[other.decisions].all()
    assert other.states[-1].ram_sha256 == made.whole.states[-1].ram_sha256
    assert other.length > made.whole.length
    assert (other.decisions >= BUTTON.stop).any()
    with pytest.raises(library.DemonstrationsError, match="actions buttons, this run has macros"):
        library.read(tmp_path / "found", made.whole.identity)


def test_a_trajectory_whose_replay_fails_is_rejected(
    tree: Path, tmp_path: Path, made: Made
) -> None:
    forged = tmp_path / "tree.sqlite"
    shutil.copy(tree, forged)
    with closing(sqlite3.connect(forged)) as sql, sql:
        sql.execute("UPDATE nodes SET digest = ? WHERE id = 2", ("f" * 64,))
    with pytest.raises(TrajectoryMismatchError, match="after 2 sections the RAM has digest"):
        build([forged], tmp_path / "found", CARTRIDGE, "macros", SETTINGS)
    assert not library.exists(tmp_path / "found")
    (built,) = build([forged, tree], tmp_path / "found", CARTRIDGE, "macros", SETTINGS)
    assert built.name == made.whole.name


def test_a_trajectory_without_flags_is_rejected(tmp_path: Path) -> None:
    tree = tree_of_way(tmp_path / "search", CARTRIDGE, [[HOUSE]])
    with pytest.raises(library.DemonstrationsError, match="search longer"):
        build([tree], tmp_path / "found", CARTRIDGE, "macros", SETTINGS)
