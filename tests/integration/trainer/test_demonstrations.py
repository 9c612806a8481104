"""Demonstrations of a trajectory to the sword and beyond: from a search tree to training data."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import get_args

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
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.grid import TilePlace
from rlaif.testing.decided_way import tree_of_way
from rlaif.testing.waiting import eventually
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.building import BuildSettings, build
from rlaif.trainer.curriculum.demonstrations import Demonstration, segments
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.learner.building import DemonstrationBuild
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.rewards.game.presets import RewardPreset
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings import TrainerSettings
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
IDENTITY = library.identity_of(GameSettings(actions="macros"))
SETTINGS = BuildSettings(states_every=2, noised=2)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To the sword, out of the house and in again, which is useless, and to a tool."""
    folder = tmp_path_factory.mktemp("search")
    return tree_of_way(folder, CARTRIDGE, TO_THE_SWORD + OUT_AND_IN + TO_THE_TOOL)


class Made:
    """The built demonstrations, read again."""

    def __init__(self, tree: Path, folder: Path, arm: Arm) -> None:
        self.lines: list[str] = []
        settings = replace(SETTINGS, game=GameSettings(actions=arm))
        build([tree], folder, settings, self.lines.append)
        self.found = library.read(folder, library.identity_of(settings.game))
        self.whole = next(each for each in self.found if each.part_of is None)
        self.noised = [each for each in self.found if each.part_of is not None]


@pytest.fixture(scope="module")
def made(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tree, tmp_path_factory.mktemp("run") / "demonstrations", "macros")


def goals(demonstration: Demonstration) -> list[frozenset[str]]:
    return [part.goal for part in segments(demonstration)]


def test_a_trajectory_to_two_flags_has_two_subtasks(made: Made) -> None:
    sword, tool = goals(made.whole)
    assert "treasure:5" in sword
    assert "treasure:15" in tool
    *minimized, built = made.lines
    assert minimized == ["minimized part 1 of 2", "minimized part 2 of 2"]
    assert f"{made.whole.length} decisions, 2 subtasks, {len(made.noised)} of 4" in built


def test_loops_and_ineffective_decisions_are_removed(made: Made) -> None:
    played = made.whole.decisions.tolist()
    assert played.count(HOUSE) == 1
    assert played.count(HOUSE_EXIT) == 1
    assert not {WALK.start + LEFT, WALK.start + RIGHT} & set(played)
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
    lines: list[str] = []
    for folder in ("first", "second"):
        build([tree], tmp_path / folder, settings, lines.append)
        (again,) = library.read(tmp_path / folder, IDENTITY)
        assert again.name == made.whole.name
    assert [line for line in lines if line.startswith("minimized")] == made.lines[:2]


def test_without_trials_a_trajectory_keeps_its_loops(
    tree: Path, tmp_path: Path, made: Made
) -> None:
    """Decided again, it is what the search played, decision by decision."""
    build([tree], tmp_path / "found", replace(SETTINGS, noised=0, max_trial_steps=0))
    (whole,) = library.read(tmp_path / "found", IDENTITY)
    with read_tree(tree) as found:
        searched = [decision for node in found.nodes() for decision, _ in node.decisions]
    assert whole.decisions.tolist() == searched


def test_every_start_state_is_exact_and_leads_to_the_goal(made: Made) -> None:
    player = Player(GameSettings())
    for part in segments(made.whole):
        for index in part.starts:
            kept = made.whole.states[index]
            player.begin(unpack_keyframe(*kept.keyframe))
            assert player.digest() == kept.ram_sha256
            for decision in made.whole.decisions[kept.at : part.last].tolist():
                player.decide(decision)
            assert part.goal <= player.seen
    player.close()


def test_its_decisions_succeed_in_the_policys_environment(made: Made) -> None:
    whole = made.whole
    game = GameSettings(actions="macros", noop_start=0, walk_start=0)
    vector = EmulatorVector(EnvConfig(run_id="t", game=game), count=1, runner=0, seed=0)
    vector.begin_fragment(whole.length, capture_quota=0, context=CaptureContext())
    for t, decision in enumerate(whole.decisions):
        vector.step(t, np.array([decision]))
    logits = np.zeros((whole.length, 1, 1), dtype=np.float32)
    fragment = vector.end_fragment(logits, logits[..., 0])
    marks = marks_of(read_blocks(vector.games[0].emulator))
    vector.close()
    assert whole.marks <= marks
    # The second part begins where the search began it, with more health or money.
    first = segments(whole)[0].last
    assert fragment.frames is not None
    assert fragment.policy_inputs is not None
    assert fragment.frames[:first, 0].tolist() == whole.frames[:first].tolist()
    assert np.array_equal(fragment.rewards[:first, 0], whole.rewards[:first])
    assert np.array_equal(fragment.policy_inputs[:first, 0], whole.policy_inputs[:first])
    seen = fragment.transitions.observations[:first, 0]
    assert np.array_equal(seen, whole.observations[:first])


def test_recorded_rewards_are_those_of_the_game(made: Made) -> None:
    at_the_sword = made.whole.reached[0].at - 1
    assert made.whole.rewards[at_the_sword] == made.whole.rewards.max() > 1


def test_noisy_replays_succeed_and_mark_their_noise(made: Made) -> None:
    assert made.noised
    for part in made.noised:
        assert part.part_of is not None
        name, last = part.part_of
        assert name == made.whole.name
        (goal,) = [each.marks for each in made.whole.reached if each.at == last]
        assert goal <= part.marks
        assert 0 < part.imitated.sum() < part.length


def test_an_action_set_without_macros_gets_walks_and_buttons(
    tree: Path, tmp_path: Path, made: Made
) -> None:
    other = Made(tree, tmp_path / "found", "buttons").whole
    assert in_arm("buttons")[other.decisions].all()
    assert other.states[-1].ram_sha256 == made.whole.states[-1].ram_sha256
    assert other.length > made.whole.length
    assert (other.decisions >= BUTTON.stop).any()
    with pytest.raises(
        library.DemonstrationsError, match="actions buttons, not macros: give their action set"
    ):
        library.read(tmp_path / "found", IDENTITY)


def test_a_trajectory_whose_replay_fails_is_left_out(
    tree: Path, tmp_path: Path, made: Made
) -> None:
    forged = tmp_path / "tree.sqlite"
    shutil.copy(tree, forged)
    with closing(sqlite3.connect(forged)) as sql, sql:
        sql.execute("UPDATE nodes SET digest = ? WHERE id = 2", ("f" * 64,))
    with pytest.raises(library.DemonstrationsError, match="when it is played again"):
        build([forged], tmp_path / "found", SETTINGS)
    assert not library.exists(tmp_path / "found")
    build([forged, tree], tmp_path / "found", SETTINGS)
    found = library.read(tmp_path / "found", IDENTITY)
    assert [each.name for each in found] == [each.name for each in made.found]


def test_a_trajectory_without_flags_is_rejected(tmp_path: Path) -> None:
    tree = tree_of_way(tmp_path / "search", CARTRIDGE, [[HOUSE]])
    with pytest.raises(library.DemonstrationsError, match="search longer"):
        build([tree], tmp_path / "found", SETTINGS)


@pytest.fixture
def run(tree: Path, tmp_path: Path) -> Path:
    """The directory of a run that has searched."""
    shutil.copytree(tree.parent, tmp_path / SEARCH_FOLDER)
    return tmp_path


def started(run: Path) -> DemonstrationBuild:
    settings = TrainerSettings.model_validate({"actions": "macros", "seed": 0})
    return DemonstrationBuild(settings, run, count=1, processes=2)


async def finished(build: DemonstrationBuild) -> list[str]:
    try:
        await eventually(lambda: build.is_over, "the build is over")
        lines = [*build.lines()]
        build.check()
    finally:
        build.stop()
    return lines


async def test_a_child_process_builds_the_demonstrations_of_a_run(run: Path, made: Made) -> None:
    assert (await finished(started(run)))[:2] == made.lines[:2]
    found = library.read(run / DEMONSTRATIONS_FOLDER, IDENTITY)
    assert found[0].name == made.whole.name


@pytest.mark.parametrize("preset", get_args(RewardPreset))
async def test_a_run_with_any_rewards_builds_demonstrations(preset: str, tmp_path: Path) -> None:
    (tmp_path / SEARCH_FOLDER).mkdir()
    tree_of_way(tmp_path / SEARCH_FOLDER, CARTRIDGE, TO_THE_SWORD)
    settings = TrainerSettings.model_validate({"reward_preset": preset})
    await finished(DemonstrationBuild(settings, tmp_path, count=1, processes=0))
    assert library.exists(tmp_path / DEMONSTRATIONS_FOLDER)


async def test_a_build_that_is_stopped_ends_with_its_processes_and_resumes(run: Path) -> None:
    build = started(run)
    await eventually(lambda: "minimized part 1 of 2" in build.lines(), "a part is minimized")
    build.stop()
    await eventually(lambda: not runs(build._process.pid), "its processes have ended")
    assert not library.exists(run / DEMONSTRATIONS_FOLDER)
    assert "minimized part 1 of 2" not in await finished(started(run))
    assert library.exists(run / DEMONSTRATIONS_FOLDER)


def runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_search_of_another_version_is_reported(run: Path) -> None:
    with closing(sqlite3.connect(run / SEARCH_FOLDER / TREE)) as sql, sql:
        sql.execute("UPDATE header SET value = '2' WHERE name = 'version'")
    with pytest.raises(library.DemonstrationsError, match="version 2, this search has 3"):
        await finished(started(run))
